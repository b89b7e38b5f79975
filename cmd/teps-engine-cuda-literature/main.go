// SPDX-License-Identifier: Apache-2.0

// Command teps-engine-cuda-literature serves searches on GPUs as they were published to a teps host:
//
//	teps run --engine ./teps-engine-cuda-literature --set literature.kernel=romeo
//
// cuda/build.sh builds it. Built by go build, without CUDA, the engine only reports that it is unavailable.
package main

import (
	"github.com/tepsbench/teps/cuda/literature"
	"github.com/tepsbench/teps/plugins/rpc"
)

func main() { rpc.Serve(literature.New()) }

// SPDX-License-Identifier: Apache-2.0

// Command teps-engine-cuda serves the CUDA engine to a teps host:
//
//	teps run --engine ./teps-engine-cuda
//
// cuda/build.sh builds it. Built by go build, without CUDA, the engine only reports that it is unavailable.
package main

import (
	"github.com/tepsbench/teps/cuda"
	"github.com/tepsbench/teps/plugins/rpc"
)

func main() { rpc.Serve(cuda.New()) }

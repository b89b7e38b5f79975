// SPDX-License-Identifier: Apache-2.0

// Command teps-host-cuda generates tuples and weights and validates searches on an NVIDIA GPU for teps, which finds it
// in its own directory:
//
//	teps run --host-device cuda
//
// cuda/build.sh builds it. Built by go build, without CUDA, it only reports that it is unavailable.
package main

import (
	"github.com/tepsbench/teps/cuda/accelerator"
	"github.com/tepsbench/teps/plugins/rpc"
)

func main() { rpc.ServeAccelerator(accelerator.New()) }

// Command teps-engine-cuda serves the CUDA engine to a teps host:
//
//	teps run --engine ./teps-engine-cuda
//
// It is built with cuda/build.sh. Built without, it is an engine that says so.
package main

import (
	"github.com/tepsbench/teps/cuda"
	"github.com/tepsbench/teps/plugins/rpc"
)

func main() { rpc.Serve(cuda.New()) }

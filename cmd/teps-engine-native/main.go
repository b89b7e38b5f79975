// Command teps-engine-native serves a shared library as an engine. teps does that by itself for --engine ./libmine.so;
// this program is for an engine that needs something around it, such as a script
//
//	#!/bin/sh
//	export OMP_NUM_THREADS=8
//	exec numactl -N 0 teps-engine-native /opt/mine/libmine.so
//
// which is then the engine: teps run --engine ./teps-engine-mine. (Records hold the checksum of the script.)
package main

import (
	"fmt"
	"os"

	"github.com/tepsbench/teps/native"
	"github.com/tepsbench/teps/plugins/rpc"
)

func main() {
	if len(os.Args) != 2 || os.Args[1] == "-h" || os.Args[1] == "--help" {
		fmt.Fprintln(os.Stderr, "usage: teps-engine-native LIBRARY\nIt is started by teps; a library alone runs with: teps run --engine ./libmine.so")
		os.Exit(2)
	}
	rpc.Serve(native.New(os.Args[1]))
}

// Command teps-engine-native runs a shared library as an engine. teps itself does that for an engine ./libmine.so. This
// program is for a library that needs a special environment, which a script can set up:
//
//	#!/bin/sh
//	export OMP_NUM_THREADS=8
//	exec numactl -N 0 teps-engine-native /opt/mine/libmine.so
//
// The script is the engine. Records hold its checksum.
package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/tepsbench/teps/native"
	"github.com/tepsbench/teps/plugins/rpc"
)

func main() {
	if len(os.Args) != 2 || strings.HasPrefix(os.Args[1], "-") {
		fmt.Fprintln(os.Stderr, "usage: teps-engine-native LIBRARY\n"+
			"This is an engine of teps, which does not run by itself; name a script that calls it, or the library, to teps run.")
		os.Exit(2)
	}
	rpc.Serve(native.New(os.Args[1]))
}

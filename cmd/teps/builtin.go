// SPDX-License-Identifier: Apache-2.0

package main

import (
	"github.com/tepsbench/teps/cpu"
	"github.com/tepsbench/teps/distributed"
	"github.com/tepsbench/teps/distributed/mpi"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/serial"
)

// builtins lists the engines of this program in display order. A new engine is one more line.
func builtins() catalog {
	return catalog{
		{"cpu", func() plugins.Engine { return cpu.New() }},
		{"distributed", func() plugins.Engine { return distributed.New() }},
		{"mpi", func() plugins.Engine { return mpi.New() }},
		{"serial", serial.New},
	}
}

// defaultEngines are the engines of `teps run` without --engine: cpu, and distributed in two dimensions and in one.
func defaultEngines() []string {
	return []string{"cpu", "distributed-2d=distributed:partition=2d", "distributed-1d-dest=distributed"}
}

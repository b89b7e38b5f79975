package main

import (
	"github.com/spf13/cobra"

	"github.com/tepsbench/teps/cpu"
	"github.com/tepsbench/teps/distributed"
	"github.com/tepsbench/teps/harness"
	"github.com/tepsbench/teps/native"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/plugins/rpc"
)

// builtinNames lists the engines in this binary, in the order in which teps shows them.
func builtinNames() []string { return []string{"cpu", "distributed", "mpi"} }

// defaultEngines is what `teps run` runs: both cuts of the distributed engine beside the CPU engine.
func defaultEngines() []string {
	return []string{"cpu", "distributed-2d=distributed", "distributed-1d=distributed:partition=1d"}
}

// builtin returns what opens a built-in engine, or nil.
func builtin(name string) func() plugins.Engine {
	switch name {
	case "cpu":
		return func() plugins.Engine { return cpu.New() }
	case "distributed":
		return func() plugins.Engine { return distributed.New() }
	case "mpi":
		return func() plugins.Engine { return distributed.NewMPI() }
	}
	return nil
}

// serveLibraryCommand is how the host runs an engine that is a shared library; cmd/teps-engine-native does the same.
func serveLibraryCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "serve-library PATH",
		Short:  "Serve a shared library to a host (used by teps itself)",
		Hidden: true,
		Args:   exactArgs(1, "the path of a library"),
		RunE: func(_ *cobra.Command, args []string) error {
			rpc.Serve(native.New(args[0]))
			return nil
		},
	}
}

// serveEngineCommand is how the host runs a built-in engine: in a child process that is this same binary.
func serveEngineCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "serve-engine NAME",
		Short:  "Serve a built-in engine to a host (used by teps itself)",
		Hidden: true,
		Args:   exactArgs(1, "the name of a built-in engine"),
		RunE: func(_ *cobra.Command, args []string) error {
			open := builtin(args[0])
			if open == nil {
				return harness.Usage("there is no built-in engine %s", args[0])
			}
			rpc.Serve(open())
			return nil
		},
	}
}

package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"

	"github.com/spf13/cobra"

	"github.com/tepsbench/teps/native"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/plugins/rpc"
	"github.com/tepsbench/teps/power"
	"github.com/tepsbench/teps/power/meters"
	"github.com/tepsbench/teps/record"
)

// processes is a harness.Host that runs every engine in a child process. Built-in engines and shared libraries are
// served by this same program, started as `teps serve-engine`.
type processes struct{ *rpc.Host }

// newProcesses makes the host of the command c, which finishes up when a signal arrives.
func newProcesses(c *cobra.Command, verbose bool) processes {
	finishOnSignal(c)
	level := slog.LevelWarn
	if verbose {
		level = slog.LevelDebug
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: level}))
	return processes{rpc.NewHost(log)}
}

func (p processes) Open(ctx context.Context, spec record.EngineSpec) (plugins.Engine, error) {
	program := rpc.Program{Name: spec.Name, Path: spec.Path, SHA256: spec.Checksum}
	if spec.Path == "" || record.IsLibrary(spec.Path) {
		self, err := os.Executable()
		if err != nil {
			return nil, fmt.Errorf("find the program of teps: %w", err)
		}
		program.Path, program.Library = self, spec.Path
		program.Args = []string{"serve-engine", spec.Builtin + spec.Path} // one of them is empty
	}
	client, err := p.Host.Open(ctx, program)
	if err != nil {
		return nil, err // not client: a nil *rpc.Client in an interface is not nil
	}
	return client, nil
}

// Meters finds the power meters of this machine and those that specifications describe.
func (processes) Meters(ctx context.Context, specifications []string) ([]power.Meter, []power.Absence, error) {
	return meters.Find(ctx, meters.Config{Specs: specifications})
}

// serveEngineCommand is the child process of an engine.
func serveEngineCommand(engines catalog) *cobra.Command {
	return &cobra.Command{
		Use:    "serve-engine NAME|LIBRARY",
		Short:  "Serve a built-in engine or a shared library to teps (used by teps itself and by scripts that are engines)",
		Hidden: true,
		Args:   exactArgs(1, "a built-in engine or the path of a library"),
		RunE: func(_ *cobra.Command, args []string) error {
			switch open := engines.find(args[0]); {
			case open != nil:
				rpc.Serve(open())
			case record.IsLibrary(args[0]):
				rpc.Serve(native.New(args[0]))
			default:
				return usage("%s is neither a built-in engine nor a shared library", args[0])
			}
			return nil
		},
	}
}

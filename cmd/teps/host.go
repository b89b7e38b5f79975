// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tepsbench/teps/harness"
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

// newProcesses returns the host of the command c, which finishes in order when a signal arrives.
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

// Meters finds the power meters of this machine or of specifications.
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

// hostPrograms is the prefix of the names of host programs in the directory of teps.
const hostPrograms = "teps-host-"

// hostDevice returns the program of --host-device, or nil for the CPU. It starts the program to check for its device;
// without one, auto means the CPU.
func hostDevice(ctx context.Context, text string, host harness.Host) (*record.EngineSpec, error) {
	path := text
	switch self, err := os.Executable(); {
	case text == "cpu":
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("find the program of teps: %w", err)
	case text == "auto", text == "cuda":
		path = filepath.Join(filepath.Dir(self), hostPrograms+"cuda")
	case !strings.ContainsAny(text, `/\.`):
		return nil, usage("--host-device %q: want cuda, cpu, auto or the path of a program, such as ./%s", text,
			cmp.Or(text, "mine"))
	}
	path, err := filepath.Abs(path)
	err = cmp.Or(err, checkFile(path))
	spec := record.EngineSpec{Name: strings.TrimPrefix(fileLabel(path), hostPrograms), Path: path}
	if err == nil {
		_, err = harness.Available(ctx, host, spec)
	}
	if err == nil {
		spec.Checksum, err = rpc.Checksum(path)
	}
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil && text == "auto":
		return nil, nil
	case err != nil:
		return nil, usage("--host-device %s: %w", text, err)
	}
	return &spec, nil
}

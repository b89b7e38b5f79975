package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"

	"github.com/tepsbench/teps/harness"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/plugins/find"
	"github.com/tepsbench/teps/plugins/rpc"
	"github.com/tepsbench/teps/power"
)

// processes is a harness.Host whose engines are child processes: rpc.Host, and the knowledge of which program an
// engine is.
type processes struct{ *rpc.Host }

func newProcesses(log *slog.Logger) (processes, error) {
	h, err := rpc.NewHost(rpc.HostOptions{Logger: log})
	return processes{h}, err
}

func (p processes) Open(ctx context.Context, spec harness.EngineSpec) (plugins.Engine, error) {
	program := rpc.Program{Name: spec.Name, Path: spec.Path, SHA256: spec.Checksum}
	if spec.Path == "" || find.Library(spec.Path) {
		self, err := os.Executable()
		if err != nil {
			return nil, fmt.Errorf("engine %s: find the program of teps: %w", spec.Name, err)
		}
		program.Path, program.Args = self, []string{"serve-engine", spec.Builtin}
		if spec.Path != "" {
			program.Args, program.Library = []string{"serve-library", spec.Path}, spec.Path
		}
	}
	trusted, err := p.trusted(&program, spec)
	if err != nil {
		return nil, err
	}
	client, err := p.Host.Open(ctx, program)
	if err != nil {
		if trusted {
			err = distrusted(err, spec.Path)
		}
		return nil, err // not client: a nil *Client in an interface is not nil
	}
	return client, nil
}

// Meters finds power meters of this machine, and those that specifications describe.
func (processes) Meters(ctx context.Context, specifications []string) ([]power.Meter, []power.Absence, error) {
	return power.Find(ctx, power.Config{Meters: specifications})
}

// trusted holds an outside engine that is in the trust list to its checksum there, unless --checksum asks for one.
func (processes) trusted(program *rpc.Program, spec harness.EngineSpec) (bool, error) {
	if spec.Path == "" || spec.Checksum != "" {
		return false, nil
	}
	sum, err := trustedSum(spec.Path)
	if err != nil {
		return false, fmt.Errorf("engine %s: %w", spec.Name, err)
	}
	program.SHA256 = sum
	return sum != "", nil
}

// newLog makes the logger of the host; what engines log goes there too.
func newLog(verbose bool) *slog.Logger {
	level := slog.LevelWarn
	if verbose {
		level = slog.LevelDebug
	}
	return slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: level}))
}

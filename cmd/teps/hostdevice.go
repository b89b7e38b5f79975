package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/tepsbench/teps/harness"
	"github.com/tepsbench/teps/plugins/rpc"
	"github.com/tepsbench/teps/record"
)

// hostPrograms begins the names of programs that do the host's work; they lie in the directory of teps.
const hostPrograms = "teps-host-"

// hostDevice returns the program that --host-device names, or nil for the CPU. It starts the program to learn whether
// its device is there. auto takes the CPU if it is not.
func hostDevice(ctx context.Context, text string, host harness.Host) (*record.EngineSpec, error) {
	auto, path := text == "auto", text
	switch {
	case text == "cpu":
		return nil, nil
	case auto || text == "cuda":
		self, err := os.Executable()
		if err != nil {
			return nil, fmt.Errorf("find the program of teps: %w", err)
		}
		path = filepath.Join(filepath.Dir(self), hostPrograms+"cuda")
	case !strings.ContainsAny(text, `/\.`):
		return nil, usage("--host-device %q: want cuda, cpu, auto or the path of a program, such as ./%s", text,
			cmp.Or(text, "mine"))
	}
	spec, err := findHostDevice(ctx, path, host)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil && auto:
		return nil, nil
	case err != nil:
		return nil, usage("--host-device %s: %w", text, err)
	}
	return spec, nil
}

func findHostDevice(ctx context.Context, path string, host harness.Host) (*record.EngineSpec, error) {
	path, err := filepath.Abs(path)
	if err == nil {
		err = checkFile(path)
	}
	if err != nil {
		return nil, err
	}
	spec := record.EngineSpec{Name: strings.TrimPrefix(fileLabel(path), hostPrograms), Path: path}
	if _, err := harness.Available(ctx, host, spec); err != nil {
		return nil, err
	}
	spec.Checksum, err = rpc.Checksum(path)
	return &spec, err
}

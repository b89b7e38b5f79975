// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tepsbench/teps/cluster"
	"github.com/tepsbench/teps/cpu"
	"github.com/tepsbench/teps/distributed"
	"github.com/tepsbench/teps/distributed/mpi"
	"github.com/tepsbench/teps/harness"
	"github.com/tepsbench/teps/native"
	"github.com/tepsbench/teps/opencl"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/plugins/rpc"
	"github.com/tepsbench/teps/power"
	"github.com/tepsbench/teps/power/meters"
	"github.com/tepsbench/teps/record"
	"github.com/tepsbench/teps/serial"
)

// builtins lists the engines of this program in display order. A new engine is one more line.
func builtins() catalog {
	return catalog{
		{"cpu", func() plugins.Engine { return cpu.New() }},
		{"distributed", func() plugins.Engine { return distributed.New() }},
		{"mpi", func() plugins.Engine { return mpi.New() }},
		{"opencl", opencl.New},
		{"serial", serial.New},
	}
}

// Prefixes of the names of engines and host programs in the directory of teps.
const (
	enginePrefix = "teps-engine-"
	hostPrefix   = "teps-host-"
)

// catalog is a list of built-in engines. Others are programs and shared libraries, by path or next to this program.
type catalog []struct {
	name string
	open func() plugins.Engine
}

// find returns the constructor of a built-in engine, or nil.
func (c catalog) find(name string) func() plugins.Engine {
	for _, built := range c {
		if built.name == name {
			return built.open
		}
	}
	return nil
}

// choice is an engine that the user has chosen.
type choice struct {
	record.EngineSpec
	found   string   // built in, next to teps, or by its path
	labeled bool     // the user has given a label
	file    string   // name by its file, which --set accepts too, or empty
	given   []string // names of options, in the order in which they were set
}

// parse parses [LABEL=]ENGINE[:OPTION=VALUE]..., where ENGINE is a name, or a path if it has a slash or a dot.
func (c catalog) parse(text string) (choice, error) {
	label, engine, labeled := strings.Cut(text, "=")
	path, _ := cutOptions(text)
	if !labeled || strings.ContainsAny(label, `:/\`) || strings.Contains(label, ".") && checkFile(path) == nil {
		engine, labeled = text, false // no =, or one in an option or a path
	}
	if labeled && !isLabel(label) {
		return choice{}, usage("--engine %.80s: want a label of 1 to 64 letters, digits, - and _", text)
	}
	engine, options := cutOptions(engine)
	chosen, err := c.locate(engine)
	if labeled {
		chosen.Name, chosen.file, chosen.labeled = label, "", true
	}
	for _, option := range options {
		name, value, ok := strings.Cut(option, "=")
		if err == nil && (!ok || name == "") {
			err = usage("--engine %s: want OPTION=VALUE after a colon, such as distributed:partition=2d", text)
		}
		chosen.setOption(name, value)
	}
	return chosen, err
}

// cutOptions separates an engine from the options after it. A path may contain colons; it ends at the last colon before
// which there is a file.
func cutOptions(text string) (engine string, options []string) {
	parts, n := strings.Split(text, ":"), 1
	if strings.ContainsAny(text, `/\.`) {
		n = len(parts)
		for n > 1 && checkFile(strings.Join(parts[:n], ":")) != nil {
			n--
		}
	}
	return strings.Join(parts[:n], ":"), parts[n:]
}

// locate finds an engine by name or path.
func (c catalog) locate(engine string) (choice, error) {
	if engine == "" {
		return choice{}, usage("the name of an engine is empty; teps engines lists all engines")
	}
	if strings.ContainsAny(engine, `/\.`) {
		path, err := filepath.Abs(engine)
		if err = cmp.Or(err, checkFile(path)); err != nil {
			return choice{}, usage("engine %s: %w", engine, err)
		}
		name := fileLabel(path)
		return choice{EngineSpec: record.EngineSpec{Name: name, Path: path}, found: "by its path", file: name}, nil
	}
	known := c.known()
	names := each(known, func(one choice) string { return one.Name })
	if i := slices.Index(names, engine); i >= 0 {
		return known[i], nil
	}
	if engine == "cuda" || engine == "literature" {
		return choice{}, usage("engine %s is not next to teps; build it in a clone of teps with bash cuda/build.sh "+
			"(docs/cuda.md), and copy it there or name its path", engine)
	}
	return choice{}, usage("unknown engine %s%s; teps has %s; name another by its path, such as ./%s",
		engine, didYouMean(engine, names), strings.Join(names, ", "), engine)
}

// known lists the built-in engines and those in the directory of this program.
func (c catalog) known() (all []choice) {
	for _, b := range c {
		all = append(all, choice{EngineSpec: record.EngineSpec{Name: b.name, Builtin: b.name}, found: "built in"})
	}
	if self, err := os.Executable(); err == nil {
		paths, _ := filepath.Glob(filepath.Join(filepath.Dir(self), enginePrefix+"*"))
		for _, path := range paths {
			if name := fileLabel(path); checkFile(path) == nil && c.find(name) == nil {
				all = append(all, choice{EngineSpec: record.EngineSpec{Name: name, Path: path}, found: "next to teps"})
			}
		}
	}
	return all
}

// checkFile returns an error for a path that cannot be an engine.
func checkFile(path string) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s does not exist; build it first", path)
	case err != nil:
		return err
	case info.IsDir():
		return errors.New("this is a directory; name a program or a library in it")
	case !info.Mode().IsRegular():
		return errors.New("this is a pipe or a device; name a program or a library")
	case info.Mode()&0o111 == 0 && !record.IsLibrary(path):
		return fmt.Errorf("this file is not executable; if it is the engine's program: chmod +x %s", path)
	}
	return nil
}

// notLabel matches characters that labels cannot have.
var notLabel = regexp.MustCompile(`[^a-zA-Z0-9_-]`)

func isLabel(text string) bool { return text != "" && len(text) <= 64 && !notLabel.MatchString(text) }

// fileLabel returns the name of an outside engine by its file: cuda for teps-engine-cuda, mine for libmine.so.
func fileLabel(path string) string {
	name, _, _ := strings.Cut(filepath.Base(path), ".")
	if name = strings.TrimPrefix(name, enginePrefix); record.IsLibrary(path) {
		name = strings.TrimPrefix(name, "lib")
	}
	name = cmp.Or(notLabel.ReplaceAllString(name, "-"), "engine")
	return name[:min(len(name), 64)]
}

// describe returns the engine's description, and replaces the name by file with the name in it.
func (c *choice) describe(ctx context.Context, host harness.Host) (plugins.Description, error) {
	d, err := harness.Describe(ctx, host, c.EngineSpec)
	if err == nil && c.file != "" && isLabel(d.Name) {
		c.Name = d.Name
	}
	return d, err
}

func (c *choice) setOption(name, value string) {
	if c.Options == nil {
		c.Options = map[string]string{}
	}
	c.Options[name] = value
	c.given = append(c.given, name)
}

func byName(chosen []choice, name string) (*choice, error) {
	if i := slices.IndexFunc(chosen, func(c choice) bool { return c.Name == name || c.file == name }); i >= 0 {
		return &chosen[i], nil
	}
	names := each(chosen, func(c choice) string { return c.Name })
	return nil, fmt.Errorf("this run has no engine %s%s; it has %s", name, didYouMean(name, names),
		strings.Join(names, ", "))
}

// processes is a harness.Host that runs engines in processes. Built-in engines and libraries run in teps.
type processes struct {
	*rpc.Host
	plan    *record.Cluster  // how processes of one engine are started; nil: by a launcher that is installed
	cluster *cluster.Cluster // the hosts of a run on several
	here    *cluster.Here    // starts processes on this host; nil before the first
	start   func(ctx context.Context, n int) (places []*cluster.Place, stop func(), err error)
}

// bound is the environment of engines, unless the user sets it: each thread of OpenMP stays on one processor. Otherwise
// threads wake up on each other's processors after the host's work.
var bound = map[string]string{"OMP_PROC_BIND": "spread", "OMP_PLACES": "threads"}

// newProcesses returns the host of the command c, which finishes in order when a signal arrives.
func newProcesses(c *cobra.Command, verbose bool) *processes {
	finishOnSignal(c)
	for name, value := range bound {
		if os.Getenv(name) == "" {
			_ = os.Setenv(name, value) // fails only for a wrong name
		}
	}
	level := map[bool]slog.Level{false: slog.LevelWarn, true: slog.LevelDebug}[verbose]
	p := &processes{Host: rpc.NewHost(slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: level})))}
	p.start = p.startHere
	return p
}

// Open starts an engine as a child.
func (p *processes) Open(ctx context.Context, spec record.EngineSpec) (plugins.Engine, error) {
	program, err := program(spec)
	if err != nil {
		return nil, err
	}
	client, err := p.Host.Open(ctx, program)
	if err != nil {
		return nil, err // not client: a nil *rpc.Client in an interface is not nil
	}
	return client, nil
}

// program returns how an engine is run.
func program(spec record.EngineSpec) (rpc.Program, error) {
	p := rpc.Program{Name: spec.Name, Path: spec.Path, SHA256: spec.Checksum}
	if spec.Path == "" || record.IsLibrary(spec.Path) {
		self, err := os.Executable()
		if err != nil {
			return p, fmt.Errorf("find the program of teps: %w", err)
		}
		p.Path, p.Library = self, spec.Path
		p.Args = []string{serveEngine, spec.Builtin + spec.Path} // one of them is empty
	}
	return p, nil
}

// Meters finds the power meters of specifications, or all, on this machine or on every host of the cluster.
func (p *processes) Meters(ctx context.Context, specifications []string) (power.Meters, []power.Absence, error) {
	if p.cluster != nil {
		everywhere, err := meters.Everywhere(specifications)
		if err != nil {
			return nil, nil, record.Usage("%w", err)
		}
		return p.cluster.Meters(ctx, everywhere)
	}
	found, absent, err := meters.Find(ctx, meters.Config{Specs: specifications})
	if err != nil && ctx.Err() == nil {
		err = record.Usage("%w", err)
	}
	return power.Here(found), absent, err
}

const serveEngine = "serve-engine"

// serveEngineCommand is the child process of an engine.
func serveEngineCommand(engines catalog) *cobra.Command {
	return &cobra.Command{
		Use:    serveEngine + " NAME|LIBRARY",
		Short:  "Serve a built-in engine or a shared library to teps",
		Hidden: true,
		Args:   exactArgs(1, "a built-in engine or the path of a library"),
		RunE: func(_ *cobra.Command, args []string) error {
			if open := engines.find(args[0]); open != nil {
				rpc.Serve(open())
			} else if args[0] == record.Nothing {
				rpc.Serve(harness.Nothing())
			} else if record.IsLibrary(args[0]) {
				native.Serve(func() { rpc.Serve(native.New(args[0])) })
			} else {
				return usage("%s is neither a built-in engine nor a shared library", args[0])
			}
			return nil
		},
	}
}

// hostDevice returns the program of --host-device, or nil for the CPU. It starts the program to check for its device;
// without one, auto means the CPU.
func hostDevice(ctx context.Context, text string, host harness.Host) (*record.EngineSpec, error) {
	path, err := text, error(nil)
	switch {
	case text == "cpu":
		return nil, nil
	case text == "auto", text == "cuda":
		path, err = os.Executable()
		path = filepath.Join(filepath.Dir(path), hostPrefix+"cuda")
	case !strings.ContainsAny(text, `/\.`):
		return nil, usage("--host-device %q: want cuda, cpu, auto or the path of a program, such as ./%s", text,
			cmp.Or(text, "mine"))
	default:
		path, err = filepath.Abs(path)
	}
	err = cmp.Or(err, checkFile(path))
	spec := record.EngineSpec{Name: strings.TrimPrefix(fileLabel(path), hostPrefix), Path: path}
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

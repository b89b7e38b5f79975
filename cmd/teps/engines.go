// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/harness"
	"github.com/tepsbench/teps/internal/units"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/plugins/rpc"
	"github.com/tepsbench/teps/record"
	"github.com/tepsbench/teps/reports"
)

const enginePrefix = "teps-engine-"

// catalog is a list of built-in engines. Other engines are programs and shared libraries: files given by path, or named
// teps-engine-NAME or teps-engine-NAME.so in the directory of this program.
type catalog []builtin

type builtin struct {
	name string
	open func() plugins.Engine
}

// find returns the constructor of a built-in engine, or nil.
func (c catalog) find(name string) func() plugins.Engine {
	if i := slices.IndexFunc(c, func(b builtin) bool { return b.name == name }); i >= 0 {
		return c[i].open
	}
	return nil
}

// parse parses [LABEL=]ENGINE[:OPTION=VALUE]..., where ENGINE is a name, or a path if it has a slash or a dot.
func (c catalog) parse(text string) (choice, error) {
	label, engine, labeled := strings.Cut(text, "=")
	path, _ := cutOptions(text)
	if !labeled || strings.ContainsAny(label, `:/\`) || strings.Contains(label, ".") && checkFile(path) == nil {
		label, engine, labeled = "", text, false // no =, or one in an option or a path
	}
	if labeled && !isLabel(label) {
		return choice{}, usage("--engine %.80s: want a label of 1 to 64 letters, digits, - and _", text)
	}
	engine, options := cutOptions(engine)
	chosen, err := c.locate(engine)
	if err != nil {
		return choice{}, err
	}
	if labeled {
		chosen.Name, chosen.file, chosen.labeled = label, "", true
	}
	for _, option := range options {
		name, value, ok := strings.Cut(option, "=")
		if !ok || name == "" {
			return choice{}, usage("--engine %s: want OPTION=VALUE after a colon, such as distributed:partition=2d", text)
		}
		chosen.setOption(name, value)
	}
	return chosen, nil
}

// cutOptions separates an engine from the options after it. A path may contain colons; it ends at the last colon before
// which there is a file. A value may contain colons too, as in memory=node:1; it ends before the next option.
func cutOptions(text string) (engine string, options []string) {
	parts, n := strings.Split(text, ":"), 1
	if strings.ContainsAny(text, `/\.`) {
		n = len(parts)
		for n > 1 && checkFile(strings.Join(parts[:n], ":")) != nil {
			n--
		}
	}
	for _, part := range parts[n:] {
		if last := len(options) - 1; last >= 0 && !strings.Contains(part, "=") {
			options[last] += ":" + part
		} else {
			options = append(options, part)
		}
	}
	return strings.Join(parts[:n], ":"), options
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
	return choice{}, usage("unknown engine %s%s; teps has %s; name another by its path, such as ./%s",
		engine, didYouMean(engine, names), strings.Join(names, ", "), engine)
}

// known lists the built-in engines and those in the directory of this program.
func (c catalog) known() (all []choice) {
	for _, b := range c {
		all = append(all, choice{EngineSpec: record.EngineSpec{Name: b.name, Builtin: b.name}, found: "built in"})
	}
	self, err := os.Executable()
	if err != nil {
		return all
	}
	paths, _ := filepath.Glob(filepath.Join(filepath.Dir(self), enginePrefix+"*"))
	for _, path := range paths {
		if name := fileLabel(path); checkFile(path) == nil && c.find(name) == nil {
			all = append(all, choice{EngineSpec: record.EngineSpec{Name: name, Path: path}, found: "next to teps"})
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
	if name = notLabel.ReplaceAllString(name, "-"); name == "" {
		return "engine"
	}
	return name[:min(len(name), 64)]
}

// choice is an engine that the user has chosen.
type choice struct {
	record.EngineSpec
	found   string   // built in, next to teps, or by its path
	labeled bool     // the user has given a label
	file    string   // name by its file, which --set accepts too, or empty
	given   []string // names of options, in the order in which they were set
}

// name replaces the name by file with the name in the engine's description. If there is no description, the name stays,
// and preparing the run reports the error.
func (c *choice) name(ctx context.Context, host harness.Host) {
	if c.file == "" {
		return
	}
	if d, err := harness.Describe(ctx, host, c.EngineSpec); err == nil && isLabel(d.Name) {
		c.Name = d.Name
	}
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

func enginesCommand(engines catalog) *cobra.Command {
	return &cobra.Command{
		Use:   "engines [PATH...]",
		Short: "List the engines with their memory and options",
		Long: `engines starts every engine and prints its description and the options for
--set ENGINE.OPTION=VALUE. It lists the built-in engines, those in the
directory of teps (programs teps-engine-NAME and shared libraries
teps-engine-NAME.so), and each program or library given as PATH.

Compressed adjacency lists (adjacency=packed of cpu, cuda and serial) and
dynamic parallelism (topdown=dynamic of cuda) are options; their descriptions
state the measured cost.`,
		Example: `  teps engines
  teps engines ./teps-engine-mine ./libmine.so`,
		RunE: func(c *cobra.Command, args []string) error {
			host := newProcesses(c, false)
			defer host.Close()
			all := engines.known()
			for _, path := range args {
				chosen, err := engines.parse(path)
				if err != nil {
					return err
				}
				all = append(all, chosen)
			}
			var err error
			for i, e := range all {
				if i > 0 {
					fmt.Fprintln(c.OutOrStdout())
				}
				if e.print(c.Context(), c.OutOrStdout(), host) != nil {
					err = errReported
				}
			}
			return cmp.Or(c.Context().Err(), err)
		},
	}
}

// print starts the engine and prints its description.
func (e choice) print(ctx context.Context, w io.Writer, host harness.Host) error {
	d, err := harness.Describe(ctx, host, e.EngineSpec)
	if err != nil {
		fmt.Fprintf(w, "%s (%s): %s\n", e.Name, e.found, printable(err.Error()))
		return err
	}
	if e.file != "" && isLabel(d.Name) {
		e.Name = d.Name
	}
	if e.Path != "" {
		e.Checksum, _ = rpc.Checksum(e.Path) // the engine has just been started from this file
	}
	if d.Unavailable != "" {
		e.found += ", not available here"
	}
	fmt.Fprintf(w, "%s (%s)\n", e.Name, e.found)
	for _, fact := range (reports.Summary{Run: record.Run{Engine: e.EngineSpec, Description: &d}}).Facts()[0].Rows {
		printFact(w, "  "+fact[0].Text, fact[1].Text)
	}
	recipe := graph.Kronecker{Scale: 20, EdgeFactor: record.OfficialEdgeFactor}
	memory := harness.EstimateMemory(recipe, d.Memory).Engine
	printFact(w, "  memory", fmt.Sprintf("%s at scale %d", units.Bytes(memory), recipe.Scale))
	for _, o := range d.Options {
		fmt.Fprintf(w, "  %s\n      %s\n", wrapped(w, fmt.Sprintf("%s.%s=%s: %s", e.Name, o.Name, o.Default, o.Takes()), 4),
			wrapped(w, o.Meaning, 6))
	}
	return nil
}

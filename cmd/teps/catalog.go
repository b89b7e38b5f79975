package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/tepsbench/teps/harness"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/record"
)

// catalog is a list of built-in engines. Other engines are programs and shared libraries: files given by path, or named
// teps-engine-NAME or teps-engine-NAME.so in the directory of this program.
type catalog []builtin

type builtin struct {
	name string
	open func() plugins.Engine
}

// find returns the constructor of a built-in engine, or nil.
func (c catalog) find(name string) func() plugins.Engine {
	for _, b := range c {
		if b.name == name {
			return b.open
		}
	}
	return nil
}

func (c catalog) names() (names []string) {
	for _, b := range c {
		names = append(names, b.name)
	}
	return names
}

// parse reads [LABEL=]ENGINE[:OPTION=VALUE]..., where ENGINE is a name, or a path if it has a slash or a dot.
func (c catalog) parse(text string) (choice, error) {
	head, options, _ := strings.Cut(text, ":")
	label, engine, labelled := strings.Cut(head, "=")
	if !labelled {
		engine = head
	}
	spec, err := c.locate(engine)
	if err != nil {
		return choice{}, err
	}
	if labelled {
		if !isLabel(label) {
			return choice{}, usage("--engine %s: a label consists of letters, digits, - and _", text)
		}
		spec.Name = label
	}
	chosen := choice{EngineSpec: spec, labelled: labelled}
	if options == "" {
		return chosen, nil
	}
	for option := range strings.SplitSeq(options, ":") {
		name, value, ok := strings.Cut(option, "=")
		if !ok || name == "" {
			return choice{}, usage("--engine %s: want OPTION=VALUE after a colon, such as distributed:partition=1d", text)
		}
		chosen.setOption(name, value)
	}
	return chosen, nil
}

// locate finds an engine by its name or path.
func (c catalog) locate(engine string) (record.EngineSpec, error) {
	switch {
	case engine == "":
		return record.EngineSpec{}, usage("--engine: an engine's name is empty; teps engines lists all engines")
	case strings.ContainsAny(engine, `/\.`):
		path, err := filepath.Abs(engine)
		if err == nil {
			err = checkFile(path)
		}
		if err != nil {
			return record.EngineSpec{}, usage("engine %s: %w", engine, err)
		}
		return record.EngineSpec{Name: fileLabel(path), Path: path}, nil
	case c.find(engine) != nil:
		return record.EngineSpec{Name: engine, Builtin: engine}, nil
	}
	for _, spec := range installed() {
		if spec.Name == engine {
			return spec, nil
		}
	}
	return record.EngineSpec{}, usage("unknown engine %s; built in: %s; name another by its path, such as ./%s",
		engine, strings.Join(c.names(), ", "), engine)
}

// checkFile refuses a path that cannot be an engine.
func checkFile(path string) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return errors.New("there is no such file")
	case err != nil:
		return err
	case info.IsDir():
		return fmt.Errorf("this is a directory; name the program in it")
	case !info.Mode().IsRegular():
		return fmt.Errorf("this is not a regular file")
	case info.Mode()&0o111 == 0 && !record.IsLibrary(path):
		return fmt.Errorf("this file is not executable; if it is the engine's program: chmod +x %s", path)
	}
	return nil
}

const enginePrefix = "teps-engine-"

// installed lists the engines in the directory of this program, by name. teps-engine-native is not one of them: it
// serves a library that it is given.
func installed() (specs []record.EngineSpec) {
	self, err := os.Executable()
	if err != nil {
		return nil
	}
	paths, _ := filepath.Glob(filepath.Join(filepath.Dir(self), enginePrefix+"*"))
	for _, path := range paths {
		if checkFile(path) == nil && filepath.Base(path) != enginePrefix+"native" {
			specs = append(specs, record.EngineSpec{Name: fileLabel(path), Path: path})
		}
	}
	return specs
}

const labelLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"

func isLabel(text string) bool { return text != "" && strings.Trim(text, labelLetters) == "" }

// fileLabel is the name of an outside engine before it has described itself: teps-engine-cuda is cuda, libmine.so mine.
func fileLabel(path string) string {
	name, _, _ := strings.Cut(filepath.Base(path), ".")
	if name = strings.TrimPrefix(name, enginePrefix); record.IsLibrary(path) {
		name = strings.TrimPrefix(name, "lib")
	}
	name = strings.Map(func(r rune) rune {
		if strings.ContainsRune(labelLetters, r) {
			return r
		}
		return '-'
	}, name)
	if name == "" {
		return "engine"
	}
	return name
}

// choice is an engine that the user has chosen.
type choice struct {
	record.EngineSpec
	labelled bool   // the user has given the name
	file     string // the name by its file, which --set takes as well; empty if the engine was not renamed
}

// name gives an outside engine without a label the name by which it describes itself. An engine that cannot be asked
// keeps its file's name; preparing the run reports what is wrong with it.
func (c *choice) name(ctx context.Context, host harness.Host) {
	if c.labelled || c.Path == "" {
		return
	}
	if d, err := harness.Describe(ctx, host, c.EngineSpec); err == nil && isLabel(d.Name) {
		c.file, c.Name = c.Name, d.Name
	}
}

func (c *choice) setOption(name, value string) {
	if c.Options == nil {
		c.Options = map[string]string{}
	}
	c.Options[name] = value
}

// setChecksum makes the host refuse the engine if its file has another SHA-256.
func (c *choice) setChecksum(sum string) error {
	switch sum = strings.ToLower(sum); {
	case len(sum) != 64 || strings.Trim(sum, "0123456789abcdef") != "":
		return fmt.Errorf("checksum %q: want the 64 digits that sha256sum prints", sum)
	case c.Path == "":
		return fmt.Errorf("engine %s is built in; only outside engines have a checksum", c.Name)
	}
	c.Checksum = sum
	return nil
}

func byName(chosen []choice, name string) (*choice, error) {
	var names []string
	for i := range chosen {
		if c := &chosen[i]; c.Name == name || c.file == name {
			return c, nil
		}
		names = append(names, chosen[i].Name)
	}
	return nil, fmt.Errorf("this run has no engine %s; it has %s", name, strings.Join(names, ", "))
}

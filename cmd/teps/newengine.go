// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tepsbench/teps/examples"
	"github.com/tepsbench/teps/native"
	"github.com/tepsbench/teps/plugins/rpc"
)

// language is a language with an example: its name (also that of the example's directory), a description, the file with
// the engine, the build command and the file that it makes.
type language struct{ name, about, file, build, engine string }

func languages() []language {
	return []language{
		{"go", "a Go program", "main.go", "go build", "teps-engine-mine"},
		{"c", "a shared library in C", "mine.c", "make", "libmine.so"},
		{"openmp", "a shared library in C with OpenMP", "mine.c", "make", "libmine.so"},
		{"cpp", "a shared library in C++", "mine.cc", "make", "libmine.so"},
		{"rust", "a shared library in Rust", "mine.rs", "make", "libmine.so"},
		{"python", "a Python program over gRPC", "teps-engine-mine", "make", "teps-engine-mine"},
	}
}

func newEngineCommand(engines catalog) *cobra.Command {
	const names = "go, c, openmp, cpp, rust, python"
	var chosen, dir string
	c := &cobra.Command{
		Use:   "new-engine NAME",
		Short: "Generate a starter project for an engine of your own",
		Long: `new-engine makes the directory teps-engine-NAME with a small engine that builds,
passes the conformance suite and runs. Replace its search with yours.

Languages: ` + names + `. Use cpp for CUDA and c for Fortran.`,
		Example: `  teps new-engine mine
  teps new-engine mine --language openmp --dir engines/mine`,
		Args: exactArgs(1, "the new engine's name"),
		RunE: func(c *cobra.Command, args []string) error {
			name := args[0]
			i := slices.IndexFunc(languages(), func(l language) bool { return l.name == chosen })
			switch {
			case i < 0:
				return usage("--language %s: want one of %s", chosen, names)
			case engines.find(name) != nil:
				return usage("%s is a built-in engine; choose another name", name)
			case !regexp.MustCompile(`^[a-z][a-z0-9_-]{0,23}$`).MatchString(name):
				return usage("%q is not a name for an engine: want a letter, and up to 23 letters, digits, - and _", name)
			case dir == "":
				dir = enginePrefix + name
			}
			if _, err := os.Lstat(dir); err == nil {
				return usage("%s already exists; choose another name or --dir", dir)
			}
			l := languages()[i]
			if err := l.write(dir, name); err != nil {
				os.RemoveAll(dir)
				return err
			}
			engine := "./" + named(l.engine, name)
			fmt.Fprintf(c.OutOrStdout(), "%s contains %s;\nthe engine is %s. Replace its search with yours. Next:\n\n"+
				"  cd %s\n  %s\n  teps conform %s\n  teps run --engine cpu,%[6]s --scale 16\n",
				dir, l.about, named(l.file, name), dir, l.build, engine)
			return nil
		},
	}
	c.Flags().StringVar(&chosen, "language", "go", "language to write it in: "+names)
	c.Flags().StringVar(&dir, "dir", "", "directory to make (default teps-engine-NAME)")
	return c
}

// named replaces "mine" in an example with the name of an engine.
func named(text, name string) string {
	return regexp.MustCompile(`\b(lib)?mine\b`).ReplaceAllString(text, "${1}"+name)
}

const module = "github.com/tepsbench/teps"

// contract matches the modules that an engine in Go needs besides teps.
var contract = regexp.MustCompile(`^(github\.com/(hashicorp/(go-hclog|go-plugin|yamux)|fatih/color|golang/protobuf|` +
	`mattn/go-(colorable|isatty)|oklog/run)|golang\.org/x/(net|sys|text)|google\.golang\.org/.*)$`)

// write makes the directory of a new engine.
func (l language) write(dir, name string) error {
	files := map[string]string{}                      // texts by name
	list, _ := fs.Glob(examples.Files(), l.name+"/*") // embedded files are always there
	for _, path := range list {
		data, _ := examples.Files().ReadFile(path)
		files[named(filepath.Base(path), name)] = named(string(data), name)
	}
	switch l.name {
	case "python":
		files["engine.proto"] = rpc.Proto()
	case "c", "openmp", "cpp":
		files["teps_engine.h"] = native.Header()
	case "go":
		_, file, _, _ := runtime.Caller(0)
		source := filepath.Dir(filepath.Dir(filepath.Dir(file)))
		goMod, err := os.ReadFile(filepath.Join(source, "go.mod"))
		goSum, sumErr := os.ReadFile(filepath.Join(source, "go.sum"))
		if err := errors.Join(err, sumErr); err != nil {
			return usage("a Go engine needs the source of teps: %w; build teps from a clone", err)
		}
		from, err := filepath.Abs(dir)
		relative, relErr := filepath.Rel(from, source)
		if err := errors.Join(err, relErr); err != nil {
			return err
		}
		// It has the versions of teps, so that nothing has to be downloaded.
		required := "\t" + module + " v0.0.0\n"
		for line := range strings.Lines(string(goMod)) {
			if fields := strings.Fields(line); len(fields) > 1 && contract.MatchString(fields[0]) {
				required += fmt.Sprintf("\t%s %s // indirect\n", fields[0], fields[1])
			}
		}
		files["go.mod"] = fmt.Sprintf("module example.com/%s%s\n\n%s\n\nrequire (\n%s)\n\nreplace %s => %s\n", enginePrefix,
			name, regexp.MustCompile(`(?m)^go .*$`).FindString(string(goMod)), required, module, filepath.ToSlash(relative))
		files["go.sum"] = string(goSum)
	}
	err := os.MkdirAll(dir, 0o777)
	if err != nil {
		return usage("--dir: %w; choose another directory", err)
	}
	for name, text := range files {
		mode := fs.FileMode(0o666)
		if strings.HasPrefix(text, "#!") {
			mode = 0o777
		}
		err = cmp.Or(err, os.WriteFile(filepath.Join(dir, name), []byte(text), mode))
	}
	return err
}

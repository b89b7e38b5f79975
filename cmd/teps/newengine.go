package main

import (
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

// language is one way to write an engine.
type language struct {
	name, about, directory string   // directory of the example
	file                   string   // the example's file with the engine
	build                  []string // commands
	engine                 string   // the file that they make
}

func languages() []language {
	return []language{
		{"go", "a Go program", "go", "main.go", []string{"go build"}, "teps-engine-mine"},
		{"c", "a shared library in C", "c", "mine.c", []string{"make"}, "libmine.so"},
		{"openmp", "the same with OpenMP", "openmp", "mine.c", []string{"make"}, "libmine.so"},
		{"python", "a Python program over gRPC", "python", "teps-engine-mine", []string{"make"}, "teps-engine-mine"},
	}
}

func newEngineCommand(engines catalog) *cobra.Command {
	var chosen string
	var e newEngine
	var names []string
	for _, l := range languages() {
		names = append(names, l.name)
	}
	c := &cobra.Command{
		Use:   "new-engine NAME",
		Short: "Generate a starter project for an engine of your own",
		Long: `new-engine makes the directory teps-engine-NAME with a small engine that builds, passes
the conformance suite and runs. Replace its search with yours.

Languages: ` + strings.Join(names, ", ") + `. Use c for C++, CUDA and Fortran, too.`,
		Example: `  teps new-engine mine
  teps new-engine mine --language c
  teps new-engine mine --language openmp --dir engines/mine`,
		Args: exactArgs(1, "the new engine's name"),
		RunE: func(c *cobra.Command, args []string) error {
			i := slices.Index(names, chosen)
			if i < 0 {
				return usage("--language %s: want one of %s", chosen, strings.Join(names, ", "))
			}
			e.name, e.language = args[0], languages()[i]
			if engines.find(e.name) != nil {
				return usage("%s is a built-in engine; choose another name", e.name)
			}
			if err := e.check(); err != nil {
				return err
			}
			if err := e.write(); err != nil {
				return err
			}
			fmt.Fprint(c.OutOrStdout(), e.next())
			return nil
		},
	}
	c.Flags().StringVar(&chosen, "language", "go", "language to write it in: "+strings.Join(names, ", "))
	c.Flags().StringVar(&e.dir, "dir", "", "directory to make (default teps-engine-NAME)")
	c.Flags().SortFlags = false
	return c
}

// newEngine is one request for a new engine.
type newEngine struct {
	name, dir, source string
	language          language
}

func (e *newEngine) check() error {
	if !regexp.MustCompile(`^[a-z][a-z0-9_-]{0,23}$`).MatchString(e.name) {
		return usage("%q is not a name for an engine: want a letter and up to 23 lower-case letters, digits, - and _", e.name)
	}
	if e.dir == "" {
		e.dir = enginePrefix + e.name
	}
	if _, err := os.Lstat(e.dir); err == nil {
		return usage("%s already exists; choose another name or --dir", e.dir)
	}
	if e.language.name != "go" {
		return nil
	}
	_, file, _, _ := runtime.Caller(0)
	e.source = filepath.Dir(filepath.Dir(filepath.Dir(file)))
	if _, err := os.Stat(filepath.Join(e.source, "go.mod")); err != nil {
		return usage("a Go engine needs the source of teps, in %s: %w; build teps from a clone", e.source, err)
	}
	return nil
}

const tepsModule = "github.com/tepsbench/teps"

// mine stands for the engine's name in the examples.
var mine = regexp.MustCompile(`\b(lib)?mine\b`)

func (e *newEngine) named(text string) string { return mine.ReplaceAllString(text, "${1}"+e.name) }

// write makes the directory, or nothing if there is an error.
func (e *newEngine) write() (err error) {
	if err := os.MkdirAll(filepath.Dir(e.dir), 0o777); err != nil {
		return err
	}
	if err := os.Mkdir(e.dir, 0o777); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.RemoveAll(e.dir)
		}
	}()
	files := examples.Files()
	list, err := fs.ReadDir(files, e.language.directory)
	if err != nil {
		return err
	}
	for _, f := range list {
		data, err := fs.ReadFile(files, e.language.directory+"/"+f.Name())
		if err != nil {
			return err
		}
		if err := e.writeFile(e.named(f.Name()), e.named(string(data))); err != nil {
			return err
		}
	}
	switch e.language.name {
	case "go":
		return e.writeModule()
	case "python":
		return e.writeFile("engine.proto", rpc.Proto())
	}
	return e.writeFile("teps_engine.h", native.Header())
}

func (e *newEngine) writeFile(name, text string) error {
	mode := fs.FileMode(0o666)
	if strings.HasPrefix(text, "#!") {
		mode = 0o777
	}
	return os.WriteFile(filepath.Join(e.dir, name), []byte(text), mode)
}

// writeModule writes go.mod and go.sum with everything that teps itself needs, so that nothing has to be downloaded.
// `go mod tidy` removes what the engine does not use.
func (e *newEngine) writeModule() error {
	goMod, err := os.ReadFile(filepath.Join(e.source, "go.mod"))
	if err != nil {
		return err
	}
	goSum, err := os.ReadFile(filepath.Join(e.source, "go.sum"))
	if err != nil {
		return err
	}
	_, requirements, _ := strings.Cut(string(goMod), "\n")
	text := fmt.Sprintf("module example.com/%s%s\n%s\nrequire %s v0.0.0\n\nreplace %[4]s => %s\n",
		enginePrefix, e.name, requirements, tepsModule, e.source)
	if err := e.writeFile("go.mod", text); err != nil {
		return err
	}
	return e.writeFile("go.sum", string(goSum))
}

// next is what to do now.
func (e *newEngine) next() string {
	engine := "./" + e.named(e.language.engine)
	lines := append([]string{"cd " + e.dir}, e.language.build...)
	lines = append(lines, "teps conform "+engine, "teps run --engine cpu,"+engine+" --scale 16")
	return fmt.Sprintf("%s contains %s; the engine is %s. Replace its search with yours. Next:\n\n  %s\n",
		e.dir, e.language.about, e.named(e.language.file), strings.Join(lines, "\n  "))
}

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
	"github.com/tepsbench/teps/harness"
	"github.com/tepsbench/teps/native"
	"github.com/tepsbench/teps/plugins/rpc"
)

// language is one way to write an engine: an example to begin from, and what to do with it.
type language struct {
	name, about, folder string
	file                string   // the engine itself, as the example calls it
	build               []string // commands
	engine              string   // what they make
}

func languages() []language {
	return []language{
		{"go", "a Go program", "go", "main.go", []string{"go build"}, "teps-engine-mine"},
		{"c", "a shared library in C", "c", "mine.c", []string{"make"}, "libmine.so"},
		{"openmp", "the same with OpenMP", "openmp", "mine.c", []string{"make"}, "libmine.so"},
		{"python", "a Python program over gRPC", "python", "teps-engine-mine", []string{"make"}, "teps-engine-mine"},
	}
}

func newEngineCommand() *cobra.Command {
	var chosen, dir, source string
	var names []string
	for _, l := range languages() {
		names = append(names, l.name)
	}
	c := &cobra.Command{
		Use:   "new-engine NAME",
		Short: "Write an engine of your own to begin from",
		Long: `new-engine makes the folder teps-engine-NAME with a small engine in it that builds,
passes the conformance suite and runs: its search is what to replace.

Languages: ` + strings.Join(names, ", ") + `. A library in C is also the way for C++, CUDA and Fortran.`,
		Example: `  teps new-engine mine
  teps new-engine mine --language c
  teps new-engine mine --language openmp --dir engines/mine`,
		Args: exactArgs(1, "the new engine's name"),
		RunE: func(c *cobra.Command, args []string) error {
			i := slices.Index(names, chosen)
			if i < 0 {
				return harness.Usage("--language %s: want one of %s", chosen, strings.Join(names, ", "))
			}
			e := newEngine{name: args[0], dir: dir, source: source, language: languages()[i]}
			if err := e.check(); err != nil {
				return err
			}
			if err := e.write(); err != nil {
				return err
			}
			_, err := fmt.Fprint(c.OutOrStdout(), e.next())
			return err
		},
	}
	c.Flags().StringVar(&chosen, "language", "go", "language to write it in: "+strings.Join(names, ", "))
	c.Flags().StringVar(&dir, "dir", "", "folder to make (default teps-engine-NAME)")
	c.Flags().StringVar(&source, "teps", "", "folder of teps' source, for --language go (default: the one that this program was built from)")
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
		return harness.Usage("%q cannot be an engine's name: want up to 24 lower-case letters, digits, - and _, a letter first", e.name)
	}
	if builtin(e.name) != nil {
		return harness.Usage("there is a built-in engine %s; choose another name", e.name)
	}
	if e.dir == "" {
		e.dir = "teps-engine-" + e.name
	}
	if _, err := os.Lstat(e.dir); err == nil {
		return harness.Usage("%s is there already; choose another name or --dir", e.dir)
	}
	if e.language.name != "go" {
		return nil
	}
	if e.source == "" {
		_, file, _, _ := runtime.Caller(0)
		e.source = filepath.Dir(filepath.Dir(filepath.Dir(file)))
	}
	module, err := os.ReadFile(filepath.Join(e.source, "go.mod"))
	if err != nil || !strings.HasPrefix(string(module), "module "+tepsModule+"\n") {
		return harness.Usage("a Go engine is built with teps' source, which is not in %s; name the clone with --teps DIR", e.source)
	}
	e.source, err = filepath.Abs(e.source)
	return err
}

const tepsModule = "github.com/tepsbench/teps"

// mine is the word in the examples that stands for the engine's name.
var mine = regexp.MustCompile(`\b(lib)?mine\b`)

func (e *newEngine) named(text string) string { return mine.ReplaceAllString(text, "${1}"+e.name) }

// write makes the folder; after an error there is none.
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
	list, err := fs.ReadDir(files, e.language.folder)
	if err != nil {
		return err
	}
	for _, f := range list {
		data, err := fs.ReadFile(files, e.language.folder+"/"+f.Name())
		if err != nil {
			return err
		}
		mode := fs.FileMode(0o666)
		if strings.HasPrefix(string(data), "#!") {
			mode = 0o777
		}
		if err := os.WriteFile(filepath.Join(e.dir, e.named(f.Name())), []byte(e.named(string(data))), mode); err != nil {
			return err
		}
	}
	switch e.language.name {
	case "go":
		return e.writeModule()
	case "c", "openmp":
		return os.WriteFile(filepath.Join(e.dir, "teps_engine.h"), []byte(native.Header()), 0o666)
	case "python":
		return os.WriteFile(filepath.Join(e.dir, "engine.proto"), []byte(rpc.Proto()), 0o666)
	}
	return nil
}

// writeModule writes go.mod and go.sum with everything that teps itself needs, so that nothing has to be fetched.
// `go mod tidy` takes out what the engine does not use.
func (e *newEngine) writeModule() error {
	module, err := os.ReadFile(filepath.Join(e.source, "go.mod"))
	if err != nil {
		return err
	}
	sums, err := os.ReadFile(filepath.Join(e.source, "go.sum"))
	if err != nil {
		return err
	}
	text := strings.Replace(string(module), "module "+tepsModule+"\n", "module example.com/teps-engine-"+e.name+"\n", 1)
	text += fmt.Sprintf("\nrequire %s v0.0.0\n\nreplace %s => %s\n", tepsModule, tepsModule, e.source)
	if err := os.WriteFile(filepath.Join(e.dir, "go.mod"), []byte(text), 0o666); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(e.dir, "go.sum"), sums, 0o666)
}

// next says what to do now.
func (e *newEngine) next() string {
	engine := "./" + e.named(e.language.engine)
	lines := []string{"cd " + e.dir}
	lines = append(lines, e.language.build...)
	lines = append(lines, "teps conform "+engine, "teps run --engine cpu,"+engine+" --scale 16")
	return fmt.Sprintf("%s holds %s; %s is the engine, its search what to replace. Next:\n\n  %s\n",
		e.dir, e.language.about, e.named(e.language.file), strings.Join(lines, "\n  "))
}

// SPDX-License-Identifier: Apache-2.0

// Package teps_test holds the project to the picture in docs/architecture.md: which package may import which, which
// library is known to whom, and which files may be unsafe.
package teps_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tepsbench/teps/internal/must"
)

const module = "github.com/tepsbench/teps"

// arrows says what each package may import of ours. A package that is not here does not belong to the project yet.
var arrows = map[string][]string{
	"graph":           {},
	"graph/adjacency": {"graph"},
	"graph/files": {
		"graph", "graph/adjacency", "graph/files/internal/osmpb", "internal/child", "internal/regular",
	},
	"graph/files/internal/osmpb": {},
	"graph/stats":                {"graph", "graph/adjacency"},
	"graph/validate":             {"graph", "internal/lookup"},
	"plugins":                    {"graph", "graph/validate"},
	"plugins/enginetest":         {"graph", "graph/validate", "plugins", "internal/units"},
	"internal/child":             {},
	"plugins/rpc": {
		"graph", "graph/validate", "plugins", "internal/child", "internal/regular", "plugins/rpc/internal/enginepb",
	},
	"plugins/rpc/internal/enginepb": {},
	"cpu": {
		"graph", "plugins", "cpu/layout", "machine", "internal/hubs", "internal/lookup", "internal/memory",
		"internal/parents", "internal/team",
	},
	"cpu/layout": {
		"graph", "plugins", "internal/csr", "internal/memory", "internal/parents", "internal/team",
	},
	"cuda":             {"graph", "plugins", "cuda/driver", "cuda/team", "internal/offload", "internal/units"},
	"cuda/driver":      {"plugins", "internal/offload", "internal/units"},
	"cuda/accelerator": {"graph", "graph/validate", "machine", "plugins", "cuda/driver", "internal/offload"},
	"cuda/team":        {"graph", "plugins", "cuda/driver", "internal/mpi", "internal/offload"},
	"cuda/literature":  {"graph", "plugins", "cuda/driver", "cuda/team", "internal/kolganov", "internal/offload"},
	"distributed": {
		"graph", "plugins", "distributed/comm", "machine", "internal/csr", "internal/hubs", "internal/lookup",
		"internal/memory", "internal/parents", "internal/team", "internal/units",
	},
	"distributed/comm": {"internal/team"},
	"distributed/mpi": {
		"graph", "plugins", "distributed", "distributed/comm", "internal/child", "internal/mpi", "internal/team",
	},
	"opencl":            {"graph", "plugins", "opencl/driver", "internal/offload"},
	"opencl/driver":     {"plugins", "internal/offload", "internal/units"},
	"power":             {},
	"power/meters":      {"power", "internal/child"},
	"internal/csr":      {"internal/memory", "internal/team"},
	"internal/hubs":     {},
	"internal/kolganov": {"graph"},
	"internal/lookup":   {"graph"},
	"internal/memory":   {"plugins"},
	"internal/mpi":      {"internal/child", "internal/team"},
	"internal/must":     {},
	"internal/offload":  {"graph", "plugins"},
	"internal/parents":  {"graph", "internal/memory", "internal/team"},
	"internal/regular":  {},
	"internal/team":     {},
	"internal/units":    {},
	"machine":           {"internal/units"},
	"record":            {"graph", "graph/validate", "machine", "plugins", "power", "internal/regular", "internal/units"},
	"harness": {
		"graph", "graph/files", "graph/validate", "machine", "plugins", "power", "record", "internal/units",
	},
	"cluster": {
		"graph", "graph/validate", "harness", "internal/child", "internal/mpi", "internal/units", "machine", "plugins",
		"plugins/rpc", "power", "record",
	},
	"compare":         {"graph", "record", "internal/units"},
	"reports":         {"plugins", "power", "record", "internal/units"},
	"reports/parts":   {"compare", "graph", "plugins", "power", "record", "reports", "internal/units"},
	"reports/plot":    {"record", "reports"},
	"reports/page":    {"reports", "reports/parts", "reports/plot"},
	"reports/text":    {"plugins", "power", "record", "compare", "reports", "reports/parts", "internal/units"},
	"reports/formats": {"record", "reports", "reports/parts", "reports/page", "reports/plot", "reports/text"},
	"sweep":           {"compare", "plugins", "machine", "record", "harness", "internal/units"},
	"cmd/teps": {
		"cluster", "graph", "graph/files", "graph/stats", "plugins", "plugins/enginetest", "plugins/rpc", "cpu",
		"distributed", "distributed/mpi", "opencl", "serial",
		"native", "examples", "power", "power/meters", "machine", "record", "harness", "sweep",
		"compare", "reports", "reports/formats", "reports/parts", "reports/plot", "reports/text", "internal/regular",
		"internal/units",
	},
	"cmd/teps-engine-cuda":            {"plugins/rpc", "cuda"},
	"cmd/teps-engine-cuda-literature": {"plugins/rpc", "cuda/literature"},
	"cmd/teps-host-cuda":              {"plugins/rpc", "cuda/accelerator"},
	"native":                          {"graph", "plugins"},
	"serial":                          {"graph", "plugins", "machine", "internal/kolganov"},
	"examples":                        {},
	"examples/go":                     {"graph", "plugins", "plugins/rpc"},
}

// libraries says which packages may know a library: the prefix of its import path.
var libraries = map[string][]string{
	"github.com/hashicorp/":      {"plugins/rpc", "plugins/rpc/internal/enginepb"},
	"google.golang.org/":         {"cluster", "plugins/rpc", "plugins/rpc/internal/enginepb"},
	"github.com/google/":         {"record", "graph/files", "internal/must"},
	"github.com/klauspost/":      {"graph/files"},
	"github.com/therootcompany/": {"graph/files"},
	"gonum.org/":                 {"compare", "record", "reports/plot"},
	"codeberg.org/":              {"reports/plot"},
	"golang.org/x/image/":        {"reports/plot"},
	"github.com/shirou/":         {"machine", "distributed/mpi"},
	"github.com/spf13/":          {"cmd/teps"},
	"github.com/goccy/":          {"cmd/teps"},
	"github.com/jedib0t/":        {"cmd/teps", "reports", "reports/text"},
	"golang.org/x/term":          {"cmd/teps"},
	"golang.org/x/sys/cpu":       {"cpu", "internal/lookup"},
	"golang.org/x/sys/unix": {
		"cluster", "distributed/mpi", "internal/child", "internal/memory", "internal/team", "plugins/rpc",
	},
	"gorgonia.org/":          {"cuda", "cuda/accelerator", "cuda/driver", "cuda/literature", "cuda/team"},
	"pgregory.net/":          {"internal/must"},
	"github.com/ebitengine/": {"internal/mpi", "opencl/driver", "power/meters"},

	"google.golang.org/protobuf/": {"graph/files", "graph/files/internal/osmpb"},
}

// unsafeFiles are the files that may import unsafe: views of shared and off-heap memory, calls of MPI, and the
// arrays of loops that bounds checks would slow down, and nothing else. Generated code is left out.
var unsafeFiles = []string{
	"cpu/unchecked.go",
	"cuda/bfs.go",
	"cuda/carrier.go",
	"cuda/driver/driver.go",
	"cuda/driver/gpu.go",
	"cuda/driver/memory.go",
	"cuda/driver/nccl.go",
	"cuda/driver/stage.go",
	"cuda/gpu.go",
	"cuda/team/link.go",
	"distributed/mpi/group.go",
	"distributed/mpi/memory_linux.go",
	"distributed/mpi/share.go",
	"graph/checksum.go",
	"graph/validate/hugepages_linux.go",
	"internal/memory/heap.go",
	"internal/memory/mapped_linux.go",
	"internal/mpi/comm.go",
	"internal/mpi/library.go",
	"internal/offload/offload.go",
	"internal/team/processors_linux.go",
	"native/library_cgo.go",
	"opencl/driver/device.go",
	"opencl/driver/library.go",
	"opencl/driver/queue.go",
	"opencl/driver/stage.go",
	"plugins/rpc/mapping.go",
}

type file struct {
	path, pkg string
	imports   []string
}

func sources(t *testing.T) []file {
	t.Helper()
	var all []file
	must.Do(filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata") {
			return fs.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		f := file{path: filepath.ToSlash(path), pkg: filepath.ToSlash(filepath.Dir(path))}
		for _, i := range parsed.Imports {
			name, err := strconv.Unquote(i.Path.Value)
			if err != nil {
				return err
			}
			f.imports = append(f.imports, name)
		}
		all = append(all, f)
		return nil
	}))
	return all
}

func TestPackagesImportOnlyWhatTheirArrowReaches(t *testing.T) {
	found := map[string]bool{}
	for _, f := range sources(t) {
		found[f.pkg] = true
		reach, known := arrows[f.pkg]
		if !known {
			t.Errorf("%s: package %s has no row in the table of arrows", f.path, f.pkg)
			continue
		}
		for _, name := range f.imports {
			if ours, ok := strings.CutPrefix(name, module+"/"); ok {
				if !slices.Contains(reach, ours) {
					t.Errorf("%s imports %s; %s may import %v", f.path, ours, f.pkg, reach)
				}
				continue
			}
			if !strings.Contains(strings.Split(name, "/")[0], ".") {
				continue // the standard library
			}
			allowed := false
			for prefix, packages := range libraries {
				allowed = allowed || strings.HasPrefix(name, prefix) && slices.Contains(packages, f.pkg)
			}
			if !allowed {
				t.Errorf("%s imports %s, which is not for package %s", f.path, name, f.pkg)
			}
		}
	}
	for pkg := range arrows {
		if !found[pkg] {
			t.Errorf("package %s has arrows and no files", pkg)
		}
	}
}

func TestUnsafeStaysInNamedFiles(t *testing.T) {
	for _, f := range sources(t) {
		if strings.HasSuffix(f.path, ".pb.go") {
			continue
		}
		if slices.Contains(f.imports, "unsafe") != slices.Contains(unsafeFiles, f.path) {
			t.Errorf("%s: imports unsafe: %v; the list of unsafe files says otherwise",
				f.path, slices.Contains(f.imports, "unsafe"))
		}
	}
	for _, path := range unsafeFiles {
		if _, err := os.Stat(path); err != nil {
			t.Errorf("%s is in the list of unsafe files: %v", path, err)
		}
	}
}

func TestFilesAreShort(t *testing.T) {
	for _, f := range sources(t) {
		data := must.Get(os.ReadFile(f.path))
		if n := strings.Count(string(data), "\n"); n > 400 && !strings.HasSuffix(f.path, ".pb.go") {
			t.Errorf("%s has %d lines; 400 need a reason", f.path, n)
		}
	}
}

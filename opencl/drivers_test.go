// SPDX-License-Identifier: Apache-2.0

package opencl

import (
	"debug/elf"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/opencl/driver"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/plugins/enginetest"
)

// driverVariable is set where a test runs other tests with a driver.
const driverVariable = "TEPS_TEST_DRIVER"

// needsDriver skips a test that another one runs.
func needsDriver(t *testing.T) {
	if os.Getenv(driverVariable) == "" {
		t.Skip("is part of TestDrivers or TestFailures")
	}
}

// Small graphs, which a simulator can search, with every kernel and every step.
func TestSmallGraphs(t *testing.T) {
	needsDriver(t)
	v := tuning{group: 8, perUnit: 1, alone: 8, queue: 8, piece: 2, oneGroup: 3, reads: 2, scan: 4, sortGroup: 8,
		sortUnit: 1, batch: 1, compiler: "-DCHECKED"}
	for _, c := range [][2]string{
		{"kron:6", "auto"}, {"kron:6", "topdown"}, {"grid2d:8", "topdown"}, {"grid2d:4", "bottomup"},
	} {
		if err := searchSome(t, v, c[0], c[1]); err != nil {
			t.Errorf("%v: %v", c, err)
		}
	}
}

// A graph for whose loops llvmpipe is not made.
func TestLongLoops(t *testing.T) {
	needsDriver(t)
	err := searchSome(t, tuned(driver.Device{Kind: "cpu"}), "path:1100000", "auto")
	if !errors.Is(err, plugins.ErrTuples) {
		t.Errorf("got %v, want ErrTuples", err)
	}
}

// searchSome builds a graph and searches it from four vertices.
func searchSome(t *testing.T, v tuning, spec, direction string) error {
	source, tuples := enginetest.Generated(t, spec)
	truth, err := enginetest.NewTruth(tuples, source.Vertices())
	if err != nil {
		t.Fatal(err)
	}
	set, err := plugins.Resolve(options(nil), map[string]string{"direction": direction})
	if err != nil {
		t.Fatal(err)
	}
	built, err := variant(v)(t.Context(), plugins.Input{Tuples: tuples}, set)
	if err != nil {
		return err
	}
	for root := range graph.Vertex(4) {
		if _, err := truth.Search(t.Context(), root, built.Search); err != nil {
			return errors.Join(err, built.Free())
		}
	}
	return built.Free()
}

// withDriver runs tests of this program with an OpenCL library, and returns what they printed.
func withDriver(t *testing.T, tests, library string, environment ...string) (string, error) {
	c := exec.CommandContext(t.Context(), os.Args[0], "-test.run", tests, "-test.v")
	c.Env = append(os.Environ(), append(environment, driver.LibraryVariable+"="+library, driverVariable+"=yes")...)
	out, err := c.CombinedOutput()
	return string(out), err
}

// Drivers have different compilers, and oclgrind checks every access to memory: invalid ones, and races.
func TestDrivers(t *testing.T) {
	const some = "^TestSmallGraphs$|^TestLongLoops$|^TestConformance$/^graph$/" +
		"^(path|path-6.|path-deep|star.*|grid|tree|cycle|duplicates|two-components|kronecker-10)$"
	for name, driver := range map[string]struct{ file, tests string }{
		"pocl": {"", "^TestVariantsOfConstants$"}, "oclgrind": {"/usr/lib/oclgrind/liboclgrind-rt.so", "^TestSmallGraphs$"},
		"rusticl": {"/usr/lib/x86_64-linux-gnu/libRusticlOpenCL.so.1", some},
	} {
		file := driver.file
		t.Run(name, func(t *testing.T) {
			t.Parallel() // compilers use one processor
			if _, err := os.Stat(file); err != nil && file != "" {
				t.Skipf("%v; install Debian's package oclgrind or mesa-opencl-icd", err)
			}
			directory := t.TempDir()
			out, err := withDriver(t, driver.tests, file, "RUSTICL_ENABLE=llvmpipe", "OCLGRIND_DATA_RACES=1",
				"OCLGRIND_UNIFORM_WRITES=1", "POCL_CACHE_DIR="+directory)
			if err != nil || strings.Contains(out, "\tKernel: ") { // what oclgrind finds; a log has the last context's
				t.Errorf("%v\n%s", err, out)
			}
			t.Logf("%s", out)
			if name == "pocl" {
				checkLocalMemory(t, directory)
			}
		})
	}
}

// checkLocalMemory reads what pocl has compiled. A local variable that is one of the library's would be shared by the
// threads, and searches would rarely be wrong (INLINED in kernels/graph.cl).
func checkLocalMemory(t *testing.T, cache string) {
	t.Helper()
	kernels, err := filepath.Glob(filepath.Join(cache, "*", "*", "*", "*", "*.so"))
	if err != nil {
		t.Fatal(err)
	}
	if len(kernels) == 0 {
		t.Skip("pocl, which compiles for processors, is not here")
	}
	for _, file := range kernels {
		code, err := elf.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		symbols, err := code.Symbols()
		if err = errors.Join(err, code.Close()); err != nil {
			t.Fatal(err)
		}
		kernel := strings.TrimSuffix(filepath.Base(file), ".so")
		for _, s := range symbols {
			if strings.HasPrefix(s.Name, kernel+".") {
				t.Errorf("threads of pocl share the local variable %s", s.Name)
			}
		}
	}
}

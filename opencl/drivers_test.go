// SPDX-License-Identifier: Apache-2.0

package opencl

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/opencl/driver"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/plugins/enginetest"
)

var flagOclgrind = flag.Bool("opencl.oclgrind", false, "search small graphs under oclgrind, which takes many minutes")

// checkedVariable is set for a driver that checks memory accesses and races.
const checkedVariable = "TEPS_TEST_CHECKED"

// Small graphs, which a simulator can search, with every kernel and every step.
func TestSmallGraphs(t *testing.T) {
	v := tuning{group: 8, perUnit: 1, queue: 8, piece: 2, oneGroup: 4, reads: 2, scan: 4, sortGroup: 8, sortUnit: 1,
		batch: 4}
	if os.Getenv(checkedVariable) != "" {
		v.compiler = "-DCHECKED"
	}
	for _, spec := range []string{"kron:7", "grid2d:6"} {
		source, tuples := enginetest.Generated(t, spec)
		truth, err := enginetest.NewTruth(tuples, source.Vertices())
		if err != nil {
			t.Fatal(err)
		}
		for _, direction := range []string{"auto", "topdown", "bottomup"} {
			set, err := plugins.Resolve(options(), map[string]string{"direction": direction})
			if err != nil {
				t.Fatal(err)
			}
			built, err := variant(v)(t.Context(), plugins.Input{Tuples: tuples}, set)
			if err != nil {
				t.Skip(err)
			}
			for root := range graph.Vertex(4) {
				if _, err := truth.Search(t.Context(), root, built.Search); err != nil {
					t.Errorf("%s, %s, root %d: %v", spec, direction, root, err)
				}
			}
			if err := built.Free(); err != nil {
				t.Error(err)
			}
		}
	}
}

// Other drivers have other compilers, and oclgrind checks every access to memory: invalid ones, and races.
func TestOtherDrivers(t *testing.T) {
	for name, file := range map[string]string{
		"oclgrind": "/usr/lib/oclgrind/liboclgrind-rt.so", "rusticl": "/usr/lib/x86_64-linux-gnu/libRusticlOpenCL.so.1",
	} {
		t.Run(name, func(t *testing.T) {
			if name == "oclgrind" && !*flagOclgrind {
				t.Skip("runs only with -opencl.oclgrind")
			}
			if _, err := os.Stat(file); err != nil {
				t.Skipf("%v; install Debian's package oclgrind or mesa-opencl-icd", err)
			}
			log := filepath.Join(t.TempDir(), "log")
			c := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^TestSmallGraphs$", "-test.v")
			c.Env = append(os.Environ(), driver.LibraryVariable+"="+file, checkedVariable+"=1", "RUSTICL_ENABLE=llvmpipe",
				"OCLGRIND_DATA_RACES=1", "OCLGRIND_UNIFORM_WRITES=1", "OCLGRIND_LOG="+log)
			out, err := c.CombinedOutput()
			found, _ := os.ReadFile(log)
			if err != nil || len(found) > 0 {
				t.Errorf("%v\n%s%s", err, out, found)
			}
			t.Logf("%s", out)
		})
	}
}

// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/internal/must"
)

// The file's labels have gaps and do not begin at 0.
func TestSearchWritesLabelsOfTheFile(t *testing.T) {
	work := t.TempDir()
	file, out := filepath.Join(work, "gaps.el"), filepath.Join(work, "new", "out.txt")
	must.Do(os.WriteFile(file, []byte("1000000007 20\n20 3000000\n9 8\n"), 0o666))
	if e := run(t, "search", file, "--root", "3000000", "--out", out); e.code != exitValid || e.stdout != "" {
		t.Fatalf("exit code %d: %s", e.code, e.stderr)
	}
	got, err := os.ReadFile(out)
	if want := "20 3000000 1\n3000000 3000000 0\n1000000007 20 2\n"; err != nil || string(got) != want {
		t.Errorf("%v, got:\n%swant:\n%s", err, got, want)
	}
	if left, _ := filepath.Glob(filepath.Join(work, "new", ".*")); left != nil {
		t.Errorf("left behind: %v", left)
	}
	e := run(t, "search", file, "--root", "5")
	if e.code != exitUsage || !strings.Contains(e.stderr, "has no vertex 5; its labels are from 8 to 1000000007") {
		t.Errorf("no such vertex: exit code %d: %s", e.code, e.stderr)
	}
}

func TestSearchReadsWeights(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.wel")
	must.Do(os.WriteFile(file, []byte("10 20 0.5\n20 30 1.25\n30 10 4\n"), 0o666))
	e := run(t, "search", file, "--root", "10", "--kernel", "sssp", "--engine", "serial")
	if want := "10 10 0\n20 10 0.5\n30 20 1.75\n"; e.code != exitValid || e.stdout != want {
		t.Errorf("exit code %d, got:\n%swant:\n%s%s", e.code, e.stdout, want, e.stderr)
	}
}

// Distances are printed so that they read back as the same number.
func TestSearchWritesShortestPaths(t *testing.T) {
	e := run(t, "search", "kron:10", "--root", "458", "--kernel", "sssp", "--engine", "serial")
	lines := strings.Split(strings.TrimSpace(e.stdout), "\n")
	if e.code != exitValid || len(lines) != 897 {
		t.Fatalf("exit code %d, %d lines: %s", e.code, len(lines), e.stderr)
	}
	k := graph.Kronecker{Scale: 10, EdgeFactor: 16, Seed1: 2, Seed2: 3}
	edges, weights := make([]graph.Edge, k.Tuples()), make([]float32, k.Tuples())
	must.Do(k.Generate(t.Context(), edges, 0, 1))
	must.Do(graph.Weights(t.Context(), k, 0, 0, weights, 0, 1))
	rows, _ := graph.NewWeightedCSR(edges, weights, k.Vertices())
	_, distance, _ := rows.ShortestPaths(458)
	for _, line := range lines {
		fields := strings.Fields(line)
		v, _ := strconv.Atoi(fields[0])
		if d, err := strconv.ParseFloat(fields[2], 32); err != nil || float32(d) != distance[v] {
			t.Errorf("line %q: want the distance %v", line, distance[v])
		}
	}
}

func TestSearchRefuses(t *testing.T) {
	for line, want := range map[string]string{
		"search grid2d:3":                                "--root is missing",
		"search grid2d:3 --root 9":                       "has no vertex 9; its labels are from 0 to 8",
		"search grid2d:3 --root 1 --kernel dfs":          "want bfs or sssp",
		"search grid2d:3 --root 1 --kernel bfs,sssp":     "want bfs or sssp",
		"search grid2d:3 --root -1":                      "want a whole number from 0",
		"search --root 1":                                "takes a graph",
		"search grid2d:3 --root 1 --engine no-such":      "no-such",
		"search nowhere.el --root 1":                     "does not exist",
		"search grid2d:3 --root 1 --out " + os.TempDir(): "is a directory",
	} {
		e := run(t, strings.Fields(line)...)
		if e.code != exitUsage || !strings.Contains(e.stderr, want) {
			t.Errorf("%s: exit code %d, %s, want %s", line, e.code, e.stderr, want)
		}
	}
}

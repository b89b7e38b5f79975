// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strconv"
	"strings"
	"testing"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/internal/must"
)

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

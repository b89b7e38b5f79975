// SPDX-License-Identifier: Apache-2.0

package validate

import (
	"bytes"
	"encoding/json"
	"flag"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/internal/must"
)

var flagUpdate = flag.Bool("update", false, "write the file of wrong parents that accelerators are tested with")

// wrongParentsFile has a line for each graph and then for each wrong result on it, for the test of accelerators
// (cuda/accelerator), which reads the same lines.
const wrongParentsFile = "../../cuda/accelerator/testdata/wrong_parents.jsonl"

type wrongGraph struct {
	Graph    string            `json:"graph"`
	Vertices int64             `json:"vertices"`
	Root     graph.Vertex      `json:"root"`
	Tuples   [][2]graph.Vertex `json:"tuples"`
}

type wrongResult struct {
	Name     string            `json:"name"`
	Changes  [][2]graph.Vertex `json:"changes"` // entries of the parents that graph.CSR.Search returns, and their values
	Rule     Rule              `json:"rule"`
	Vertices []graph.Vertex    `json:"named"`
}

// TestWrongParentsOfAccelerators applies every mutation to some graphs, and compares the file with the violations.
func TestWrongParentsOfAccelerators(t *testing.T) {
	var file bytes.Buffer
	lines, applied := json.NewEncoder(&file), map[string]bool{}
	write := func(line any) {
		must.Do(lines.Encode(line))
	}
	for i, s := range samples(t) {
		if !slices.Contains([]string{"path from its middle", "path of one level more", "star from a leaf", "clique",
			"two components, from the large one", "two components, from the small one", "random with 200 tuples",
		}, s.name) {
			continue
		}
		g := wrongGraph{Graph: s.name, Vertices: s.vertices, Root: s.root}
		for _, e := range s.edges {
			a, b := e.Ends()
			g.Tuples = append(g.Tuples, [2]graph.Vertex{a, b})
		}
		write(g)
		csr, v := must.Get(graph.NewCSR(s.edges, s.vertices)), mustValidator(t, s.edges, s.vertices, 2)
		parent, level := must.Get2(csr.Search(s.root))
		for _, c := range mutations {
			m := subject{sample: s, csr: csr, parent: slices.Clone(parent), level: level,
				rng: rand.New(rand.NewPCG(1, uint64(i)))}
			if !c.apply(&m) {
				continue
			}
			applied[c.name] = true
			_, err := v.Validate(t.Context(), s.root, m.parent, nil)
			r := wrongResult{Name: c.name, Rule: c.rule, Vertices: wantRule(t, err, c.rule, "").Vertices}
			for v, p := range m.parent {
				if p != parent[v] {
					r.Changes = append(r.Changes, [2]graph.Vertex{graph.Vertex(v), p})
				}
			}
			write(r)
		}
	}
	for _, c := range mutations {
		if !applied[c.name] {
			t.Errorf("%s: not possible in any of the graphs", c.name)
		}
	}
	if *flagUpdate {
		must.Do(os.WriteFile(wrongParentsFile, file.Bytes(), 0o644))
	}
	if got, err := os.ReadFile(wrongParentsFile); err != nil || !bytes.Equal(got, file.Bytes()) {
		t.Errorf("%s is not what -update writes (%v)", wrongParentsFile, err)
	}
}

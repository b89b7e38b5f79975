// SPDX-License-Identifier: Apache-2.0

package cpu

import (
	"math"
	"slices"
	"testing"

	"github.com/tepsbench/teps/cpu/layout"
	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/internal/must"
	"github.com/tepsbench/teps/plugins"
)

// ablation is the full engine, or the engine without one technique.
type ablation struct {
	name    string
	options string
	lists   layout.Options
	remove  func(t testing.TB, e *instance)
}

var ablations = []ablation{
	{name: "nothing"},
	{name: "numbering by degree", lists: layout.Options{ByLabel: true}},
	{name: "groups", options: "hubs=64"},
	{name: "leaves", lists: layout.Options{NoLeaves: true}},
	{name: "output template", remove: func(_ testing.TB, e *instance) { // parents are written vertex by vertex
		e.search.templateShare = math.MaxInt64
	}},
	{name: "bottom-up steps, and their bitmaps", options: "direction=topdown"},
	{name: "plain lists (packed instead)", options: "adjacency=packed"},
}

// pathAblations are those of kernel 3.
var pathAblations = []ablation{
	{name: "nothing"},
	{name: "push between hubs", remove: func(_ testing.TB, e *instance) { e.paths.core = nil }},
	{name: "relay weights in bounds", remove: func(t testing.TB, e *instance) {
		g := e.paths.g
		for v := range g.Relays {
			g.Relays[v] = layout.Relay{Via: layout.None}
		}
		for v := range uint32(g.Vertices) {
			list := g.List(v)
			slices.Sort(list) // by weight
			for i, h := range []*layout.Head{&g.Heads[v], &g.Seconds[v][0], &g.Seconds[v][1]} {
				if i+1 < len(list) {
					_, next := layout.Split(list[i+1])
					h.Next = next * layout.Slack
				}
				if i < len(list) {
					h.Neighbor, h.Weight = layout.Split(list[i])
				}
			}
		}
		e.paths = must.Get(newPaths(t.Context(), g, e.team, e.memory))
	}},
	{name: "classes of degrees", remove: func(_ testing.TB, e *instance) {
		c := &e.paths.g.Classes
		c[1], c[2], c[3] = c[0], c[0], c[0] // all vertices that pull are in the last one
	}},
}

// ablations adds the searches of every ablation.
func (a *turns) ablations(threads string) *turns {
	all := ablations
	if a.weights != nil {
		all = pathAblations
	}
	for _, without := range all {
		settings := must.Get(plugins.Resolve(options(), optionsOf("threads="+threads+" "+without.options, " ")))
		without.lists.Weighted = a.weights != nil
		e := must.Get(construct(a.Context(), a.tuples, settings, without.lists))
		a.Cleanup(func() { _ = e.free() })
		if a.weights != nil {
			must.Do(e.constructPaths(a.Context(), a.tuples, a.weights))
		}
		if without.remove != nil {
			without.remove(a, e)
		}
		n := e.graph.Labels
		a.add("without "+without.name, func(root graph.Vertex) (plugins.Traversal, error) {
			for v := n; v < len(a.out.Parent); v++ {
				a.out.Parent[v] = graph.Unreached
			}
			own := plugins.Output{Parent: a.out.Parent[:n]}
			if a.weights != nil {
				own.Distance = a.out.Distance[:n]
			}
			for v := n; v < len(a.out.Distance); v++ {
				a.out.Distance[v] = graph.Infinity()
			}
			return e.traverse(a.Context(), root, own)
		})
	}
	return a
}

func TestEveryAblationSearchesRight(t *testing.T) {
	for scale, paths := range map[int]bool{10: false, 12: true} {
		source := graph.Kronecker{Scale: scale, EdgeFactor: 16, Seed1: 2, Seed2: 3}
		newTurns(t, source, paths, 20).ablations("3")
	}
}

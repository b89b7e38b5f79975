// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sort"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/record"
)

// Input is the tuples and the roots of a graph, shared by all engines. It can serve several runs in sequence.
type Input struct {
	Data
	id    record.GraphID
	graph record.GraphRecord
	made  Made
	roots []graph.Vertex
	cost  *record.Cost // of calls for this graph; nil: not measured so far
}

// Close returns the memory. A nil Input has none.
func (in *Input) Close() error {
	if in == nil {
		return nil
	}
	return in.Data.Close()
}

// NewInput makes the tuples of a graph of the plan and draws roots. The caller closes the Input.
func NewInput(
	ctx context.Context, host Host, plan record.Plan, id record.GraphID, progress Progress) (in *Input, err error) {
	source, err := plan.Generator(id)
	if err != nil {
		return nil, err
	}
	in = &Input{id: id}
	if source != nil {
		in.graph.Vertices = source.Vertices()
		in.graph.Recipe, _ = source.(graph.Kronecker)
	}
	if clustered, ok := host.(Clustered); ok {
		in.Data = clustered.Data(plan, id)
	}
	if in.Data == nil {
		in.Data = newLocal(host, plan, id, source)
	}
	in.made, err = in.Make(ctx, &in.graph, progress)
	if err == nil {
		err = in.draw(ctx, plan)
	}
	if err != nil {
		var unread *ReadError // which names the file
		if !errors.As(err, &unread) {
			err = fmt.Errorf("%s: %w", id, err)
		}
		return nil, errors.Join(err, in.Close())
	}
	return in, nil
}

// draw draws the roots.
func (in *Input) draw(ctx context.Context, plan record.Plan) (err error) {
	wanted := int(min(int64(plan.Roots), in.made.Joined))
	in.roots, in.graph.RejectedDraws, err = DrawRoots(in.graph.Vertices, plan.Seed1, plan.Seed2, in.joined(ctx), wanted)
	if len(plan.RootLabels) > 0 && err == nil {
		drawn := in.roots
		in.roots, err = in.given(plan.RootLabels, in.joined(ctx))
		in.graph.RootsGiven = !slices.Equal(drawn, in.roots)
	}
	in.graph.RootsFound = len(in.roots)
	return err
}

func (in *Input) joined(ctx context.Context) func([]graph.Vertex) ([]bool, error) {
	return func(vertices []graph.Vertex) ([]bool, error) { return in.Joined(ctx, vertices) }
}

// others returns n roots for the loop that confirms a clock. In an official run they are drawn at random, so no engine
// can know them. If the roots were given, or the graph has too few vertices to draw from, they are roots of the run.
func (in *Input) others(ctx context.Context, n int) (others []record.RootRecord, err error) {
	roots := in.roots
	if in.graph.Recipe.Scale > 0 && !in.graph.RootsGiven && in.made.Joined >= int64(2*len(roots)+n) {
		roots, _, err = DrawRoots(in.graph.Vertices, rand.Uint64(), rand.Uint64(), in.joined(ctx), n)
	}
	for i := range n {
		others = append(others, record.RootRecord{Root: roots[i%max(1, len(roots))], Time: 1})
	}
	return others, err
}

// label returns the label of a vertex in the graph's file, or its number.
func (in *Input) label(v graph.Vertex) uint64 {
	if in.made.Label == nil {
		return uint64(v)
	}
	return in.made.Label(v)
}

// vertexOf returns the vertex with a label, and whether there is one. Labels ascend with the vertices.
func (in *Input) vertexOf(label uint64) (v graph.Vertex, known bool) {
	i := sort.Search(int(in.graph.Vertices), func(v int) bool { return in.label(graph.Vertex(v)) >= label })
	v = graph.Vertex(i)
	return v, int64(v) < in.graph.Vertices && in.label(v) == label
}

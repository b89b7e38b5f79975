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
	joined := func(vertices []graph.Vertex) ([]bool, error) { return in.Joined(ctx, vertices) }
	wanted := int(min(int64(plan.Roots), in.made.Joined))
	in.roots, in.graph.RejectedDraws, err = DrawRoots(in.graph.Vertices, plan.Seed1, plan.Seed2, joined, wanted)
	if len(plan.RootLabels) > 0 && err == nil {
		drawn := in.roots
		in.roots, err = in.given(plan.RootLabels, joined)
		in.graph.RootsGiven = !slices.Equal(drawn, in.roots)
	}
	in.graph.RootsFound = len(in.roots)
	return err
}

// others returns roots for the loop that confirms a clock, as many as the run has, with an expected time each. In an
// official run they are drawn at random, so no engine can know them. If the roots were given, or the graph has too few
// vertices to draw from, they are the roots of the run.
func (in *Input) others(ctx context.Context, time float64) (others []record.RootRecord, err error) {
	roots := in.roots
	if in.graph.Recipe.Scale > 0 && !in.graph.RootsGiven && in.made.Joined >= 2*int64(len(roots)) {
		roots, _, err = DrawRoots(in.graph.Vertices, rand.Uint64(), rand.Uint64(), func(some []graph.Vertex) ([]bool, error) {
			fits, err := in.Joined(ctx, some)
			for i := range fits {
				fits[i] = fits[i] && !slices.Contains(in.roots, some[i])
			}
			return fits, err
		}, len(roots))
	}
	for _, root := range roots {
		others = append(others, record.RootRecord{Root: root, Time: time})
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

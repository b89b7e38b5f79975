// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/graph/validate"
	"github.com/tepsbench/teps/internal/units"
	"github.com/tepsbench/teps/record"
)

// Found is the result of one search.
type Found struct {
	validate.Tree
	Parent   []graph.Vertex
	Distance []float32                 // of kernel 3; nil for kernel 2
	Level    []int32                   // in the tree of the parents; -1 for unreached vertices
	Label    func(graph.Vertex) uint64 // in the graph's file
}

// Once makes one validated search outside the protocol, with the only engine, graph and kernel of a plan. root is a
// label of the graph's file. The result is valid until use returns.
func Once(ctx context.Context, host Host, plan record.Plan, root uint64, progress Progress,
	use func(Found) error) (err error) {
	if err := Prepare(ctx, host, plan); err != nil {
		return err
	}
	id, spec := plan.GraphIDs()[0], plan.Engines[0]
	in, err := NewInput(ctx, host, plan, id, progress)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	from, known := in.vertexOf(root)
	if !known {
		return record.Usage("%s has no vertex %d; its labels are from %d to %d", id, root, in.label(0),
			in.label(graph.Vertex(in.graph.Vertices-1)))
	}
	if id.Kernel == record.SSSP {
		if err := in.MakeWeights(ctx, progress); err != nil {
			return err
		}
	}
	opened, err := in.Open(ctx, plan, id.Kernel, spec, progress)
	if err != nil {
		return fmt.Errorf("engine %s: %w", spec.Name, err)
	}
	defer func() { err = cmp.Or(err, opened.Close()) }()
	step := progress.Step(fmt.Sprintf("%s: %s: search", id, spec.Name), 0)
	found, took, err := searchOnce(ctx, plan, opened, spec, from)
	step.End(fmt.Sprintf("%d vertices reached in %s, valid", found.Reached, units.Duration(took.Elapsed)), err)
	if err != nil {
		return err
	}
	found.Label = in.label
	return use(found)
}

// searchOnce builds the graph and searches.
func searchOnce(ctx context.Context, plan record.Plan, session Session, spec record.EngineSpec, root graph.Vertex) (
	found Found, searched Searched, err error) {
	limited, cancel := context.WithTimeout(ctx, plan.Timeout)
	defer cancel()
	if _, err = session.Construct(limited, spec.Options); err == nil {
		err = session.Ready(limited)
	}
	if err == nil {
		searched, err = session.Search(limited, root, false)
	}
	if err != nil {
		return found, searched, callError(ctx, limited.Err() != nil, "engine "+spec.Name, plan.Timeout, err)
	}
	v, err := session.Validate(ctx, root, Validated)
	local := session.(*localSession) // as is every session of this process
	found = Found{Tree: v.Tree, Parent: local.out.Parent, Distance: local.out.Distance}
	found.Level = local.validator.(*validate.Validator).Levels()
	return found, searched, err
}

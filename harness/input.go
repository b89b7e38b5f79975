package harness

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/internal/units"
	"github.com/tepsbench/teps/record"
)

// Input is what all engines of one scale share: the tuples, the parent array, the roots and the validator. It can serve
// several runs, one after the other.
type Input struct {
	recipe    graph.Kronecker
	graph     record.GraphRecord
	tuples    []graph.Edge
	parents   []graph.Vertex
	roots     []graph.Vertex
	wanted    int // roots
	validator *graph.Validator
	release   []func() error
}

// NewInput borrows memory from host, generates the tuples of recipe and draws roots. The caller closes the Input.
func NewInput(ctx context.Context, host Host, recipe graph.Kronecker, roots int, progress Progress) (*Input, error) {
	in := &Input{recipe: recipe, wanted: roots}
	err := in.borrow(host)
	if err == nil {
		err = in.generate(ctx, progress)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("scale %d: %w", recipe.Scale, err), in.Close())
	}
	return in, nil
}

func (in *Input) borrow(host Host) error {
	tuples, release, err := host.Tuples(in.recipe.Tuples())
	if err != nil {
		return fmt.Errorf("memory for %d tuples: %w", in.recipe.Tuples(), err)
	}
	in.tuples, in.release = tuples, append(in.release, release)
	parents, release, err := host.Parents(in.recipe.Vertices())
	if err != nil {
		return fmt.Errorf("memory for %d parents: %w", in.recipe.Vertices(), err)
	}
	in.parents, in.release = parents, append(in.release, release)
	return nil
}

// Close returns the memory.
func (in *Input) Close() (err error) {
	for _, release := range in.release {
		err = errors.Join(err, release())
	}
	return err
}

// ExecuteOn is Execute for a plan of one scale, on an input that other runs may share.
func ExecuteOn(
	ctx context.Context, host Host, store *record.Store, in *Input, progress Progress) (record.Result, error) {
	plan := store.Manifest().Plan
	if len(plan.Scales) != 1 || plan.Recipe(plan.Scales[0]) != in.recipe || plan.Roots != in.wanted {
		return record.Result{}, fmt.Errorf("harness: the plan of %s does not match the input", store.Dir())
	}
	result, err := store.Result()
	if err == nil {
		err = newRun(host, store, progress).scale(ctx, in, result.Runs)
	}
	result, finishErr := store.Finish()
	return result, errors.Join(err, finishErr)
}

// generate generates the tuples, draws the roots and makes the validator.
func (in *Input) generate(ctx context.Context, progress Progress) (err error) {
	const chunk = 1 << 20 // tuples between two updates of the progress
	total := in.recipe.Tuples()
	step := progress.Step(fmt.Sprintf("scale %d: generate", in.recipe.Scale), total, 0)
	defer func() { step.End(fmt.Sprintf("%d tuples in %s", total, units.Seconds(in.graph.Generation)), err) }()
	start := time.Now()
	for first := int64(0); first < total; first += chunk {
		part := in.tuples[first:min(first+chunk, total)]
		if err := in.recipe.Generate(ctx, part, first, 0); err != nil {
			return fmt.Errorf("generate: %w", err)
		}
		step.Add(int64(len(part)))
	}
	in.graph = record.GraphRecord{Recipe: in.recipe, Tuples: total, Generation: time.Since(start).Seconds()}

	// Both steps read all tuples, which takes seconds at large scales.
	stop := step.Watch("draw roots", func() (done, total int64) { return 0, 0 })
	defer stop()
	if in.validator, err = graph.NewValidator(in.tuples, in.recipe.Vertices(), 0); err != nil {
		return err
	}
	in.roots, in.graph.RejectedDraws = DrawRoots(in.recipe, in.tuples, in.wanted)
	in.graph.RootsFound = len(in.roots)
	return nil
}

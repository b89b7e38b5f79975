package harness

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"time"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/internal/units"
	"github.com/tepsbench/teps/record"
)

// Input is what all engines of one scale share: the tuples, the roots and the validator. It can serve several runs, one
// after the other. Each engine has a parent array of its own, so that nothing that an earlier one left behind can reach
// the results of another.
type Input struct {
	recipe    graph.Kronecker
	graph     record.GraphRecord
	tuples    []graph.Edge
	seed      maphash.Seed // of sum
	sum       uint64       // checksum of the tuples as generated
	roots     []graph.Vertex
	isolated  graph.Vertex // the first without a neighbour; the number of vertices if there is none
	validator *graph.Validator
	release   func() error
}

// NewInput borrows memory from host, generates the tuples of recipe and draws roots. The caller closes the Input.
func NewInput(ctx context.Context, host Host, recipe graph.Kronecker, roots int, progress Progress) (*Input, error) {
	in := &Input{recipe: recipe, seed: maphash.MakeSeed()}
	var err error
	if in.tuples, in.release, err = host.Tuples(recipe.Tuples()); err != nil {
		return nil, fmt.Errorf("scale %d: memory for %d tuples: %w", recipe.Scale, recipe.Tuples(), err)
	}
	if err := in.prepare(ctx, roots, progress); err != nil {
		return nil, errors.Join(fmt.Errorf("scale %d: %w", recipe.Scale, err), in.Close())
	}
	return in, nil
}

// Close returns the memory.
func (in *Input) Close() error { return in.release() }

// ExecuteOn is Execute for a plan of one scale, on an input for it that other runs may share.
func ExecuteOn(
	ctx context.Context, host Host, store *record.Store, in *Input, progress Progress) (record.Result, error) {
	result, err := store.Result()
	if err == nil {
		err = newRun(host, store, progress).scale(ctx, in, result.Runs)
	}
	result, finishErr := store.Finish()
	return result, errors.Join(err, finishErr)
}

// prepare generates the tuples, draws the roots and makes the validator.
func (in *Input) prepare(ctx context.Context, roots int, progress Progress) error {
	start := time.Now()
	if err := in.generate(ctx, progress); err != nil {
		return err
	}
	in.graph = record.GraphRecord{
		Recipe: in.recipe, Tuples: in.recipe.Tuples(), Generation: time.Since(start).Seconds(),
	}
	in.sum = graph.Checksum(in.seed, in.tuples)
	var err error
	if in.validator, err = graph.NewValidator(in.tuples, in.recipe.Vertices(), 0); err != nil {
		return err
	}
	joined := in.validator.Joined()
	for int64(in.isolated) < in.recipe.Vertices() && joined[in.isolated/64]>>(in.isolated%64)&1 != 0 {
		in.isolated++
	}
	in.roots, in.graph.RejectedDraws = DrawRoots(in.recipe, joined, roots)
	in.graph.RootsFound = len(in.roots)
	return nil
}

// generate generates the tuples.
func (in *Input) generate(ctx context.Context, progress Progress) (err error) {
	const chunk = 1 << 20 // tuples between two updates of the progress
	start, total := time.Now(), in.recipe.Tuples()
	step := progress.Step(fmt.Sprintf("scale %d: generate", in.recipe.Scale), total)
	defer func() { step.End(fmt.Sprintf("%d tuples in %s", total, units.Duration(time.Since(start))), err) }()
	for first := int64(0); first < total; first += chunk {
		part := in.tuples[first:min(first+chunk, total)]
		if err := in.recipe.Generate(ctx, part, first, 0); err != nil {
			return fmt.Errorf("generate: %w", err)
		}
		step.Add(int64(len(part)))
	}
	return nil
}

// changed reports whether the tuples are no longer those that were generated. It reads them all, which takes a few
// milliseconds for each 100 MB, so it is never called inside a clock.
func (in *Input) changed() bool { return graph.Checksum(in.seed, in.tuples) != in.sum }

// restore generates the tuples again, for the engines that come after one that has changed them.
func (in *Input) restore(ctx context.Context, progress Progress) error {
	if err := in.generate(ctx, progress); err != nil {
		return err
	}
	if in.changed() {
		return errors.New("the tuples change while no engine runs: end the processes that an engine has left behind, " +
			"then resume the run")
	}
	return nil
}

package harness

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/tepsbench/teps/graph"
)

// Input is what the runs of one scale share: the tuples, the parent array, the roots and the validator. It is made once
// and serves any number of runs, one after the other: generation is not timed, and nobody should wait for it twice.
type Input struct {
	recipe    graph.Kronecker
	tuples    []graph.Edge
	parents   []graph.Vertex
	roots     []graph.Vertex
	wanted    int // roots
	validator *graph.Validator
	record    GraphRecord
	release   func() error
}

// NewInput borrows memory of host, generates the tuples of recipe and draws roots. The caller closes the Input.
func NewInput(ctx context.Context, host Host, recipe graph.Kronecker, roots int, progress Progress) (in *Input, err error) {
	in = &Input{recipe: recipe, wanted: roots}
	in.tuples, in.release, err = host.Tuples(recipe.Tuples())
	if err != nil {
		return nil, fmt.Errorf("scale %d: memory for %d tuples: %w", recipe.Scale, recipe.Tuples(), err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, in.release())
			in = nil
		}
	}()
	if err := in.lendParents(host); err != nil {
		return in, err
	}
	return in, in.make(ctx, progress)
}

// Close gives the memory back.
func (in *Input) Close() error { return in.release() }

// suits says whether a run of plan at its scale has this input.
func (in *Input) suits(plan Plan) bool {
	return len(plan.Scales) == 1 && plan.Recipe(plan.Scales[0]) == in.recipe && plan.Roots == in.wanted
}

// ExecuteOn is Execute for a plan of one scale, on an input that other runs may have used before.
func ExecuteOn(ctx context.Context, host Host, store *Store, in *Input, progress Progress) (Result, error) {
	if !in.suits(store.Manifest().Plan) {
		return Result{}, fmt.Errorf("harness: the plan of %s asks for another graph or number of roots than the input that is to serve it", store.Dir())
	}
	done, err := store.Result()
	if err == nil {
		err = executeOn(ctx, host, store, in, progress, done.Runs)
	}
	result, finishing := store.Finish()
	return result, errors.Join(err, finishing)
}

// lendParents borrows the parent array and chains its release to that of the tuples.
func (in *Input) lendParents(host Host) error {
	parents, release, err := host.Parents(in.recipe.Vertices())
	if err != nil {
		return fmt.Errorf("scale %d: memory for %d parents: %w", in.recipe.Scale, in.recipe.Vertices(), err)
	}
	before := in.release
	in.parents, in.release = parents, func() error { return errors.Join(release(), before()) }
	return nil
}

// make generates the tuples and draws the roots.
func (in *Input) make(ctx context.Context, progress Progress) error {
	const chunk = 1 << 20 // tuples between two updates of the progress bar
	step := progress.Step(fmt.Sprintf("scale %d: generate", in.recipe.Scale), in.recipe.Tuples())
	start := time.Now()
	for first := int64(0); first < in.recipe.Tuples(); first += chunk {
		part := in.tuples[first:min(first+chunk, in.recipe.Tuples())]
		if err := in.recipe.Generate(ctx, part, first, 0); err != nil {
			step.Fail(err)
			return fmt.Errorf("generate scale %d: %w", in.recipe.Scale, err)
		}
		step.Add(int64(len(part)))
	}
	generation := time.Since(start)
	rejected, err := in.draw(step)
	if err != nil {
		step.Fail(err)
		return err
	}
	step.Done(fmt.Sprintf("%d tuples in %s", in.recipe.Tuples(), round(generation)))
	in.record = GraphRecord{
		Recipe:        in.recipe,
		Tuples:        in.recipe.Tuples(),
		Generation:    generation.Seconds(),
		RejectedDraws: rejected,
		RootsFound:    len(in.roots),
	}
	return nil
}

// draw draws the roots and makes the validator, which reads all tuples: seconds at large scales.
func (in *Input) draw(step Step) (rejected int, err error) {
	stop := step.Watch("draw roots", func() (done, total int64) { return 0, 0 })
	defer stop()
	in.roots, rejected, err = DrawRoots(in.recipe, in.tuples, in.wanted, 0)
	if err != nil {
		return 0, fmt.Errorf("draw roots at scale %d: %w", in.recipe.Scale, err)
	}
	if in.validator, err = graph.NewValidator(in.tuples, in.recipe.Vertices(), 0); err != nil {
		return 0, fmt.Errorf("scale %d: %w", in.recipe.Scale, err)
	}
	return rejected, nil
}

// earlierKernel1 estimates how long an engine takes to build the graph of recipe, from what it took at the nearest scale of
// this run so far, by the number of tuples. 0: it has built none.
func (s *Store) earlierKernel1(engine string, recipe graph.Kronecker) (expected time.Duration) {
	nearest := 0
	for _, e := range s.entries {
		if e.Kernel1 == nil || e.Engine != engine {
			continue
		}
		away := max(e.Scale-recipe.Scale, recipe.Scale-e.Scale)
		if expected == 0 || away <= nearest {
			nearest = away
			expected = time.Duration(math.Ldexp(e.Kernel1.Wall, recipe.Scale-e.Scale) * float64(time.Second))
		}
	}
	return expected
}

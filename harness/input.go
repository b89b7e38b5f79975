package harness

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/maphash"
	"time"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/graph/validate"
	"github.com/tepsbench/teps/internal/units"
	"github.com/tepsbench/teps/record"
)

// Input is what all engines on one graph share: the tuples, the roots and the validator. It can serve several runs, one
// after the other. Each engine has a parent array of its own, so that nothing that an earlier one left behind can reach
// the results of another.
type Input struct {
	id        record.GraphID
	source    graph.Source // nil: a file
	spec      record.GraphSpec
	graph     record.GraphRecord
	tuples    []graph.Edge
	label     func(graph.Vertex) uint64 // in the file; nil: the vertex
	seed      maphash.Seed              // of sum
	sum       uint64                    // checksum of the tuples as made
	roots     []graph.Vertex
	isolated  graph.Vertex // the first without a neighbor; the number of vertices if there is none
	validator *validate.Validator
	release   func() error
	device    *hostDevice // that made the tuples, until the first engine's searches are validated; or nil
}

// NewInput borrows memory from host, makes the tuples of a graph of the plan and draws roots. The caller closes the
// Input.
func NewInput(
	ctx context.Context, host Host, plan record.Plan, id record.GraphID, progress Progress) (in *Input, err error) {
	in = &Input{
		id: id, spec: plan.Graph(id), seed: maphash.MakeSeed(), release: func() error { return nil },
	}
	if in.source, err = plan.Generator(id); err != nil {
		return nil, err
	}
	if err := in.prepare(ctx, host, plan, progress); err != nil {
		var unread *ReadError // which names the file
		if !errors.As(err, &unread) {
			err = fmt.Errorf("%s: %w", id, err)
		}
		return nil, errors.Join(err, in.Close())
	}
	return in, nil
}

// Close returns the memory.
func (in *Input) Close() error {
	in.device.close()
	return in.release()
}

// ExecuteOn is Execute for a plan of one graph, on an input for it that other runs may share.
func ExecuteOn(
	ctx context.Context, host Host, store *record.Store, in *Input, progress Progress) (record.Result, error) {
	result, err := store.Result()
	if err == nil {
		err = newRun(host, store, progress).graph(ctx, in, result.Runs)
	}
	result, finishErr := store.Finish()
	return result, errors.Join(err, finishErr)
}

// prepare makes the tuples, draws the roots and makes the validator.
func (in *Input) prepare(ctx context.Context, host Host, plan record.Plan, progress Progress) (err error) {
	start := time.Now()
	if err := in.load(ctx, host, plan, progress); err != nil {
		return err
	}
	if !in.graph.Regenerated {
		in.graph.Tuples, in.graph.Generation = int64(len(in.tuples)), time.Since(start).Seconds()
		in.validator, err = validate.New(in.tuples, in.graph.Vertices, 0)
	}
	if err != nil {
		return err
	}
	in.sum = graph.Checksum(in.seed, in.tuples)
	joined := in.validator.Joined()
	for int64(in.isolated) < in.graph.Vertices && joined[in.isolated/64]>>(in.isolated%64)&1 != 0 {
		in.isolated++
	}
	in.roots, in.graph.RejectedDraws = DrawRoots(in.graph.Vertices, plan.Seed1, plan.Seed2, joined, plan.Roots)
	in.graph.RootsFound = len(in.roots)
	return nil
}

// load makes the tuples, in memory that it borrows the first time.
func (in *Input) load(ctx context.Context, host Host, plan record.Plan, progress Progress) (err error) {
	if in.source == nil {
		return in.read(ctx, host, progress)
	}
	in.graph.Vertices = in.source.Vertices()
	kronecker, ok := in.source.(graph.Kronecker)
	if ok {
		in.graph.Recipe = kronecker
	}
	if plan.Regenerate {
		return in.regenerate(ctx, host, plan, kronecker, progress)
	}
	if in.tuples != nil {
		return in.fill(ctx, in.source, progress)
	}
	lend, generate := host.Tuples, ok && plan.HostDevice != nil
	if generate {
		lend = host.Reserve // which the device may write to
	}
	if in.tuples, in.release, err = lend(in.source.Tuples()); err != nil {
		in.release = func() error { return nil }
		return fmt.Errorf("memory for %d tuples: %w", in.source.Tuples(), err)
	}
	if !generate {
		return in.fill(ctx, in.source, progress)
	}
	in.device = openDevice(ctx, host, plan, progress)
	if err := in.fill(ctx, onDevice{Kronecker: kronecker, device: in.device}, progress); err != nil {
		return err
	}
	if in.device.open != nil {
		in.graph.GeneratedBy = in.device.name
	}
	return host.Trim(in.tuples)
}

// partTuples is how many tuples are made again at a time.
const partTuples = 1 << 25

// regenerate makes all tuples once, part by part, for the validator, which finds the vertices with neighbors. The
// device makes them this time, and the CPU for searches that it validates.
func (in *Input) regenerate(
	ctx context.Context, host Host, plan record.Plan, recipe graph.Kronecker, progress Progress) (err error) {
	in.graph.Tuples, in.graph.Regenerated = recipe.Tuples(), true
	room, release, err := host.Reserve(min(partTuples, recipe.Tuples()))
	if err != nil {
		return fmt.Errorf("memory for %d tuples: %w", partTuples, err)
	}
	defer func() { err = cmp.Or(err, release()) }()
	start, step := time.Now(), progress.Step(fmt.Sprintf("%s: generate", in.id), recipe.Tuples())
	defer func() {
		in.graph.Generation = time.Since(start).Seconds()
		step.End(fmt.Sprintf("%d tuples in %s, kept in no memory", recipe.Tuples(), units.Duration(time.Since(start))), err)
	}()
	in.device = openDevice(ctx, host, plan, progress)
	parts := &onDevice{Kronecker: recipe, device: in.device, step: step}
	in.validator, err = validate.NewFromSource(ctx, parts, room, 0)
	parts.device, parts.step = nil, nil
	if in.device.open != nil {
		in.graph.GeneratedBy = in.device.name
	}
	return err
}

// fill makes the tuples, unless they have been read. Other lists than those of scales get a SHA-256, which takes about
// a second for a gigabyte.
func (in *Input) fill(ctx context.Context, s graph.Source, progress Progress) (err error) {
	const chunk = 1 << 22 // tuples between two updates of the progress
	start, total, name := time.Now(), int64(len(in.tuples)), "generate"
	if s == nil {
		name = "checksum"
	}
	step := progress.Step(fmt.Sprintf("%s: %s", in.id, name), total)
	defer func() { step.End(fmt.Sprintf("%d tuples in %s", total, units.Duration(time.Since(start))), err) }()
	sum := sha256.New()
	for first := int64(0); first < total; first += chunk {
		part := in.tuples[first:min(first+chunk, total)]
		if s != nil {
			err = s.Generate(ctx, part, first, 0)
		} else {
			err = ctx.Err()
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if in.id.Source != "" {
			_ = graph.WriteEdges(sum, part) // a hash has no errors
		}
		step.Add(int64(len(part)))
	}
	if in.id.Source != "" {
		in.graph.SHA256 = hex.EncodeToString(sum.Sum(nil))
	}
	return nil
}

// changed reports whether the tuples are no longer those that were made. It reads them all, which takes a few
// milliseconds for each 100 MB, so it is never called inside a clock.
func (in *Input) changed() bool { return graph.Checksum(in.seed, in.tuples) != in.sum }

// restore makes the tuples again, for the engines that come after one that has changed them.
func (in *Input) restore(ctx context.Context, progress Progress) error {
	if in.spec.Path == record.StandardInput {
		return errors.New("standard input cannot be read again for the engines that remain; name a file")
	}
	in.graph.GeneratedBy = ""
	if err := in.load(ctx, nil, record.Plan{}, progress); err != nil {
		return err
	}
	if in.changed() {
		return errors.New("the tuples change while no engine runs: end the processes that an engine has left behind, " +
			"then resume the run")
	}
	return nil
}

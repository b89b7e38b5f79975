// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/maphash"
	"os"
	"sync"
	"time"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/graph/files"
	"github.com/tepsbench/teps/graph/validate"
	"github.com/tepsbench/teps/internal/units"
	"github.com/tepsbench/teps/machine"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/record"
)

// Input is the tuples, the roots and the validator of a graph, shared by all engines. It can serve several runs in
// sequence. Each engine gets its own parent array, so that no engine can change the results of another.
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
	others    []uint64     // bitmap of the vertices with a neighbor that are not roots
	cost      *record.Cost // of calls for this graph; nil: not measured so far
	validator *validate.Validator
	release   func() error
	device    *hostDevice // that made the tuples, until the first engine's searches are validated; or nil
}

// NewInput borrows memory from host, makes the tuples of a graph of the plan and draws roots. The caller closes the
// Input.
func NewInput(
	ctx context.Context, host Host, plan record.Plan, id record.GraphID, progress Progress) (in *Input, err error) {
	in = &Input{id: id, spec: plan.Graph(id), seed: maphash.MakeSeed()}
	if in.source, err = plan.Generator(id); err != nil {
		return nil, err
	}
	if in.source != nil {
		in.graph.Vertices = in.source.Vertices()
		in.graph.Recipe, _ = in.source.(graph.Kronecker)
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
	if in.release == nil {
		return nil
	}
	return in.release()
}

// prepare makes the tuples, draws the roots and makes the validator.
func (in *Input) prepare(ctx context.Context, host Host, plan record.Plan, progress Progress) (err error) {
	start := time.Now()
	switch {
	case plan.Regenerate:
		err = in.regenerate(ctx, host, plan, progress)
	case in.source == nil:
		err = in.read(ctx, host, progress)
	default:
		err = in.generate(ctx, host, plan, progress)
	}
	if err == nil && !plan.Regenerate {
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
	in.graph.RootsFound, in.others = len(in.roots), joined
	return nil
}

// borrow takes memory for n tuples from a method of Host.
func (in *Input) borrow(lend func(int64) ([]graph.Edge, func() error, error), n int64) error {
	tuples, release, err := lend(n)
	if err != nil {
		return fmt.Errorf("memory for %d tuples: %w", n, err)
	}
	in.tuples, in.release = tuples, release
	return nil
}

// generate makes the tuples in memory that is shared with engines. The device makes those of a Kronecker graph.
func (in *Input) generate(ctx context.Context, host Host, plan record.Plan, progress Progress) error {
	kronecker, ok := in.source.(graph.Kronecker)
	if !ok || plan.HostDevice == nil {
		if err := in.borrow(host.Tuples, in.source.Tuples()); err != nil {
			return err
		}
		return in.fill(ctx, in.source, progress)
	}
	if err := in.borrow(host.Reserve, in.source.Tuples()); err != nil { // memory that a device may write to
		return err
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

// partTuples is the number of tuples that are regenerated at a time.
const partTuples = 1 << 25

// regenerate makes all tuples once, part by part, for the validator, which finds the vertices with neighbors. The
// device makes them this time, and the CPU for searches that it validates.
func (in *Input) regenerate(ctx context.Context, host Host, plan record.Plan, progress Progress) (err error) {
	recipe := in.graph.Recipe
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

// read loads the tuples from the graph's file into memory that is shared with engines. It is reserved first, because
// their number is known at the end of the file.
func (in *Input) read(ctx context.Context, host Host, progress Progress) error {
	available, _, err := machine.AvailableMemory(ctx)
	if err != nil {
		available = 1 << 40
	}
	available -= available / 4 // for reading, should mapped memory count as taken (ulimit -v)
	if err := in.borrow(host.Reserve, available/graph.EdgeBytes); err != nil {
		return err
	}
	full := fmt.Errorf("more than %d tuples: %w", len(in.tuples), plugins.ErrMemory)
	g, used, err := in.readInto(ctx, full, progress)
	if err != nil {
		return err
	}
	info := g.Info
	in.tuples = in.tuples[:used]
	if err := host.Trim(in.tuples); err != nil {
		return err
	}
	in.graph.Vertices = info.Vertices
	in.graph.File = &record.FileRecord{
		Format: string(info.Format), Compression: info.Compression, Bytes: info.Bytes, SHA256: info.SHA256,
		Symmetrized: info.Symmetrized, Relabeled: info.Labels != nil || info.FirstLabel != 0,
	}
	if in.graph.File.Relabeled {
		in.label = info.Label
	}
	available, source, err := machine.AvailableMemory(ctx)
	needs := EstimateMemory(g, plugins.Memory{})
	if more := needs.Parents + needs.Validator; err == nil && more > available {
		return &ReadError{fmt.Errorf("%s: %w: %d vertices need %s besides the tuples, without an engine, but this machine "+
			"has %s available (%s)", in.spec.Name, plugins.ErrMemory, info.Vertices, units.Bytes(more),
			units.Bytes(available), source)}
	}
	return in.fill(ctx, nil, progress)
}

// readInto reads the graph's file into the tuples, and returns how many it has. A file with more fails with the error
// full.
func (in *Input) readInto(ctx context.Context, full error, progress Progress) (g *files.Graph, used int, err error) {
	g, err = ReadFile(ctx, in.spec, files.Options{SHA256: true, Memory: func(n int) ([]graph.Edge, error) {
		if n > len(in.tuples)-used {
			return nil, full
		}
		used += n
		return in.tuples[used-n : used : used], nil
	}}, progress)
	return g, used, err
}

var errChanged = errors.New("the file has changed since the run began")

// changed reports whether the tuples are no longer those that were made. It reads them all, which takes a few
// milliseconds for each 100 MB, so it is never called inside a clock.
func (in *Input) changed() bool { return graph.Checksum(in.seed, in.tuples) != in.sum }

// restore makes the tuples again, for the engines that come after one that has changed them.
func (in *Input) restore(ctx context.Context, progress Progress) error {
	in.graph.GeneratedBy = ""
	var err error
	switch {
	case in.spec.Path == record.StandardInput:
		err = errors.New("standard input cannot be read again for the engines that remain; name a file")
	case in.source != nil:
		err = in.fill(ctx, in.source, progress)
	default:
		g, _, readErr := in.readInto(ctx, errChanged, progress)
		if err = readErr; err == nil && g.Info.SHA256 != in.graph.File.SHA256 {
			err = &ReadError{fmt.Errorf("%s: %w", in.spec.Path, errChanged)}
		}
	}
	if err == nil && in.changed() {
		err = errors.New("the tuples change while no engine runs: end the processes that an engine has left behind, " +
			"then resume the run")
	}
	return err
}

// labelOf returns the label of a root in the graph's file, or nil if that is its number.
func (in *Input) labelOf(root graph.Vertex) *uint64 {
	if in.label == nil {
		return nil
	}
	label := in.label(root)
	return &label
}

// ReadError is the error of a file that cannot be read as a graph, or that has one too large for this machine. Its text
// names the file and the place in it.
type ReadError struct{ Err error }

func (e *ReadError) Error() string { return e.Err.Error() }
func (e *ReadError) Unwrap() error { return e.Err }

// ReadFile reads the file of a graph into memory, graph.EdgeBytes a tuple, while there is enough of it. Errors other
// than that of ctx are a ReadError.
func ReadFile(
	ctx context.Context, spec record.GraphSpec, options files.Options, progress Progress,
) (g *files.Graph, err error) {
	size, summary := int64(0), ""
	if info, err := os.Stat(spec.Path); err == nil {
		size = info.Size()
	}
	step := progress.Step(spec.Name+": read", size)
	defer func() {
		if step.End(summary, err); err != nil && ctx.Err() == nil {
			err = &ReadError{err}
		}
	}()
	seen := int64(0)
	options.Progress = func(done, _ int64) {
		step.Add(done - seen)
		seen = done
	}
	options.Reserve = withinMemory(ctx, machine.AvailableMemory)
	options.SHA256 = options.SHA256 || spec.Checksum != ""
	if spec.Path == record.StandardInput {
		g, err = files.LoadFrom(ctx, os.Stdin, spec.Name, options)
	} else {
		g, err = files.Load(ctx, spec.Path, options)
	}
	if err != nil {
		return nil, err
	}
	if spec.Checksum != "" && g.Info.SHA256 != spec.Checksum {
		return nil, fmt.Errorf("%s: its SHA-256 is %s, and not %s as when the plan was made", spec.Path, g.Info.SHA256,
			spec.Checksum)
	}
	if g.Info.Vertices == 0 {
		return nil, fmt.Errorf("%s: the graph has no vertices", spec.Name)
	}
	summary = fmt.Sprintf("%s, %s", g.Info.Format, units.Bytes(g.Info.Bytes))
	return g, nil
}

// withinMemory returns a function that takes bytes of memory and fails before none is available. The memory that a file
// takes is not known before its end, if it is compressed not even roughly.
func withinMemory(
	ctx context.Context, available func(context.Context) (int64, string, error),
) func(bytes int64) error {
	const interval = 64 << 20 // bytes between two looks
	var mu sync.Mutex
	left := int64(0) // until the next look
	return func(bytes int64) error {
		mu.Lock()
		defer mu.Unlock()
		if left -= bytes; left >= 0 {
			return nil
		}
		left = interval
		if room, source, err := available(ctx); err == nil && room < bytes+interval {
			return fmt.Errorf("%w: reading it takes %s more, and this machine has %s available (%s)",
				plugins.ErrMemory, units.Bytes(bytes+interval), units.Bytes(room), source)
		}
		return nil
	}
}

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
	"time"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/graph/files"
	"github.com/tepsbench/teps/graph/validate"
	"github.com/tepsbench/teps/internal/units"
	"github.com/tepsbench/teps/machine"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/record"
)

// local is Data in this process: a whole graph, or one of several parts.
type local struct {
	host      Host
	plan      record.Plan
	id        record.GraphID
	source    graph.Source // nil: a file
	spec      record.GraphSpec
	graph     *record.GraphRecord
	made      Made
	tuples    []graph.Edge
	seed      maphash.Seed // of sum
	sum       uint64       // checksum of the tuples as made
	validator validator
	exchange  validate.Exchange // with the other parts; nil: there are none
	labels    int64             // vertices whose parents are here
	lists     loans             // the tuples and the weights
	weights   []float32
	file      *files.Graph // with the weights of the file, until weights has them; or nil
	weightSum uint64       // checksum of the weights as made
	device    *hostDevice  // that made the tuples, until the first engine's searches are validated; or nil
}

// validator is a *validate.Validator or a *validate.Part.
type validator interface {
	Overwrite(parent []graph.Vertex, distance []float32)
	Validate(ctx context.Context, root graph.Vertex, parent []graph.Vertex, distance []float32) (validate.Tree, error)
	Count(ctx context.Context, root graph.Vertex, parent []graph.Vertex) (validate.Tree, error)
	SetWeights(weights []float32) error
	Joined(ctx context.Context, vertices []graph.Vertex) ([]bool, error)
	CountJoined(ctx context.Context) (int64, error)
	Isolated(ctx context.Context) (graph.Vertex, error)
}

func newLocal(host Host, plan record.Plan, id record.GraphID, source graph.Source) *local {
	return &local{host: host, plan: plan, id: id, source: source, spec: plan.Graph(id), seed: maphash.MakeSeed()}
}

// NewPart returns the Data of one of several parts of a graph of a plan, each in another process. A part has a slice of
// the tuples, and the parents of the vertices v with v mod Size equal to the Rank of the exchange. All parts get the
// same calls.
func NewPart(host Host, plan record.Plan, id record.GraphID, exchange validate.Exchange) (Data, error) {
	source, err := plan.Generator(id)
	l := newLocal(host, plan, id, source)
	l.exchange = exchange
	return l, err
}

// slice returns the range of the tuples of this part.
func (l *local) slice() (first, end int64) {
	rank, size, n := int64(0), int64(1), l.source.Tuples()
	if l.exchange != nil {
		rank, size = int64(l.exchange.Rank()), int64(l.exchange.Size())
	}
	return n * rank / size, n * (rank + 1) / size
}

// Make makes the tuples and the validator.
func (l *local) Make(ctx context.Context, g *record.GraphRecord, progress Progress) (made Made, err error) {
	start := time.Now()
	l.graph = g
	switch {
	case l.plan.Regenerate:
		err = l.regenerate(ctx, progress)
	case l.source == nil:
		err = l.read(ctx, progress)
	default:
		err = l.generate(ctx, progress)
	}
	if err == nil && !l.plan.Regenerate {
		g.Tuples, g.Generation = int64(len(l.tuples)), time.Since(start).Seconds()
	}
	l.labels = g.Vertices
	switch {
	case err != nil || l.plan.Regenerate:
	case l.exchange != nil:
		first, _ := l.slice()
		var part *validate.Part
		if part, err = validate.NewPart(ctx, l.exchange, l.tuples, first, g.Vertices, 0); err == nil {
			l.validator, l.labels = part, int64(part.Labels())
		}
	default:
		l.validator, err = validate.New(l.tuples, g.Vertices, 0)
	}
	if err != nil {
		return made, err
	}
	l.sum, l.weightSum = graph.Checksum(l.seed, l.tuples), graph.WeightsChecksum(l.seed, nil)
	if l.made.Joined, err = l.validator.CountJoined(ctx); err == nil {
		l.made.Isolated, err = l.validator.Isolated(ctx)
	}
	return l.made, err
}

// Joined implements Data.
func (l *local) Joined(ctx context.Context, vertices []graph.Vertex) ([]bool, error) {
	return l.validator.Joined(ctx, vertices)
}

// Close returns the memory of the tuples.
func (l *local) Close() error {
	l.device.close()
	return l.lists.giveBack()
}

// loans are the release functions of arrays that a Host has lent.
type loans []func() error

// borrow takes memory for n elements from a method of Host.
func borrow[E any](l *loans, what string, lend func(int64) ([]E, func() error, error), n int64) ([]E, error) {
	array, release, err := lend(n)
	if err != nil {
		return nil, fmt.Errorf("memory for %d %s: %w", n, what, err)
	}
	*l = append(*l, release)
	return array, nil
}

func (l loans) giveBack() (err error) {
	for _, release := range l {
		err = cmp.Or(err, release())
	}
	return err
}

// generate makes the tuples in memory that is shared with engines. The device makes those of a Kronecker graph.
func (l *local) generate(ctx context.Context, progress Progress) (err error) {
	kronecker, ok := l.source.(graph.Kronecker)
	if !ok || l.plan.HostDevice == nil || l.exchange != nil {
		first, end := l.slice()
		if l.tuples, err = borrow(&l.lists, "tuples", l.host.Tuples, end-first); err != nil {
			return err
		}
		return l.fill(ctx, l.source, progress)
	}
	l.tuples, err = borrow(&l.lists, "tuples", l.host.Reserve, l.source.Tuples()) // memory that a device may write to
	if err != nil {
		return err
	}
	l.useDevice(ctx, progress)
	if err := l.fill(ctx, onDevice{Kronecker: kronecker, device: l.device}, progress); err != nil {
		return err
	}
	if l.device.open != nil {
		l.graph.GeneratedBy = l.device.name
	}
	return l.host.Trim(l.tuples)
}

// partTuples is the number of tuples that are regenerated at a time.
const partTuples = 1 << 25

// regenerate makes all tuples once, part by part, for the validator, which finds the vertices with neighbors. The
// device makes them here; the CPU makes them again for each search that it validates.
func (l *local) regenerate(ctx context.Context, progress Progress) (err error) {
	recipe := l.graph.Recipe
	l.graph.Tuples, l.graph.Regenerated = recipe.Tuples(), true
	var parts loans
	room, err := borrow(&parts, "tuples", l.host.Reserve, min(partTuples, recipe.Tuples()))
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, parts.giveBack()) }()
	start, step := time.Now(), progress.Step(fmt.Sprintf("%s: generate", l.id), recipe.Tuples())
	defer func() {
		l.graph.Generation = time.Since(start).Seconds()
		step.End(fmt.Sprintf("%d tuples in %s, not stored", recipe.Tuples(), units.Duration(time.Since(start))), err)
	}()
	l.useDevice(ctx, progress)
	source := &onDevice{Kronecker: recipe, device: l.device, step: step}
	l.validator, err = validate.NewFromSource(ctx, source, room, 0)
	source.device, source.step = nil, nil
	if l.device.open != nil {
		l.graph.GeneratedBy = l.device.name
	}
	return err
}

const chunk = 1 << 22 // tuples between two updates of the progress

// fill makes the tuples, unless they have been read. Whole lists, other than those of scales, get a SHA-256,
// which takes about a second for a gigabyte.
func (l *local) fill(ctx context.Context, s graph.Source, progress Progress) (err error) {
	start, total, begin, name := time.Now(), int64(len(l.tuples)), int64(0), "generate"
	if s == nil {
		name = "checksum"
	} else {
		begin, _ = l.slice()
	}
	step := progress.Step(fmt.Sprintf("%s: %s", l.id, name), total)
	defer func() { step.End(fmt.Sprintf("%d tuples in %s", total, units.Duration(time.Since(start))), err) }()
	sum := sha256.New()
	for first := int64(0); first < total; first += chunk {
		part := l.tuples[first:min(first+chunk, total)]
		if s != nil {
			err = s.Generate(ctx, part, begin+first, 0)
		} else {
			err = ctx.Err()
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if l.id.Source != "" && l.exchange == nil {
			_ = graph.WriteEdges(sum, part) // a hash has no errors
		}
		step.Add(int64(len(part)))
	}
	if l.id.Source != "" && l.exchange == nil {
		l.graph.SHA256 = hex.EncodeToString(sum.Sum(nil))
	}
	return nil
}

// read loads the tuples from the graph's file into memory that is shared with engines. The memory is reserved first,
// because the number of tuples is known only at the end of the file.
func (l *local) read(ctx context.Context, progress Progress) error {
	available, _, err := machine.AvailableMemory(ctx)
	if err != nil {
		available = 1 << 40
	}
	available -= available / 4 // for reading, if mapped memory counts as used (ulimit -v)
	if l.tuples, err = borrow(&l.lists, "tuples", l.host.Reserve, available/graph.EdgeBytes); err != nil {
		return err
	}
	full := fmt.Errorf("more than %d tuples: %w", len(l.tuples), plugins.ErrMemory)
	g, used, err := l.readInto(ctx, full, progress)
	if err != nil {
		return err
	}
	info := g.Info
	l.tuples = l.tuples[:used]
	if err := l.host.Trim(l.tuples); err != nil {
		return err
	}
	l.graph.Vertices = info.Vertices
	l.graph.File = &record.FileRecord{
		Format: string(info.Format), Compression: info.Compression, Bytes: info.Bytes, SHA256: info.SHA256,
		Symmetrized: info.Symmetrized, Relabeled: info.Labels != nil || info.FirstLabel != 0,
	}
	if l.graph.File.Relabeled {
		l.made.Label = info.Label
	}
	available, source, err := machine.AvailableMemory(ctx)
	needs := EstimateMemory(g, plugins.Memory{})
	if more := needs.Parents + needs.Validator; err == nil && more > available {
		return &ReadError{fmt.Errorf("%s: %w: %d vertices need %s besides the tuples, without an engine, but this machine "+
			"has %s available (%s)", l.spec.Name, plugins.ErrMemory, info.Vertices, units.Bytes(more),
			units.Bytes(available), source)}
	}
	return l.fill(ctx, nil, progress)
}

// readInto reads the graph's file into the tuples, and returns how many it has. A file with more fails with the error
// full.
func (l *local) readInto(ctx context.Context, full error, progress Progress) (g *files.Graph, used int, err error) {
	memory := func(n int) ([]graph.Edge, error) {
		if n > len(l.tuples)-used {
			return nil, full
		}
		used += n
		return l.tuples[used-n : used : used], nil
	}
	g, err = ReadFile(ctx, l.spec,
		files.Options{SHA256: true, Weights: l.plan.Has(record.SSSP), Memory: memory}, progress)
	l.file = g
	return g, used, err
}

var errChanged = errors.New("the file has changed since the run began")

// MakeWeights makes weights in memory that is shared with engines, and gives them to the validator.
func (l *local) MakeWeights(ctx context.Context, progress Progress) (err error) {
	if l.weights != nil {
		return nil
	}
	weights, err := borrow(&l.lists, "weights", l.host.Weights, int64(len(l.tuples)))
	if err != nil {
		return err
	}
	if _, ok := l.source.(graph.Kronecker); ok && l.plan.HostDevice != nil && l.exchange == nil {
		l.useDevice(ctx, progress)
	}
	if err := l.fillWeights(ctx, weights, progress); err != nil {
		return err
	}
	l.weights, l.weightSum = weights, graph.WeightsChecksum(l.seed, weights)
	return l.validator.SetWeights(weights)
}

// fillWeights makes the weights of the tuples, those of a Kronecker graph on the device.
func (l *local) fillWeights(ctx context.Context, weights []float32, progress Progress) (err error) {
	total := int64(len(weights))
	start, step := time.Now(), progress.Step(fmt.Sprintf("%s: weights", l.id), total)
	defer func() { step.End(fmt.Sprintf("%d weights in %s", total, units.Duration(time.Since(start))), err) }()
	if l.file != nil && l.file.Weights(weights, 0) {
		l.graph.Weights, l.file = "of the file", nil
		step.Add(total)
		return nil
	}
	l.graph.Weights = fmt.Sprintf("random, in [0,1), from seeds %d and %d", l.plan.Seed1, l.plan.Seed2)
	source, begin := l.source, int64(0)
	if source == nil {
		source = fileWeights{tuples: total}
	} else {
		begin, _ = l.slice()
	}
	fill := func(dst []float32, first int64) error {
		return graph.Weights(ctx, source, l.plan.Seed1, l.plan.Seed2, dst, first, 0)
	}
	if kronecker, ok := source.(graph.Kronecker); ok {
		l.graph.Weights = record.ReferenceWeights
		fill = func(dst []float32, first int64) error {
			return onDevice{Kronecker: kronecker, device: l.device}.weights(ctx, dst, first)
		}
	}
	for first := int64(0); first < total; first += chunk {
		part := weights[first:min(first+chunk, total)]
		if err := fill(part, begin+first); err != nil {
			return err
		}
		step.Add(int64(len(part)))
	}
	return nil
}

// fileWeights is a source without weights, for a file that has none.
type fileWeights struct {
	graph.Source // nil: the weights depend on the length of the list only
	tuples       int64
}

func (f fileWeights) Name() string  { return "a file" }
func (f fileWeights) Tuples() int64 { return f.tuples }

// Changed reads all tuples, which takes a few milliseconds for each 100 MB.
func (l *local) Changed(context.Context) (bool, error) {
	return graph.Checksum(l.seed, l.tuples) != l.sum || graph.WeightsChecksum(l.seed, l.weights) != l.weightSum, nil
}

// Restore makes the tuples again after an engine has changed them, for the engines after it.
func (l *local) Restore(ctx context.Context, progress Progress) error {
	l.graph.GeneratedBy = ""
	var err error
	switch {
	case l.spec.Path == record.StandardInput:
		err = errors.New("standard input cannot be read again for the engines that remain; name a file")
	case l.source != nil:
		err = l.fill(ctx, l.source, progress)
	default:
		g, _, readErr := l.readInto(ctx, errChanged, progress)
		if err = readErr; err == nil && g.Info.SHA256 != l.graph.File.SHA256 {
			err = &ReadError{fmt.Errorf("%s: %w", l.spec.Path, errChanged)}
		}
	}
	if err == nil && l.weights != nil {
		err = l.fillWeights(ctx, l.weights, progress)
	}
	if changed, _ := l.Changed(ctx); err == nil && changed {
		err = errors.New("the tuples change while no engine runs: end the processes that an engine has left behind, " +
			"then resume the run")
	}
	return err
}

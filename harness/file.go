package harness

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/graph/files"
	"github.com/tepsbench/teps/internal/units"
	"github.com/tepsbench/teps/machine"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/record"
)

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
	options.Memory = whileThereIsRoom(ctx, machine.AvailableMemory, options.Memory)
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

// whileThereIsRoom returns memory for tuples that fails before none is available. How much a file takes is not known
// before its end, if it is compressed not even roughly.
func whileThereIsRoom(
	ctx context.Context, available func(context.Context) (int64, string, error),
	memory func(n int) ([]graph.Edge, error),
) func(n int) ([]graph.Edge, error) {
	const interval = 64 << 20 // bytes between two looks
	var taken, next int64
	return func(n int) ([]graph.Edge, error) {
		if taken += int64(n) * graph.EdgeBytes; taken > next {
			next = taken + interval
			if left, source, err := available(ctx); err == nil && left < interval {
				return nil, fmt.Errorf("%w: the tuples take more than %s, and this machine has %s available (%s)",
					plugins.ErrMemory, units.Bytes(taken), units.Bytes(left), source)
			}
		}
		if memory == nil {
			return make([]graph.Edge, n), nil
		}
		return memory(n)
	}
}

// read loads the tuples from the graph's file into memory that is shared with engines. It is reserved first, because
// their number is known at the end of the file.
func (in *Input) read(ctx context.Context, host Host, progress Progress) error {
	again := in.tuples != nil
	if !again {
		available, _, err := machine.AvailableMemory(ctx)
		if err != nil {
			available = 1 << 40
		}
		if in.tuples, in.release, err = host.Reserve(available / graph.EdgeBytes); err != nil {
			in.release = func() error { return nil }
			return fmt.Errorf("memory for %s: %w", in.spec.Name, err)
		}
	}
	used := 0
	g, err := ReadFile(ctx, in.spec, files.Options{SHA256: true, Memory: func(n int) ([]graph.Edge, error) {
		switch {
		case n <= len(in.tuples)-used:
		case again:
			return nil, errChanged
		default:
			return nil, fmt.Errorf("more than %d tuples: %w", len(in.tuples), plugins.ErrMemory)
		}
		used += n
		return in.tuples[used-n : used : used], nil
	}}, progress)
	switch {
	case err != nil:
		return err
	case again && g.Info.SHA256 != in.graph.File.SHA256:
		return &ReadError{fmt.Errorf("%s: %w", in.spec.Path, errChanged)}
	case again:
		return nil
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

var errChanged = errors.New("the file has changed since the run began")

// CheckFiles returns a record.ErrUsage if a file of the plan is missing, and a plugins.ErrMemory if one is so large
// that its graph can hardly fit: a tuple takes 12 bytes, and seldom more than 24 in a file.
func CheckFiles(ctx context.Context, plan record.Plan) error {
	available, source, err := machine.AvailableMemory(ctx)
	if err != nil {
		available = math.MaxInt64
	}
	for _, g := range plan.Graphs {
		if g.Path == "" || g.Path == record.StandardInput {
			continue
		}
		info, err := os.Stat(g.Path)
		switch {
		case graph.IsGenerator(g.Name+":") && err != nil:
			return record.Usage("graph %s: want it with numbers, such as %[1]s:1000; teps run --help lists the generators",
				g.Name)
		case errors.Is(err, fs.ErrNotExist):
			return record.Usage("graph %s does not exist, as a file or a generator; teps run --help lists the generators",
				g.Name)
		case err != nil:
			return record.Usage("graph %s: %w", g.Name, err)
		case info.IsDir():
			return record.Usage("graph %s is a directory; name a file", g.Name)
		case !info.Mode().IsRegular():
			return record.Usage("graph %s is a pipe or a device; give - to read standard input", g.Name)
		case info.Size()/2 > available:
			return fmt.Errorf("%w: %s has %s, and its tuples take about half as much, but this machine has %s available (%s)",
				plugins.ErrMemory, g.Name, units.Bytes(info.Size()), units.Bytes(available), source)
		}
	}
	return nil
}

// labelOf returns the label of a root in the graph's file, or nil if that is its number.
func (in *Input) labelOf(root graph.Vertex) *uint64 {
	if in.label == nil {
		return nil
	}
	label := in.label(root)
	return &label
}

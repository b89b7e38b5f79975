package harness

import (
	"context"
	"fmt"
	"math"
	"os"
	"runtime/debug"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/graph/files"
	"github.com/tepsbench/teps/internal/units"
	"github.com/tepsbench/teps/machine"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/record"
)

// ReadError is the error of a file that cannot be read as a graph. Its text names the file and the place in it.
type ReadError struct{ Err error }

func (e *ReadError) Error() string { return e.Err.Error() }
func (e *ReadError) Unwrap() error { return e.Err }

// ReadFile reads the file of a graph into memory, graph.EdgeBytes a tuple. Errors other than that of ctx are a
// ReadError.
func ReadFile(ctx context.Context, spec record.GraphSpec, progress Progress) (g *files.Graph, err error) {
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
	options := files.Options{Progress: func(done, _ int64) {
		step.Add(done - seen)
		seen = done
	}}
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
	summary = fmt.Sprintf("%s, %s", g.Info.Format, units.Bytes(g.Info.Bytes))
	return g, nil
}

// read loads the tuples from the graph's file. They are in memory twice for a moment: their number, and with it the
// size of the memory that engines share, is known at the end of the file.
func (in *Input) read(ctx context.Context, host Host, progress Progress) error {
	g, err := ReadFile(ctx, in.spec, progress)
	if err != nil {
		return err
	}
	defer debug.FreeOSMemory()
	info := g.Info
	if info.Vertices == 0 {
		return &ReadError{fmt.Errorf("%s: the graph has no vertices", in.spec.Path)}
	}
	in.graph.Vertices = info.Vertices
	in.graph.File = &record.FileRecord{
		Format: string(info.Format), Compression: info.Compression, Bytes: info.Bytes, SHA256: info.SHA256,
		Symmetrised: info.Symmetrised, Relabelled: info.Labels != nil || info.FirstLabel != 0,
	}
	if in.graph.File.Relabelled {
		in.label = info.Label
	}
	if in.tuples == nil {
		if err := in.borrow(ctx, host, g); err != nil {
			return err
		}
	}
	return in.fill(ctx, g, progress)
}

// CheckFiles returns a record.ErrUsage if a file of the plan is missing, and a plugins.ErrMemory if one is so large
// that its graph cannot fit: a tuple takes up to 24 bytes in a file, and as many while it is read.
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
		case err != nil:
			return record.Usage("graph %s is neither a generator nor a file: %w; teps run --help lists the generators",
				g.Name, err)
		case !info.Mode().IsRegular():
			return record.Usage("graph %s is a directory, a pipe or a device; give - to read standard input", g.Name)
		case info.Size() > available:
			return fmt.Errorf("%w: %s has %s, and its tuples take about as much while they are read, but this machine has "+
				"%s available (%s)", plugins.ErrMemory, g.Name, units.Bytes(info.Size()), units.Bytes(available), source)
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

// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"context"
	"fmt"
	"os"
	"sync"

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
	path, _ := files.SplitArchive(spec.Path)
	if info, err := os.Stat(path); err == nil {
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
	options.Format = files.Format(spec.Format)
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

// withinMemory returns a function that takes bytes of memory, and fails before the memory is exhausted. The memory that
// a file takes is not known before its end, and not even roughly if it is compressed.
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

// SPDX-License-Identifier: Apache-2.0

//go:build cuda

package cuda

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"time"

	"gorgonia.org/cu"

	"github.com/tepsbench/teps/cuda/driver"
	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/internal/offload"
	"github.com/tepsbench/teps/plugins"
)

// pathImage is kernels/paths/*.cu, with what they need of kernel 1, compiled by build.sh.
//
//go:embed kernels/paths/paths.fatbin
var pathImage string

// pathSearch is kernel 3 on one GPU: the distance of every label and its parent, in device memory when the clock stops,
// and the steps with their times. The device runs all steps in one cooperative launch (kernels/paths/sssp.cu has the
// algorithm, its invariants, and its sources), so the host launches once and waits once, or again after pathSteps steps
// in a deep graph. In between it looks at ctx. The state of the search stays on the device.
type pathSearch struct {
	*search  // of kernel 2: the same GPU, parents, and memory
	gpu      *driver.GPU
	function cu.Function
	threads  int         // of a block
	params   devicePaths // of the last launch
	status   *pathStatus // of the last launch; in pinned host memory, written by the device
	levels   []plugins.Level
	phases   [2]plugins.Phase
	barriers [1]plugins.Counter
}

// Do calls f in the context of the GPU.
func (s *pathSearch) Do(f func() error) error { return s.gpu.Do(f) }

// Traverse launches steps until distances and parents are written.
func (s *pathSearch) Traverse(ctx context.Context, root graph.Vertex) error {
	s.levels = s.levels[:0]
	s.params.Root, s.params.Resume = uint64(root), 0
	for {
		err := driver.LaunchCooperative(s.gpu.Stream, s.function, s.gpu.Multiprocessors, s.threads, s.params)
		if err != nil {
			return fmt.Errorf("launch the search for shortest paths: %w", err)
		}
		if err := s.gpu.Stream.Synchronize(); err != nil {
			return err
		}
		if s.status.Done != 0 {
			return nil
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		s.record()
		s.params.Resume = 1
	}
}

// record appends the steps of the last launch.
func (s *pathSearch) record() {
	for _, step := range s.status.Step[:s.status.Steps] {
		if len(s.levels) > maxLevels {
			return
		}
		level := plugins.Level{Frontier: int64(step.Frontier), Edges: plugins.Counted(int64(step.Examined)),
			Elapsed: time.Duration(step.Nanoseconds)}
		if step.Pull != 0 {
			level.Direction = graph.BottomUp
		}
		s.levels = append(s.levels, level)
	}
}

// Report returns the steps as levels, valid until the next search. The last one counts the barriers of the search.
func (s *pathSearch) Report(graph.Vertex) (t plugins.Traversal) {
	s.record()
	if n := len(s.levels); n <= maxLevels {
		t.Levels = s.levels
		s.barriers[0] = plugins.Counter{Name: "barriers", Value: int64(s.status.Barriers)}
		s.levels[n-1].Counters = s.barriers[:]
	}
	s.phases = [2]plugins.Phase{{Name: "begin", Elapsed: time.Duration(s.status.Begin)},
		{Name: "output", Elapsed: time.Duration(s.status.Output)}}
	t.Phases = s.phases[:]
	return t
}

// CopyTo copies parents and distances to the host.
func (s *pathSearch) CopyTo(ctx context.Context, out plugins.Output) error {
	return errors.Join(s.search.CopyTo(ctx, out),
		download(ctx, &s.stage, offload.Bytes(out.Distance), s.params.Distance))
}

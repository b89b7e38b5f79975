// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/machine"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/record"
)

// localSession is a Session with one process of the engine, or with an engine in this process.
type localSession struct {
	*local
	plan     record.Plan
	progress Progress
	engine   plugins.Engine
	parents  []graph.Vertex // the result of the last search; lent to this engine only
	release  func() error   // of the parents
	device   *hostDevice    // validates; open between StartValidating and StopValidating
	before   *machine.Moment
	returned *machine.Moment // when the last search had returned
}

// Open implements Data.
func (l *local) Open(
	ctx context.Context, plan record.Plan, spec record.EngineSpec, progress Progress) (_ Session, err error) {
	s := &localSession{local: l, plan: plan, progress: progress}
	if s.parents, s.release, err = l.host.Parents(l.graph.Vertices); err != nil {
		return nil, fmt.Errorf("memory for %d parents: %w", l.graph.Vertices, err)
	}
	if s.engine, err = l.host.Open(ctx, spec); err != nil {
		return nil, cmp.Or(err, s.release())
	}
	return s, nil
}

func (s *localSession) Close() error { return cmp.Or(closeEngine(s.engine), s.release()) }

func (s *localSession) Describe(ctx context.Context) (plugins.Description, error) {
	return describe(ctx, s.engine)
}

func (s *localSession) Checksum() string {
	if program, ok := s.engine.(interface{ Checksum() string }); ok {
		return program.Checksum()
	}
	return ""
}

// Construct implements Session. It lends the tuples on the device to an engine that takes them there.
func (s *localSession) Construct(ctx context.Context, options map[string]string) (c Constructed, err error) {
	d, err := s.Describe(ctx)
	if err != nil {
		return c, err
	}
	in := plugins.Input{Tuples: s.tuples, Options: options}
	if recipe, ok := s.source.(graph.Kronecker); ok && (s.graph.Regenerated || d.WantsRecipe) {
		in.Recipe = &recipe
	}
	if d.TakesDeviceTuples {
		in.DeviceTuples = s.lend(ctx)
	}
	if in.DeviceTuples != nil {
		in.Tuples = nil
		err = s.build(ctx, in, &c)
		s.takeBack(ctx)
		if !errors.Is(err, plugins.ErrMemory) && !errors.Is(err, plugins.ErrUnavailable) {
			return c, err
		}
		in.Tuples, in.DeviceTuples = s.tuples, nil
	}
	err = s.build(ctx, in, &c)
	return c, err
}

func (s *localSession) build(ctx context.Context, in plugins.Input, c *Constructed) (err error) {
	start := time.Now()
	c.Construction, err = s.engine.Construct(ctx, in)
	c.Wall, c.OnDevice = time.Since(start), in.DeviceTuples != nil
	return err
}

// Ready implements Session.
func (s *localSession) Ready(context.Context) error {
	s.Thaw()
	s.validator.Overwrite(s.parents)
	s.before = s.moment()
	return nil
}

func (s *localSession) Wake(ctx context.Context, root graph.Vertex) error {
	_, err := s.engine.Search(ctx, root, s.parents)
	return err
}

// markStride is the distance of the parents that Mark overwrites.
const markStride = 509

func (s *localSession) Mark(context.Context) error {
	for i := rand.IntN(markStride); i < len(s.parents); i += markStride {
		s.parents[i] = graph.Unwritten
	}
	return nil
}

func (s *localSession) Search(ctx context.Context, root graph.Vertex) (found Searched, err error) {
	start := time.Now()
	found.Traversal, err = s.engine.Search(ctx, root, s.parents)
	found.Wall = time.Since(start)
	s.Freeze()
	s.returned = s.moment()
	found.Interference = s.returned.Since(s.before)
	return found, err
}

func (s *localSession) Repeat(ctx context.Context, roots []graph.Vertex, duration time.Duration) (
	searches int64, wall time.Duration, err error) {
	repeater, ok := s.engine.(plugins.Repeater)
	if !ok {
		return 0, 0, errors.ErrUnsupported
	}
	start := time.Now()
	searches, err = repeater.Repeat(ctx, roots, duration, s.parents)
	wall = time.Since(start)
	s.Freeze()
	return searches, wall, err
}

func (s *localSession) Copy(context.Context) (time.Duration, error) {
	block := make([]graph.Vertex, min(len(s.parents), 1<<16))
	start := time.Now()
	for at := 0; at < len(s.parents); at += len(block) {
		copy(s.parents[at:], block)
	}
	return time.Since(start), nil
}

// Validate implements Session.
func (s *localSession) Validate(ctx context.Context, root graph.Vertex, how Validation) (v Verdict, err error) {
	if how == CountOnly {
		v.Tree, err = s.validator.Count(ctx, root, s.parents)
	} else {
		v, err = s.judge(ctx, root, how)
	}
	v.After = s.moment().Ran(s.returned)
	return v, err
}

// moment returns a snapshot of the engine's process, or nil for an engine in this process.
func (s *localSession) moment() *machine.Moment {
	if process, ok := s.engine.(interface{ PID() int }); ok {
		return machine.Now(process.PID())
	}
	return nil
}

// freezer is an engine whose process the host can stop between two calls.
type freezer interface {
	Freeze()
	Thaw()
}

func (s *localSession) Freeze() {
	if process, ok := s.engine.(freezer); ok {
		process.Freeze()
	}
}

func (s *localSession) Thaw() {
	if process, ok := s.engine.(freezer); ok {
		process.Thaw()
	}
}

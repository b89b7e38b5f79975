// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/machine"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/record"
)

// localSession is a Session on this host. The engine is a process, several processes (spread), or in this process.
type localSession struct {
	*local
	plan     record.Plan
	progress Progress
	spec     record.EngineSpec
	engine   plugins.Engine
	kernel   record.Kernel
	spread   Spread          // the engine, if it is several processes
	out      plugins.Output  // of the last search; lent to this engine only
	results  loans           // the arrays of out
	device   *hostDevice     // validates; open between StartValidating and StopValidating
	before   *machine.Moment // when the session was ready
	returned *machine.Moment // when the last search had returned
}

// Open implements Data.
func (l *local) Open(
	ctx context.Context, plan record.Plan, kernel record.Kernel, spec record.EngineSpec, progress Progress,
) (_ Session, err error) {
	s := &localSession{local: l, kernel: kernel, plan: plan, spec: spec, progress: progress}
	s.out.Parent, err = borrow(&s.results, "parents", l.host.Parents, l.labels)
	if err == nil && kernel == record.SSSP {
		s.out.Distance, err = borrow(&s.results, "distances", l.host.Distances, l.labels)
	}
	if err == nil {
		s.engine, err = l.host.Open(ctx, spec)
	}
	if err != nil {
		return nil, cmp.Or(err, s.results.giveBack())
	}
	return s, nil
}

func (s *localSession) Close() error { return cmp.Or(closeEngine(s.engine), s.results.giveBack()) }

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
	in := s.input()
	in.Options = options
	if s.exchange != nil {
		in.First, _ = s.slice()
		in.Place = plugins.Place{Rank: s.exchange.Rank(), Size: s.exchange.Size()} // of this host
	}
	if spreader, ok := s.host.(Spreader); ok && d.Spreads {
		hosts := max(in.Place.Size, 1)
		n, err := ProcessesOf(d, options, hosts)
		if err != nil {
			return c, err
		}
		if n > 0 && s.spread == nil {
			s.spread = spreader.Spread(s.engine, s.spec, hosts)
			s.engine = s.spread
		}
		if n > 0 {
			err = s.spread.Prepare(ctx, options)
		}
		if err != nil {
			return c, err
		}
	}
	if d.TakesDeviceTuples && s.kernel == record.BFS && s.spread == nil { // a device has no weights
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

// input returns the tuples, or their recipe, and the weights for kernel 3.
func (s *localSession) input() plugins.Input {
	in := plugins.Input{Tuples: s.tuples}
	if s.kernel == record.SSSP {
		in.ShortestPaths, in.Weights = true, s.weights
	}
	if s.graph.Regenerated {
		in.Recipe = &s.graph.Recipe
	}
	return in
}

func (s *localSession) build(ctx context.Context, in plugins.Input, c *Constructed) (err error) {
	start := time.Now()
	c.Construction, err = s.engine.Construct(ctx, in)
	c.Wall, c.OnDevice = time.Since(start), in.DeviceTuples != nil
	return err
}

// Ready implements Session.
func (s *localSession) Ready(context.Context) error {
	s.validator.Overwrite(s.out.Parent, s.out.Distance)
	s.before = machine.Now(s.pids()...)
	return nil
}

func (s *localSession) Search(ctx context.Context, root graph.Vertex, wake bool) (found Searched, err error) {
	if s.spread != nil { // processes that were stopped would begin the timed search with cold caches
		s.spread.Keep(wake)
	}
	start := time.Now()
	if found.Traversal, err = s.engine.Search(ctx, root, s.out); wake {
		found.Wall = time.Since(start)
		return found, err
	}
	found.Wall = s.stopped(start)
	s.returned = machine.Now(s.pids()...)
	found.Interference = s.returned.Since(s.before)
	return found, err
}

func (s *localSession) Repeat(ctx context.Context, roots []graph.Vertex, duration time.Duration) (
	done Repeated, err error) {
	repeater, ok := s.engine.(plugins.Repeater)
	if !ok {
		return done, errors.ErrUnsupported
	}
	start := time.Now()
	done.Searches, err = repeater.Repeat(ctx, roots, duration, s.out)
	done.Wall = s.stopped(start)
	if last := roots[max(done.Searches-1, 0)%int64(len(roots))]; err == nil && done.Searches > 0 && s.exchange == nil &&
		s.out.Parent[last] != last {
		err = fmt.Errorf("%w: the last of %d searches was not from root %d", plugins.ErrClock, done.Searches, last)
	}
	return done, err
}

// Validate implements Session.
func (s *localSession) Validate(ctx context.Context, root graph.Vertex, how Validation) (v Verdict, err error) {
	if how == CountOnly {
		v.Tree, err = s.validator.Count(ctx, root, s.out.Parent)
	} else {
		v, err = s.judge(ctx, root, how)
	}
	if since := machine.Now(s.pids()...).Since(s.returned); since != nil {
		v.After = since.Ran.Seconds()
	}
	return v, err
}

func (s *localSession) pids() []int {
	switch process := s.engine.(type) {
	case interface{ PID() int }:
		return []int{process.PID()}
	case interface{ PIDs() []int }:
		return process.PIDs()
	}
	return nil
}

// PeakMemory implements Session.
func (s *localSession) PeakMemory(context.Context) record.PeakMemory {
	m := record.PeakMemory{Host: machine.PeakMemory(os.Getpid(), false)}
	for _, pid := range s.pids() {
		m.Engine += machine.PeakMemory(pid, true)
	}
	return m
}

// stopped returns the time since the start of a call, and stops the engine's processes.
func (s *localSession) stopped(start time.Time) time.Duration {
	wall := time.Since(start)
	if process, ok := s.engine.(interface{ Freeze() }); ok {
		process.Freeze()
	}
	return wall
}

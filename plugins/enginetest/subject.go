// SPDX-License-Identifier: Apache-2.0

package enginetest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
)

// patience is the time that an engine may continue after its context has ended. The contract says "within a second or
// two".
const patience = 2 * time.Second

// Opener opens an engine that has not been used. The suite closes it. Every case calls it at least once.
type Opener func(ctx context.Context) (plugins.Engine, error)

// Allocator is implemented by engines that share memory with the suite, which otherwise uses Go slices. Each release
// function frees the memory.
type Allocator interface {
	Tuples(n int64) (tuples []graph.Edge, release func() error, err error)
	Parents(n int64) (parents []graph.Vertex, release func() error, err error)
}

// Footprint is implemented by engines in other processes. PrivateMemory returns the bytes that the process does not
// share.
type Footprint interface {
	PrivateMemory() (bytes int64, known bool)
}

// Case is one thing that every engine must do.
type Case struct {
	Name  string // group/what; unique
	check func(s *subject)
	runs  condition
	About string // the requirement, in one sentence
}

type condition int

const (
	always   condition = iota
	anywhere           // also on an engine that is unavailable here
	long               // without -short: it takes long on an engine that launches kernels or sends messages between levels
)

// subject is the engine under test in one case. Methods that fail or skip panic with a failure, which attempt recovers.
type subject struct {
	ctx         context.Context
	engine      plugins.Engine
	open        Opener
	description plugins.Description
	options     map[string]string // of every Construct
	when        string            // what was done before, for messages; empty: nothing special
	releases    []func() error
}

type failure struct{ error }

type skip string

func (s skip) Error() string { return string(s) }

func (s *subject) skip(reason string) { panic(failure{skip(reason)}) }

func (s *subject) fail(format string, args ...any) {
	err := fmt.Errorf(format, args...)
	if s.when != "" {
		err = fmt.Errorf("%s: %w", s.when, err)
	}
	panic(failure{err})
}

// must fails if err is an error. what says what was done.
func (s *subject) must(err error, what string, args ...any) {
	if err != nil {
		s.fail("%s: %w", fmt.Sprintf(what, args...), err)
	}
}

func attempt(check func()) (err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case failure:
			err = r.error
		default:
			panic(r)
		}
	}()
	check()
	return nil
}

// persistently fails if three attempts of a check fail: on a busy machine a correct clock may look wrong once.
func (s *subject) persistently(check func(try int)) {
	for try := range 2 {
		if attempt(func() { check(try) }) == nil {
			return
		}
	}
	check(2)
}

func (s *subject) wantError(what string, err error, sentinels ...error) {
	if slices.ContainsFunc(sentinels, func(sentinel error) bool { return errors.Is(err, sentinel) }) {
		return
	}
	s.fail("%s: want an error that wraps %q, got: %w", what, sentinels, cmp.Or(err, errors.New("none")))
}

func (s *subject) refusesSearch(what string, root graph.Vertex, parent []graph.Vertex, sentinels ...error) {
	_, err := s.engine.Search(s.ctx, root, parent)
	s.wantError(what, err, sentinels...)
}

func (s *subject) release() error {
	failed := s.engine.Close()
	if failed != nil {
		failed = fmt.Errorf("want no error from Close, got: %w", failed)
	}
	for _, release := range s.releases {
		failed = errors.Join(failed, release())
	}
	return failed
}

func (s *subject) tuples(edges []graph.Edge) []graph.Edge {
	host, ok := s.engine.(Allocator)
	if !ok || len(edges) == 0 {
		return slices.Clone(edges)
	}
	shared := allocated(s, host.Tuples, len(edges))
	copy(shared, edges)
	return shared
}

func (s *subject) vertices(n int64) []graph.Vertex {
	if host, ok := s.engine.(Allocator); ok {
		return allocated(s, host.Parents, int(n))
	}
	return make([]graph.Vertex, n)
}

func allocated[E any](s *subject, allocate func(int64) ([]E, func() error, error), n int) []E {
	shared, release, err := allocate(int64(n))
	s.must(err, "allocating %d elements to share with the engine", n)
	s.releases = append(s.releases, release)
	return shared
}

func (s *subject) with(name, value string) map[string]string {
	set := map[string]string{}
	maps.Copy(set, s.options)
	set[name] = value
	return set
}

func (s *subject) construct(ctx context.Context, tuples []graph.Edge) error {
	_, err := s.engine.Construct(ctx, plugins.Input{Tuples: tuples, Options: s.options})
	return err
}

// label describes a set of options, for messages and as the name of a subtest.
func label(options map[string]string) string {
	text := strings.NewReplacer("map[", "", "]", "", ":", "=", " ", ",").Replace(fmt.Sprint(options))
	return cmp.Or(text, "defaults")
}

const (
	guard                  = 70 // entries on both sides of a parent array that an engine must not write
	guardMark graph.Vertex = -0x7e57_7e57_7e57
)

// loaded is a graph that the engine has constructed, with its truth and a parent array.
type loaded struct {
	*subject
	input  input
	truth  *Truth
	given  []graph.Edge // the engine's tuples
	around []graph.Vertex
	parent []graph.Vertex // around without its guards
	built  plugins.Construction
	wall   time.Duration // of Construct, on the host's clock
}

func (s *subject) load(in input) *loaded { return s.loadWith(in, s.options) }

func (s *subject) loadWith(in input, options map[string]string) *loaded {
	truth, err := NewTruth(in.tuples, in.vertices)
	s.must(err, "preparing %v", in)
	return s.loadInput(in, truth, plugins.Input{Options: options})
}

// loadInput constructs the graph with the options and weights of an Input.
func (s *subject) loadInput(in input, truth *Truth, construct plugins.Input) *loaded {
	l := &loaded{subject: s, input: in, truth: truth, given: s.tuples(in.tuples)}
	construct.Tuples = l.given
	l.around = s.vertices(guard + in.vertices + guard)
	fillWith(l.around, guardMark)
	l.parent = l.around[guard : guard+in.vertices] // with capacity in the guard, to detect engines that use it
	start := time.Now()
	var err error
	l.built, err = s.engine.Construct(s.ctx, construct)
	l.wall = time.Since(start)
	if construct.ShortestPaths && len(s.options) > 0 && errors.Is(err, errors.ErrUnsupported) {
		s.skip(fmt.Sprintf("%s: %v", label(s.options), err))
	}
	s.must(err, "Construct of %v with %s: want a graph, got the error", in, label(construct.Options))
	return l
}

// filling is the contents of the parent array before a search.
type filling int

const (
	unwritten filling = iota // as the host fills it
	previous                 // the parents of the previous search
	selves                   // every vertex its own parent: plausible and wrong
	fillings
)

func (f filling) String() string {
	return [...]string{"unwritten marks", "the previous search's parents", "every vertex as its own parent"}[f]
}

func (l *loaded) fill(f filling) {
	switch f {
	case unwritten:
		fillWith(l.parent, graph.Unwritten)
	case selves:
		for v := range l.parent {
			l.parent[v] = graph.Vertex(v)
		}
	}
}

func fillWith(list []graph.Vertex, value graph.Vertex) {
	for i := range list {
		list[i] = value
	}
}

// run calls Search on the loaded graph and returns its result and the host's time, without checking the parents.
func (l *loaded) run(root graph.Vertex) (t plugins.Traversal, wall time.Duration) {
	start := time.Now()
	t, err := l.engine.Search(l.ctx, root, l.parent)
	wall = time.Since(start)
	l.must(err, "%v, root %d: want a search, got the error", l.input, root)
	return t, wall
}

func (l *loaded) search(root graph.Vertex, f filling) {
	l.fill(f)
	l.run(root)
	l.verify(root, f)
}

// searchAll searches from each root, over one filling after the other.
func (l *loaded) searchAll(roots ...graph.Vertex) {
	for i, root := range roots {
		l.search(root, filling(i)%fillings)
	}
}

func (l *loaded) verify(root graph.Vertex, f filling) {
	l.must(l.truth.Check(l.ctx, root, l.parent), "%v, root %d, array pre-filled with %v", l.input, root, f)
	for i, mark := range l.around {
		if at := int64(i) - guard; (at < 0 || at >= l.input.vertices) && mark != guardMark {
			l.fail("%v, root %d: want nothing written outside of parent[0:%d], found %d at parent[%d]",
				l.input, root, l.input.vertices, mark, at)
		}
	}
}

// canceled makes a call whose context ends after a delay, or before the call if the delay is 0. It returns the error of
// the call, or an error if the call does not return soon.
func (s *subject) canceled(delay time.Duration, call func(context.Context) error) error {
	ctx, cancel := context.WithCancel(s.ctx)
	defer cancel()
	if delay <= 0 {
		cancel()
	}
	defer time.AfterFunc(delay, cancel).Stop()
	start := time.Now()
	err := call(ctx)
	if late := time.Since(start) - delay; late > patience {
		return fmt.Errorf("want an end within %v of the cancel, it took %v (and returned %v)",
			patience, late.Round(time.Millisecond), err)
	}
	return err
}

// canceledSearch makes a search whose context ends after a delay. One that finishes must be correct; any other must
// return the context's error.
func (l *loaded) canceledSearch(root graph.Vertex, delay time.Duration) {
	l.fill(unwritten)
	err := l.canceled(delay, func(ctx context.Context) error {
		_, err := l.engine.Search(ctx, root, l.parent)
		return err
	})
	l.when = fmt.Sprintf("root %d, canceled after %v", root, delay)
	switch {
	case err == nil:
		l.verify(root, unwritten)
	case !errors.Is(err, context.Canceled):
		l.fail("%v: %w", l.input, err)
	}
}

// delays after which a context is canceled: before the call, at its start, and during the work of most engines.
var delays = [...]time.Duration{0, 200 * time.Microsecond, 3 * time.Millisecond, 30 * time.Millisecond}

// clocks searches n times from root and returns the engine's and the host's time of the search in which they differ the
// least, because a busy machine may delay some searches.
func (l *loaded) clocks(root graph.Vertex, n int) (engine, host time.Duration) {
	for i := range n {
		if t, wall := l.run(root); i == 0 || wall-t.Elapsed < host-engine {
			engine, host = t.Elapsed, wall
		}
	}
	return engine, host
}

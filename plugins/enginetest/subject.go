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

// Opener opens an engine that has not been used. The suite closes it. Every case calls it at least once. The suite uses
// Go slices, unless the engine is a plugins.Lender.
type Opener func(ctx context.Context) (plugins.Engine, error)

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
	kernel3     bool              // graphs have weights, and searches are those for shortest paths
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

// search makes a search by the kernel of the case. Kernel 2 does not use distance.
func (s *subject) search(ctx context.Context, root graph.Vertex, parent []graph.Vertex, distance []float32) (
	plugins.Traversal, error) {
	return s.engine.Search(ctx, root, s.output(parent, distance))
}

func (s *subject) output(parent []graph.Vertex, distance []float32) (out plugins.Output) {
	if out.Parent = parent; s.kernel3 {
		out.Distance = distance
	}
	return out
}

func (s *subject) refusesSearch(what string, root graph.Vertex, parent []graph.Vertex, sentinels ...error) {
	_, err := s.search(s.ctx, root, parent, s.floats(len(parent), plugins.Lender.Distances))
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
	host, ok := s.engine.(plugins.Lender)
	if !ok || len(edges) == 0 {
		return slices.Clone(edges)
	}
	shared := allocated(s, host.Tuples, len(edges))
	copy(shared, edges)
	return shared
}

func (s *subject) vertices(n int64) []graph.Vertex {
	if host, ok := s.engine.(plugins.Lender); ok {
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
	guard                      = 70 // entries on both sides of a parent array that an engine must not write
	guardMark     graph.Vertex = -0x7e57_7e57_7e57
	guardDistance              = -7
)

// loaded is a graph that the engine has constructed, with its truth and the arrays of a result.
type loaded struct {
	*subject
	input  input
	truth  *Truth
	given  []graph.Edge // the engine's tuples
	around []graph.Vertex
	parent []graph.Vertex // around without its guards
	built  plugins.Construction
	wall   time.Duration // of Construct, on the host's clock

	weights  []float32 // of the tuples, for kernel 3
	lent     []float32 // the engine's weights
	beyond   []float32
	distance []float32 // beyond without its guards
}

// load constructs a graph, with uniform weights for kernel 3.
func (s *subject) load(in input) *loaded {
	if s.kernel3 {
		return s.loadWith(in, weightsBy(in, laws()[0]), s.options)
	}
	return s.loadWith(in, nil, s.options)
}

// loadWith constructs a graph with options, and with weights unless they are nil.
func (s *subject) loadWith(in input, weights []float32, options map[string]string) *loaded {
	l := &loaded{subject: s, input: in, given: s.tuples(in.tuples), weights: weights}
	l.around = s.vertices(guard + in.vertices + guard)
	l.beyond = s.floats(int(guard+in.vertices+guard), plugins.Lender.Distances)
	l.prepare()
	construct := plugins.Input{Tuples: l.given, Options: options, ShortestPaths: weights != nil}
	if weights != nil {
		l.lent = s.floats(len(weights), plugins.Lender.Weights)
		copy(l.lent, weights)
		construct.Weights = l.lent
	}
	start := time.Now()
	var err error
	l.built, err = s.engine.Construct(s.ctx, construct)
	l.wall = time.Since(start)
	if weights != nil && len(s.options) > 0 && errors.Is(err, errors.ErrUnsupported) {
		s.skip(fmt.Sprintf("%s: %v", label(s.options), err))
	}
	s.must(err, "Construct of %v with %s: want a graph, got the error", in, label(options))
	return l
}

// prepare makes the truth about the input, and the arrays of a result between guards. They have capacity in the guards,
// to detect engines that use it.
func (l *loaded) prepare() {
	fillWith(l.around, guardMark)
	fillWith(l.beyond, guardDistance)
	l.parent, l.distance = l.around[guard:guard+l.input.vertices], l.beyond[guard:guard+l.input.vertices]
	var err error
	if l.truth, err = NewTruth(l.input.tuples, l.input.vertices); err == nil && l.weights != nil {
		err = l.truth.host.SetWeights(l.weights)
	}
	l.must(err, "preparing %v", l.input)
}

// filling is the contents of the arrays before a search.
type filling int

const (
	unwritten filling = iota // as the host fills it
	previous                 // the result of the previous search
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
		fillWith(l.distance, graph.UnwrittenDistance())
	case selves:
		for v := range l.parent {
			l.parent[v] = graph.Vertex(v)
		}
	}
}

func fillWith[E any](list []E, value E) {
	for i := range list {
		list[i] = value
	}
}

// run searches the loaded graph and returns the report and the host's time, without checking the result.
func (l *loaded) run(root graph.Vertex) (t plugins.Traversal, wall time.Duration) {
	start := time.Now()
	t, err := l.search(l.ctx, root, l.parent, l.distance)
	wall = time.Since(start)
	l.must(err, "%v, root %d: want a search, got the error", l.input, root)
	return t, wall
}

func (l *loaded) searchOver(root graph.Vertex, f filling) {
	l.fill(f)
	l.run(root)
	l.verify(root, f)
}

// searchAll searches from each root, over one filling after the other.
func (l *loaded) searchAll(roots ...graph.Vertex) {
	for i, root := range roots {
		l.searchOver(root, filling(i)%fillings)
	}
}

func (l *loaded) verify(root graph.Vertex, f filling) {
	out := l.output(l.parent, l.distance)
	_, err := l.truth.host.Validate(l.ctx, root, out.Parent, out.Distance)
	l.must(err, "%v, array pre-filled with %v", l.input, f)
	for i, mark := range l.around {
		at := int64(i) - guard
		if outside := at < 0 || at >= l.input.vertices; outside && mark != guardMark {
			l.fail("%v, root %d: want nothing written outside of parent[0:%d], found %d at parent[%d]",
				l.input, root, l.input.vertices, mark, at)
		} else if outside && l.beyond[i] != guardDistance {
			l.fail("%v, root %d: want nothing written outside of distance[0:%d], found %v at distance[%d]",
				l.input, root, l.input.vertices, l.beyond[i], at)
		}
	}
}

// refuses searches with the first n entries of the arrays.
func (l *loaded) refuses(what string, root graph.Vertex, n int, sentinels ...error) {
	_, err := l.search(l.ctx, root, l.parent[:n:n], l.distance[:n:n])
	l.wantError(what, err, sentinels...)
}

// canceled makes a call whose context ends after a delay, or before the call if the delay is 0. It returns the error of
// the call, or an error if the call does not return soon, three times in a row, because the machine may be busy.
func (s *subject) canceled(delay time.Duration, call func(context.Context) error) error {
	late, err := s.canceledOnce(delay, call)
	for tries := 1; late > patience; tries++ {
		if tries == 3 {
			return fmt.Errorf("want an end within %v of the cancel, it took %v (and returned %v)", patience, late, err)
		}
		late, err = s.canceledOnce(delay, call)
	}
	return err
}

// canceledOnce returns how long after the cancel the call returned, and its error.
func (s *subject) canceledOnce(delay time.Duration, call func(context.Context) error) (time.Duration, error) {
	ctx, cancel := context.WithCancel(s.ctx)
	defer cancel()
	if delay <= 0 {
		cancel() // before the call begins
	}
	time.AfterFunc(delay, cancel)
	end := time.Now().Add(delay)
	err := call(ctx)
	return time.Since(end).Round(time.Millisecond), err
}

// canceledSearch makes a search whose context ends after a delay. One that finishes must be correct; any other must
// return the context's error.
func (l *loaded) canceledSearch(root graph.Vertex, delay time.Duration) {
	l.fill(unwritten)
	err := l.canceled(delay, func(ctx context.Context) error {
		_, err := l.search(ctx, root, l.parent, l.distance)
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

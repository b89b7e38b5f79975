package enginetest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
)

const (
	// guard is the number of entries on both sides of a parent array that an engine must not write.
	guard = 70
	// guardMark fills them. No search returns it as a parent.
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

// load constructs a graph with the subject's options.
func (s *subject) load(in input) *loaded { return s.loadWith(in, s.options) }

func (s *subject) loadWith(in input, options map[string]string) *loaded {
	truth, err := NewTruth(in.tuples, in.vertices)
	s.must(err, "preparing %v", in)
	l := &loaded{subject: s, input: in, truth: truth, given: s.tuples(in.tuples)}
	l.around = s.vertices(guard + in.vertices + guard)
	for i := range l.around {
		l.around[i] = guardMark
	}
	l.parent = l.around[guard : guard+in.vertices] // with capacity in the guard, to detect engines that use it
	start := time.Now()
	l.built, err = s.engine.Construct(s.ctx, plugins.Input{Tuples: l.given, Options: options})
	l.wall = time.Since(start)
	s.must(err, "Construct of %v with %s: want a graph, got the error", in, label(options))
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
	for v := range l.parent {
		switch f {
		case unwritten:
			l.parent[v] = graph.Unwritten
		case selves:
			l.parent[v] = graph.Vertex(v)
		}
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

// search searches over a filled array and compares the result with the truth.
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

// verify compares the parents of a search with the truth.
func (l *loaded) verify(root graph.Vertex, f filling) {
	l.must(l.truth.Check(l.ctx, root, l.parent), "%v, root %d, array pre-filled with %v", l.input, root, f)
	for i, mark := range l.around {
		if at := int64(i) - guard; (at < 0 || at >= l.input.vertices) && mark != guardMark {
			l.fail("%v, root %d: want nothing written outside of parent[0:%d], found %d at parent[%d]",
				l.input, root, l.input.vertices, mark, at)
		}
	}
}

// canceled makes a call whose context ends after a delay, or before the call if the delay is 0. It returns the error
// of the call, or another one if the call does not return soon.
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
func (l *loaded) canceledSearch(root graph.Vertex, delay time.Duration) (finished bool) {
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
	return err == nil
}

// delays after which a context is canceled: before the call, at its start, and during the work of most engines.
var delays = [...]time.Duration{0, 200 * time.Microsecond, 3 * time.Millisecond, 30 * time.Millisecond}

// clocks searches n times from root and returns the engine's and the host's time of the search in which they differ
// least: what a busy machine puts between them it does not put into every call.
func (l *loaded) clocks(root graph.Vertex, n int) (engine, host time.Duration) {
	for i := range n {
		if t, wall := l.run(root); i == 0 || wall-t.Elapsed < host-engine {
			engine, host = t.Elapsed, wall
		}
	}
	return engine, host
}

package enginetest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
)

// Allocator is what an engine may have beside plugins.Engine: memory that it reaches without a copy, as the host of a
// real run uses. Each function released gives the memory back.
type Allocator interface {
	Tuples(n int64) (tuples []graph.Edge, release func() error, err error)
	Parents(n int64) (parents []graph.Vertex, release func() error, err error)
}

// subject is the engine under test, as a case sees it.
type subject struct {
	engine      plugins.Engine
	open        Opener
	description plugins.Description
	options     map[string]string // base of every Construct
	releases    []func() error
}

// release closes the engine and gives memory back, in that order.
func (s *subject) release() error {
	var failed error
	if err := s.engine.Close(); err != nil {
		failed = fmt.Errorf("Close: want no error, got: %w", err)
	}
	for _, release := range s.releases {
		failed = errors.Join(failed, release())
	}
	s.releases = nil
	return failed
}

// tuples returns a copy of edges that may be handed to the engine.
func (s *subject) tuples(edges []graph.Edge) ([]graph.Edge, error) {
	host, ok := s.engine.(Allocator)
	if !ok || len(edges) == 0 {
		return slices.Clone(edges), nil
	}
	shared, release, err := host.Tuples(int64(len(edges)))
	if err != nil {
		return nil, fmt.Errorf("allocating %d tuples to share with the engine: %w", len(edges), err)
	}
	s.releases = append(s.releases, release)
	copy(shared, edges)
	return shared, nil
}

// vertices returns room for n vertices that may be handed to the engine.
func (s *subject) vertices(n int64) ([]graph.Vertex, error) {
	host, ok := s.engine.(Allocator)
	if !ok {
		return make([]graph.Vertex, n), nil
	}
	shared, release, err := host.Parents(n)
	if err != nil {
		return nil, fmt.Errorf("allocating %d parents to share with the engine: %w", n, err)
	}
	s.releases = append(s.releases, release)
	return shared, nil
}

// with returns the options of the subject and some more.
func (s *subject) with(name, value string) map[string]string {
	set := maps.Clone(s.options)
	if set == nil {
		set = map[string]string{}
	}
	set[name] = value
	return set
}

// guard is the number of entries around a parent array that must stay as they are.
const guard = 70

// guardMark fills them. It is no parent that any search could give.
const guardMark graph.Vertex = -0x7e57_7e57_7e57

// loaded is a graph that the engine has constructed, with its truth and an array for parents.
type loaded struct {
	subject *subject
	input   input
	truth   *truth
	given   []graph.Edge // what the engine was given
	around  []graph.Vertex
	parent  []graph.Vertex // around without its guards
	made    plugins.Construction
	wall    time.Duration // of Construct, by the host's clock
}

// load constructs in with the subject's options.
func (s *subject) load(ctx context.Context, in input) (*loaded, error) {
	return s.loadWith(ctx, in, s.options)
}

func (s *subject) loadWith(ctx context.Context, in input, options map[string]string) (*loaded, error) {
	l := &loaded{subject: s, input: in}
	var err error
	if l.truth, err = newTruth(in); err != nil {
		return nil, err
	}
	if l.given, err = s.tuples(in.tuples); err != nil {
		return nil, err
	}
	if l.around, err = s.vertices(guard + in.vertices + guard); err != nil {
		return nil, err
	}
	for i := range l.around {
		l.around[i] = guardMark
	}
	l.parent = l.around[guard : guard+in.vertices] // its capacity reaches into the guard: an engine that does is found
	start := time.Now()
	l.made, err = s.engine.Construct(ctx, plugins.Graph{Tuples: l.given, Options: options})
	l.wall = time.Since(start)
	if err != nil {
		return nil, fmt.Errorf("Construct of %v%s: want a graph, got the error: %w", in, described(options), err)
	}
	return l, nil
}

// described is a set of options for a message.
func described(options map[string]string) string {
	if len(options) == 0 {
		return ""
	}
	return " with " + label(options)
}

// filling is what stands in the parent array before a search.
type filling int

const (
	unwritten filling = iota // what the host fills in
	former                   // what the search before this one left
	selves                   // every vertex its own parent: plausible, and wrong
	fillings
)

func (f filling) String() string {
	return [...]string{"unwritten marks", "the former search's parents", "every vertex as its own parent"}[f]
}

// search searches from root over an array filled with f and compares the result with the truth.
func (l *loaded) search(ctx context.Context, root graph.Vertex, f filling) (plugins.Traversal, error) {
	for v := range l.parent {
		switch f {
		case unwritten:
			l.parent[v] = graph.Unwritten
		case selves:
			l.parent[v] = graph.Vertex(v)
		}
	}
	parent := l.parent
	if f == selves {
		parent = slices.Clip(parent) // and so does one that needs more capacity
	}
	t, err := l.subject.engine.Search(ctx, root, parent)
	if err != nil {
		return t, fmt.Errorf("%v, root %d: want a search, got the error: %w", l.input, root, err)
	}
	return t, l.verify(ctx, root, f)
}

// verify compares the parents that a search from root left with the truth.
func (l *loaded) verify(ctx context.Context, root graph.Vertex, f filling) error {
	if err := l.truth.check(ctx, root, l.parent); err != nil {
		return fmt.Errorf("%v, root %d, array pre-filled with %v: %w", l.input, root, f, err)
	}
	for i, mark := range l.around {
		if at := int64(i) - guard; (at < 0 || at >= l.input.vertices) && mark != guardMark {
			return fmt.Errorf("%v, root %d: want nothing written outside of parent[0:%d], found %d at parent[%d]",
				l.input, root, l.input.vertices, mark, at)
		}
	}
	return nil
}

// searchAll searches from each of roots, each time over another filling.
func (l *loaded) searchAll(ctx context.Context, roots []graph.Vertex) error {
	for i, root := range roots {
		if _, err := l.search(ctx, root, filling(i)%fillings); err != nil {
			return err
		}
	}
	return nil
}

// wantError compares an error with the sentinels of which it must wrap one.
func wantError(what string, err error, sentinels ...error) error {
	for _, s := range sentinels {
		if errors.Is(err, s) {
			return nil
		}
	}
	var names []string
	for _, s := range sentinels {
		names = append(names, fmt.Sprintf("%q", s))
	}
	if err == nil {
		return fmt.Errorf("%s: want an error that wraps %s, got none", what, joined(names))
	}
	return fmt.Errorf("%s: want an error that wraps %s, got: %w", what, joined(names), err)
}

func joined(names []string) string {
	text := names[0]
	for _, name := range names[1:] {
		text += " or " + name
	}
	return text
}

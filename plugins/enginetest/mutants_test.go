// SPDX-License-Identifier: Apache-2.0

package enginetest

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/serial"
)

// Shorter names for signatures.
type (
	correct      = plugins.Engine
	description  = plugins.Description
	vertex       = graph.Vertex
	traversal    = plugins.Traversal
	construction = plugins.Construction
)

// words are parts of errors, by the names of cases.
type words = map[string]string

// mutant is the correct engine with some of its calls replaced, so that it is wrong in one way. A call that is nil is
// that of the correct engine. The others get the correct engine as an argument.
type mutant struct {
	right     plugins.Engine
	describe  func(d *description)
	construct func(b build) (construction, error)
	search    func(c call) (traversal, error)
	close     func(right correct) error
	always    func(ctx context.Context) (description, error) // instead of Describe
	parents   func(n int64) []vertex                         // memory for parents; nil: the Go heap
	memory    func() int64                                   // of its process; nil: unknown
	used      int                                            // pieces of memory that were allocated
	live      int                                            // and those that were not released
	repeat    func(l loop) (int64, error)                    // of kernel 2
	paths     func(c call) (traversal, error)                // Search of kernel 3
	pathLoop  func(n int64, out plugins.Output) int64        // after a loop of kernel 3
}

// loop is a call of Repeat.
type loop struct {
	ctx      context.Context
	right    plugins.Repeater
	roots    []vertex
	duration time.Duration
	plugins.Output
}

func (l loop) repeat() (int64, error) { return l.right.Repeat(l.ctx, l.roots, l.duration, l.Output) }

func (m *mutant) Repeat(ctx context.Context, roots []vertex, duration time.Duration, out plugins.Output) (
	int64, error) {
	l := loop{ctx, m.right.(plugins.Repeater), roots, duration, out}
	if m.repeat != nil && out.Distance == nil {
		return m.repeat(l)
	}
	n, err := l.repeat()
	if m.pathLoop != nil && out.Distance != nil && err == nil {
		n = m.pathLoop(n, out)
	}
	return n, err
}

func (m *mutant) Tuples(n int64) ([]graph.Edge, func() error, error) {
	return make([]graph.Edge, n), m.allocated(), nil
}

func (m *mutant) Parents(n int64) ([]vertex, func() error, error) {
	if m.parents != nil {
		return m.parents(n), m.allocated(), nil
	}
	return make([]vertex, n), m.allocated(), nil
}

func (m *mutant) Weights(n int64) ([]float32, func() error, error) {
	return make([]float32, n), m.allocated(), nil
}

func (m *mutant) Distances(n int64) ([]float32, func() error, error) { return m.Weights(n) }

// allocated counts a piece of memory and returns its release function.
func (m *mutant) allocated() func() error {
	m.used++
	m.live++
	return func() error { m.live--; return nil }
}

func (m *mutant) PrivateMemory() (bytes int64, known bool) {
	if m.memory == nil {
		return 0, false
	}
	return m.memory(), true
}

func (m *mutant) Describe(ctx context.Context) (description, error) {
	if m.always != nil {
		return m.always(ctx)
	}
	d, err := m.right.Describe(ctx)
	if m.describe != nil && err == nil {
		m.describe(&d)
	}
	return d, err
}

func (m *mutant) Construct(ctx context.Context, in plugins.Input) (construction, error) {
	if m.construct != nil {
		return m.construct(build{ctx, m.right, in})
	}
	return m.right.Construct(ctx, in)
}

func (m *mutant) Search(ctx context.Context, root vertex, out plugins.Output) (traversal, error) {
	c := call{ctx, m.right, root, out}
	switch {
	case m.search != nil && out.Distance == nil:
		return m.search(c)
	case m.paths != nil && out.Distance != nil:
		return m.paths(c)
	}
	return c.search()
}

func (m *mutant) Close() error {
	if m.close != nil {
		return m.close(m.right)
	}
	return m.right.Close()
}

// call is a call of Search, which a mutant may change before it makes it.
type call struct {
	ctx   context.Context
	right correct
	root  vertex
	plugins.Output
}

func (c call) search() (traversal, error) { return c.right.Search(c.ctx, c.root, c.Output) }

// build is a call of Construct.
type build struct {
	ctx   context.Context
	right correct
	in    plugins.Input
}

func (b build) construct() (construction, error) { return b.right.Construct(b.ctx, b.in) }

// opening opens mutants of the serial engine.
func opening(make func() *mutant) Opener {
	return func(context.Context) (plugins.Engine, error) {
		m := make()
		m.right = serial.New()
		return m, nil
	}
}

// searching makes a mutant that has only another Search; constructing and closing do so with other calls.
func searching(search func(c call) (traversal, error)) func() *mutant {
	return func() *mutant { return &mutant{search: search} }
}

func constructing(construct func(b build) (construction, error)) func() *mutant {
	return func() *mutant { return &mutant{construct: construct} }
}

func closing(end func(right correct) error) func() *mutant {
	return func() *mutant { return &mutant{close: end} }
}

// after makes a mutant that changes the results of each Search.
func after(change func(root vertex, parent []vertex, t *traversal)) func() *mutant {
	return searching(func(c call) (traversal, error) {
		t, err := c.search()
		if err == nil {
			change(c.root, c.Parent, &t)
		}
		return t, err
	})
}

// built makes a mutant that changes the report of each Construct.
func built(change func(c *construction)) func() *mutant {
	return constructing(func(b build) (construction, error) {
		c, err := b.construct()
		change(&c)
		return c, err
	})
}

// onInput makes a mutant that changes the input of each Construct.
func onInput(change func(b *build)) func() *mutant {
	return constructing(func(b build) (construction, error) {
		change(&b)
		return b.construct()
	})
}

// said makes a mutant that changes the description.
func said(change func(d *description)) func() *mutant {
	return func() *mutant { return &mutant{describe: change} }
}

// TestEveryMutantIsCaughtByItsCases runs wrong engines through the cases that must fail. Other cases may
// fail as well, so only those named are run, and the error must say what is wrong.
func TestEveryMutantIsCaughtByItsCases(t *testing.T) {
	proved := map[string]bool{}
	for name, m := range mutants() {
		for caught := range m.caught {
			proved[caught] = true
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for caught, words := range m.caught {
				var options map[string]string
				if strings.HasPrefix(caught, "report/") {
					options = map[string]string{"work": "hybrid"} // which reports levels
				}
				o := caseNamed(t, caught).Run(t.Context(), opening(m.make), options, Limit)
				switch {
				case o.Err == nil:
					t.Errorf("case %s: want it failed, it passed (skipped: %q)", caught, o.Skipped)
				case !strings.HasPrefix(o.Err.Error(), "enginetest "+caught+": ") || !strings.Contains(o.Err.Error(), words):
					t.Errorf("case %s: want its name and %q in the error, got: %v", caught, words, o.Err)
				case strings.Count(o.Err.Error(), "\n") > 3 && !strings.Contains(o.Err.Error(), "want no panic"):
					t.Errorf("case %s: want a few lines, got: %v", caught, o.Err)
				}
			}
		})
	}
	for _, c := range Cases() {
		if !strings.HasPrefix(c.Name, "graph/") && !proved[c.Name] {
			t.Errorf("case %s: no mutant shows that it can fail", c.Name)
		}
	}
}

func TestEveryGraphCaseSeesOneMissingVertex(t *testing.T) {
	open := opening(after(func(root vertex, parent []vertex, _ *traversal) {
		missing := root
		for v, p := range parent {
			if p >= 0 && vertex(v) != root {
				missing = vertex(v)
			}
		}
		parent[missing] = graph.Unreached
	}))
	for _, c := range append(Cases(), GraphCase("line", 3, edges(0, 1, 1, 2))) {
		if strings.HasPrefix(c.Name, "graph/") || strings.HasPrefix(c.Name, "given/") {
			o := c.Run(t.Context(), open, nil, Limit)
			if o.Err == nil || !strings.Contains(o.Err.Error(), "unreached") {
				t.Errorf("case %s: want it failed for a missing vertex, got %v", c.Name, o.Err)
			}
		}
	}
}

// wrong is a mutant and the cases that must catch it, each with a part of its error.
type wrong struct {
	make   func() *mutant
	caught words
}

func mutants() map[string]wrong {
	all := map[string]wrong{}
	for _, group := range []map[string]wrong{
		wrongParents(), wrongState(), wrongReports(), wrongRefusals(), wrongInTheLongRun(), wrongInTheLoop(),
		wrongPaths(),
	} {
		maps.Copy(all, group)
	}
	return all
}

func wrongParents() map[string]wrong {
	return map[string]wrong{
		"hangs every vertex below the root": {after(func(root vertex, parent []vertex, _ *traversal) {
			for v, p := range parent {
				if p >= 0 {
					parent[v] = root
				}
			}
		}), words{"graph/path": "rule 5", "graph/grid": "break rule"}},
		"takes a parent of the right level that is not adjacent": {after(func(root vertex, parent []vertex, _ *traversal) {
			up := slices.Index(parent[1:], root) + 1 // of level 1 if the root is 0
			for v, p := range parent {
				if p >= 0 && p != root && parent[p] == root {
					parent[v] = vertex(up)
				}
			}
		}), words{"graph/tree": "rule 5"}},
		"leaves unreached vertices unwritten": {after(func(_ vertex, parent []vertex, _ *traversal) {
			for v, p := range parent {
				if p == graph.Unreached {
					parent[v] = graph.Unwritten
				}
			}
		}), words{"graph/isolated-end": "was never written", "graph/empty": "was never written"}},
		"writes one entry too many": {after(func(_ vertex, parent []vertex, _ *traversal) {
			if beyond := parent[:cap(parent)]; len(beyond) > len(parent) {
				beyond[len(parent)] = graph.Unreached
			}
		}), words{"graph/path": "want nothing written outside of parent[0:10], found -1 at parent[10]"}},
		"panics without tuples": {onInput(func(b *build) { _ = b.in.Tuples[0] }), words{
			"graph/empty":      "want no panic, got runtime error: index out of range",
			"graph/one-vertex": "mutants_test.go:",
		}},
	}
}

var errMutant = errors.New("no reason")

// slow waits, whatever the context says.
func slow(ctx context.Context, d time.Duration) context.Context {
	time.Sleep(d)
	return context.WithoutCancel(ctx)
}

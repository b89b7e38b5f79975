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
)

// mutant is the right engine with one or more of its calls replaced, so that it is wrong in one way. A nil call is the
// right one's; each gets the right engine to build on.
type mutant struct {
	right     plugins.Engine
	describe  func(d plugins.Description) plugins.Description
	construct func(ctx context.Context, right plugins.Engine, g plugins.Graph) (plugins.Construction, error)
	search    func(ctx context.Context, right plugins.Engine, root graph.Vertex, parent []graph.Vertex) (plugins.Traversal, error)
	close     func(right plugins.Engine) error
	always    func(ctx context.Context) (plugins.Description, error) // instead of Describe
	parents   func(n int64) []graph.Vertex                           // memory for parents; nil: the Go heap
	memory    func() int64                                           // of its process; nil: not known
	repeat    repetition
}

// repetition is Repeat, with the right engine to build on.
type repetition func(ctx context.Context, right plugins.Repeater, roots []graph.Vertex, duration time.Duration) (int64, error)

func (m *mutant) Repeat(ctx context.Context, roots []graph.Vertex, duration time.Duration) (int64, error) {
	if m.repeat == nil {
		return m.right.(plugins.Repeater).Repeat(ctx, roots, duration)
	}
	return m.repeat(ctx, m.right.(plugins.Repeater), roots, duration)
}

func (m *mutant) Tuples(n int64) ([]graph.Edge, func() error, error) {
	return make([]graph.Edge, n), func() error { return nil }, nil
}

func (m *mutant) Parents(n int64) ([]graph.Vertex, func() error, error) {
	if m.parents != nil {
		return m.parents(n), func() error { return nil }, nil
	}
	return make([]graph.Vertex, n), func() error { return nil }, nil
}

func (m *mutant) PrivateMemory() (bytes int64, known bool) {
	if m.memory == nil {
		return 0, false
	}
	return m.memory(), true
}

func (m *mutant) Describe(ctx context.Context) (plugins.Description, error) {
	if m.always != nil {
		return m.always(ctx)
	}
	d, err := m.right.Describe(ctx)
	if m.describe != nil && err == nil {
		d = m.describe(d)
	}
	return d, err
}

func (m *mutant) Construct(ctx context.Context, g plugins.Graph) (plugins.Construction, error) {
	if m.construct != nil {
		return m.construct(ctx, m.right, g)
	}
	return m.right.Construct(ctx, g)
}

func (m *mutant) Search(ctx context.Context, root graph.Vertex, parent []graph.Vertex) (plugins.Traversal, error) {
	if m.search != nil {
		return m.search(ctx, m.right, root, parent)
	}
	return m.right.Search(ctx, root, parent)
}

func (m *mutant) Close() error {
	if m.close != nil {
		return m.close(m.right)
	}
	return m.right.Close()
}

// after is a Search that spoils what the right one left.
func after(spoil func(root graph.Vertex, parent []graph.Vertex, t *plugins.Traversal)) func() *mutant {
	return func() *mutant {
		return &mutant{search: func(ctx context.Context, right plugins.Engine, root graph.Vertex, parent []graph.Vertex) (plugins.Traversal, error) {
			t, err := right.Search(ctx, root, parent)
			if err == nil {
				spoil(root, parent, &t)
			}
			return t, err
		}}
	}
}

// built is a Construct that spoils what the right one reports.
func built(spoil func(c *plugins.Construction)) func() *mutant {
	return func() *mutant {
		return &mutant{construct: func(ctx context.Context, right plugins.Engine, g plugins.Graph) (plugins.Construction, error) {
			c, err := right.Construct(ctx, g)
			spoil(&c)
			return c, err
		}}
	}
}

// given is a Construct that hands the right one something else.
func given(change func(ctx context.Context, g plugins.Graph) (context.Context, plugins.Graph)) func() *mutant {
	return func() *mutant {
		return &mutant{construct: func(ctx context.Context, right plugins.Engine, g plugins.Graph) (plugins.Construction, error) {
			ctx, g = change(ctx, g)
			return right.Construct(ctx, g)
		}}
	}
}

// said is a Describe that spoils the description.
func said(spoil func(d *plugins.Description)) func() *mutant {
	return func() *mutant {
		return &mutant{describe: func(d plugins.Description) plugins.Description { spoil(&d); return d }}
	}
}

// levelsOf derives levels from right parents; -1 is unreached.
func levelsOf(parent []graph.Vertex) []int {
	level := make([]int, len(parent))
	for v := range parent {
		at := graph.Vertex(v)
		for at >= 0 && parent[at] != at && level[v] <= len(parent) {
			at = parent[at]
			level[v]++
		}
		if at < 0 {
			level[v] = -1
		}
	}
	return level
}

// TestEveryMutantIsCaughtByTheCaseThatIsMeantForIt runs wrong engines through the cases that must fail. Other cases may
// fail as well, so only those named are run, and the error must say in words what is wrong.
func TestEveryMutantIsCaughtByTheCaseThatIsMeantForIt(t *testing.T) {
	for name, m := range mutants() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			open := func(context.Context) (plugins.Engine, error) {
				engine := m.make()
				engine.right = NewSerial()
				return engine, nil
			}
			for caught, words := range m.caught {
				o := caseNamed(t, caught).Run(t.Context(), open, nil)
				switch {
				case o.Err == nil:
					t.Errorf("case %s: want it failed, it passed (skipped: %q)", caught, o.Skipped)
				case !strings.HasPrefix(o.Err.Error(), "enginetest "+caught+": ") || !strings.Contains(o.Err.Error(), words):
					t.Errorf("case %s: want its name and %q in the error, got: %v", caught, words, o.Err)
				case strings.Count(o.Err.Error(), "\n") > 3:
					t.Errorf("case %s: want a few lines, got: %v", caught, o.Err)
				}
			}
		})
	}
}

func TestEveryCaseOutsideOfGraphsIsProvedByAMutant(t *testing.T) {
	proved := map[string]bool{}
	for _, m := range mutants() {
		for name := range m.caught {
			proved[name] = true
		}
	}
	for _, c := range Cases() {
		if !strings.HasPrefix(c.Name, "graph/") && !proved[c.Name] {
			t.Errorf("case %s: no mutant shows that it can fail", c.Name)
		}
	}
}

func TestEveryGraphCaseSeesOneMissingVertex(t *testing.T) {
	open := func(context.Context) (plugins.Engine, error) {
		m := after(func(root graph.Vertex, parent []graph.Vertex, _ *plugins.Traversal) {
			missing := root
			for v, p := range parent {
				if p >= 0 && graph.Vertex(v) != root {
					missing = graph.Vertex(v)
				}
			}
			parent[missing] = graph.Unreached
		})()
		m.right = NewSerial()
		return m, nil
	}
	for _, c := range Cases() {
		if strings.HasPrefix(c.Name, "graph/") {
			if o := c.Run(t.Context(), open, nil); o.Err == nil || !strings.Contains(o.Err.Error(), "got -1 (unreached)") {
				t.Errorf("case %s: want it failed for a missing vertex, got %v", c.Name, o.Err)
			}
		}
	}
}

// wrong is a mutant and the cases that must catch it, each with some words of its error.
type wrong struct {
	make   func() *mutant
	caught map[string]string
}

func mutants() map[string]wrong {
	all := map[string]wrong{}
	for _, group := range []map[string]wrong{wrongParents(), wrongState(), wrongReports(), wrongRefusals(), wrongInTheLongRun(), wrongInTheLoop()} {
		maps.Copy(all, group)
	}
	return all
}

func wrongParents() map[string]wrong {
	return map[string]wrong{
		"hangs every vertex below the root": {after(func(root graph.Vertex, parent []graph.Vertex, _ *plugins.Traversal) {
			for v, p := range parent {
				if p >= 0 {
					parent[v] = root
				}
			}
		}), map[string]string{"graph/path": "want a neighbour at level 1, got 0", "graph/grid": "want a neighbour at level"}},
		"takes a parent of the right level that is no neighbour": {after(func(_ graph.Vertex, parent []graph.Vertex, _ *plugins.Traversal) {
			for v, l := range levelsOf(parent) {
				for p, up := range levelsOf(parent) {
					if l > 0 && up == l-1 && l == 2 {
						parent[v] = graph.Vertex(p)
					}
				}
			}
		}), map[string]string{"graph/tree": "which no tuple joins with it"}},
		"says 0 instead of -1": {after(func(root graph.Vertex, parent []graph.Vertex, _ *plugins.Traversal) {
			for v := range parent {
				parent[v] = max(parent[v], 0)
			}
		}), map[string]string{"graph/two-components": "want -1 (no path from the root), got 0", "graph/isolated-end": "want -1"}},
		"leaves the vertices beyond the labels unwritten": {func() *mutant {
			var labels int
			return &mutant{
				construct: func(ctx context.Context, right plugins.Engine, g plugins.Graph) (plugins.Construction, error) {
					labels = 0
					for _, e := range g.Tuples {
						u, v := e.Ends()
						labels = max(labels, int(u)+1, int(v)+1)
					}
					return right.Construct(ctx, g)
				},
				search: func(ctx context.Context, right plugins.Engine, root graph.Vertex, parent []graph.Vertex) (plugins.Traversal, error) {
					kept := slices.Clone(parent)
					t, err := right.Search(ctx, root, parent)
					if err == nil {
						copy(parent[labels:], kept[labels:])
					}
					return t, err
				},
			}
		}, map[string]string{"graph/isolated-end": "an entry that was never written", "graph/empty": "never written"}},
		"forgets the root's own entry": {after(func(root graph.Vertex, parent []graph.Vertex, _ *plugins.Traversal) {
			parent[root] = graph.Unreached
		}), map[string]string{"graph/one-vertex": "want the root itself, got -1"}},
		"loses the last vertex": {after(func(root graph.Vertex, parent []graph.Vertex, _ *plugins.Traversal) {
			if last := len(parent) - 1; int(root) != last {
				parent[last] = graph.Unreached
			}
		}), map[string]string{"graph/path": "parent[9]: want a neighbour at level 8, got -1", "graph/star-65-last": "parent[64]"}},
		"loses the last tuple": {given(func(ctx context.Context, g plugins.Graph) (context.Context, plugins.Graph) {
			g.Tuples = g.Tuples[:max(len(g.Tuples), 1)-1]
			return ctx, g
		}), map[string]string{"graph/path-64": "want"}},
		"follows tuples in one direction only": {after(func(root graph.Vertex, parent []graph.Vertex, _ *plugins.Traversal) {
			for v := range parent {
				if v < int(root) {
					parent[v] = graph.Unreached
				}
			}
		}), map[string]string{"graph/one-edge": "root 1", "graph/path": "want a neighbour at level 0, got -1"}},
		"counts levels in 8 bits":  {cutBelow(255), map[string]string{"graph/path-deep": "got -1"}},
		"counts levels in 16 bits": {cutBelow(65_535), map[string]string{"graph/path-deeper": "got -1"}},
		"counts neighbours in 16 bits": {after(func(root graph.Vertex, parent []graph.Vertex, _ *plugins.Traversal) {
			children := map[graph.Vertex]int{}
			for v, p := range parent {
				if children[p]++; p >= 0 && children[p] > 1<<16 {
					parent[v] = graph.Unreached
				}
			}
		}), map[string]string{"graph/star-wide": "got -1"}},
		"cuts labels to 16 bits": {after(func(root graph.Vertex, parent []graph.Vertex, _ *plugins.Traversal) {
			for v, p := range parent {
				if p >= 0 {
					parent[v] = p & 0xffff
				}
			}
		}), map[string]string{"graph/high-labels": "want"}},
		"writes one entry too many": {after(func(_ graph.Vertex, parent []graph.Vertex, _ *plugins.Traversal) {
			if beyond := parent[:cap(parent)]; len(beyond) > len(parent) {
				beyond[len(parent)] = graph.Unreached
			}
		}), map[string]string{"graph/path": "want nothing written outside of parent[0:10], found -1 at parent[10]"}},
		"panics without tuples": {given(func(ctx context.Context, g plugins.Graph) (context.Context, plugins.Graph) {
			_ = g.Tuples[0]
			return ctx, g
		}), map[string]string{"graph/empty": "want no panic, got runtime error: index out of range", "graph/one-vertex": "mutants_test.go:"}},
		"fails on self-loops": {func() *mutant {
			return &mutant{construct: func(ctx context.Context, right plugins.Engine, g plugins.Graph) (plugins.Construction, error) {
				for _, e := range g.Tuples {
					if u, v := e.Ends(); u == v {
						return plugins.Construction{}, plugins.ErrTuples
					}
				}
				return right.Construct(ctx, g)
			}}
		}, map[string]string{"graph/one-loop": "want a graph, got the error: unusable tuples", "graph/self-loops": "unusable"}},
	}
}

// cutBelow makes an engine that stops after so many levels.
func cutBelow(levels int) func() *mutant {
	return func() *mutant {
		return &mutant{search: func(ctx context.Context, right plugins.Engine, root graph.Vertex, parent []graph.Vertex) (plugins.Traversal, error) {
			t, err := right.Search(ctx, root, parent)
			if len(t.Levels) <= levels {
				return t, err
			}
			// Only paths are that deep: walk from the root and cut.
			next := map[graph.Vertex][]graph.Vertex{}
			for v, p := range parent {
				if p >= 0 && int(p) != v {
					next[p] = append(next[p], graph.Vertex(v))
				}
			}
			frontier := []graph.Vertex{root}
			for depth := 0; len(frontier) > 0; depth++ {
				var following []graph.Vertex
				for _, v := range frontier {
					if depth > levels {
						parent[v] = graph.Unreached
					}
					following = append(following, next[v]...)
				}
				frontier = following
			}
			return t, err
		}}
	}
}

var errMutant = errors.New("no reason")

// slow waits, and looks at no context.
func slow(ctx context.Context, d time.Duration) context.Context {
	time.Sleep(d)
	return context.WithoutCancel(ctx)
}

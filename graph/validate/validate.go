// Package validate is the validator: it checks the parent array of a search against the five rules of the Graph500
// specification (2.0, section "Validation"), and counts the edges that the search traversed.
//
// # Rules
//
//  1. The parents form a tree: no cycles, and the root is its own parent.
//  2. Each tree edge joins levels that differ by one.
//  3. Each tuple joins levels that differ by at most one.
//  4. The tree spans the component of the root: no tuple joins a reached vertex to an unreached one.
//  5. Each tree edge is a tuple.
//
// The tuples are those of the input and not a graph that was built from them, so an edge that kernel 1 lost is
// detected. A Violation names the lowest broken rule and the lowest vertex or tuple that breaks it, however many
// threads work.
//
// # Levels
//
// The specification lets an engine report levels; this validator derives them from the parents alone: the level of a
// vertex is the number of tree edges between it and the root. levels.go derives them in three parallel passes over the
// parents, in time linear in the vertices, however deep the tree is. It checks rules 1 and 2.
//
// # Tuples
//
// tuples.go streams the tuples once, compares the levels of both ends (rules 3 and 4), and clears a bit of each vertex
// whose tree edge it meets (rule 5). The random reads of levels are the cost of validation, so each takes 16 bits.
//
// # Messages
//
// Both passes only detect that a rule is broken. explain.go then searches for the vertex or tuple on one thread, so a
// correct array pays nothing for good messages.
//
// # Faulty engines
//
// The parents may be in memory that a faulty engine still writes to. The validator returns and does not panic whatever
// the array contains and however it changes; the verdict is then of a mixture of several moments.
package validate

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"runtime"
	"sync"

	"github.com/tepsbench/teps/graph"
)

// Rule is one of the five rules of the specification, 1 to 5.
type Rule int

const (
	RuleTree      Rule = 1 + iota // the parents form a tree: no cycles, and the root is its own parent
	RuleTreeLevel                 // each tree edge joins levels that differ by one
	RuleLevel                     // each tuple joins levels that differ by at most one
	RuleSpan                      // the tree spans the component of the root
	RuleTuple                     // each tree edge is a tuple
)

// String returns the rule in words.
func (r Rule) String() string {
	texts := [...]string{
		RuleTree:      "the parents form a tree",
		RuleTreeLevel: "each tree edge joins levels that differ by one",
		RuleLevel:     "each tuple joins levels that differ by at most one",
		RuleSpan:      "the tree spans the root's component",
		RuleTuple:     "each tree edge is a tuple",
	}
	if r < RuleTree || r > RuleTuple {
		return fmt.Sprintf("Rule(%d)", int(r))
	}
	return fmt.Sprintf("rule %d (%s)", int(r), texts[r])
}

// Violation is the error for a parent array that breaks a rule. It names the lowest broken rule, and the lowest vertex
// or tuple that breaks it; for rule 1, a wrong parent of the root comes first.
type Violation struct {
	Rule     Rule
	Root     graph.Vertex
	Vertices []graph.Vertex // a vertex and its parent, or the ends of a tuple
	Text     string         // what is wrong with them
}

func (v *Violation) Error() string {
	return fmt.Sprintf("the parents from root %d break %v: %s", v.Root, v.Rule, v.Text)
}

// Tree is the summary of a valid parent array.
type Tree struct {
	Root      graph.Vertex
	Reached   int64 // number of vertices, with the root
	Depth     int   // largest level; the level of the root is 0
	Tuples    int64 // in the component, with duplicates and self-loops: m in the specification
	SelfLoops int64 // of these tuples
}

// NEdge returns the number of edges from which the reference computes TEPS: the tuples without self-loops.
func (t Tree) NEdge() int64 { return t.Tuples - t.SelfLoops }

// Validator validates searches of one tuple list. It owns memory that all calls use, so it should be made once, and
// calls must not overlap.
type Validator struct {
	edges    []graph.Edge // the list, unless a source makes it for each pass
	source   graph.Source // or nil
	vertices int64
	scanners []scanner // one for each thread

	levels   []int32  // of each vertex; -1 without one
	joined   []uint64 // bitmap of the vertices that a tuple joins to another one
	inner    []uint64 // bitmap of the vertices that are a parent
	pending  []uint64 // bitmap of the vertices whose tree edge was not among the tuples so far
	words    []uint16 // of each vertex: level and a few bits of the parent (validate_tuples.go)
	parent32 []uint32 // low half of each parent; nil when labels need more than 32 bits

	vertexGrain int64 // vertices that a thread takes at a time; a multiple of 64, so that no two share a bitmap word
	tupleGrain  int64 // tuples that a thread takes at a time
}

// New returns a validator for searches of edges, whose labels must be below vertices, on the given number of
// threads (0 or less: all that Go may use). The validator keeps edges, which must not change while it is in use. It
// returns an error for a number of vertices that is out of range and for a label that is too large.
func New(edges []graph.Edge, vertices int64, threads int) (*Validator, error) {
	return newValidator(context.Background(), nil, edges, vertices, threads)
}

// NewFromSource is New for the tuples of a source, which are in no memory: it makes them once, in room
// for some of them at a time, which it does not keep, and the validator makes them again for each search. The error is
// ctx.Err() if ctx ended first.
func NewFromSource(ctx context.Context, s graph.Source, room []graph.Edge, threads int) (*Validator, error) {
	return newValidator(ctx, s, room, s.Vertices(), threads)
}

func newValidator(
	ctx context.Context, s graph.Source, edges []graph.Edge, vertices int64, threads int) (*Validator, error) {
	if vertices < 1 || vertices > int64(graph.MaxVertex)+1 {
		return nil, fmt.Errorf("graph: making a validator for %d vertices: want 1 to 2^%d", vertices, graph.VertexBits)
	}
	if threads < 1 {
		threads = runtime.GOMAXPROCS(0)
	}
	v := &Validator{
		source:   s,
		vertices: vertices,
		scanners: make([]scanner, threads),
		levels:   hugePages(make([]int32, vertices)),
		joined:   hugePages(make([]uint64, (vertices+63)/64)),
		inner:    hugePages(make([]uint64, (vertices+63)/64)),
		pending:  hugePages(make([]uint64, (vertices+63)/64)),
		words:    hugePages(make([]uint16, vertices)),

		vertexGrain: 1 << 14,
		tupleGrain:  1 << 16,
	}
	if vertices <= math.MaxUint32 {
		v.parent32 = hugePages(make([]uint32, vertices))
	}
	if s == nil {
		v.edges = edges
	}
	if err := v.checkLabels(ctx, edges); err != nil {
		return nil, err
	}
	return v, nil
}

// Bytes returns the memory of a Validator in bytes, without the tuples, the parent array, and some 40 KB for
// each thread, or 800 KB if a source makes the tuples. It does not depend on their number.
func Bytes(vertices int64) int64 {
	const perVertex, perWord = 4 + 2 + 4, 3 * 8 // levels, words, parent32; joined, inner, pending
	return perVertex*vertices + perWord*((vertices+63)/64)
}

// Validate checks parent, the result of a search from root, against the five rules. The error is a *Violation if a rule
// is broken, ctx.Err() if ctx ended first, and another one if root or the length of parent does not fit the graph.
func (v *Validator) Validate(ctx context.Context, root graph.Vertex, parent []graph.Vertex) (Tree, error) {
	if err := v.checkSearch(root, parent); err != nil {
		return Tree{}, err
	}
	t := Tree{Root: root}
	whole, err := v.deriveLevels(ctx, root, parent, &t)
	if err != nil {
		return Tree{}, err
	}
	if !whole {
		return Tree{}, v.explainTree(root, parent)
	}
	if err := v.scanTuples(ctx, root, parent, &t); err != nil {
		return Tree{}, err
	}
	if child := firstBit(v.pending); child >= 0 {
		return Tree{}, v.explainEdge(root, graph.Vertex(child), parent)
	}
	return t, nil
}

// Joined returns a bitmap of the vertices that a tuple joins to another one: bit v%64 of word v/64 is that of vertex v.
// The caller may change it.
func (v *Validator) Joined() []uint64 { return v.joined }

// Overwrite fills a parent array with Unwritten before a search. It does not wait for other calls.
func (v *Validator) Overwrite(parent []graph.Vertex) {
	v.inParallel(func(first, last int64) {
		for i := range parent[first:last] {
			parent[first:last][i] = graph.Unwritten
		}
	})
}

func (v *Validator) inParallel(work func(first, last int64)) {
	ctx, threads := context.Background(), len(v.scanners)
	_, _ = graph.Parallel(ctx, threads, v.vertices, v.vertexGrain, func(_ int, first, last int64) bool {
		work(first, last)
		return true
	})
}

func (v *Validator) checkSearch(root graph.Vertex, parent []graph.Vertex) error {
	if int64(len(parent)) != v.vertices {
		return fmt.Errorf("graph: validating %d parents of a graph of %d vertices: want one parent for each vertex",
			len(parent), v.vertices)
	}
	if !v.isVertex(root) {
		return fmt.Errorf("graph: validating a search from root %d: want a vertex below %d", root, v.vertices)
	}
	return nil
}

// overVertices calls work for ranges of all vertices, as Parallel does.
func (v *Validator) overVertices(ctx context.Context, work func(first, last int64) bool) (bool, error) {
	return graph.Parallel(ctx, len(v.scanners), v.vertices, v.vertexGrain, func(_ int, first, last int64) bool {
		return work(first, last)
	})
}

// tuples returns the length of the list.
func (v *Validator) tuples() int64 {
	if v.source == nil {
		return int64(len(v.edges))
	}
	return v.source.Tuples()
}

// tuple returns tuple i.
func (v *Validator) tuple(i int64) graph.Edge {
	if v.source == nil {
		return v.edges[i]
	}
	var one [1]graph.Edge
	_ = v.source.Generate(context.Background(), one[:], i, 1) // its only error is that of the context
	return one[0]
}

// overTuples calls work for ranges of all tuples, as Parallel does: edges are those from number first on. Threads make
// the tuples of a source one range after the other.
func (v *Validator) overTuples(
	ctx context.Context, work func(thread int, edges []graph.Edge, first int64) bool) (bool, error) {
	if v.source == nil {
		return v.overPart(ctx, v.edges, 0, work)
	}
	var failed error
	var once sync.Once
	good, err := graph.Parallel(ctx, len(v.scanners), v.tuples(), v.tupleGrain, func(thread int, first, last int64) bool {
		s := &v.scanners[thread]
		if s.made == nil {
			s.made = make([]graph.Edge, v.tupleGrain)
		}
		made := s.made[:last-first]
		if err := v.source.Generate(ctx, made, first, 1); err != nil {
			once.Do(func() { failed = err })
			return false
		}
		return work(thread, made, first)
	})
	return good, cmp.Or(err, failed)
}

// overParts is overTuples for the first pass, in which a source makes many tuples at a time, in room.
func (v *Validator) overParts(ctx context.Context, room []graph.Edge,
	work func(thread int, edges []graph.Edge, first int64) bool) (good bool, err error) {
	if v.source == nil {
		return v.overPart(ctx, v.edges, 0, work)
	}
	good = true
	for first := int64(0); first < v.source.Tuples() && good && err == nil; first += int64(len(room)) {
		part := room[:min(int64(len(room)), v.source.Tuples()-first)]
		if err = v.source.Generate(ctx, part, first, len(v.scanners)); err == nil {
			good, err = v.overPart(ctx, part, first, work)
		}
	}
	return good && err == nil, err
}

// overPart calls work for ranges of a part of the list that begins with tuple base.
func (v *Validator) overPart(ctx context.Context, part []graph.Edge, base int64,
	work func(thread int, edges []graph.Edge, first int64) bool) (bool, error) {
	return graph.Parallel(ctx, len(v.scanners), int64(len(part)), v.tupleGrain, func(thread int, first, last int64) bool {
		return work(thread, part[first:last], base+first)
	})
}

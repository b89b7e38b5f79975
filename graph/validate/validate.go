// SPDX-License-Identifier: Apache-2.0

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
// The tuples are those of the input, not of a graph built from them, so an edge that kernel 1 lost is detected. A
// Violation names the lowest broken rule and the lowest vertex or tuple that breaks it, for any number of threads.
//
// # Passes
//
// levels.go derives the level of each vertex, its distance from the root in the tree, from the parents only, and checks
// rules 1 and 2. tuples.go streams the tuples once, compares the levels of both ends (rules 3 and 4), and clears a bit
// of each vertex whose tree edge it finds (rule 5). Both only detect that a rule is broken; violation.go then searches
// for the vertex or tuple on one thread, and has the texts.
//
// A graph that is too large for one process has a validator of several parts (part.go, exchange.go), with the same
// rules and verdicts. It shares the scan of the tuples, but derives levels by rounds between the parts.
//
// The validator returns and does not panic whatever the parents are, even if a faulty engine still writes to them; the
// verdict then mixes several moments.
package validate

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/bits"
	"runtime"
	"sync/atomic"

	"github.com/tepsbench/teps/graph"
)

// Tree is the summary of a valid parent array.
type Tree struct {
	Root      graph.Vertex
	Reached   int64   // number of vertices, with the root
	Depth     int     // largest level; the level of the root is 0
	Tuples    int64   // in the component, with duplicates and self-loops: m in the specification
	SelfLoops int64   // of these tuples
	Farthest  float32 // of kernel 3: the largest distance of a reached vertex
}

// NEdge returns the number of edges from which the reference computes TEPS: the tuples without self-loops.
func (t Tree) NEdge() int64 { return t.Tuples - t.SelfLoops }

// Validator validates searches of one tuple list. It owns scratch memory, so make it once; calls must not overlap.
type Validator struct {
	edges    []graph.Edge // the list, unless source generates it in each pass
	source   graph.Source // or nil
	weights  []float32    // of edges, or nil
	vertices int64
	scanners []scanner // one for each thread

	levels   []int32  // of each vertex; -1 without one
	joined   []uint64 // bitmap of the vertices that a tuple joins to another one
	inner    []uint64 // bitmap of the vertices that are a parent
	pending  []uint64 // bitmap of the vertices whose tree edge was not among the tuples so far
	words    []uint16 // of each vertex: level and a few bits of the parent (tuples.go)
	parent32 []uint32 // low half of each parent; nil when labels need more than 32 bits

	vertexGrain int64 // vertices that a thread takes at a time; a multiple of 64, so that no two share a bitmap word
	tupleGrain  int64 // tuples that a thread takes at a time
}

// New returns a validator for searches of edges, whose labels must be below vertices, on the given number of threads (0
// or less: GOMAXPROCS). The validator keeps edges, which must not change while it is in use.
func New(edges []graph.Edge, vertices int64, threads int) (*Validator, error) {
	v, err := newValidator(vertices, threads)
	if err == nil {
		v.edges, err = edges, v.checkLabels(context.Background(), edges, 0)
	}
	return v, err
}

// NewFromSource is New for the tuples of a source, which it generates once here, in parts that fit in room, and again
// for each search. The error is ctx.Err() if ctx ended first.
func NewFromSource(ctx context.Context, s graph.Source, room []graph.Edge, threads int) (*Validator, error) {
	v, err := newValidator(s.Vertices(), threads)
	if err != nil {
		return nil, err
	}
	v.source = s
	for first := int64(0); first < s.Tuples(); first += int64(len(room)) {
		part := room[:min(int64(len(room)), s.Tuples()-first)]
		if err = s.Generate(ctx, part, first, threads); err == nil {
			err = v.checkLabels(ctx, part, first)
		}
		if err != nil {
			return nil, err
		}
	}
	return v, nil
}

func newValidator(vertices int64, threads int) (*Validator, error) {
	if vertices < 1 || vertices > int64(graph.MaxVertex)+1 {
		return nil, fmt.Errorf("making a validator for %d vertices: want 1 to 2^%d", vertices, graph.VertexBits)
	}
	if threads < 1 {
		threads = runtime.GOMAXPROCS(0)
	}
	bitmap := func() []uint64 { return hugePages(make([]uint64, (vertices+63)/64)) }
	v := &Validator{
		vertices: vertices, scanners: make([]scanner, threads), levels: hugePages(make([]int32, vertices)),
		joined: bitmap(), inner: bitmap(), pending: bitmap(), words: hugePages(make([]uint16, vertices)),
		vertexGrain: 1 << 14, tupleGrain: 1 << 16,
	}
	if vertices <= math.MaxUint32 {
		v.parent32 = hugePages(make([]uint32, vertices))
	}
	return v, nil
}

// checkLabels adds the ends of a part of the list, which begins with tuple base, to joined. It returns an error for the
// first tuple with a label that is not a vertex.
func (v *Validator) checkLabels(ctx context.Context, part []graph.Edge, base int64) error {
	bad := noTuple()
	_, err := graph.Parallel(ctx, len(v.scanners), int64(len(part)), v.tupleGrain, func(_ int, first, last int64) bool {
		for i := range part[first:last] {
			a, b := part[first:last][i].Ends()
			if int64(max(a, b)) >= v.vertices {
				bad.put(first + int64(i))
				return false
			}
			if a != b {
				setBit(v.joined, uint64(a))
				setBit(v.joined, uint64(b))
			}
		}
		return true
	})
	if i := bad.Load(); i != math.MaxInt64 {
		return fmt.Errorf("making a validator for %d vertices: tuple %d is %v: pass a number of vertices larger than every "+
			"label", v.vertices, base+i, part[i])
	}
	return err
}

// Bytes returns the memory of a Validator in bytes, without tuples, parents, and up to 800 KB per thread.
func Bytes(vertices int64) int64 { return (4+2+4)*vertices + 3*8*((vertices+63)/64) }

// Joined reports of each vertex whether a tuple joins it to another one.
func (v *Validator) Joined(_ context.Context, vertices []graph.Vertex) ([]bool, error) {
	joined := make([]bool, len(vertices))
	for i, u := range vertices {
		joined[i] = v.joined[u/64]>>(u%64)&1 != 0
	}
	return joined, nil
}

// CountJoined returns the number of vertices that a tuple joins to another one.
func (v *Validator) CountJoined(context.Context) (int64, error) { return countBits(v.joined), nil }

func countBits(bitmap []uint64) (n int64) {
	for _, word := range bitmap {
		n += int64(bits.OnesCount64(word))
	}
	return n
}

// Isolated returns the lowest vertex that no tuple joins to another one, or the number of vertices.
func (v *Validator) Isolated(context.Context) (graph.Vertex, error) {
	for i, word := range v.joined {
		if word != ^uint64(0) {
			return graph.Vertex(min(int64(64*i+bits.TrailingZeros64(^word)), v.vertices)), nil
		}
	}
	return graph.Vertex(v.vertices), nil
}

// Levels returns the levels of all vertices in the result that was validated last, -1 for unreached ones, until the
// next call.
func (v *Validator) Levels() []int32 { return v.levels }

// Overwrite fills the arrays of a result with graph.Unwritten and graph.UnwrittenDistance before a search.
func (v *Validator) Overwrite(parent []graph.Vertex, distance []float32) {
	fill(parent, graph.Unwritten, len(v.scanners), v.vertexGrain)
	fill(distance, graph.UnwrittenDistance(), len(v.scanners), v.vertexGrain)
}

// fill sets all elements of an array.
func fill[E any](array []E, value E, threads int, grain int64) {
	_, _ = graph.Parallel(context.Background(), threads, int64(len(array)), grain, func(_ int, first, last int64) bool {
		for i := range array[first:last] {
			array[first:last][i] = value
		}
		return true
	})
}

// search is the result of a search that is being validated.
type search struct {
	*Validator
	root   graph.Vertex
	parent []graph.Vertex
	tree   Tree
}

// Validate checks the result of a search from root against the five rules of kernel 2, or of kernel 3 if distance is
// not nil. The Tree is that of the parents: its Depth is the largest number of tuples on a path. The error is a
// *Violation if a rule is broken, ctx.Err() if ctx ended first, and another one if root or the length of an array does
// not fit the graph.
func (v *Validator) Validate(
	ctx context.Context, root graph.Vertex, parent []graph.Vertex, distance []float32) (Tree, error) {
	s := &search{v, root, parent, Tree{Root: root}}
	if distance != nil {
		p := paths{s, distance}
		return inSteps(ctx, &s.tree, s.check, p.checkSizes, p.checkTree, p.checkDistances, p.scan, p.explainTreeEdge)
	}
	return inSteps(ctx, &s.tree, s.check, s.deriveLevels, s.scanTuples, s.explainPending)
}

// Count counts the vertices that have a parent and the tuples that join two of them, without deriving levels. Root and
// Depth of the Tree stay 0. The errors are those of Validate, with rule 4 only.
func (v *Validator) Count(ctx context.Context, root graph.Vertex, parent []graph.Vertex) (Tree, error) {
	s := search{v, root, parent, Tree{}}
	return inSteps(ctx, &s.tree, s.check, s.countReached, s.scanTuples)
}

// inSteps checks a result in steps, up to the first that fails, and returns its tree.
func inSteps(ctx context.Context, tree *Tree, steps ...func(ctx context.Context) error) (Tree, error) {
	for _, step := range steps {
		if err := step(ctx); err != nil {
			return Tree{}, err
		}
	}
	return *tree, nil
}

// countReached puts all reached vertices on one level.
func (s *search) countReached(ctx context.Context) error {
	var reached atomic.Int64
	_, err := s.overVertices(ctx, func(first, last int64) bool {
		var n int64
		for u := first; u < last; u++ {
			s.levels[u], s.words[u] = -1, 0
			if s.parent[u] >= 0 {
				s.levels[u], s.words[u] = 0, packWord(0, graph.Vertex(u), s.parent[u])
				n++
			}
		}
		reached.Add(n)
		return true
	})
	s.tree.Reached = reached.Load()
	return err
}

// check returns an error for a root or an array that does not fit the graph.
func (s *search) check(context.Context) error {
	if int64(len(s.parent)) != s.vertices {
		return fmt.Errorf("validating %d parents of a graph of %d vertices: want one parent for each vertex",
			len(s.parent), s.vertices)
	}
	if !s.isVertex(s.root) {
		return fmt.Errorf("validating a search from root %d: want a vertex below %d", s.root, s.vertices)
	}
	return nil
}

func (v *Validator) isVertex(p graph.Vertex) bool { return p >= 0 && int64(p) < v.vertices }

func (v *Validator) overVertices(ctx context.Context, work func(first, last int64) bool) (bool, error) {
	return graph.Parallel(ctx, len(v.scanners), v.vertices, v.vertexGrain, func(_ int, first, last int64) bool {
		return work(first, last)
	})
}

func (v *Validator) tuples() int64 {
	if v.source != nil {
		return v.source.Tuples()
	}
	return int64(len(v.edges))
}

// overTuples scans all tuples, counts those of the component and their self-loops, and clears the pending bits of tree
// edges. scan is called for ranges of tuples, which may be generated, with the number of the first one, until it has
// found a breach of rule 3: later ranges cannot have an earlier breach of a lower rule. explain describes the breaches.
func (s *search) overTuples(ctx context.Context, explain func(b *breaches) error,
	scan func(scan *scanner, edges []graph.Edge, first int64, b *breaches)) error {
	for i := range s.scanners {
		s.scanners[i].missed, s.scanners[i].selfLoops, s.scanners[i].nHits = 0, 0, 0
	}
	broken := breaches{noTuple(), noTuple(), noTuple()}
	err := s.eachRange(ctx, func(scanner *scanner, edges []graph.Edge, first int64) bool {
		scan(scanner, edges, first, &broken)
		return broken.far.Load() == math.MaxInt64
	})
	if err == nil {
		err = explain(&broken)
	}
	if err != nil {
		return err
	}
	s.tree.Tuples = s.tuples()
	for i := range s.scanners {
		scanner := &s.scanners[i]
		s.tree.Tuples -= scanner.missed
		s.tree.SelfLoops += scanner.selfLoops
		scanner.markTreeEdges(s.parent32, s.pending)
	}
	return nil
}

// eachRange is graph.Parallel over all tuples, which a source generates.
func (v *Validator) eachRange(
	ctx context.Context, work func(s *scanner, edges []graph.Edge, first int64) bool) error {
	failed := make([]error, len(v.scanners))
	_, err := graph.Parallel(ctx, len(v.scanners), v.tuples(), v.tupleGrain, func(thread int, first, last int64) bool {
		s := &v.scanners[thread]
		if v.source == nil {
			return work(s, v.edges[first:last], first)
		}
		if s.made == nil {
			s.made = make([]graph.Edge, v.tupleGrain)
		}
		failed[thread] = v.source.Generate(ctx, s.made[:last-first], first, 1)
		return failed[thread] == nil && work(s, s.made[:last-first], first)
	})
	return cmp.Or(err, cmp.Or(failed...))
}

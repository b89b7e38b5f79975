package graph

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"sync/atomic"
)

// The validator holds a parent array against the five rules of the Graph500 specification (2.0, "Validation"), and
// against the input tuples themselves, never against a graph that somebody built from them: an edge that kernel 1
// lost is seen. It derives the levels from the parents alone and counts the tuples of the component on the way.
//
// It works in two steps. validate_levels.go walks the parents and gives every vertex its level (rules 1 and 2);
// validate_tuples.go streams the tuples once and looks at the two levels of each (rules 3 and 4), ticking off the tree
// edges that it meets (rule 5). Both only detect; what is broken, and where, is said by validate_explain.go, which may
// be slow. So a correct array pays nothing for good messages, and the message does not depend on the threads.
//
// The parent array may lie in memory that a faulty engine still writes to. Whatever is in it or happens to it, the
// validator ends and does not panic; what it says then holds for no moment in particular.

// Rule is one of the five rules of the specification, 1 to 5.
type Rule int

const (
	RuleTree      Rule = 1 + iota // the parents form a tree: no cycles, and the root is its own parent
	RuleTreeLevel                 // each tree edge joins levels that differ by one
	RuleLevel                     // each tuple joins levels that differ by at most one
	RuleSpan                      // the tree spans the component of the root
	RuleTuple                     // each tree edge is a tuple
)

// String says what the rule demands.
func (r Rule) String() string {
	switch r {
	case RuleTree:
		return "rule 1 (the parents form a tree)"
	case RuleTreeLevel:
		return "rule 2 (each tree edge joins levels that differ by one)"
	case RuleLevel:
		return "rule 3 (each tuple joins levels that differ by at most one)"
	case RuleSpan:
		return "rule 4 (the tree spans the root's component)"
	case RuleTuple:
		return "rule 5 (each tree edge is a tuple)"
	}
	return fmt.Sprintf("Rule(%d)", int(r))
}

// Violation is the error for a parent array that breaks a rule. The lowest broken rule is named, and of its breaches
// that of the lowest vertex or tuple; for rule 1 a wrong parent of the root comes before everything else.
type Violation struct {
	Rule     Rule
	Root     Vertex
	Vertices []Vertex // that break it: a vertex and its parent, a tuple's ends, or up to maxNamed members of a cycle
	Text     string   // what is broken, in words
}

func (v *Violation) Error() string {
	return fmt.Sprintf("graph: the parents from root %d break %v: %s", v.Root, v.Rule, v.Text)
}

// Tree is what a parent array says once it is known to be right.
type Tree struct {
	Root      Vertex
	Reached   int64 // vertices, the root included
	Depth     int   // largest level; the root's is 0
	Tuples    int64 // inside the component, duplicates and self-loops counted: the specification's m
	SelfLoops int64 // of those
}

// NEdge is the number of edges that the reference reports and divides by: the tuples without self-loops.
func (t Tree) NEdge() int64 { return t.Tuples - t.SelfLoops }

// Validator validates searches of one tuple list. Make it once: it owns its scratch memory. One call at a time.
type Validator struct {
	edges    []Edge
	vertices int64
	scanners []scanner // one a thread

	levels   []int32  // of each vertex, -1 where it has none
	inner    []uint64 // a bit a vertex: it is somebody's parent
	pending  []uint64 // a bit a vertex: no tuple (vertex, parent) was met yet
	words    []uint16 // of each vertex: level and a few bits of the parent, see validate_tuples.go
	parent32 []uint32 // low half of each parent; nil when labels need more than 32 bits

	scanned atomic.Int64 // tuples that the pass over them has behind it

	vertexGrain int64 // vertices that a thread takes at a time; a multiple of 64, so that no two share a bitmap word
	tupleGrain  int64 // tuples that a thread takes at a time
}

// maxNamed is how many vertices a Violation names at most.
const maxNamed = 8

// NewValidator prepares to validate searches of edges, whose labels must lie below vertices. threads goroutines work
// at once, 0 stands for all that Go may use. The validator keeps edges, which must not change while it is in use.
//
// It fails for numbers that make no sense and for a label that is too large.
func NewValidator(edges []Edge, vertices int64, threads int) (*Validator, error) {
	if vertices < 1 || vertices > int64(MaxVertex)+1 {
		return nil, fmt.Errorf("graph: making a validator for %d vertices: want 1 to 2^%d", vertices, VertexBits)
	}
	if threads < 0 {
		return nil, fmt.Errorf("graph: making a validator with %d threads: want 1 or more, or 0 for all", threads)
	}
	if threads == 0 {
		threads = runtime.GOMAXPROCS(0)
	}
	v := &Validator{
		edges:    edges,
		vertices: vertices,
		scanners: make([]scanner, threads),
		levels:   hugePages(make([]int32, vertices)),
		inner:    make([]uint64, (vertices+63)/64),
		pending:  make([]uint64, (vertices+63)/64),
		words:    hugePages(make([]uint16, vertices)),

		vertexGrain: 1 << 14,
		tupleGrain:  1 << 16,
	}
	if vertices <= math.MaxUint32 {
		v.parent32 = hugePages(make([]uint32, vertices))
	}
	if err := v.checkLabels(); err != nil {
		return nil, err
	}
	return v, nil
}

// ValidatorBytes is the memory of a Validator in bytes, beside the tuples and the parent array, and beside some 40 KB a
// thread; math.MaxInt64 if it is more. It does not depend on the number of tuples.
func ValidatorBytes(vertices, tuples int64) int64 {
	const perVertex = 4 + 2 + 4 // levels, words, parent32
	if vertices < 0 || vertices > math.MaxInt64/(perVertex+1) {
		return math.MaxInt64
	}
	return perVertex*vertices + 2*8*((vertices+63)/64)
}

// Validate holds parent, the result of a search from root, against the five rules. The error is a *Violation when a
// rule is broken, ctx.Err() when ctx ended first, and another one when root or the length of parent does not suit.
func (v *Validator) Validate(ctx context.Context, root Vertex, parent []Vertex) (Tree, error) {
	if err := v.checkLength(parent); err != nil {
		return Tree{}, err
	}
	if root < 0 || int64(root) >= v.vertices {
		return Tree{}, fmt.Errorf("graph: validating a search from root %d: want a vertex below %d", root, v.vertices)
	}
	v.scanned.Store(0)
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
		return Tree{}, v.explainEdge(root, Vertex(child), parent)
	}
	return t, nil
}

// Levels returns the level of each vertex in the tree that Validate accepted last, 0 for the root and -1 for what was
// not reached. The slice belongs to v and holds until the next call of Validate or Count.
func (v *Validator) Levels() []int32 { return v.levels }

// Count counts what a search reached without checking anything, for roots that are not to be validated: the vertices
// that have a parent, and the tuples that join two of them. Root and Depth of the Tree stay 0, for they need a
// validation. It fails when the length of parent does not suit, and with ctx.Err().
func (v *Validator) Count(ctx context.Context, parent []Vertex) (Tree, error) {
	if err := v.checkLength(parent); err != nil {
		return Tree{}, err
	}
	v.scanned.Store(0)
	return v.countTuples(ctx, parent)
}

// Progress returns how many tuples the running call of Validate or Count, or the last one, has looked at, and how many
// there are. Unlike the other methods it may be called while one of them runs.
func (v *Validator) Progress() (done, total int64) { return v.scanned.Load(), int64(len(v.edges)) }

func (v *Validator) checkLength(parent []Vertex) error {
	if int64(len(parent)) != v.vertices {
		return fmt.Errorf("graph: validating %d parents of a graph of %d vertices: want an entry for each vertex",
			len(parent), v.vertices)
	}
	return nil
}

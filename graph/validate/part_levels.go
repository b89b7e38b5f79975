// SPDX-License-Identifier: Apache-2.0

package validate

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"sync/atomic"

	"github.com/tepsbench/teps/graph"
)

// Levels from parents that lie in several parts, level by level from the root. Each part subscribes to the parents of
// its vertices: it sends their slots to their owners, which sort the subscriptions by slot. Then each round gives the
// next level to the children of the vertices that got a level in the last one: the owners publish the numbers of the
// subscriptions, and the subscriber knows the children.
//
// A vertex gets a level once, and a round without a new level is the last, whatever the parents are.

// partSearch is the result of a search that is being validated, as far as it lies in one part.
type partSearch struct {
	*Part
	root   graph.Vertex
	parent []graph.Vertex // of each slot
	tree   Tree           // of all parts
	edges  bool           // check rule 5
}

// Levels of vertices that have none. Only those with noLevel get one.
const (
	noLevel  = -1
	hadLevel = -2
)

var putUint32, getUint32 = binary.LittleEndian.PutUint32, binary.LittleEndian.Uint32

// Validate checks the result of a search from root, where the arrays have the entries of this part's vertices, as
// Validator.Validate does.
func (p *Part) Validate(
	ctx context.Context, root graph.Vertex, parent []graph.Vertex, distance []float32) (Tree, error) {
	s := &partSearch{p, root, parent, Tree{Root: root}, true}
	if distance != nil {
		d := &partPaths{s, distance}
		return inSteps(ctx, &s.tree, d.checkTree, d.checkDistances, d.publishDistances, d.scanWeighted, d.explainTreeEdge)
	}
	return inSteps(ctx, &s.tree, s.deriveLevels, s.publishWords, s.scanTuples, s.explainPending)
}

// Count counts the vertices that have a parent and the tuples that join two of them, as Validator.Count does.
func (p *Part) Count(ctx context.Context, root graph.Vertex, parent []graph.Vertex) (Tree, error) {
	s := &partSearch{p, root, parent, Tree{}, false}
	return inSteps(ctx, &s.tree, func(ctx context.Context) error {
		return s.start(ctx, 0, func(v graph.Vertex) bool { return v >= 0 }) // all of them count as one level
	}, s.publishWords, s.scanTuples)
}

// start counts the vertices with a suitable parent as reached, and sets their level; the others have none. It returns
// an error for a root or parents that do not fit the graph.
func (s *partSearch) start(ctx context.Context, level int32, suits func(parent graph.Vertex) bool) error {
	if len(s.parent) != s.labels {
		s.fail(fmt.Errorf("validating %d parents of a part of %d vertices: want one parent for each vertex",
			len(s.parent), s.labels))
		s.parent = nil
	}
	if !s.isVertex(s.root) {
		s.fail(fmt.Errorf("validating a search from root %d: want a vertex below %d", s.root, s.vertices))
	}
	var reached atomic.Int64
	s.parallel(ctx, int64(len(s.parent)), s.grain, func(first, last int64) {
		n := int64(0)
		for i, v := range s.parent[first:last] {
			s.levels[first+int64(i)] = noLevel
			if suits(v) {
				s.levels[first+int64(i)] = level
				n++
			}
		}
		reached.Add(n)
	})
	s.tree.Reached = reached.Load()
	return s.sum(ctx, &s.tree.Reached)
}

func (p *Part) isVertex(v graph.Vertex) bool { return v >= 0 && int64(v) < p.vertices }

// lowestVertex returns the lowest vertex of this part whose slot suits, or math.MaxInt64.
func (p *Part) lowestVertex(suits func(slot int) bool) int64 {
	for slot := range p.labels {
		if suits(slot) {
			return int64(p.labelOf(uint32(slot)))
		}
	}
	return math.MaxInt64
}

// deriveLevels fills levels, and Reached and Depth of the tree. The error may be a Violation of rule 1 or 2.
func (s *partSearch) deriveLevels(ctx context.Context) error {
	if err := s.start(ctx, noLevel, func(v graph.Vertex) bool { return v != graph.Unreached }); err != nil {
		return err
	}
	s.queued.Store(0)
	wrong := int64(math.MaxInt64)
	owner, slot := s.place(s.root)
	if owner == s.rank {
		s.append(uint32(slot), 0)
		if s.parent[slot] != s.root {
			wrong = int64(s.root)
		}
	}
	err := s.lowest(ctx, wrong, func(int64) *Violation { return brokenRoot(s.root, s.parent[slot], s.vertices) })
	if err != nil {
		return err
	}
	if err := s.subscribeParents(ctx); err != nil {
		return err
	}
	reached, depth, err := s.spread(ctx)
	if s.tree.Depth = depth; err == nil && reached != s.tree.Reached {
		err = s.explainTree(ctx)
	}
	return err
}

// append gives a level to the vertex at slot, and adds it to the queue, unless it has one.
func (p *Part) append(slot uint32, level int32) {
	if atomic.CompareAndSwapInt32(&p.levels[slot], noLevel, level) {
		p.queue[p.queued.Add(1)-1] = slot
	}
}

// subscribeParents sends the slot of each parent to its owner, and sorts what it receives. Children of one parent that
// follow each other closely share a subscription, so that the owner of a hub does not get one for each child.
func (s *partSearch) subscribeParents(ctx context.Context) error {
	send, at := s.group(ctx, int64(s.labels), s.grain, 4, func(first, last int64, put func(to int) int) {
		var recent [1024]struct { // by parent
			parent graph.Vertex
			number int
		}
		for i := first; i < last; i++ {
			v := s.parent[i]
			if !s.isVertex(v) {
				continue
			}
			owner, slot := s.place(v)
			entry, sibling := &recent[v%1024], uint32(i)
			if entry.parent == v+1 { // not the zero value
				if entry.number >= 0 {
					sibling = s.children[entry.number]
				}
			} else {
				entry.parent, entry.number = v+1, put(owner)
			}
			if entry.number >= 0 {
				s.children[entry.number], s.siblings[i] = uint32(i), sibling
				putUint32(s.out[4*entry.number:], uint32(slot))
			}
		}
	})
	received, err := s.swap(ctx, send)
	if err != nil {
		return err
	}
	s.childAt, s.waitAt = at, startsOf(received, 4)
	if total := s.waitAt[s.size]; total > math.MaxUint32 {
		s.fail(fmt.Errorf("part %d of the validator has parents of more than 2^32 vertices: use more parts", s.rank))
		return nil // spread returns it
	} else if total > len(s.waits) {
		s.waits = hugePages(make([]uint32, total))
	}
	// A counting sort. waitStart has first the counts, then the ends, and at last the starts.
	clear(s.waitStart)
	s.overRecords(ctx, received, 4, func(_, _ int, records []byte) {
		for ; len(records) > 0; records = records[4:] {
			if slot := getUint32(records); int(slot) < s.labels {
				atomic.AddUint32(&s.waitStart[slot], 1)
			}
		}
	})
	end := uint32(0)
	for slot := range s.waitStart {
		end += s.waitStart[slot]
		s.waitStart[slot] = end
	}
	s.overRecords(ctx, received, 4, func(part, first int, records []byte) {
		for i := range len(records) / 4 {
			if slot := getUint32(records[4*i:]); int(slot) < s.labels {
				s.waits[atomic.AddUint32(&s.waitStart[slot], ^uint32(0))] = uint32(s.waitAt[part] + first + i)
			}
		}
	})
	return nil
}

// spread gives levels to the descendants of the vertices in the queue, which are on level 0. It returns the number of
// vertices that have a level then, on all parts, and the last level.
func (s *partSearch) spread(ctx context.Context) (reached int64, depth int, err error) {
	for from := int64(0); ; depth++ {
		to := s.queued.Load()
		send, _ := s.group(ctx, to-from, 1<<10, 4, func(first, last int64, put func(to int) int) {
			for _, slot := range s.queue[from+first : from+last] {
				for _, wait := range s.waits[s.waitStart[slot]:s.waitStart[slot+1]] {
					part := holder(s.waitAt, int(wait))
					if i := put(part); i >= 0 {
						putUint32(s.out[4*i:], wait-uint32(s.waitAt[part]))
					}
				}
			}
		})
		count := to - from
		received, err := s.swap(ctx, send, &count)
		if err != nil || count == 0 {
			return reached, depth - 1, err
		}
		reached += count
		s.overRecords(ctx, received, 4, func(owner, _ int, records []byte) {
			children := s.children[s.childAt[owner]:s.childAt[owner+1]]
			for ; len(records) > 0; records = records[4:] {
				child := children[getUint32(records)]
				for s.append(child, int32(depth)+1); s.siblings[child] != child; s.append(child, int32(depth)+1) {
					child = s.siblings[child]
				}
			}
		})
		from = to
	}
}

// explainTree returns the violation of rule 1 or 2, for parents that do not all lead to the root.
func (s *partSearch) explainTree(ctx context.Context) error {
	// Levels from the unreached vertices and those with an unusable parent. The parents of the rest lead to cycles.
	s.queued.Store(0)
	for slot, v := range s.parent {
		if s.levels[slot] >= 0 {
			s.levels[slot] = hadLevel
		} else if !s.isVertex(v) {
			s.append(uint32(slot), 0)
		}
	}
	if _, _, err := s.spread(ctx); err != nil {
		return err
	}
	entry := func(at int64) graph.Vertex { return s.parent[at/int64(s.size)] }
	wrong := s.lowestVertex(func(slot int) bool {
		return s.levels[slot] == noLevel || s.parent[slot] != graph.Unreached && !s.isVertex(s.parent[slot])
	})
	err := s.lowest(ctx, wrong, func(at int64) *Violation {
		if p := entry(at); s.isVertex(p) {
			return brokenCycle(s.root, graph.Vertex(at), p)
		}
		return brokenEntry(s.root, graph.Vertex(at), entry(at), s.vertices)
	})
	if err == nil {
		below := s.lowestVertex(func(slot int) bool { return s.levels[slot] == 1 })
		err = s.lowest(ctx, below, func(at int64) *Violation {
			return brokenTreeLevel(s.root, graph.Vertex(at), entry(at))
		})
	}
	if err == nil {
		err = errParentsChanged(s.root)
	}
	return err
}

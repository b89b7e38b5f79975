// SPDX-License-Identifier: Apache-2.0

package validate

import (
	"context"
	"encoding/binary"
	"math"

	"github.com/tepsbench/teps/graph"
)

// The pass over the tuples of a part. Owners publish the words of their vertices to the parts that have them as ghosts;
// then each part scans its tuples as a Validator does. A tuple that may be the tree edge of a ghost goes to its owner,
// which compares the parent.

// hitBytes is the number of bytes of a possible tree edge: the slot of the child and the label of the parent.
const hitBytes = 4 + graph.VertexBits/8

// publishWords makes the words and the pending bits of this part's vertices from levels, and then the words of ghosts.
// Trees that are too deep for words have levels instead.
func (s *partSearch) publishWords(ctx context.Context) error {
	s.parallel(ctx, int64(s.labels), s.grain, func(first, last int64) {
		for base := first; base < last; base += 64 {
			pending := uint64(0)
			for slot := base; slot < min(base+64, last); slot++ {
				s.words[slot] = 0
				if level := s.levels[slot]; level >= 0 {
					s.words[slot] = packWord(level, s.labelOf(uint32(slot)), s.parent[slot])
					pending |= min(1, uint64(level)) << (slot % 64) // the root has no tree edge
				}
			}
			s.pending[base/64] = pending
		}
	})
	if s.deep = s.tree.Depth > maxWordLevel; !s.deep {
		return publish(ctx, s.Part, s.words, 2, binary.LittleEndian.PutUint16, binary.LittleEndian.Uint16)
	}
	if s.wide == nil {
		s.wide = hugePages(make([]int32, s.numbers()))
	}
	copy(s.wide, s.levels)
	return publish(ctx, s.Part, s.wide, 4,
		func(to []byte, level int32) { putUint32(to, uint32(level)) },
		func(from []byte) int32 { return int32(getUint32(from)) })
}

// publish sends the values of this part's vertices to the parts that have them as ghosts, some of them in each round,
// and fills the values of its own ghosts.
func publish[T any](ctx context.Context, p *Part, values []T, size int, put func([]byte, T), get func([]byte) T) error {
	chunk := int(max(1, p.roundWords/int64(p.size)))
	for done := 0; done < int(p.maxPublish); done += chunk {
		at := make([]int, p.size+1)
		for q := range p.size {
			at[q+1] = at[q] + max(0, min(chunk, p.publishAt[q+1]-p.publishAt[q]-done))
		}
		send := p.messages(at, size)
		p.overRecords(ctx, send, size, func(part, first int, records []byte) {
			for i, slot := range p.published[p.publishAt[part]+done+first:][:len(records)/size] {
				put(records[i*size:], values[slot])
			}
		})
		received, err := p.swap(ctx, send)
		if err != nil {
			return err
		}
		p.overRecords(ctx, received, size, func(owner, first int, records []byte) {
			ghosts := values[p.labels+p.ghostAt[owner]+done+first:][:len(records)/size]
			for i := range ghosts {
				ghosts[i] = get(records[i*size:])
			}
		})
	}
	return nil
}

// level returns the level of a number, or a negative one.
func (p *Part) level(number uint32) int32 {
	if p.deep {
		return p.wide[number]
	}
	return int32(p.words[number]>>8) - levelBias
}

// scanTuples checks the tuples against rules 3 and 4, counts the tuples and self-loops of the component and, for rule
// 5, clears the pending bit of each vertex whose tree edge is a tuple.
func (s *partSearch) scanTuples(ctx context.Context) error {
	return s.scanRounds(ctx, s.scan, [2]Rule{RuleLevel, RuleSpan}, func(rule Rule, i int64, t pair) *Violation {
		return brokenTuple(s.root, rule, i, s.labelOf(t.u), s.labelOf(t.v), s.level(t.u), s.level(t.v))
	})
}

// scanRounds is scanTuples by scan, which works on the tuples first..last-1 of the slice and adds breaches of rules 3
// and 4 to broken. explain describes the first one.
func (s *partSearch) scanRounds(ctx context.Context, scan func(scan *scanner, first, last int, broken *breaches),
	rules [2]Rule, explain func(rule Rule, i int64, t pair) *Violation) error {
	broken := breaches{noTuple(), noTuple(), noTuple()}
	rounds := (int64(len(s.pairs)) + s.roundTuples - 1) / s.roundTuples
	if err := s.max(ctx, &rounds); err != nil {
		return err
	}
	var missed int64
	for round := range rounds {
		base := min(round*s.roundTuples, int64(len(s.pairs)))
		for i := range s.scanners {
			scan := &s.scanners[i]
			scan.missed, scan.selfLoops, scan.nHits, scan.remote = 0, 0, 0, scan.remote[:0]
		}
		n := min(s.roundTuples, int64(len(s.pairs))-base)
		_, err := graph.Parallel(ctx, len(s.scanners), n, 4*s.grain, func(thread int, first, last int64) bool {
			scan(&s.scanners[thread], int(base+first), int(base+last), &broken)
			return broken.far.Load() == math.MaxInt64 // later ranges cannot have an earlier breach of a lower rule
		})
		s.fail(err)
		for i := range s.scanners {
			scan := &s.scanners[i]
			s.markTreeEdges(scan)
			missed += scan.missed
			s.tree.SelfLoops += scan.selfLoops
		}
		if s.edges {
			err = s.exchangeHits(ctx)
		} else {
			err = s.sum(ctx)
		}
		if err != nil {
			return err
		}
	}
	for k, tuple := range []int64{broken.far.Load(), broken.unspanned.Load()} {
		if err := s.lowest(ctx, tuple, func(i int64) *Violation {
			return explain(rules[k], i, s.pairs[i-s.first])
		}); err != nil {
			return err
		}
	}
	err := s.sum(ctx, &missed, &s.tree.SelfLoops)
	s.tree.Tuples = s.tuples - missed
	return err
}

// explainPending returns the violation of rule 5 by the lowest vertex whose tree edge is not a tuple, or nil.
func (s *partSearch) explainPending(ctx context.Context) error {
	return s.lowestPending(ctx, func(v graph.Vertex, slot int64) *Violation {
		return brokenEdge(s.root, v, s.parent[slot], s.levels[slot])
	})
}

// lowestPending returns the violation by the lowest pending vertex of all parts, or nil.
func (s *partSearch) lowestPending(
	ctx context.Context, explain func(v graph.Vertex, slot int64) *Violation) error {
	pending := lowestBit(s.pending)
	if pending < math.MaxInt64 {
		pending = int64(s.labelOf(uint32(pending)))
	}
	return s.lowest(ctx, pending, func(at int64) *Violation { return explain(graph.Vertex(at), at/int64(s.size)) })
}

// gatherPairs is gather for numbers.
func (s *scanner) gatherPairs(block []pair, keys []uint8, words []uint16) {
	keys = keys[:len(block)]
	for i := range block {
		u, v := words[block[i].u], words[block[i].v]
		if block[i].u == block[i].v && u != 0 {
			s.selfLoops++
		}
		lane, key := 2*(i%blockTuples), uint16(keys[i])
		binary.LittleEndian.PutUint16(s.wordsU[lane:], u^key)
		binary.LittleEndian.PutUint16(s.wordsV[lane:], v^key)
	}
}

// scan works on the tuples first..last-1 of the slice, and adds breaches to broken.
func (s *partSearch) scan(scan *scanner, first, last int, broken *breaches) {
	good := !s.deep
	for at := first; at < last && good; at += blockTuples {
		if scan.nHits >= poolHits {
			s.markTreeEdges(scan)
		}
		end := min(at+blockTuples, last)
		block := s.pairs[at:end]
		scan.gatherPairs(block, s.keys[at:end], s.words)
		good = scan.collect(len(block), func(i int) pair { return block[i] })
	}
	if good {
		return
	}
	for at := first; at < last; at++ {
		t := s.pairs[at]
		if scan.nHits >= poolHits {
			s.markTreeEdges(scan)
		}
		levelU, levelV := s.level(t.u), s.level(t.v)
		if levelU < levelV {
			t.u, t.v, levelU, levelV = t.v, t.u, levelV, levelU
		}
		switch {
		case levelU < 0:
			scan.missed++
		case levelV < 0:
			broken.unspanned.put(s.first + int64(at))
		case levelU-levelV > 1:
			broken.far.put(s.first + int64(at))
			return
		case t.u == t.v:
			scan.selfLoops++
		case levelU > levelV:
			scan.hits[scan.nHits] = uint64(t.u)<<32 | uint64(t.v)
			scan.nHits++
		}
	}
}

// markTreeEdges clears the pending bits of the vertices of this part whose tree edge is among the collected hits, and
// keeps the hits of ghosts for the next exchange.
func (s *partSearch) markTreeEdges(scan *scanner) {
	hits := scan.hits[:scan.nHits]
	scan.nHits = 0
	for _, hit := range hits {
		if child := hit >> 32; child >= uint64(s.labels) {
			scan.remote = append(scan.remote, hit)
		} else if p := s.parent[child]; s.isVertex(p) && s.is(uint32(hit), p) {
			clearBit(s.pending, child)
		}
	}
}

// is reports whether v has the given number.
func (p *Part) is(number uint32, v graph.Vertex) bool {
	owner, slot := p.place(v)
	ghost := int(number) - p.labels
	if ghost < 0 || owner == p.rank {
		return owner == p.rank && slot == uint64(number)
	}
	return ghost >= p.ghostAt[owner] && ghost < p.ghostAt[owner+1] && uint64(p.ghosts[ghost]) == slot
}

// exchangeHits sends the hits of ghosts to their owners, and clears the pending bits of those that are tree edges.
func (s *partSearch) exchangeHits(ctx context.Context) error {
	send, _ := s.group(ctx, int64(len(s.scanners)), 1, hitBytes, func(first, last int64, put func(to int) int) {
		for i := first; i < last; i++ {
			for _, hit := range s.scanners[i].remote {
				child := uint32(hit >> 32)
				at := put(holder(s.ghostAt, int(child)-s.labels))
				if at < 0 {
					continue
				}
				record, parent := s.out[at*hitBytes:][:hitBytes], s.labelOf(uint32(hit))
				putUint32(record, s.ghosts[int(child)-s.labels])
				putUint32(record[4:], uint32(parent))
				binary.LittleEndian.PutUint16(record[8:], uint16(parent>>32))
			}
		}
	})
	received, err := s.swap(ctx, send)
	if err != nil {
		return err
	}
	s.overRecords(ctx, received, hitBytes, func(_, _ int, records []byte) {
		for ; len(records) > 0; records = records[hitBytes:] {
			slot := uint64(getUint32(records))
			parent := graph.Vertex(getUint32(records[4:])) | graph.Vertex(binary.LittleEndian.Uint16(records[8:]))<<32
			if slot < uint64(s.labels) && s.parent[slot] == parent {
				clearBit(s.pending, slot)
			}
		}
	})
	return nil
}

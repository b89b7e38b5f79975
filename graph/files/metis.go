// SPDX-License-Identifier: Apache-2.0

package files

import (
	"bytes"
	"strconv"
	"sync"

	"github.com/tepsbench/teps/graph"
)

// readMETIS reads the format of METIS and of the tenth DIMACS challenge (METIS manual 5.1, section 4.1.1): after a line
// of sizes, line v lists the neighbors of vertex v. Each edge is in the lists of both its ends. METIS itself does not
// allow self-loops; here they are listed once.
func readMETIS(in *input) error {
	complete, err := in.readNeighbors()
	if err != nil {
		return err
	}
	return complete()
}

// readNeighbors reads the lines of a METIS file. The function complete compares the header with them.
func (in *input) readNeighbors() (complete func() error, err error) {
	words, sizes, err := in.sizes("%", 0, 2, 4, "the numbers of vertices and edges, and maybe fmt and ncon")
	if err != nil {
		return nil, err
	}
	// Each line begins with skip numbers, and each neighbor has a weight if weighted.
	skip, weighted, err := metisFmt(in.line, words[2:])
	if err != nil {
		return nil, err
	}
	n := sizes[0]

	var both symmetry
	var vertices int64
	next := func(b *block) int64 {
		first := vertices
		vertices += int64(bytes.Count(b.data, newline))
		if b.data[len(b.data)-1] != '\n' {
			vertices++ // the last line
		}
		for i := 0; i < len(b.data); i = skipLine(b.data, i) {
			n := bytes.IndexByte(b.data[i:], '%')
			if n < 0 {
				break
			}
			line := b.data[i+bytes.LastIndexByte(b.data[i:i+n], '\n')+1:]
			if i += n; line[skipBlanks(line, 0)] == '%' {
				vertices--
			}
		}
		return first
	}
	parse := func(b *block, edges []graph.Edge) ([]graph.Edge, error) {
		var sum symmetry
		text, u := b.data, b.state
		for i := 0; i < len(text); i++ { // over lines
			if at := skipBlanks(text, i); at < len(text) && text[at] == '%' {
				i = skipLine(text, i) - 1
				continue
			}
			for field := int64(0); ; field++ {
				if i = skipBlanks(text, i); i == len(text) || text[i] == '\n' {
					if field > 0 && field < skip {
						return edges, b.atLine(i, "want "+strconv.FormatInt(skip, 10)+" sizes or weights of the vertex")
					}
					break
				}
				v, next := number(text, i)
				switch {
				case next == i:
					return edges, b.atLine(i, "want numbers")
				case u >= n:
					return edges, b.atLine(i, "a line after that of the last vertex, "+strconv.FormatInt(n, 10))
				case field >= skip:
					if v-1 >= uint64(n) {
						return edges, b.atLine(i, "want neighbors from 1 to "+strconv.FormatInt(n, 10))
					}
					if sum.add(u, int64(v-1)) {
						edges = append(edges, graph.MakeEdge(graph.Vertex(u), graph.Vertex(v-1)))
					}
				}
				i = next
				if field >= skip && weighted {
					at := skipBlanks(text, i)
					if i = value(text, at); i == at {
						return edges, b.atLine(i-1, "want a weight after each neighbor")
					}
				}
			}
			u++
		}
		both.merge(&sum)
		return edges, nil
	}
	err = in.parallel(blocks{limit: -1, line: maxNeighborLine, next: next, parse: parse})
	return func() error {
		if vertices < n {
			return atLine(in.line, "the file has lines for %d vertices, but its header announces %d", vertices, n)
		}
		if both.broken() {
			return atLine(in.line, "the lists are not symmetric: %d neighbors are larger than their vertex, %d smaller, "+
				"and each edge must be in the lists of both its ends", both.up, both.down)
		}
		return in.checkCount("edges", sizes[1], in.info.Tuples)
	}, err
}

const maxNeighborLine = 1 << 30 // bytes

func metisFmt(line int64, words []string) (skip int64, weighted bool, err error) {
	if len(words) == 0 {
		return 0, false, nil
	}
	bits, err := strconv.ParseUint(words[0], 2, 3) // vertex size, vertex weights, edge weights
	if err != nil || len(words[0]) > 3 {
		return 0, false, atLine(line, "want a fmt of three digits 0 or 1, not %q", words[0])
	}
	constraints := int64(1)
	if len(words) > 1 && bits&2 != 0 {
		if constraints, err = strconv.ParseInt(words[1], 10, 32); err != nil || constraints < 1 {
			return 0, false, atLine(line, "want a number of weights from 1 on, not %q", words[1])
		}
	}
	return int64(bits>>2) + int64(bits>>1&1)*constraints, bits&1 != 0, nil
}

// symmetry checks that an adjacency has the entry (v, u) as often as (u, v). It adds up a hash of each edge, with the
// sign of its direction. The sum of a symmetric adjacency is 0; others have that sum with a probability of about 2^-64.
type symmetry struct {
	mu       sync.Mutex // held by merge
	up, down int64      // entries with u < v and u > v
	sum      uint64     // hashes of the entries counted in up, minus those in down
}

// add adds an entry, and reports whether it becomes the tuple of its edge.
func (s *symmetry) add(u, v int64) bool {
	if u <= v {
		if u < v {
			s.up++
			s.sum += arcHash(u, v)
		}
		return true
	}
	s.down++
	s.sum -= arcHash(v, u)
	return false
}

func (s *symmetry) merge(part *symmetry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.up, s.down, s.sum = s.up+part.up, s.down+part.down, s.sum+part.sum
}

func (s *symmetry) broken() bool { return s.up != s.down || s.sum != 0 }

// arcHash is the finalizer of MurmurHash3 over both ends.
func arcHash(u, v int64) uint64 {
	h := uint64(u)*0x9e3779b97f4a7c15 + uint64(v)
	h = (h ^ h>>33) * 0xff51afd7ed558ccd
	h = (h ^ h>>33) * 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}

// SPDX-License-Identifier: Apache-2.0

package distributed

import (
	"math/bits"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/internal/parents"
)

// The distribution of labels and of the adjacency matrix over ranks.
//
// Labels have 48 bits. They are distributed over ranks in consecutive blocks or cyclically (Partition). Every rank
// numbers the vertices that it owns from 0 by descending degree, without isolated ones. All blocks of numbers get the
// width of the largest, rounded up to a multiple of 32: no word of a bitmap belongs to two blocks.
//
// In two dimensions the ranks form a grid of R rows and C columns. Rank j*R+i is in row i and column j. The grid
// covers the adjacency matrix once from left to right and C times from top to bottom, as in Bisson, Bernaschi,
// Mastrostefano, "Parallel Distributed Breadth First Search on the Kepler Architecture", IEEE TPDS 2016, figure 1,
// and Yoo et al., "A Scalable Distributed Parallel Breadth-First Search Algorithm on BlueGene/L", SC 2005. For R = 2
// and C = 3, the numbers below are the ranks that store the edges from a block of vertices (columns) to another
// (rows). Block k holds the vertices owned by rank k.
//
//	            from u:  block 0  block 1 | block 2  block 3 | block 4  block 5
//	                     -----------------+------------------+-----------------
//	 to v:     block 0           0        |        2         |        4
//	           block 1           1        |        3         |        5
//	                     -----------------+------------------+-----------------
//	           block 2           0        |        2         |        4
//	           block 3           1        |        3         |        5
//	                     -----------------+------------------+-----------------
//	           block 4           0        |        2         |        4
//	           block 5           1        |        3         |        5
//
// The columns that a rank stores are the blocks owned by the ranks of its grid column, and its rows are the blocks
// owned by the ranks of its grid row. To expand a frontier, it needs those of the R-1 other ranks in its grid column;
// the vertices that it discovers belong to itself or to the C-1 other ranks in its grid row. It sends to no other rank.
//
// One dimension is the grid of P rows and one column: the rows of a rank are the vertices it owns, and its columns are
// all vertices.

// Inside a part, vertices have 32-bit numbers of these spaces:
//
//	slot        of a label at its owner, 0 <= slot < Share
//	place       of a slot among those of its owner that are not isolated
//	Local       number of a vertex at its owner, 0 <= Local < width
//	Row         of the part: block*width + Local, blocks in the order of the ranks of its grid row
//	Column      of the part: block*width + Local, blocks in the order of the ranks of its grid column
//	list index  position of a column's list among those of all columns of the part (Part.listOf)

// maxUint32 bounds everything that is counted or numbered in 32 bits.
const maxUint32 = parents.MaxLow

// Grid is R rows and C columns of ranks.
type Grid struct{ R, C int }

// Ranks returns the number of ranks, Place the row and the column of a rank, and Rank the rank in row i and column j.
func (g Grid) Ranks() int                { return g.R * g.C }
func (g Grid) Place(rank int) (i, j int) { return rank % g.R, rank / g.R }
func (g Grid) Rank(i, j int) int         { return j*g.R + i }

// SquareGrid returns the grid of the given number of ranks that is closest to a square. It has at least as many rows as
// columns, because parents are fetched along rows.
func SquareGrid(ranks int) Grid {
	c := 1
	for k := 1; k*k <= ranks; k++ {
		if ranks%k == 0 {
			c = k
		}
	}
	return Grid{ranks / c, c}
}

// Partition maps labels to the ranks that own them. It depends only on the numbers of labels and ranks.
type Partition struct {
	Ranks  int
	Labels int64 // 0 <= label < Labels
	Modulo bool  // cyclic, label mod Ranks; otherwise in blocks of Share
	Share  int64 // largest number of labels of a rank

	divisor uint64 // label/Share (Modulo: label/Ranks) is the upper word of label*divisor, or one less
}

// NewPartition distributes labels over ranks.
func NewPartition(labels int64, ranks int, modulo bool) Partition {
	p := Partition{Ranks: ranks, Labels: labels, Modulo: modulo}
	p.Share = max((labels+int64(ranks)-1)/int64(ranks), 1)
	by := uint64(p.Share)
	if modulo {
		by = uint64(ranks)
	}
	if by > 1 {
		p.divisor = ^uint64(0)/by + 1
	}
	return p
}

// Owner returns the rank that owns a label and the label's slot at that rank, 0 <= slot < Share.
func (p *Partition) Owner(label graph.Vertex) (rank int, slot uint32) {
	quotient, by := uint64(label), p.Share
	if p.Modulo {
		by = int64(p.Ranks)
	}
	if p.divisor != 0 {
		quotient, _ = bits.Mul64(uint64(label), p.divisor)
	}
	rest := int64(label) - int64(quotient)*by
	if rest < 0 { // a large label
		quotient, rest = quotient-1, rest+by
	}
	if p.Modulo {
		return int(rest), uint32(quotient)
	}
	return int(quotient), uint32(rest)
}

// Label is the inverse of Owner.
func (p *Partition) Label(rank int, slot uint32) graph.Vertex {
	if p.Modulo {
		return graph.Vertex(slot)*graph.Vertex(p.Ranks) + graph.Vertex(rank)
	}
	return graph.Vertex(rank)*graph.Vertex(p.Share) + graph.Vertex(slot)
}

// Slots returns the number of labels of a rank, the label of its slot 0, and the difference between the labels of
// consecutive slots.
func (p *Partition) Slots(rank int) (n int, first, stride int64) {
	end := p.Labels
	if p.Modulo {
		first, stride = int64(rank), int64(p.Ranks)
	} else {
		first, stride = int64(rank)*p.Share, 1
		end = min(end, first+p.Share)
	}
	if first >= end {
		return 0, first, stride
	}
	return int((end - first + stride - 1) / stride), first, stride
}

// Part is the part of the graph that one rank stores. Kernel 1 writes it; searches only read it.
type Part struct {
	Partition Partition
	grid      Grid
	i, j      int // the rank's row and column in the grid
	width     int // of a block, a multiple of 32
	rows      int // C*width
	columns   int // R*width

	transposed bool // grid column j stores the columns of the vertices owned by grid row j (prefix.go)

	vertices int            // that the rank owns and that are not isolated
	present  ranked         // their slots
	number   []uint32       // [place] Local
	slot     []uint32       // [Local] slot of each own vertex
	degree   []uint32       // [Local] tuples at the vertex, duplicates counted
	label    parents.Labels // [Column] Unreached where a block has no vertex
	template parents.Labels // [slot] the hub of the vertex's group, or its first column; Unreached if the part has none

	groupMarks

	// The adjacency lists have no duplicates. In one dimension those of rows serve both directions: down is up.
	up    lists                  // for each row, the columns of its entries, by ascending list index
	down  lists                  // for each column, by list index, the rows of its entries
	entry [numColumns][]uint32   // [Row] the first Columns of each list of up; meaningless where it is shorter
	more  [numColumns + 1]bitmap // [Row] more[k] are the rows with more than k entries

	segmentation
}

// groupMarks are the groups of rows by the hub that is their first column (groups.go).
type groupMarks struct {
	groups  []uint32 // [row blocks][hubs+1] groupsOf; none in two dimensions with too many ranks
	grouped bitmap   // [Row] rows whose first column is the hub of their group
	remote  bitmap   // [Row] own rows whose group has a hub in another grid column: their first column is not the template
}

// segmentation cuts the lists of hubs that top-down levels scan where ranges of rows begin, which have about as many
// entries each. A rank of one worker has none.
type segmentation struct {
	segmented uint32 // lists 0..segmented-1 are cut
	ranges    int
	segments  []uint32 // [list*(ranges+1)+k] entries before range k
}

const (
	numColumns      = 4 // entries of each row that are also stored column by column
	minSegment      = 4 // mean number of entries in the segments of a list that makes it worth scanning by segment
	rangesPerWorker = 8 // more than one: a frontier leads to more rows of one range than of another
)

// segment returns the number of entries of a list before range k.
func (p *Part) segment(list uint32, k int) int { return int(p.segments[int(list)*(p.ranges+1)+k]) }

// lists are adjacency lists, concatenated: list k is targets[at[k]:at[k+1]].
type lists struct{ at, targets []uint32 }

func (l *lists) of(k int) []uint32 { return l.targets[l.at[k]:l.at[k+1]] }

// columnsOf returns the grid column that stores the columns of a rank's vertices, and their block there.
func (p *Part) columnsOf(rank int) (block, column int) {
	if block, column = p.grid.Place(rank); p.transposed {
		return column, block
	}
	return block, column
}

// columnOwner is the inverse of columnsOf.
func (p *Part) columnOwner(block, column int) int {
	if p.transposed {
		return p.grid.Rank(column, block)
	}
	return p.grid.Rank(block, column)
}

// listOf returns the index of a column's list. Lists are in the order of Locals, 32 of every block in turn. So hubs
// come first, and a word of a bitmap stays a word.
func (p *Part) listOf(block int, v uint32) uint32 {
	return (v>>5*uint32(p.grid.R)+uint32(block))<<5 | v&31
}

// listedColumn is the inverse of listOf.
func (p *Part) listedColumn(index uint32) uint32 {
	word, r := index>>5, uint32(p.grid.R)
	return word%r*uint32(p.width) + word/r<<5 + index&31
}

// words returns block k of a bitmap with consecutive blocks.
func (p *Part) words(b bitmap, k int) bitmap {
	n := p.width / 32
	return b[k*n : (k+1)*n]
}

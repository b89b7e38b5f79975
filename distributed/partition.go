package distributed

import (
	"fmt"
	"math/bits"
)

// Which rank holds what.
//
// Vertices are dealt to ranks by their labels, in blocks or by turns (Partition). Every rank then numbers the vertices
// it owns from 0 by descending degree and leaves isolated ones out. Ranks own different numbers of vertices, so every
// block of numbers is as wide as the widest (width, a multiple of 32, which keeps bitmaps apart by the word).
//
// In two dimensions the ranks form a grid of R rows and C columns, numbered down the columns: rank j*R+i stands in row i
// and column j. The grid is laid over the adjacency matrix once across and C times down (Bisson, Bernaschi, Mastrostefano,
// "Parallel Distributed Breadth First Search on the Kepler Architecture", IEEE TPDS 2016, figure 1; Yoo et al., "A
// Scalable Distributed Parallel Breadth-First Search Algorithm on BlueGene/L", SC 2005). For R = 2, C = 3, with the rank
// that holds each part, and blocks of vertices named after their owners:
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
// So a rank's columns are the blocks of its own grid column, and its rows are the blocks of its own grid row. To expand
// a frontier it needs what the R-1 others of its column own, and what it finds belongs to it or to the C-1 others of its
// row: it talks to (R-1)+(C-1) ranks, and never to the rest.
//
// One dimension is the grid of P rows and one column: the rows of a rank are the vertices it owns, its columns are all
// vertices. The graph is undirected, so the same lists lead from its own vertices to any other.

// The numbers that a vertex has. They are types of their own so that one cannot be taken for another.
type (
	// Label is a vertex as the tuples name it.
	Label uint32
	// Own is a vertex of the rank that looks at it: its place among those it owns, 0 <= Own < width.
	Own uint32
	// Row is a row of a rank's part of the matrix: block*width + Own at the owner, with blocks in the order of the ranks
	// of its grid row.
	Row uint32
	// Column is a column of a rank's part of the matrix: block*width + Own at the owner, with blocks in the order of the
	// ranks of its grid column.
	Column uint32
)

// key is the place of a column among all columns of the part in the order of hubs (part.key).
type key uint32

// none stands where there is no vertex in 32 bits.
const none = 1<<32 - 1

// Grid is R rows and C columns of ranks.
type Grid struct{ R, C int }

// Ranks returns the number of ranks.
func (g Grid) Ranks() int { return g.R * g.C }

// Place returns the row and the column in which a rank stands.
func (g Grid) Place(rank int) (i, j int) { return rank % g.R, rank / g.R }

// Rank returns the rank in row i and column j.
func (g Grid) Rank(i, j int) int { return j*g.R + i }

// Holder returns the rank that holds the entry of the matrix from a vertex of owner u to one of owner v, the block of v
// among the holder's rows, and the block of u among its columns.
func (g Grid) Holder(u, v int) (rank, rowBlock, columnBlock int) {
	i, m := g.Place(v)
	r, j := g.Place(u)
	return g.Rank(i, j), m, r
}

func (g Grid) String() string { return fmt.Sprintf("%dx%d", g.R, g.C) }

// SquareGrid returns the grid of so many ranks that is closest to a square, with at least as many rows as columns:
// what is expanded down a column is smaller than what is folded along a row when predecessors are sent along.
func SquareGrid(ranks int) Grid {
	c := 1
	for k := 1; k*k <= ranks; k++ {
		if ranks%k == 0 {
			c = k
		}
	}
	return Grid{ranks / c, c}
}

// Partition says which rank owns which label. It depends on nothing but the number of labels and of ranks.
type Partition struct {
	Ranks  int
	Labels int64 // 0 <= label < Labels
	Modulo bool  // by turns, label mod Ranks; otherwise in blocks of Share
	Share  int64 // the most labels that a rank owns

	divisor uint64 // label/Share (Modulo: label/Ranks) is the upper word of label*divisor, for labels of 32 bits
}

// NewPartition deals labels below the given number to ranks.
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

// Owner returns the rank that owns a label, and the label's slot among the labels of that rank, 0 <= slot < Share.
func (p *Partition) Owner(l Label) (rank int, slot uint32) {
	quotient := uint64(l)
	if p.divisor != 0 {
		quotient, _ = bits.Mul64(uint64(l), p.divisor)
	}
	if p.Modulo {
		return int(uint64(l) - quotient*uint64(p.Ranks)), uint32(quotient)
	}
	return int(quotient), uint32(uint64(l) - quotient*uint64(p.Share))
}

// Slots returns the labels of a rank: their number, the label of slot 0, and how far labels of neighbouring slots are
// apart.
func (p *Partition) Slots(rank int) (n int, first, stride int64) {
	if p.Modulo {
		first, stride = int64(rank), int64(p.Ranks)
	} else {
		first, stride = int64(rank)*p.Share, 1
	}
	end := p.Labels
	if !p.Modulo {
		end = min(end, first+p.Share)
	}
	if first >= end {
		return 0, first, stride
	}
	return int((end - first + stride - 1) / stride), first, stride
}

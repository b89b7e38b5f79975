package graph

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"
)

// Grid is a lattice of Side^Dimensions vertices without wrap-around: a path, the graph of the 5-point stencil, or that
// of the 7-point stencil. Vertex x + Side*y + Side^2*z is joined to the vertices next to it; labels are in this natural
// order, not permuted. The list has each edge once, first those along x, then along y, then along z.
//
// A stencil's matrix has each edge twice and a diagonal: 2*Tuples + Vertices non-zeros, 124,980,000 for grid2d:5000 and
// 188,460,000 for grid3d:300. The diagonal, self-loops that no search follows, is not in the list.
type Grid struct {
	Dimensions int // 1 to 3
	Side       int64
}

// gridNames are the kinds of grids by their dimensions.
var gridNames = [...]string{1: "path", 2: "grid2d", 3: "grid3d"}

func gridParser(dimensions int) func([]string, uint64, uint64) (Source, error) {
	return func(fields []string, _, _ uint64) (Source, error) {
		n, err := numbers(fields, 1)
		if err != nil {
			return nil, err
		}
		return Grid{dimensions, n[0]}, nil
	}
}

// Name returns path:SIDE, grid2d:SIDE or grid3d:SIDE.
func (g Grid) Name() string { return fmt.Sprintf("%s:%d", gridNames[g.Dimensions], g.Side) }

// Vertices returns Side^Dimensions.
func (g Grid) Vertices() int64 { return power(g.Side, g.Dimensions) }

// Tuples returns Dimensions * Side^(Dimensions-1) * (Side-1).
func (g Grid) Tuples() int64 { return int64(g.Dimensions) * g.perDimension() }

// perDimension is the number of edges along one dimension.
func (g Grid) perDimension() int64 { return power(g.Side, g.Dimensions-1) * (g.Side - 1) }

// Check is Source.Check.
func (g Grid) Check() error {
	if g.Dimensions < 1 || g.Dimensions > 3 {
		return fmt.Errorf("a grid has 1 to 3 dimensions, not %d", g.Dimensions)
	}
	if largest := [...]int64{1: 1 << 48, 2: 1 << 24, 3: 1 << 16}[g.Dimensions]; g.Side < 1 || g.Side > largest {
		return fmt.Errorf("%d vertices a side are out of range: want 1 to %d", g.Side, largest)
	}
	return nil
}

// Generate is Source.Generate.
func (g Grid) Generate(ctx context.Context, dst []Edge, first int64, threads int) error {
	if err := g.Check(); err != nil {
		return err
	}
	return generateParts(ctx, g, dst, first, threads, g.fill)
}

// fill goes through the runs of edges between consecutive vertices: along y, for example, those of a whole plane.
func (g Grid) fill(dst []Edge, first int64) {
	for len(dst) > 0 {
		stride := power(g.Side, int(first/g.perDimension()))
		run, at := stride*(g.Side-1), first%g.perDimension()
		part := dst[:min(int64(len(dst)), run-at%run)]
		u := Vertex(at/run*stride*g.Side + at%run)
		for i := range part {
			part[i] = MakeEdge(u+Vertex(i), u+Vertex(i)+Vertex(stride))
		}
		dst, first = dst[len(part):], first+int64(len(part))
	}
}

func power(base int64, exponent int) int64 {
	n := int64(1)
	for range exponent {
		n *= base
	}
	return n
}

// Star joins vertex 0 to each of the other vertices. Labels are not permuted.
type Star struct{ Size int64 }

func parseStar(fields []string, _, _ uint64) (Source, error) {
	n, err := numbers(fields, 1)
	if err != nil {
		return nil, err
	}
	return Star{n[0]}, nil
}

// Name returns star:VERTICES.
func (s Star) Name() string { return fmt.Sprintf("star:%d", s.Size) }

// Vertices returns the number of leaves and the hub.
func (s Star) Vertices() int64 { return s.Size }

// Tuples returns the number of leaves.
func (s Star) Tuples() int64 { return s.Size - 1 }

// Check is Source.Check.
func (s Star) Check() error { return checkSize(s.Size, s.Size-1) }

// Generate is Source.Generate.
func (s Star) Generate(ctx context.Context, dst []Edge, first int64, threads int) error {
	if err := s.Check(); err != nil {
		return err
	}
	return generateParts(ctx, s, dst, first, threads, func(dst []Edge, first int64) {
		for i := range dst {
			dst[i] = MakeEdge(0, Vertex(first)+Vertex(i)+1)
		}
	})
}

// Uniform is a random graph after Erdős and Rényi, G(n, M): both ends of each tuple are drawn from all vertices alike,
// so there may be self-loops and duplicates, as in the uniform graphs of the GAP benchmark suite. The ends of tuple i
// are made from the outputs 2i and 2i+1 of SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number
// generators", OOPSLA 2014).
type Uniform struct {
	Size         int64 // number of vertices
	Length       int64 // number of tuples
	Seed1, Seed2 uint64
}

func parseUniform(fields []string, seed1, seed2 uint64) (Source, error) {
	n, err := numbers(fields, 2)
	if err != nil {
		return nil, err
	}
	return Uniform{n[0], n[1], seed1, seed2}, nil
}

// Name returns uniform:VERTICES:TUPLES.
func (u Uniform) Name() string { return fmt.Sprintf("uniform:%d:%d", u.Size, u.Length) }

// Vertices returns Size.
func (u Uniform) Vertices() int64 { return u.Size }

// Tuples returns Length.
func (u Uniform) Tuples() int64 { return u.Length }

// Check is Source.Check.
func (u Uniform) Check() error { return checkSize(u.Size, u.Length) }

// Generate is Source.Generate.
func (u Uniform) Generate(ctx context.Context, dst []Edge, first int64, threads int) error {
	if err := u.Check(); err != nil {
		return err
	}
	seed := splitMix(splitMix(u.Seed1) + u.Seed2)
	end := func(i int64) Vertex { // a fraction of 2^64, times the number of vertices
		vertex, _ := bits.Mul64(splitMix(seed+uint64(i)*0x9e3779b97f4a7c15), uint64(u.Size))
		return Vertex(vertex)
	}
	return generateParts(ctx, u, dst, first, threads, func(dst []Edge, first int64) {
		for i := range dst {
			at := 2 * (first + int64(i))
			dst[i] = MakeEdge(end(at), end(at+1))
		}
	})
}

// splitMix is the output of SplitMix64 whose state before was z.
func splitMix(z uint64) uint64 {
	z += 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// RMAT is a Kronecker graph with other odds of the quadrants (Chakrabarti, Zhan, Faloutsos, "R-MAT: a recursive model
// for graph mining", 2004), made as the Graph500 reference makes its own, with permuted labels: rmat:S:E:0.57,0.19,0.19
// has the tuples of kron:S:E.
type RMAT struct {
	Kronecker
	A, B, C int // odds in ten-thousandths; the fourth quadrant has the rest
}

func parseRMAT(fields []string, seed1, seed2 uint64) (Source, error) {
	if len(fields) != 3 {
		return nil, fmt.Errorf("wrong number of fields, %d", len(fields))
	}
	k, err := parseKronecker(fields[:2], seed1, seed2)
	if err != nil {
		return nil, err
	}
	var odds [3]int
	texts := strings.Split(fields[2], ",")
	for i := range odds {
		if len(texts) != len(odds) {
			return nil, fmt.Errorf("%q are not three odds", fields[2])
		}
		x, err := strconv.ParseFloat(texts[i], 64)
		odds[i] = int(math.Round(x * oddsAll))
		if err != nil || !(x >= 0 && x <= 1) || math.Abs(x*oddsAll-float64(odds[i])) > 1e-6 {
			return nil, fmt.Errorf("%q is not between 0 and 1 with at most four decimals", texts[i])
		}
	}
	return RMAT{k.(Kronecker), odds[0], odds[1], odds[2]}, nil
}

// Name returns rmat:SCALE:EDGEFACTOR:A,B,C.
func (r RMAT) Name() string {
	return fmt.Sprintf("rmat:%d:%d:%v,%v,%v", r.Scale, r.EdgeFactor, float64(r.A)/oddsAll, float64(r.B)/oddsAll,
		float64(r.C)/oddsAll)
}

// Check is Source.Check.
func (r RMAT) Check() error {
	if r.A < 1 || r.B < 0 || r.C < 0 || r.A+r.B+r.C > oddsAll {
		return errors.New("the odds A must be more than 0, B and C at least 0, and all three together at most 1")
	}
	return r.Kronecker.Check()
}

// Generate is Source.Generate.
func (r RMAT) Generate(ctx context.Context, dst []Edge, first int64, threads int) error {
	if err := r.Check(); err != nil {
		return err
	}
	g := newGenerator(r.Kronecker)
	g.arcs = newArcs(uint64(r.A), uint64(r.B), uint64(r.C))
	return generateParts(ctx, r, dst, first, threads, g.fill)
}

// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"
)

// gridParser makes lattices of side^dimensions vertices without wrap-around: a path, or the graph of the 5-point or
// 7-point stencil. Vertex x + side*y + side^2*z is joined to its nearest neighbors; labels are in this natural order,
// not permuted. The list has each edge once: the edges along x, then y, then z. (A stencil's matrix has 2*tuples +
// vertices nonzeros.)
func gridParser(kind string, dimensions int) func([]string, uint64, uint64) (Source, error) {
	return func(fields []string, _, _ uint64) (Source, error) {
		n, err := numbers(fields, 1)
		if err != nil {
			return nil, err
		}
		side := n[0]
		if largest := int64(1) << (VertexBits / dimensions); side > largest {
			return nil, fmt.Errorf("%d vertices a side are out of range: want 1 to %d", side, largest)
		}
		perDimension := power(side, dimensions-1) * (side - 1)
		name := fmt.Sprintf("%s:%d", kind, side)
		return made{name, power(side, dimensions), int64(dimensions) * perDimension, func(dst []Edge, first int64) {
			// Runs of edges between consecutive vertices: along y, for example, those of a whole plane.
			for len(dst) > 0 {
				stride := power(side, int(first/perDimension))
				run, at := stride*(side-1), first%perDimension
				part := dst[:min(int64(len(dst)), run-at%run)]
				u := Vertex(at/run*stride*side + at%run)
				for i := range part {
					part[i] = MakeEdge(u+Vertex(i), u+Vertex(i)+Vertex(stride))
				}
				dst, first = dst[len(part):], first+int64(len(part))
			}
		}, nil}, nil
	}
}

func power(base int64, exponent int) int64 {
	n := int64(1)
	for range exponent {
		n *= base
	}
	return n
}

// parseStar makes stars: vertex 0 is joined to each of the other vertices. Labels are not permuted.
func parseStar(fields []string, _, _ uint64) (Source, error) {
	n, err := numbers(fields, 1)
	if err != nil {
		return nil, err
	}
	return made{fmt.Sprintf("star:%d", n[0]), n[0], n[0] - 1, func(dst []Edge, first int64) {
		for i := range dst {
			dst[i] = MakeEdge(0, Vertex(first)+Vertex(i)+1)
		}
	}, nil}.checked()
}

// parseUniform makes the random graphs G(n, M) of Erdős and Rényi, with self-loops and duplicates, as in the uniform
// graphs of the GAP benchmark suite. The ends of tuple i come from the outputs 2i and 2i+1 of SplitMix64 (Steele, Lea,
// Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014).
func parseUniform(fields []string, seed1, seed2 uint64) (Source, error) {
	n, err := numbers(fields, 2)
	if err != nil {
		return nil, err
	}
	seed := splitMix(splitMix(seed1) + seed2)
	end := func(i int64) Vertex { // a fraction of 2^64, times the number of vertices
		vertex, _ := bits.Mul64(splitMix(seed+uint64(i)*0x9e3779b97f4a7c15), uint64(n[0]))
		return Vertex(vertex)
	}
	return made{fmt.Sprintf("uniform:%d:%d", n[0], n[1]), n[0], n[1], func(dst []Edge, first int64) {
		for i := range dst {
			at := 2 * (first + int64(i))
			dst[i] = MakeEdge(end(at), end(at+1))
		}
	}, nil}.checked()
}

func splitMix(z uint64) uint64 {
	z += 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// parseRMAT makes Kronecker graphs with other quadrant probabilities (Chakrabarti, Zhan, Faloutsos, "R-MAT: a recursive
// model for graph mining", 2004), with permuted labels, by the code of the Graph500 generator: rmat:S:E:0.57,0.19,0.19
// has the tuples of kron:S:E.
func parseRMAT(fields []string, seed1, seed2 uint64) (Source, error) {
	if len(fields) != 3 {
		return nil, fmt.Errorf("wrong number of fields, %d", len(fields))
	}
	source, err := parseKronecker(fields[:2], seed1, seed2)
	if err != nil {
		return nil, err
	}
	k := source.(Kronecker)
	var odds []uint64 // in ten-thousandths; the fourth quadrant has the rest
	for text := range strings.SplitSeq(fields[2], ",") {
		x, err := strconv.ParseFloat(text, 64)
		if err != nil || !(x >= 0 && x <= 1) || math.Abs(x*oddsAll-math.Round(x*oddsAll)) > 1e-6 {
			return nil, fmt.Errorf("%q is not between 0 and 1 with at most four decimals", text)
		}
		odds = append(odds, uint64(math.Round(x*oddsAll)))
	}
	switch {
	case len(odds) != 3:
		return nil, fmt.Errorf("%q are not three odds", fields[2])
	case odds[0] < 1 || odds[0]+odds[1]+odds[2] > oddsAll:
		return nil, errors.New("of the odds, A must be more than 0, B and C at least 0, and their sum at most 1")
	}
	g := newGenerator(k)
	g.arcs = newArcs(odds[0], odds[1], odds[2])
	name := fmt.Sprintf("rmat:%d:%d:%v,%v,%v", k.Scale, k.EdgeFactor, float64(odds[0])/oddsAll,
		float64(odds[1])/oddsAll, float64(odds[2])/oddsAll)
	return made{name, k.Vertices(), k.Tuples(), g.fill, g.fillWeights}, nil
}

// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
)

// Source is a list of tuples that can be generated again, in parts. A tuple depends only on the source and its
// position, so the list does not depend on how it is divided.
type Source interface {
	// Name returns the source in its shortest form, without seeds; ParseSource reads it.
	Name() string
	// Vertices returns the number of vertices. All labels are below it; some vertices may have no tuple.
	Vertices() int64
	// Tuples returns the length of the list.
	Tuples() int64
	// Generate fills dst with the tuples first, first+1, ... of the list, on the given number of threads (0 or less:
	// GOMAXPROCS). When ctx ends, it returns ctx.Err() within milliseconds, and dst is partly written.
	Generate(ctx context.Context, dst []Edge, first int64, threads int) error
}

// Generator describes the generators of one kind.
type Generator struct {
	Kind  string // before the first colon of a name
	Form  string // pattern of a name
	About string // in one line
	parse func(fields []string, seed1, seed2 uint64) (Source, error)
}

// Generators lists the generators that ParseSource knows.
func Generators() []Generator {
	return []Generator{
		{"kron", "kron:SCALE[:EDGEFACTOR]", "Kronecker graph of Graph500; its edge factor is 16", parseKronecker},
		{"rmat", "rmat:SCALE:EDGEFACTOR:A,B,C", "Kronecker graph with other quadrant probabilities", parseRMAT},
		{"uniform", "uniform:VERTICES:TUPLES", "both ends uniformly random", parseUniform},
		{"grid2d", "grid2d:SIDE", "SIDE x SIDE vertices, joined to their 4 neighbors", gridParser("grid2d", 2)},
		{"grid3d", "grid3d:SIDE", "SIDE^3 vertices, joined to their 6 neighbors", gridParser("grid3d", 3)},
		{"path", "path:VERTICES", "vertices in a row", gridParser("path", 1)},
		{"star", "star:VERTICES", "a hub, vertex 0, and its leaves", parseStar},
	}
}

// IsGenerator reports whether the text of spec up to the first colon is the kind of a generator.
func IsGenerator(spec string) bool {
	kind, _, ok := strings.Cut(spec, ":")
	return ok && slices.ContainsFunc(Generators(), func(g Generator) bool { return g.Kind == kind })
}

// ParseSource returns the generator that spec describes, such as grid2d:5000, with seeds for random generators. Numbers
// may end in k, M or G for thousands, millions and billions.
func ParseSource(spec string, seed1, seed2 uint64) (Source, error) {
	kind, rest, _ := strings.Cut(spec, ":")
	var kinds []string
	for _, g := range Generators() {
		if g.Kind == kind {
			s, err := g.parse(strings.Split(rest, ":"), seed1, seed2)
			if err != nil {
				return nil, fmt.Errorf("graph %q: %w; want %s", spec, err, g.Form)
			}
			return s, nil
		}
		kinds = append(kinds, g.Kind)
	}
	return nil, fmt.Errorf("graph %q: unknown generator; the generators are %s", spec, strings.Join(kinds, ", "))
}

// numbers reads each of fields as a number of at least 1.
func numbers(fields []string, want ...int) (all []int64, err error) {
	if !slices.Contains(want, len(fields)) {
		return nil, fmt.Errorf("wrong number of fields, %d", len(fields))
	}
	for _, field := range fields {
		digits, unit := field, int64(1)
		for suffix, value := range map[string]int64{"k": 1e3, "M": 1e6, "G": 1e9} {
			if rest, ok := strings.CutSuffix(field, suffix); ok {
				digits, unit = rest, value
			}
		}
		n, err := strconv.ParseInt(digits, 10, 64)
		if err != nil || n < 1 || n > math.MaxInt64/unit {
			return nil, fmt.Errorf("%q is not a number of at least 1, such as 5000 or 2M", field)
		}
		all = append(all, n*unit)
	}
	return all, nil
}

// made is a source whose function fills a part of the list on one thread.
type made struct {
	name             string
	vertices, tuples int64
	fill             func(dst []Edge, first int64)
	fillWeights      func(dst []float32, first int64) // nil: SplitMix64
}

func (m made) Name() string    { return m.name }
func (m made) Vertices() int64 { return m.vertices }
func (m made) Tuples() int64   { return m.tuples }

// checked is the source, or an error if its vertices or tuples are out of range.
func (m made) checked() (Source, error) {
	const maxTuples = math.MaxInt64 / EdgeBytes
	switch {
	case m.vertices < 1 || m.vertices > int64(MaxVertex)+1:
		return nil, fmt.Errorf("the number of vertices is out of range: want 1 to 2^%d", VertexBits)
	case m.tuples < 0 || m.tuples > maxTuples:
		return nil, fmt.Errorf("the number of tuples is out of range: want at most %d", int64(maxTuples))
	}
	return m, nil
}

const generateBlock = 1 << 15 // tuples that a thread makes at a time, in about a millisecond

func (m made) Generate(ctx context.Context, dst []Edge, first int64, threads int) error {
	return fillPart(ctx, m, dst, first, threads, m.fill)
}

// fillPart fills dst with the values (tuples or weights) of the tuples first, first+1, ... of s.
func fillPart[E any](ctx context.Context, s Source, dst []E, first int64, threads int, fill func([]E, int64)) error {
	if first < 0 || first > s.Tuples()-int64(len(dst)) {
		return fmt.Errorf("graph: generating %d tuples from number %d: the list of %s has %d",
			len(dst), first, s.Name(), s.Tuples())
	}
	if threads < 1 {
		threads = runtime.GOMAXPROCS(0)
	}
	_, err := Parallel(ctx, threads, int64(len(dst)), generateBlock, func(_ int, begin, end int64) bool {
		fill(dst[begin:end], first+begin)
		return true
	})
	return err
}

// Parallel calls work for ranges of at most grain of the items 0..items-1, in ascending order, on the given number of
// threads, until a call returns false or ctx ends. It returns whether all calls returned true, and ctx.Err() if ctx
// ended. Work has then finished for every range that was started and for all ranges below it. A range should take a
// fraction of a millisecond, so that threads finish at about the same time and soon after ctx has ended.
func Parallel(
	ctx context.Context, threads int, items, grain int64, work func(thread int, first, last int64) bool,
) (bool, error) {
	var next atomic.Int64
	var stop atomic.Bool
	loop := func(thread int) {
		for !stop.Load() && ctx.Err() == nil {
			first := next.Add(grain) - grain
			if first >= items {
				return
			}
			if !work(thread, first, min(first+grain, items)) {
				stop.Store(true)
			}
		}
	}
	var others sync.WaitGroup
	for i := 1; i < threads && int64(i)*grain < items; i++ {
		others.Go(func() { loop(i) })
	}
	loop(0)
	others.Wait()
	if err := ctx.Err(); err != nil {
		return false, err
	}
	return !stop.Load(), nil
}

// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/tepsbench/teps/internal/must"
)

// parse returns a source with the official seeds.
func parse(t testing.TB, spec string) Source {
	t.Helper()
	s := must.Get(ParseSource(spec, 2, 3))
	return s
}

// listOf makes all tuples of a source.
func listOf(t testing.TB, s Source) []Edge { return generate(t, s, 0, s.Tuples()) }

// The values of kron come from the Graph500 reference. The hashes fix the lists: a change of one makes records
// incomparable.
func TestGoldenSources(t *testing.T) {
	for spec, want := range map[string]uint64{
		"kron:20":                   0x3f15e9b5537e7da6,
		"kron:24":                   0xe2f155ba3f9f99ea,
		"rmat:10:16:0.57,0.19,0.19": 0x99120108d157ef13, // as kron:10
		"rmat:10:16:0.45,0.15,0.15": 0xdb97132b26b2a868,
		"rmat:10:16:0.5,0.3,0.1":    0xd310f45e3fea7b3b,
		"uniform:1000:8000":         0x8c8c89b9bc182748,
		"grid2d:100":                0xa385d3ba080f1fed,
		"grid3d:20":                 0xf1c1f5646331bc60,
		"path:1000":                 0xb17f7f55e8f65bb9,
		"star:1000":                 0xc5868344c895e383,
	} {
		t.Run(spec, func(t *testing.T) {
			s := parse(t, spec)
			skipLong(t, s.Tuples())
			if got := hashOf(listOf(t, s), shortBasis); got != want {
				t.Errorf("hash %#x, want %#x", got, want)
			}
		})
	}
}

func TestNamesOfSources(t *testing.T) {
	for spec, want := range map[string]string{
		"kron:20":                    "kron:20",
		"kron:20:16":                 "kron:20",
		"kron:20:48":                 "kron:20:48",
		"rmat:21:64:0.45,0.15,0.15":  "rmat:21:64:0.45,0.15,0.15",
		"rmat:21:64:.45,.1500,0.150": "rmat:21:64:0.45,0.15,0.15",
		"uniform:2M:64M":             "uniform:2000000:64000000",
		"grid2d:5k":                  "grid2d:5000",
		"grid3d:300":                 "grid3d:300",
		"path:1M":                    "path:1000000",
		"star:1G":                    "star:1000000000",
	} {
		s := parse(t, spec)
		if s.Name() != want {
			t.Errorf("%s is named %s, want %s", spec, s.Name(), want)
		}
		if again := parse(t, want); again.Name() != want || again.Vertices() != s.Vertices() || again.Tuples() != s.Tuples() {
			t.Errorf("%s has %d vertices and %d tuples; its name is read as %s with %d and %d", spec, s.Vertices(), s.Tuples(),
				again.Name(), again.Vertices(), again.Tuples())
		}
		if !IsGenerator(spec) {
			t.Errorf("%s is not taken for a generator", spec)
		}
	}
	for _, file := range []string{"kron", "roads.mtx", "./grid2d:5", "a:b", "-", ""} {
		if IsGenerator(file) {
			t.Errorf("%q is taken for a generator", file)
		}
	}
}

func TestWrongSources(t *testing.T) {
	for spec, want := range map[string]string{
		"torus:5":                 "unknown generator; the generators are kron, rmat, uniform, grid2d",
		"kron":                    `"" is not a number of at least 1`,
		"kron:":                   `"" is not a number of at least 1`,
		"kron:43":                 "scale 43 is out of range: want 1 to 42",
		"kron:4294967297":         "scale 4294967297 is out of range",
		"kron:20:0":               `"0" is not a number of at least 1`,
		"kron:20:16:1":            "wrong number of fields, 3; want kron:SCALE[:EDGEFACTOR]",
		"grid2d:1e3":              `"1e3" is not a number`,
		"grid2d:16777217":         "want 1 to 16777216",
		"grid3d:65537":            "want 1 to 65536",
		"path:281474976710657":    "want 1 to 281474976710656",
		"star:0":                  `"0" is not a number of at least 1`,
		"star:281474976710657":    "number of vertices is out of range: want 1 to 2^48",
		"uniform:5":               "wrong number of fields, 1",
		"uniform:300000G:5":       "number of vertices is out of range",
		"uniform:5:9223372036G":   "number of tuples is out of range",
		"uniform:5:9223372037G":   "is not a number",
		"rmat:20:16":              "wrong number of fields, 2",
		"rmat:20:16:0.5,0.5":      "are not three odds",
		"rmat:20:16:0.45,x,0.15":  `"x" is not between 0 and 1`,
		"rmat:20:16:1.1,0,0":      `"1.1" is not between 0 and 1`,
		"rmat:20:16:NaN,0,0":      `"NaN" is not between 0 and 1`,
		"rmat:20:16:0.33333,0,0":  "at most four decimals",
		"rmat:20:16:0,0.5,0.5":    "A must be more than 0",
		"rmat:20:16:0.5,0.5,0.01": "their sum at most 1",
		"rmat:50:16:0.5,0.1,0.1":  "scale 50 is out of range",
	} {
		must.Fail(t, must.Err(ParseSource(spec, 2, 3)), want)
	}
}

func drawSource(t *rapid.T) Source {
	size := rapid.Int64Range(1, 60)
	seed := rapid.Uint64().Draw(t, "seed")
	scale, factor := rapid.IntRange(1, 10).Draw(t, "scale"), rapid.IntRange(1, 8).Draw(t, "edgefactor")
	a := rapid.IntRange(1, oddsAll).Draw(t, "A")
	b := rapid.IntRange(0, oddsAll-a).Draw(t, "B")
	s := must.Get(ParseSource(rapid.SampledFrom([]string{
		fmt.Sprintf("kron:%d:%d", scale, factor),
		rmatName(scale, factor, a, b, rapid.IntRange(0, oddsAll-a-b).Draw(t, "C")),
		fmt.Sprintf("uniform:%d:%d", size.Draw(t, "vertices"), size.Draw(t, "tuples")),
		fmt.Sprintf("star:%d", size.Draw(t, "leaves")),
		fmt.Sprintf("%s:%d", rapid.SampledFrom([]string{"path", "grid2d", "grid3d"}).Draw(t, "grid"),
			rapid.Int64Range(1, 40).Draw(t, "side")),
	}).Draw(t, "source"), 2, seed))
	return s
}

// rmatName names a graph with odds in ten-thousandths.
func rmatName(scale, factor, a, b, c int) string {
	return fmt.Sprintf("rmat:%d:%d:%.4f,%.4f,%.4f", scale, factor, float64(a)/oddsAll, float64(b)/oddsAll,
		float64(c)/oddsAll)
}

func TestAnyPartOfASourceIsThatPartOfTheWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSource(t)
		whole := make([]Edge, s.Tuples())
		must.Do(s.Generate(context.Background(), whole, 0, 1))
		for _, e := range whole {
			if u, v := e.Ends(); int64(max(u, v)) >= s.Vertices() {
				t.Fatalf("%s of %d vertices has tuple %v", s.Name(), s.Vertices(), e)
			}
		}
		first := rapid.Int64Range(0, s.Tuples()).Draw(t, "first")
		part := make([]Edge, rapid.Int64Range(0, s.Tuples()-first).Draw(t, "count"))
		must.Do(s.Generate(context.Background(), part, first, rapid.IntRange(0, 3).Draw(t, "threads")))
		if !slices.Equal(part, whole[first:first+int64(len(part))]) {
			t.Fatalf("%d tuples of %s from %d on differ from the list", len(part), s.Name(), first)
		}
		beyond := make([]Edge, s.Tuples()-first+1)
		if err := s.Generate(context.Background(), beyond, first, 1); err == nil {
			t.Fatalf("%s has more than its %d tuples", s.Name(), s.Tuples())
		}
		if err := s.Generate(context.Background(), beyond[:1], -1, 1); err == nil {
			t.Fatalf("%s has a tuple before the first", s.Name())
		}
	})
}

func TestGeneratingStopsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, g := range []string{"kron:16", "rmat:16:16:0.4,0.2,0.2", "uniform:1k:1M", "grid2d:500", "star:1M"} {
		s := parse(t, g)
		must.Is(t, s.Generate(ctx, make([]Edge, s.Tuples()), 0, 2), context.Canceled)
	}
}

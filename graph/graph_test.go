// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"bytes"
	"encoding/json"
	"hash/maphash"
	"runtime"
	"testing"

	"github.com/tepsbench/teps/internal/must"
)

func FuzzEdgeKeepsBothLabels(f *testing.F) {
	for _, seed := range [][2]int64{
		{0, 0}, {1, 2}, {1 << 32, 1<<32 - 1}, {1<<48 - 1, 0}, {0, 1<<48 - 1}, {1<<48 - 1, 1<<48 - 1}, {-1, 1 << 48},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, a, b int64) {
		u, v := Vertex(a)&MaxVertex, Vertex(b)&MaxVertex
		e := MakeEdge(u, v)
		if gotU, gotV := e.Ends(); gotU != u || gotV != v {
			t.Errorf("(%d,%d) came back as (%d,%d)", u, v, gotU, gotV)
		}
		if beyond := MakeEdge(Vertex(a), Vertex(b)); beyond != e {
			t.Errorf("bits beyond %d of (%d,%d) are kept: %v, want %v", VertexBits, a, b, beyond, e)
		}
		u32, v32, ok := e.Ends32()
		if fits := u>>32 == 0 && v>>32 == 0; ok != fits || fits && (Vertex(u32) != u || Vertex(v32) != v) {
			t.Errorf("(%d,%d) became (%d,%d), %v", u, v, u32, v32, ok)
		}
	})
}

func TestDirectionTextRoundTrip(t *testing.T) {
	for direction, word := range map[Direction]string{TopDown: `"top-down"`, BottomUp: `"bottom-up"`} {
		data, err := json.Marshal(direction)
		if err != nil || string(data) != word {
			t.Errorf("%v is written as %s (%v), want %s", direction, data, err, word)
		}
		read := Direction(99)
		if err := json.Unmarshal(data, &read); err != nil || read != direction {
			t.Errorf("%s is read as %v (%v), want %v", data, read, err, direction)
		}
	}
	kept := BottomUp
	err := kept.UnmarshalText([]byte("sideways"))
	must.Fail(t, err, `"sideways" is not a direction; want "top-down" or "bottom-up"`)
	if kept != BottomUp {
		t.Errorf("a word that is not a direction changed it to %v", kept)
	}
	if got := Direction(7).String(); got != "Direction(7)" {
		t.Errorf("got %q", got)
	}
}

func TestChecksumDependsOnEveryTupleAndTheirOrder(t *testing.T) {
	edges := listOf(t, parse(t, "kron:13")) // two blocks
	seed := maphash.MakeSeed()
	want := Checksum(seed, edges)
	differs := func(what string, change, undo func()) {
		t.Helper()
		change()
		if Checksum(seed, edges) == want {
			t.Errorf("%s: the same checksum", what)
		}
		if undo(); Checksum(seed, edges) != want {
			t.Errorf("%s: another checksum after the change was undone", what)
		}
	}
	for _, i := range []int{0, 1, 1<<16 - 1, 1 << 16, len(edges) - 1} {
		for bit := range 32 {
			flip := func() { edges[i].high ^= 1 << bit }
			differs("a bit", flip, flip)
		}
	}
	swap := func(i, j int) func() { return func() { edges[i], edges[j] = edges[j], edges[i] } }
	differs("two tuples", swap(3, 4), swap(3, 4))
	blocks := func() {
		for i := range 1 << 16 {
			swap(i, i+1<<16)()
		}
	}
	differs("two blocks", blocks, blocks)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	if Checksum(seed, edges) != want {
		t.Error("the checksum depends on the number of threads")
	}
	if Checksum(seed, edges[1:]) == want || Checksum(seed, nil) != 0 {
		t.Error("the checksum does not depend on the number of tuples")
	}
}

func TestWriteEdgesWritesThePackedForm(t *testing.T) {
	var out bytes.Buffer
	must.Do(WriteEdges(&out, []Edge{MakeEdge(0x123456789abc, 0xfedcba987654)}))
	want := []byte{0xbc, 0x9a, 0x78, 0x56, 0x54, 0x76, 0x98, 0xba, 0x34, 0x12, 0xdc, 0xfe}
	if !bytes.Equal(out.Bytes(), want) {
		t.Errorf("want % x, got % x", want, out.Bytes())
	}
}

// The cases are on both sides of every threshold: 4 times the edges of the frontier against those unexplored, twice the
// frontier before, and 5 times the frontier against the vertices.
func TestSwitchHasItsThresholds(t *testing.T) {
	for _, c := range []struct {
		name string
		p    SwitchState
		want Direction
	}{
		{"a quarter of the unexplored edges", SwitchState{TopDown, 10, 5, 100, 400, 1000}, TopDown},
		{"more than a quarter", SwitchState{TopDown, 10, 5, 100, 399, 1000}, BottomUp},
		{"less than a quarter", SwitchState{TopDown, 10, 5, 100, 401, 1000}, TopDown},
		{"twice the frontier before", SwitchState{TopDown, 10, 5, 100, 100, 1000}, BottomUp},
		{"not quite twice", SwitchState{TopDown, 9, 5, 100, 100, 1000}, TopDown},
		{"shrinking", SwitchState{TopDown, 10, 20, 100, 100, 1000}, TopDown},
		{"bottom-up, a fifth of the vertices", SwitchState{BottomUp, 200, 300, 0, 0, 1000}, BottomUp},
		{"bottom-up, less than a fifth", SwitchState{BottomUp, 199, 300, 0, 0, 1000}, TopDown},
		{"bottom-up, as large as before", SwitchState{BottomUp, 10, 10, 0, 0, 1000}, BottomUp},
		{"bottom-up, smaller than before", SwitchState{BottomUp, 9, 10, 0, 0, 1000}, TopDown},
		{"bottom-up, growing", SwitchState{BottomUp, 20, 10, 0, 0, 1000}, BottomUp},
	} {
		if got := (Switch{Alpha: 4, Beta: 5}).Next(c.p); got != c.want {
			t.Errorf("%s: %+v goes on %v, want %v", c.name, c.p, got, c.want)
		}
	}
	all := SwitchState{Direction: TopDown, Frontier: 9, Previous: 1, FrontierEdges: 1 << 40}
	if got := (Switch{}).Next(all); got != TopDown {
		t.Errorf("without alpha: %v, want %v", got, TopDown)
	}
}

func TestSwitchKeepsTheOnlyDirection(t *testing.T) {
	dense := SwitchState{TopDown, 10, 1, 1000, 10_000, 1000} // goes bottom-up if it may
	sparse := SwitchState{BottomUp, 10, 200, 0, 0, 1000}     // goes back top-down if it may
	for _, c := range []struct {
		steps                Steps
		first, dense, sparse Direction
	}{
		{BothDirections, TopDown, BottomUp, TopDown},
		{OnlyTopDown, TopDown, TopDown, TopDown},
		{OnlyBottomUp, BottomUp, BottomUp, BottomUp},
	} {
		s := Switch{Alpha: 15, Beta: 18, Steps: c.steps}
		if s.First() != c.first || s.Next(dense) != c.dense || s.Next(sparse) != c.sparse {
			t.Errorf("steps %d: %v, then %v and %v; want %v, %v, %v",
				c.steps, s.First(), s.Next(dense), s.Next(sparse), c.first, c.dense, c.sparse)
		}
	}
}

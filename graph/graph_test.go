// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"encoding/json"
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

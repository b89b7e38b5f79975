// SPDX-License-Identifier: Apache-2.0

package offload

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/tepsbench/teps/internal/must"
	"github.com/tepsbench/teps/plugins"
)

func TestSpansCoverEveryVertexOnceWithinCapacity(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		width := rapid.Int64Range(1, 50).Draw(t, "width")
		entries := rapid.SliceOfN(rapid.Uint64Range(0, 100), 0, 60).Draw(t, "entries")
		searched := max(int64(len(entries))*width-rapid.Int64Range(0, width-1).Draw(t, "short"), 0)
		capacity := rapid.Int64Range(100, 1000).Draw(t, "capacity")
		r := Ranges[uint64]{Entries: entries, Width: width, Sources: searched}
		total, _ := r.Sum()
		next, sum := int64(0), int64(0)
		for next < searched {
			s, err := r.Span(next, capacity)
			if err != nil || s.From != next || s.To <= s.From || s.Entries > capacity {
				t.Fatalf("got span %+v and %v after vertex %d with capacity %d", s, err, next, capacity)
			}
			next, sum = s.To, sum+s.Entries
		}
		if len(entries) > 0 && next != searched || sum != total {
			t.Fatalf("got spans up to vertex %d with %d entries, want %d and %d", next, sum, searched, total)
		}
	})
}

func TestSpansRejectRangeBeyondCapacity(t *testing.T) {
	r := Ranges[uint64]{Entries: []uint64{5, 101, 3}, Width: 10, Sources: 30}
	if s, err := r.Span(0, 100); s != (Span{0, 10, 5}) || err != nil {
		t.Fatalf("got %+v and %v, want the first range", s, err)
	}
	must.Is(t, must.Err(r.Span(10, 100)), plugins.ErrMemory)
}

package cuda

import (
	"errors"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/tepsbench/teps/plugins"
)

func TestSpansCoverEveryVertexOnceWithinCapacity(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		width := rapid.Int64Range(1, 50).Draw(t, "width")
		entries := rapid.SliceOfN(rapid.Uint64Range(0, 100), 0, 60).Draw(t, "entries")
		searched := max(int64(len(entries))*width-rapid.Int64Range(0, width-1).Draw(t, "short"), 0)
		capacity := rapid.Int64Range(100, 1000).Draw(t, "capacity")
		all, err := spans(entries, width, searched, capacity)
		if err != nil {
			t.Fatal(err)
		}
		next, sum, total := int64(0), int64(0), int64(0)
		for _, n := range entries {
			total += int64(n)
		}
		for _, s := range all {
			if s.from != next || s.to <= s.from || s.entries > capacity {
				t.Fatalf("got span %+v after vertex %d with capacity %d", s, next, capacity)
			}
			next, sum = s.to, sum+s.entries
		}
		if len(entries) > 0 && next != searched || sum != total {
			t.Fatalf("got spans up to vertex %d with %d entries, want %d and %d", next, sum, searched, total)
		}
	})
}

func TestSpansRejectRangeBeyondCapacity(t *testing.T) {
	if _, err := spans([]uint64{5, 101, 3}, 10, 30, 100); !errors.Is(err, plugins.ErrMemory) {
		t.Fatalf("got %v, want ErrMemory", err)
	}
}

func TestSortBitsFitEverySourceAndTarget(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		searched := rapid.Int64Range(1, math.MaxUint32).Draw(t, "searched")
		from := rapid.Int64Range(0, searched-1).Draw(t, "from")
		to := rapid.Int64Range(from+1, searched).Draw(t, "to")
		target, key := sortBits(span{from: from, to: to}, searched)
		largest := uint64(to-from-1)<<target | uint64(searched-1)
		if uint64(searched-1)>>target != 0 || key < 64 && largest>>key != 0 || key > 64 {
			t.Fatalf("got %d and %d bits for sources below %d and targets below %d", target, key, to-from, searched)
		}
	})
}

func TestTuplesBeyondLimitsAreRejected(t *testing.T) {
	limit := limits()
	if limit != (plugins.Limits{Vertices: 1<<32 - 1, Tuples: 1<<33 - 1}) {
		t.Errorf("got limits %+v", limit)
	}
	for name, test := range map[string]struct {
		tuples   int64
		maxLabel uint64
		tooLong  bool
		fits     bool
	}{
		"no tuples":          {0, 0, false, true},
		"both at the limit":  {limit.Tuples, uint64(limit.Vertices) - 1, false, true},
		"label too large":    {10, uint64(limit.Vertices), false, false},
		"label of 48 bits":   {10, 3, true, false},
		"one tuple too many": {limit.Tuples + 1, 3, false, false},
	} {
		err := checkTuples(test.tuples, test.maxLabel, test.tooLong)
		if test.fits != (err == nil) || err != nil && !errors.Is(err, plugins.ErrTuples) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestMoreVerticesThanQueueCountsAreRejected(t *testing.T) {
	if err := checkSearched(1<<30 - 1); err != nil {
		t.Error(err)
	}
	if err := checkSearched(1 << 30); !errors.Is(err, plugins.ErrTuples) {
		t.Errorf("got %v, want ErrTuples", err)
	}
}

// The numbers are those of kernel 1 at scale 26; see docs/results/cuda/memory.txt.
func TestListsFitOnlyIfTheirLargestRangeCanBeSorted(t *testing.T) {
	const entries, maxRange, rest, used = 2_142_000_000, 278_008_872, 2_119_300_000, 894_000_000
	for gib, fits := range map[int64]bool{8: false, 11: false, 12: false, 13: false, 14: true, 16: true} {
		room := gib<<30 - used
		if got := listsFit(room, entries, maxRange, rest); got != fits {
			t.Errorf("%d GiB: got fits %t, want %t", gib, got, fits)
		}
		if capacity := (room - 4*entries - minSortBytes) / pairBytes; fits && capacity < maxRange {
			t.Errorf("%d GiB: lists fit, but their largest range has %d entries, and only %d can be sorted",
				gib, maxRange, capacity)
		}
	}
}

func TestMemoryOfASearch(t *testing.T) {
	for n, want := range map[int64]int64{0: 0, 1: 1, 32: 1, 33: 2, 1 << 30: 1 << 25} {
		if got := words(n); got != want {
			t.Errorf("bitmap of %d vertices: got %d words, want %d", n, got, want)
		}
	}
	// 10 labels; 8 vertices, 6 of them searched: four bitmaps and the hubs of one word, 32 bytes for each searched
	// vertex, 4 for each vertex, 8 for each label
	if got, want := searchBytes(10, 8, 6), int64(5*4+32*6+4*8+8*10); got != want {
		t.Errorf("search: got %d bytes, want %d", got, want)
	}
	if got := parentBytes(10); got != 80 {
		t.Errorf("parents: got %d bytes, want 80", got)
	}
}

func TestCachedFrontierBitsFitIntoSharedMemory(t *testing.T) {
	for _, c := range []struct{ needed, wanted, limit, want int64 }{
		{52_000, 65_536, 232_448, 65_536}, // compute capability 9.0
		{52_000, 65_536, 65_536, 13_536},  // 7.5
		{52_001, 65_536, 65_536, 13_532},
		{52_000, 65_536, 49_152, 0},
	} {
		if got := cachedBytes(c.needed, c.wanted, c.limit); got != c.want {
			t.Errorf("%d bytes wanted, %d needed, limit %d: got %d, want %d", c.wanted, c.needed, c.limit, got, c.want)
		}
	}
}

package cuda

import (
	"errors"
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
)

func TestSpansCoverEveryVertexOnceAndKeepToTheCapacity(t *testing.T) {
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
				t.Fatalf("span %+v behind vertex %d, capacity %d", s, next, capacity)
			}
			next, sum = s.to, sum+s.entries
		}
		if len(entries) > 0 && next != searched || sum != total {
			t.Fatalf("spans end at vertex %d of %d with %d of %d entries", next, searched, sum, total)
		}
	})
}

func TestSpansRefuseARangeBeyondTheCapacity(t *testing.T) {
	if _, err := spans([]uint64{5, 101, 3}, 10, 30, 100); !errors.Is(err, plugins.ErrMemory) {
		t.Fatalf("want ErrMemory, got %v", err)
	}
}

func TestSortBitsHoldEverySourceAndTarget(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		searched := rapid.Int64Range(1, math.MaxUint32).Draw(t, "searched")
		from := rapid.Int64Range(0, searched-1).Draw(t, "from")
		to := rapid.Int64Range(from+1, searched).Draw(t, "to")
		target, key := sortBits(span{from: from, to: to}, searched)
		largest := uint64(to-from-1)<<target | uint64(searched-1)
		if uint64(searched-1)>>target != 0 || key < 64 && largest>>key != 0 || key > 64 {
			t.Fatalf("%d and %d bits for sources below %d and targets below %d", target, key, to-from, searched)
		}
		if passes := digits(0, key); 8*passes < key || 8*passes >= key+8 {
			t.Fatalf("%d passes for %d bits", passes, key)
		}
	})
}

func TestAlignedEntriesOfAWordFillItsBlock(t *testing.T) {
	const rows, at = 3, 640
	seen := map[int64]bool{}
	for v := int64(64); v < 96; v++ {
		for k := range int64(4 * rows) {
			i := alignedIndex(at, v, k)
			if i < 4*at || i >= 4*(at+32*rows) || seen[i] {
				t.Fatalf("entry %d of vertex %d lies at %d, outside of its block or where another one does", k, v, i)
			}
			seen[i] = true
		}
	}
	if alignedIndex(at, 65, 0)-alignedIndex(at, 64, 0) != 4 {
		t.Error("neighbouring lanes do not read neighbouring quads")
	}
}

func TestTuplesBeyondTheEngineAreRefused(t *testing.T) {
	for name, test := range map[string]struct {
		tuples  int64
		largest uint64
		wide    bool
		fits    bool
	}{
		"none":             {0, 0, false, true},
		"the largest":      {1<<33 - 1, none - 1, false, true},
		"a label too far":  {10, none, false, false},
		"a wide label":     {10, 3, true, false},
		"a tuple too many": {1 << 33, 3, false, false},
	} {
		err := checkTuples(test.tuples, test.largest, test.wide)
		if test.fits != (err == nil) || err != nil && !errors.Is(err, plugins.ErrTuples) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestMoreSearchedVerticesThanAQueueCountsAreRefused(t *testing.T) {
	if err := checkSearched(1<<30 - 1); err != nil {
		t.Error(err)
	}
	if err := checkSearched(1 << 30); !errors.Is(err, plugins.ErrTuples) {
		t.Errorf("want ErrTuples, got %v", err)
	}
}

// The room, entries, widest range and rest are those of kernel 1 at scale 26 with so much memory; see docs/results/cuda/memory.txt.
func TestListsGoToTheHostWhereTheirRangesCouldNotBeSortedBesideThem(t *testing.T) {
	const entries, widest, rest = 2_142_000_000, 278_008_872, 2_119_300_000
	used := int64(894_000_000)
	for memory, fits := range map[int64]bool{8 << 30: false, 11 << 30: false, 12 << 30: false, 13 << 30: false, 14 << 30: true, 16 << 30: true} {
		room := memory - used
		if got := listsFit(room, entries, widest, rest); got != fits {
			t.Errorf("%d GiB: fits is %t", memory>>30, got)
		}
		if capacity := (room - 4*entries - leastSort) / pairBytes; fits && capacity < widest {
			t.Errorf("%d GiB: lists fit, and a range of %d entries cannot be sorted in room for %d", memory>>30, widest, capacity)
		}
	}
}

func TestSearchesThatDoNotFitTheGraphAreRefused(t *testing.T) {
	for name, test := range map[string]struct {
		root    graph.Vertex
		parents int
		want    error
	}{
		"first":         {0, 10, nil},
		"beyond labels": {11, 12, nil},
		"negative":      {-1, 10, plugins.ErrRoot},
		"outside":       {10, 10, plugins.ErrRoot},
		"short":         {0, 9, plugins.ErrParent},
	} {
		if err := checkSearch(test.root, test.parents, 10); !errors.Is(err, test.want) || test.want == nil && err != nil {
			t.Errorf("%s: want %v, got %v", name, test.want, err)
		}
	}
}

func TestMemoryIsCountedByWordsAndLabels(t *testing.T) {
	for n, want := range map[int64]int64{0: 0, 1: 1, 32: 1, 33: 2, 1 << 30: 1 << 25} {
		if got := words(n); got != want {
			t.Errorf("%d vertices take %d words, want %d", n, got, want)
		}
	}
	// 10 labels; 8 vertices, 6 of them searched: 4 bitmaps and the hubs of one word, 32 bytes a searched vertex, 4 a vertex, 8 a label
	if got := searchBytes(10, 8, 6); got != 5*4+32*6+4*8+8*10 {
		t.Errorf("a search takes %d bytes", got)
	}
	if got := parentBytes(10); got != 80 {
		t.Errorf("parents take %d bytes", got)
	}
}

func TestLoopsThatDoNotFitTheGraphAreRefused(t *testing.T) {
	for name, test := range map[string]struct {
		roots    []graph.Vertex
		duration time.Duration
		root     bool // the error is about a root
		fine     bool
	}{
		"fine":          {roots: []graph.Vertex{0, 9, 0}, duration: 1, fine: true},
		"beyond labels": {roots: []graph.Vertex{0, 10}, duration: 1, root: true},
		"negative":      {roots: []graph.Vertex{-1}, duration: 1, root: true},
		"no root":       {duration: 1},
		"no time":       {roots: []graph.Vertex{0}},
	} {
		err := checkRepeat(test.roots, test.duration, 10)
		if (err == nil) != test.fine || errors.Is(err, plugins.ErrRoot) != test.root {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestFrontierBitsTakeWhatABlockHasLeft(t *testing.T) {
	for _, c := range []struct{ needed, wanted, most, want int64 }{
		{52_000, 65_536, 232_448, 65_536}, // compute capability 9.0
		{52_000, 65_536, 65_536, 13_536},  // 7.5
		{52_001, 65_536, 65_536, 13_532},
		{52_000, 65_536, 49_152, 0},
	} {
		if got := nearBytes(c.needed, c.wanted, c.most); got != c.want {
			t.Errorf("%d of %d bytes wanted beside %d: got %d, want %d", c.wanted, c.most, c.needed, got, c.want)
		}
	}
}

// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"errors"
	"math"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"github.com/tepsbench/teps/internal/must"
	"github.com/tepsbench/teps/internal/offload"
	"github.com/tepsbench/teps/plugins"
)

func TestConfigure(t *testing.T) {
	for _, test := range []struct {
		set     map[string]string
		devices []int
		rows    int
		memory  int64
		err     error
	}{
		{nil, []int{0}, 1, 0, nil},
		{map[string]string{"device": "2", "memory": "1.5"}, []int{2}, 1, 3 << 29, nil},
		{map[string]string{"ranks": "4", "device": "0,0", "partition": "2d"}, []int{0, 0}, 2, 0, nil},
		{map[string]string{"ranks": "6", "device": "3,1", "partition": "2d", "transfer": "nccl"}, []int{3, 1}, 3, 0, nil},
		{map[string]string{"ranks": "2", "messages": "bitmaps", "transfer": "staged"}, []int{0}, 2, 0, nil},
		{map[string]string{"ranks": "2", "messages": "bitmaps", "transfer": "staged", "partition": "1d-source"}, []int{0}, 1,
			0, plugins.ErrOption},
		{map[string]string{"device": "0,1"}, []int{0, 1}, 0, 0, plugins.ErrOption},
		{map[string]string{"device": "two"}, nil, 0, 0, plugins.ErrOption},
	} {
		set := must.Get(plugins.Resolve(options(), test.set))
		c, err := configure(set)
		if !slices.Equal(c.Devices, test.devices) || c.Rows != test.rows || c.memory() != test.memory ||
			!errors.Is(err, test.err) {
			t.Errorf("%v: got devices %v in %d rows, %d bytes and %v", test.set, c.Devices, c.Rows, c.memory(), err)
		}
	}
}

func TestOptionsOfOneGPUAreRefusedOnSeveral(t *testing.T) {
	for _, set := range []map[string]string{
		{"ranks": "2", "topdown": "dynamic"}, {"ranks": "1", "adjacency": "packed"},
		{"ranks": "4", "partition": "2d", "rows": "3"}, {"ranks": "2", "rows": "2"},
	} {
		if _, err := plugins.Resolve(options(), set); !errors.Is(err, plugins.ErrOption) {
			t.Errorf("%v: got %v, want ErrOption", set, err)
		}
	}
}

func TestHubCountStaysInBounds(t *testing.T) {
	for _, test := range []struct{ set, vertices, want int64 }{
		{0, 0, 0}, {0, 10, 10}, {0, 1000, 64}, {0, 64 * 320, 320}, {0, 1 << 40, 1 << 18}, {5, 3, 3}, {5, 100, 5},
	} {
		set := must.Get(plugins.Resolve(options(), map[string]string{"hubs": strconv.FormatInt(test.set, 10)}))
		if got := (configuration{Settings: set}).hubCount(test.vertices); got != test.want {
			t.Errorf("hubs=%d, %d vertices: got %d, want %d", test.set, test.vertices, got, test.want)
		}
	}
}

func TestSortBitsFitEverySourceAndTarget(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		searched := rapid.Int64Range(1, math.MaxUint32).Draw(t, "searched")
		from := rapid.Int64Range(0, searched-1).Draw(t, "from")
		to := rapid.Int64Range(from+1, searched).Draw(t, "to")
		target, key := sortBits(offload.Span{From: from, To: to}, searched)
		largest := uint64(to-from-1)<<target | uint64(searched-1)
		if uint64(searched-1)>>target != 0 || key < 64 && largest>>key != 0 || key > 64 {
			t.Fatalf("got %d and %d bits for sources below %d and targets below %d", target, key, to-from, searched)
		}
	})
}

func TestTuplesBeyondLimitsAreRejected(t *testing.T) {
	limit := limits()
	if limit != (plugins.Limits{Vertices: 1<<32 - 1, Tuples: 1 << 34}) {
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
	for searched, want := range map[uint64]uint64{1<<30 - 1: 34, 1<<29 - 1: 35} {
		if shift, err := queueShift(searched, 1<<want-1); shift != want || err != nil {
			t.Errorf("%d vertices: got %d and %v, want %d", searched, shift, err, want)
		}
	}
	if _, err := queueShift(1<<30, 1<<34-1); !errors.Is(err, plugins.ErrTuples) {
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

// At scale 30, of 2^30 labels 41 % have an edge and 37 % a list, extrapolated from scales 16 to 22. Kernel 1 has
// allocated 9 GB of it before it decides.
func TestPackedListsOfScale30FitOnOneH200(t *testing.T) {
	const labels, entries, used = 1 << 30, 1 << 35, 9 << 30
	rest := searchBytes(labels, labels*41/100, labels*37/100) + parentBytes(labels)
	for gib, fits := range map[int64]bool{80: false, 96: false, 139: true} {
		if got := packable(gib<<30-used, entries, rest-used); got != fits {
			t.Errorf("%d GiB: got fits %t, want %t", gib, got, fits)
		}
		if listsFit(gib<<30-used, entries, 0, rest-used) {
			t.Errorf("%d GiB: plain lists fit", gib)
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
		{52_001, 65_536, 65_536, 13_520},
		{52_000, 65_536, 49_152, 0},
	} {
		if got := cachedBytes(c.needed, c.wanted, c.limit); got != c.want {
			t.Errorf("%d bytes wanted, %d needed, limit %d: got %d, want %d", c.wanted, c.needed, c.limit, got, c.want)
		}
	}
}

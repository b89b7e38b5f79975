// SPDX-License-Identifier: Apache-2.0

package csr

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/tepsbench/teps/internal/memory"
	"github.com/tepsbench/teps/internal/must"
	"github.com/tepsbench/teps/internal/team"
)

// fill makes a matrix of entries on a team and returns its lists.
func fill(t *testing.T, m *memory.Arena, workers, rows, columns int, entries []uint64) (at, lists []uint32) {
	t.Helper()
	counts := make([]int, rows)
	for _, entry := range entries {
		counts[entry>>32]++
	}
	crew := team.New(workers)
	defer crew.Stop()
	a := New[uint32](m, crew, rows, columns, func(from, to int) (n int) {
		if from >= to {
			t.Errorf("rows %d to %d are counted", from, to)
		}
		for _, count := range counts[from:to] {
			n += count
		}
		return n
	})
	must.Do(m.Err())
	crew.Split(len(entries), 1, func(worker, from, to int) {
		a.Writer(worker).Put(entries[from : from+(to-from)/2])
		a.Writer(worker).Put(entries[from+(to-from)/2 : to])
	})
	return a.Lists(func() bool { return false })
}

func TestListsAreTheSortedEntriesOfEachRow(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	draw := func(n, rows, columns int) (entries []uint64) {
		for range n {
			entries = append(entries, random.Uint64N(uint64(rows))<<32|random.Uint64N(uint64(columns)))
		}
		return entries
	}
	heavy := draw(100, 3, 1000) // two rows that are a bucket each, the first with most columns
	for k := range uint64(1 << 17) {
		heavy = append(heavy, k, 1<<32|k%7, 2<<32|k)
	}
	for name, c := range map[string]struct {
		rows, columns int
		entries       []uint64
	}{
		"no rows":                 {0, 0, nil},
		"no entries":              {100, 100, nil},
		"one entry":               {1, 1, []uint64{0, 0, 0}},
		"a slot and one more":     {5, 5, slices.Repeat(draw(17, 5, 5), 2)},
		"small":                   {70, 30, draw(1000, 70, 30)},
		"heavy rows":              {3, 1 << 17, heavy},
		"more rows than 16 bits":  {200_001, 300_001, draw(400_000, 200_001, 300_001)},
		"few rows, many columns":  {20, 1 << 20, draw(300_000, 20, 1<<20)},
		"entries behind hubs":     {150_000, 1000, append(draw(70_000, 1, 1000), 149_999<<32|999)},
		"keys wider than 32 bits": {70_000, 1 << 31, draw(2000, 70_000, 1<<31)},
	} {
		for _, workers := range []int{1, 3} {
			t.Run(fmt.Sprintf("%s on %d", name, workers), func(t *testing.T) {
				m := memory.New()
				defer m.ReleaseAll()
				want := slices.Clone(c.entries)
				slices.Sort(want)
				want = slices.Compact(want)
				at, lists := fill(t, m, workers, c.rows, c.columns, c.entries)
				var got []uint64
				for row := range c.rows {
					for _, column := range lists[at[row]:at[row+1]] {
						got = append(got, uint64(row)<<32|uint64(column))
					}
				}
				if len(lists) != len(want) || !slices.Equal(got, want) {
					t.Errorf("%d entries in lists, want %d others", len(lists), len(want))
				}
				if held := m.Held(); held > int64(4*len(at)+4*len(lists)+3<<21) {
					t.Errorf("%d bytes are held for %d lists with %d entries", held, len(at), len(lists))
				}
			})
		}
	}
}

// A team that is stopped ends, whichever buckets its workers have taken.
func TestStop(t *testing.T) {
	m := memory.New()
	defer m.ReleaseAll()
	const rows, each = 64, 1 << 12
	crew := team.New(3)
	defer crew.Stop()
	a := New[uint32](m, crew, rows, each, func(from, to int) int { return each * (to - from) })
	w := a.Writer(0)
	for row := range uint64(rows) {
		for column := range uint64(each) {
			w.Put([]uint64{row<<32 | column})
		}
	}
	if len(a.buckets) < 4 {
		t.Fatalf("%d buckets are too few for this test", len(a.buckets))
	}
	var asked atomic.Int64
	if _, lists := a.Lists(func() bool { return asked.Add(1) > 2 }); len(lists) != 2*minBucket {
		t.Errorf("%d entries, want those of the two buckets taken before the stop", len(lists))
	}
}

func TestSortKeysIsStable(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for _, c := range []struct{ n, low, width, workers int }{
		{0, 0, 32, 1}, {1, 32, 20, 2}, {5000, 32, 25, 3}, {5000, 0, 64, 1}, {5000, 7, 0, 2},
	} {
		keys := make([]uint64, c.n)
		for i := range keys {
			keys[i] = random.Uint64() >> (64 - c.low - c.width)
		}
		want := slices.Clone(keys)
		slices.SortStableFunc(want, func(x, y uint64) int { return cmp.Compare(x>>c.low, y>>c.low) })
		crew := team.New(c.workers)
		got, _ := SortKeys(crew, keys, make([]uint64, c.n), c.low, c.width)
		crew.Stop()
		if !slices.Equal(got, want) {
			t.Errorf("%+v: not in order", c)
		}
	}
}

// SPDX-License-Identifier: Apache-2.0

package memory

import (
	"testing"

	"github.com/tepsbench/teps/internal/must"
)

func TestArenaCountsBytes(t *testing.T) {
	arena := New()
	a := Allocate[uint32](arena, "a", 1<<20)
	b := Allocate[uint64](arena, "b", 100)
	must.Do(arena.Err())
	for i := range a {
		if a[i] != 0 {
			t.Fatalf("element %d of a new array is %d", i, a[i])
		}
		a[i] = uint32(i)
	}
	if want := int64(4<<20 + 800); arena.Held() != want || arena.Peak() != want {
		t.Errorf("held %d, peak %d, want %d", arena.Held(), arena.Peak(), want)
	}
	Trim(arena, &a, 10)
	if len(a) != 10 || a[9] != 9 || arena.Held() != 840 {
		t.Errorf("after Trim: %d elements, last %d, held %d; want 10, 9, 840", len(a), a[9], arena.Held())
	}
	Release(arena, &a)
	Release(arena, &b)
	if a != nil || b != nil || arena.Held() != 0 || arena.Peak() != 4<<20+800 {
		t.Errorf("after Release: %v %v, held %d, peak %d", a, b, arena.Held(), arena.Peak())
	}
	c := Allocate[uint64](arena, "c", 100)
	Trim(arena, &c, 0)
	Release(arena, &c) // an empty array stays as it is
	Allocate[uint64](arena, "d", 100)
	if arena.ReleaseAll(); arena.Held() != 0 {
		t.Errorf("after ReleaseAll: held %d, want 0", arena.Held())
	}
}

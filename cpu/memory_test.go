package cpu

import "testing"

func TestMemoryCountsWhatIsOut(t *testing.T) {
	m := newMemory()
	a, err := allocate[uint32](m, "a", 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	b, err := allocate[uint64](m, "b", 100)
	if err != nil {
		t.Fatal(err)
	}
	for i := range a {
		if a[i] != 0 {
			t.Fatalf("element %d of a fresh array is %d", i, a[i])
		}
		a[i] = uint32(i)
	}
	if want := int64(4<<20 + 800); m.held != want || m.peak != want {
		t.Errorf("held %d, peak %d, want %d", m.held, m.peak, want)
	}
	trim(m, &a, 10)
	if len(a) != 10 || a[9] != 9 || m.held != 840 {
		t.Errorf("after trim: %d elements, last %d, held %d; want 10, 9, 840", len(a), a[9], m.held)
	}
	release(m, &a)
	release(m, &b)
	if a != nil || b != nil || m.held != 0 || m.peak != 4<<20+800 {
		t.Errorf("after release: %v %v, held %d, peak %d", a, b, m.held, m.peak)
	}
}

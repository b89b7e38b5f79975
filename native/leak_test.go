package native

import (
	"strings"
	"testing"
)

// feed looks at the memory of a process that has kept so many KiB between looks.
func feed(g *growth, kibibytes ...int64) (err error) {
	bytes := max(g.last, 100<<20)
	for _, kib := range kibibytes {
		bytes += kib << 10
		if err = g.look(bytes, func() int64 { return bytes }); err != nil {
			return err
		}
	}
	return nil
}

func times(n int, kib ...int64) (all []int64) {
	for range n {
		all = append(all, kib...)
	}
	return all
}

func TestLeaks(t *testing.T) {
	for _, c := range []struct {
		name  string
		grows []int64 // KiB from look to look, four searches each
		leak  bool
	}{
		{"300 KiB a search", times(9, 1200), true},
		{"128 KiB a search, seen late", times(33, 130), true},
		{"too little to tell from the transport's garbage", times(100, 100), false},
		{"buffers that fill", []int64{9000, 5000, 3000, 2000, 900, 500, 0, 0, 0, 0, 0, 0}, false},
		{"a garbage collector", times(20, 800, 800, 800, 800, -3200), false},
		{"quick, but not often", times(7, 4000), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := feed(&growth{}, append([]int64{0}, c.grows...)...)
			if (err != nil) != c.leak {
				t.Errorf("got %v", err)
			}
			if err != nil && !strings.Contains(err.Error(), "leaks") {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestGarbageOfGoIsNoLeakOfALibrary(t *testing.T) {
	g, bytes := &growth{}, int64(100<<20)
	for range 100 {
		bytes += 144 << 10
		err := g.look(bytes, func() int64 {
			bytes = 100 << 20
			return bytes
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestALeakUnderGarbageOfGoIsSeen(t *testing.T) {
	g, bytes := &growth{}, int64(100<<20)
	for range 100 {
		bytes += 144 << 10
		if err := g.look(bytes, func() int64 { return bytes - 1<<20 }); err != nil {
			return
		}
	}
	t.Error("a hundred looks found nothing")
}

package native

import (
	"fmt"
	"runtime/debug"
)

// A search that keeps memory is found by the private memory of the process, looked at outside of every clock. What is
// normal (buffers touched for the first time, the transport's garbage) comes to an end or is small; a leak goes on, and
// is still there when Go has collected its garbage and given the memory back.

const (
	lookEvery   = 4        // searches between two looks
	grownBy     = 32 << 10 // bytes a search, in each of the stretches between looks, ...
	grownOften  = 8        // ... of which there were so many in a row ...
	grownInAll  = 4 << 20  // ... with so many bytes together, are a leak
	settleAfter = 8        // searches that may grow as they like
)

// growth follows the memory of one graph's searches.
type growth struct {
	searches    int64
	first, last int64 // bytes when the growth began, and now
	grown       int   // stretches in a row
}

// afterSearch looks at the memory of this process now and then.
func (g *growth) afterSearch() error {
	g.searches++
	if g.searches%lookEvery != 0 || g.searches < settleAfter {
		return nil
	}
	bytes, known := privateMemory()
	if !known {
		return nil
	}
	return g.look(bytes, func() int64 {
		debug.FreeOSMemory()
		bytes, _ := privateMemory()
		return bytes
	})
}

// look compares the memory with that of the look before. collected returns it without Go's garbage; it is asked before a
// library is accused.
func (g *growth) look(bytes int64, collected func() int64) error {
	if g.last == 0 || bytes-g.last < lookEvery*grownBy {
		g.grown, g.first, g.last = 0, bytes, bytes
		return nil
	}
	g.last = bytes
	if g.grown++; g.grown < grownOften || bytes-g.first < grownInAll {
		return nil
	}
	before := g.first
	if bytes = collected(); bytes-before < grownInAll/2 {
		g.grown, g.first, g.last = 0, bytes, bytes
		return nil
	}
	return fmt.Errorf("the library leaks: the last %d searches have kept %.1f MiB, %d KiB each; free what a search allocates",
		g.grown*lookEvery, float64(bytes-before)/(1<<20), (bytes-before)/int64(g.grown*lookEvery)>>10)
}

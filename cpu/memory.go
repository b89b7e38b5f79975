package cpu

import (
	"fmt"

	"github.com/tepsbench/teps/plugins"
)

// memory hands out the big arrays of an engine and knows how much of it is out. The arrays hold no pointers and lie
// outside the Go heap where the platform allows it (memory_linux.go), for three reasons: the collector never sees
// them, so gigabytes of graph do not double its heap target; they can ask for huge pages, which spare a search most of
// its TLB misses; and giving them back takes effect at once.
//
// Arrays come zeroed. One goroutine at a time may allocate and release.
type memory struct {
	blocks map[any]block // by pointer to the first element
	held   int64         // bytes out now
	peak   int64         // most bytes that were ever out at once
}

func newMemory() *memory { return &memory{blocks: make(map[any]block)} }

// allocate returns a zeroed array of n elements, aligned to a cache line at least; T holds no pointers. Errors wrap
// plugins.ErrMemory and name what the array is for.
func allocate[T any](m *memory, what string, n int) ([]T, error) {
	if n == 0 {
		return nil, nil
	}
	array, b, err := obtain[T](n)
	if err != nil {
		return nil, fmt.Errorf("cpu: allocate %d elements for %s: %w: %w; use a smaller scale", n, what, plugins.ErrMemory, err)
	}
	m.blocks[&array[0]] = b
	m.held += b.bytes
	m.peak = max(m.peak, m.held)
	return array, nil
}

// release gives an array back and forgets it; nothing may use it afterwards. An empty array is left alone.
func release[T any](m *memory, array *[]T) {
	if len(*array) == 0 {
		return
	}
	first := &(*array)[0]
	b, ok := m.blocks[first]
	if !ok {
		panic("cpu: release of an array that memory does not know")
	}
	delete(m.blocks, first)
	m.held -= b.bytes
	*array = nil
	b.free()
}

// trim shortens an array to its first n elements and gives the memory behind them back.
func trim[T any](m *memory, array *[]T, n int) {
	if n == 0 {
		release(m, array)
		return
	}
	first := &(*array)[0]
	b := m.blocks[first]
	m.held -= b.bytes
	b.shorten(int64(n) * (b.bytes / int64(len(*array))))
	m.held += b.bytes
	m.blocks[first] = b
	*array = (*array)[:n:n]
}

// releaseAll gives everything back.
func (m *memory) releaseAll() {
	for first, b := range m.blocks {
		delete(m.blocks, first)
		m.held -= b.bytes
		b.free()
	}
}

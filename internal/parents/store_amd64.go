package parents

import "github.com/tepsbench/teps/graph"

// StoreAround copies from to into without reading the cache lines that it writes, and without leaving them in caches.
func StoreAround(into, from []graph.Vertex) {
	const perLine = 8 // vertices in a cache line
	stored := len(from) / perLine * perLine
	if stored > 0 {
		storeLines(&into[:stored][0], &from[0], stored/perLine)
	}
	copy(into[stored:], from[stored:])
}

// storeLines stores lines > 0 cache lines with non-temporal stores, and waits until others can see them.
//
//go:noescape
func storeLines(into, from *graph.Vertex, lines int)

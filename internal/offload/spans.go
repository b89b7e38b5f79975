// SPDX-License-Identifier: Apache-2.0

package offload

import (
	"fmt"

	"github.com/tepsbench/teps/plugins"
)

// Span is a range of vertices whose lists are sorted together.
type Span struct {
	From, To int64 // vertices
	Entries  int64 // duplicates included
}

// Ranges are the entries, duplicates included, of consecutive ranges of Width sources.
type Ranges[E uint32 | uint64] struct {
	Entries        []E
	Width, Sources int64
}

// Sum returns the entries of all ranges, and of the largest.
func (r Ranges[E]) Sum() (total, largest int64) {
	for _, n := range r.Entries {
		total += int64(n)
		largest = max(largest, int64(n))
	}
	return total, largest
}

// Span returns the longest span from the beginning of a range on that has at most capacity entries. A single range
// beyond capacity cannot be sorted: ErrMemory.
func (r Ranges[E]) Span(from, capacity int64) (s Span, err error) {
	s = Span{From: from, To: from}
	for i := from / r.Width; i < int64(len(r.Entries)); i++ {
		if n := int64(r.Entries[i]); s.Entries+n <= capacity {
			s.Entries += n
			s.To = min((i+1)*r.Width, r.Sources)
			continue
		}
		if s.To == from {
			err = fmt.Errorf("the lists of vertices %d to %d have %d entries, and device memory has room to sort %d: %w; "+
				"a smaller graph or more device memory is needed", from, min(from+r.Width, r.Sources)-1, r.Entries[i],
				capacity, plugins.ErrMemory)
		}
		break
	}
	return s, err
}

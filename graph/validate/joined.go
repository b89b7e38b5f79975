// SPDX-License-Identifier: Apache-2.0

package validate

import (
	"context"
	"math/bits"

	"github.com/tepsbench/teps/graph"
)

// Joined reports of each vertex whether a tuple joins it to another one.
func (v *Validator) Joined(_ context.Context, vertices []graph.Vertex) ([]bool, error) {
	joined := make([]bool, len(vertices))
	for i, u := range vertices {
		joined[i] = v.joined[u/64]>>(u%64)&1 != 0
	}
	return joined, nil
}

// CountJoined returns the number of vertices that a tuple joins to another one.
func (v *Validator) CountJoined(context.Context) (int64, error) { return countBits(v.joined), nil }

func countBits(bitmap []uint64) (n int64) {
	for _, word := range bitmap {
		n += int64(bits.OnesCount64(word))
	}
	return n
}

// Isolated returns the lowest vertex that no tuple joins to another one, or the number of vertices.
func (v *Validator) Isolated(context.Context) (graph.Vertex, error) {
	for i, word := range v.joined {
		if word != ^uint64(0) {
			return graph.Vertex(min(int64(64*i+bits.TrailingZeros64(^word)), v.vertices)), nil
		}
	}
	return graph.Vertex(v.vertices), nil
}

// CountJoined is Validator.CountJoined for all parts, and collective.
func (p *Part) CountJoined(ctx context.Context) (int64, error) {
	n := countBits(p.joined)
	err := p.sum(ctx, &n)
	return n, err
}

// PartBytes is an estimate of Part.Bytes before a part is made. A vertex of another part in its tuples is a ghost.
func PartBytes(labels, tuples, ghosts int64) int64 { return 9*tuples + (6+4)*ghosts + (22+8)*labels }

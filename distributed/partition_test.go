// SPDX-License-Identifier: Apache-2.0

package distributed

import (
	"flag"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Property tests draw the same cases in every run, so that a change is judged by what it changes. Others are drawn with
// -rapid.seed=0, more of them with -rapid.checks=N.
func init() {
	if err := flag.Set("rapid.seed", "500"); err != nil {
		panic(err)
	}
}

// The picture in partition.go: two rows and three columns of ranks over the blocks of the matrix.
func ExampleGrid_Rank() {
	g := Grid{R: 2, C: 3}
	for v := range g.Ranks() {
		var line []string
		for u := range g.Ranks() {
			i, _ := g.Place(v)
			_, j := g.Place(u)
			line = append(line, fmt.Sprint(g.Rank(i, j)))
		}
		fmt.Printf("to block %d: %s\n", v, strings.Join(line, " "))
	}
	// Output:
	// to block 0: 0 0 2 2 4 4
	// to block 1: 1 1 3 3 5 5
	// to block 2: 0 0 2 2 4 4
	// to block 3: 1 1 3 3 5 5
	// to block 4: 0 0 2 2 4 4
	// to block 5: 1 1 3 3 5 5
}

func TestEveryLabelHasOneOwnerAndOneSlot(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ranks := rapid.IntRange(1, 70).Draw(t, "ranks")
		labels := rapid.Int64Range(0, 1<<32-2).Draw(t, "labels")
		modulo := rapid.Bool().Draw(t, "modulo")
		p := NewPartition(labels, ranks, modulo)
		var sum int64
		for rank := range ranks {
			n, _, _ := p.Slots(rank)
			if int64(n) > p.Share {
				t.Fatalf("rank %d has %d labels, more than the share of %d", rank, n, p.Share)
			}
			sum += int64(n)
		}
		if sum != labels {
			t.Fatalf("the ranks own %d labels of %d", sum, labels)
		}
		if labels == 0 {
			return
		}
		for _, label := range []int64{0, labels - 1, rapid.Int64Range(0, labels-1).Draw(t, "label")} {
			rank, slot := p.Owner(Label(label))
			if rank < 0 || rank >= ranks {
				t.Fatalf("label %d belongs to rank %d of %d", label, rank, ranks)
			}
			n, first, stride := p.Slots(rank)
			if int(slot) >= n || first+int64(slot)*stride != label {
				t.Fatalf("label %d has slot %d of rank %d, which is label %d (%d slots)",
					label, slot, rank, first+int64(slot)*stride, n)
			}
		}
	})
}

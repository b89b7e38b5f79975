package graph

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestQueueOrder(t *testing.T) {
	// 0 - 3, 3 - 1, 3 - 4, and 2 alone: the queue is 0 3 1 4, then 2.
	offsets, targets := []int64{0, 1, 2, 2, 5, 6}, []uint32{3, 3, 0, 1, 4, 3}
	got, err := QueueOrder(t.Context(), offsets, targets, 2)
	if diff := cmp.Diff([]uint32{0, 2, 4, 1, 3}, got); diff != "" || err != nil {
		t.Errorf("(-want +got):\n%s%v", diff, err)
	}
	if got, err := QueueOrder(t.Context(), []int64{0}, nil, 2); len(got) != 0 || err != nil {
		t.Errorf("without vertices: got %v and %v", got, err)
	}
}

// Threads do not change the numbers of a graph with large levels, some with duplicates in lists.
func TestQueueOrderOnThreads(t *testing.T) {
	source := parse(t, "kron:15")
	g := mustCSR(t, listOf(t, source), source.Vertices())
	targets := make([]uint32, len(g.Targets))
	for i, v := range g.Targets {
		targets[i] = uint32(v)
	}
	want, err := QueueOrder(t.Context(), g.Offsets, targets, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, threads := range []int{2, 5} {
		got, err := QueueOrder(t.Context(), g.Offsets, targets, threads)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%d threads: the order differs from that of one thread: %v", threads, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := QueueOrder(ctx, g.Offsets, targets, 2); !errors.Is(err, context.Canceled) {
		t.Errorf("after the context has ended: got %v", err)
	}
}

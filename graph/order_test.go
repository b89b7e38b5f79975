package graph

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestQueueOrder(t *testing.T) {
	// 0 - 3, 3 - 1, 3 - 4, and 2 alone: the queue is 0 3 1 4, then 2.
	offsets, targets := []int64{0, 1, 2, 2, 5, 6}, []uint32{3, 3, 0, 1, 4, 3}
	if diff := cmp.Diff([]uint32{0, 2, 4, 1, 3}, QueueOrder(offsets, targets)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := QueueOrder([]int64{0}, nil); len(got) != 0 {
		t.Errorf("without vertices: got %v", got)
	}
}

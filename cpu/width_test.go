package cpu

import (
	"testing"

	"github.com/tepsbench/teps/graph"
)

func TestLabelsOfEverySizeBecomeParents(t *testing.T) {
	labels := []uint32{0, 1, none, 1<<31 - 1, 5, none, none, 7, 1 << 20, none}
	want := []graph.Vertex{0, 1, graph.Unreached, 1<<31 - 1, 5, graph.Unreached, graph.Unreached, 7, 1 << 20, graph.Unreached}
	for name, write := range map[string]func([]graph.Vertex, []uint32){"any": widen, "below 2^31": widenBelow} {
		got := make([]graph.Vertex, len(labels))
		write(got, labels)
		for i := range want {
			if got[i] != want[i] {
				t.Errorf("%s: label %d became %d, want %d", name, labels[i], got[i], want[i])
			}
		}
	}
	got := make([]graph.Vertex, 2)
	if widen(got, []uint32{1 << 31, none - 1}); got[0] != 1<<31 || got[1] != graph.Vertex(none)-1 {
		t.Errorf("large labels became %v", got)
	}
}

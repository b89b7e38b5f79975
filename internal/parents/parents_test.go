// SPDX-License-Identifier: Apache-2.0

package parents

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tepsbench/teps/graph"
)

func TestLabelsOfEverySizeBecomeParents(t *testing.T) {
	const none = None
	labels := []uint32{0, 1, none, 1<<31 - 1, 5, none, none, 7, 1 << 20, none}
	want := []graph.Vertex{
		0, 1, graph.Unreached, 1<<31 - 1, 5, graph.Unreached, graph.Unreached, 7, 1 << 20, graph.Unreached,
	}
	for name, widen := range map[string]func([]graph.Vertex, []uint32){"widen31": widen31, "widen32": widen32} {
		got := make([]graph.Vertex, len(labels))
		widen(got, labels)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", name, diff)
		}
	}
	got := make([]graph.Vertex, 2)
	widen32(got, []uint32{1 << 31, none - 1})
	if diff := cmp.Diff([]graph.Vertex{1 << 31, graph.Vertex(none) - 1}, got); diff != "" {
		t.Errorf("large labels: (-want +got)\n%s", diff)
	}
}

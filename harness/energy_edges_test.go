package harness

import (
	"testing"

	"pgregory.net/rapid"
)

func TestSumInTurn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		nedge := rapid.SliceOfN(rapid.Int64Range(1, 1<<40), 1, 70).Draw(t, "nedge")
		searches := rapid.Int64Range(0, 1000).Draw(t, "searches")
		want := int64(0)
		for i := range searches {
			want += nedge[i%int64(len(nedge))]
		}
		if got := sumInTurn(nedge, searches); got != want {
			t.Fatalf("%d, want %d", got, want)
		}
	})
}

package distributed

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func drawSet(t *rapid.T) bitmap {
	words := rapid.IntRange(1, 20).Draw(t, "words")
	set := make(bitmap, words)
	for range rapid.IntRange(0, 32*words).Draw(t, "draws") {
		v := rapid.IntRange(0, 32*words-1).Draw(t, "vertex")
		set[v>>5] |= 1 << (v & 31)
	}
	return set
}

func TestMessagesDecodeToTheSetSent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		set := drawSet(t)
		form := rapid.SampledFrom([]Form{"adaptive", "lists", "bitmaps"}).Draw(t, "form")
		message := form.encode(nil, set)
		got := make(bitmap, len(set))
		if include(got, message); !slices.Equal(got, set) {
			t.Fatalf("sent %x, got %x", set, got)
		}
		other := drawSet(t)
		other = append(other, make(bitmap, len(set))...)[:len(set)]
		union := slices.Clone(other)
		for w := range union {
			union[w] |= set[w]
		}
		if include(other, message); !slices.Equal(other, union) {
			t.Fatalf("included %x, got %x", set, other)
		}
	})
}

func TestAdaptiveMessagesAreTheShortest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		set := drawSet(t)
		n := set.count()
		length := func(f Form) int { return len(f.encode(nil, set)) }
		adaptive, list, words := length("adaptive"), length("lists"), length("bitmaps")
		if adaptive != min(list, words) {
			t.Fatalf("%d members of %d: adaptive %d words, list %d, bitmap %d", n, 32*len(set), adaptive, list, words)
		}
	})
}

package distributed

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// drawSet draws a set in one of its two representations, and returns it as a bitmap, too.
func drawSet(t *rapid.T, words int) (*set, bitmap) {
	s := &set{bits: make(bitmap, words)}
	if s.reset(); rapid.Bool().Draw(t, "bitmap") {
		s.toBitmap()
	}
	all := make(bitmap, words)
	for range rapid.IntRange(0, 32*words).Draw(t, "draws") {
		if v := rapid.Uint32Range(0, uint32(32*words-1)).Draw(t, "vertex"); !all.has(v) {
			s.add(v)
			all.add(v)
		}
	}
	return s, all
}

func TestMessagesDecodeToTheSetSent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.IntRange(1, 20).Draw(t, "words")
		set, want := drawSet(t, words)
		form := rapid.SampledFrom([]Form{"adaptive", "lists", "bitmaps"}).Draw(t, "form")
		message := form.encode(nil, set)
		got := slices.Repeat(bitmap{0xdeadbeef}, words)
		if got.replace(message); !slices.Equal(got, want) {
			t.Fatalf("sent %x, got %x", want, got)
		}
		_, other := drawSet(t, words)
		union := slices.Clone(other)
		for w := range union {
			union[w] |= want[w]
		}
		if other.includeSet(set); !slices.Equal(other, union) {
			t.Fatalf("included the set %x, got %x", want, other)
		}
		if set.count() != want.count() {
			t.Fatalf("%d members, want %d", set.count(), want.count())
		}
		if set.toBitmap(); !slices.Equal(set.bits, want) {
			t.Fatalf("as a bitmap %x, want %x", set.bits, want)
		}
	})
}

func TestAdaptiveMessagesAreTheShortest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		set, _ := drawSet(t, rapid.IntRange(1, 20).Draw(t, "words"))
		length := func(f Form) int { return len(f.encode(nil, set)) }
		adaptive, list, words := length("adaptive"), length("lists"), length("bitmaps")
		if adaptive != min(list, words) {
			t.Fatalf("%d members of %d: adaptive %d words, list %d, bitmap %d",
				set.count(), 32*len(set.bits), adaptive, list, words)
		}
	})
}

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
		form := Form(rapid.IntRange(int(Adaptive), int(Bitmaps)).Draw(t, "form"))
		message := form.encode(nil, set, set.count(), nil)
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

func TestPredecessorsFollowInAscendingOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		set := drawSet(t)
		predecessor := make([]uint32, 32*len(set))
		for v := range predecessor {
			predecessor[v] = uint32(1000 + v)
		}
		for _, form := range []Form{Adaptive, Lists, Bitmaps} {
			message := form.encode(nil, set, set.count(), predecessor)
			_, _, rest := decode(message, len(set))
			var want []uint32
			for _, v := range appendMembers(nil, set, set.count()) {
				want = append(want, 1000+v)
			}
			if !slices.Equal(rest, want) {
				t.Fatalf("form %d of %x: predecessors %v, want %v", form, set, rest, want)
			}
		}
	})
}

func TestAdaptiveMessagesAreTheShortest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		set := drawSet(t)
		n := set.count()
		length := func(f Form) int { return len(f.encode(nil, set, n, nil)) }
		adaptive, list, words := length(Adaptive), length(Lists), length(Bitmaps)
		if adaptive != min(list, words) {
			t.Fatalf("%d members of %d: adaptive %d words, list %d, bitmap %d", n, 32*len(set), adaptive, list, words)
		}
	})
}

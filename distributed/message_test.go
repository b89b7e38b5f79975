// SPDX-License-Identifier: Apache-2.0

package distributed

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/tepsbench/teps/internal/team"
)

// drawSet draws a set in one of its two representations, and returns it as a bitmap, too.
func drawSet(t *rapid.T, words int) (*set, bitmap) {
	s := &set{listed: true, bits: make(bitmap, words)}
	if rapid.Bool().Draw(t, "bitmap") {
		s.toBitmap()
	}
	all := make(bitmap, words)
	for range rapid.IntRange(0, 32*min(words, 40)).Draw(t, "draws") {
		if v := rapid.Uint32Range(0, uint32(32*words-1)).Draw(t, "vertex"); !all.has(v) {
			s.add(v)
			all.add(v)
		}
	}
	return s, all
}

// words draws the length of a bitmap, which workers share out if it is long.
func words(t *rapid.T) int {
	if rapid.IntRange(0, 9).Draw(t, "long") == 0 {
		return manyWords + 5
	}
	return rapid.IntRange(1, 20).Draw(t, "words")
}

// sender returns a rank that can make messages of sets.
func sender(t *testing.T, workers int) *Rank {
	s := &Rank{packer: packer{team: team.New(workers), members: make([]int, workers)}}
	t.Cleanup(s.team.Stop)
	return s
}

func TestMessagesDecodeToTheSetSent(t *testing.T) {
	for _, workers := range []int{1, 3} {
		s := sender(t, workers)
		rapid.Check(t, func(t *rapid.T) {
			n := words(t)
			own, want := drawSet(t, n)
			s.form = rapid.SampledFrom([]Form{"adaptive", "lists", "bitmaps"}).Draw(t, "form")
			if got := s.count(own); got != want.count() {
				t.Fatalf("%d members, want %d", got, want.count())
			}
			message := s.messageOf(own, &[]uint32{1, 2, 3})
			got := slices.Repeat(bitmap{0xdeadbeef}, n)
			if got.replace(s.form.decode(message, n)); !slices.Equal(got, want) {
				t.Fatalf("sent %x, got %x", want, got)
			}
			_, other := drawSet(t, n)
			union := slices.Clone(other)
			for w := range union {
				union[w] |= want[w]
			}
			if other.includeSet(own); !slices.Equal(other, union) {
				t.Fatalf("included the set %x, got %x", want, other)
			}
			if own.toBitmap(); !slices.Equal(own.bits, want) {
				t.Fatalf("as a bitmap %x, want %x", own.bits, want)
			}
		})
	}
}

package machine

import (
	"context"
	"errors"
	"testing"
)

func TestMemoryIsReadWhole(t *testing.T) {
	words := make([]uint64, 1003)
	want := uint64(0)
	for i := range words {
		words[i] = uint64(i * i)
		want += words[i]
	}
	if got := sum(words); got != want {
		t.Errorf("sum %d, want %d", got, want)
	}
	for i := range words {
		words[i] = 1
	}
	if got := gather(words, 7, 500); got != 500 {
		t.Errorf("%d words were gathered, want 500", got)
	}
	counts := make([]int, 16)
	places := make([]uint64, 16)
	for i := range places {
		places[i] = uint64(i)
	}
	for seed := range uint64(16000) {
		counts[gather(places, seed, 1)]++
	}
	for place, n := range counts {
		if n < 800 || n > 1200 {
			t.Errorf("place %d was read %d times of 16,000, want about 1,000", place, n)
		}
	}
}

func TestMemorySpeed(t *testing.T) {
	speed, err := measureMemory(t.Context(), 1<<22+5)
	if err != nil || speed.Bytes != 1<<22 || speed.Threads < 1 || speed.Bandwidth < 1e6 || speed.RandomReads < 1e4 {
		t.Errorf("got %+v, error %v", speed, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := measureMemory(ctx, 1<<20); !errors.Is(err, context.Canceled) {
		t.Errorf("after a cancel: %v", err)
	}
}

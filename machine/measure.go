package machine

import (
	"context"
	"math/bits"
	"runtime"
	"sync"
	"time"

	"github.com/tepsbench/teps/internal/memory"
	"github.com/tepsbench/teps/internal/units"
)

// MemorySpeed is how fast all processors together read memory that lies outside their caches: the floor under the time
// of a search.
type MemorySpeed struct {
	Bandwidth   float64 `json:"bandwidth"`    // bytes a second, each thread reading a part of its own in order
	RandomReads float64 `json:"random_reads"` // words of 8 bytes a second, from independent random places in all of it
	Bytes       int64   `json:"bytes"`        // that were read
	Threads     int     `json:"threads"`
}

// MeasureMemory measures the speed of memory on huge pages, if the system has them, four times as large as the caches.
// It takes some seconds. The figures are the fastest of several passes (as in McCalpin's STREAM).
func MeasureMemory(ctx context.Context) (MemorySpeed, error) {
	size := max(4*This(ctx).CacheBytes, units.GiB)
	if available, _, err := AvailableMemory(ctx); err == nil {
		size = min(size, available/4)
	}
	return measureMemory(ctx, size)
}

func measureMemory(ctx context.Context, size int64) (MemorySpeed, error) {
	arena := memory.New()
	defer arena.ReleaseAll()
	words := memory.Allocate[uint64](arena, "measuring memory", int(size/8))
	speed := MemorySpeed{Bytes: size / 8 * 8, Threads: runtime.GOMAXPROCS(0)}
	if arena.Err() != nil {
		return speed, arena.Err()
	}
	part := func(t int) []uint64 { return words[len(words)*t/speed.Threads : len(words)*(t+1)/speed.Threads] }
	inParallel(speed.Threads, func(t int) uint64 { // each thread touches its part first, so that it is near
		for i := range part(t) {
			part(t)[i] = uint64(i)
		}
		return 0
	})
	const passes, reads = 5, 1 << 22
	for range passes {
		if ctx.Err() != nil {
			return speed, ctx.Err()
		}
		elapsed := inParallel(speed.Threads, func(t int) uint64 { return sum(part(t)) })
		speed.Bandwidth = max(speed.Bandwidth, float64(speed.Bytes)/elapsed.Seconds())
		elapsed = inParallel(speed.Threads, func(t int) uint64 { return gather(words, uint64(t)*reads, reads) })
		speed.RandomReads = max(speed.RandomReads, float64(speed.Threads*reads)/elapsed.Seconds())
	}
	return speed, nil
}

// inParallel returns the time that n threads take for work.
func inParallel(n int, work func(thread int) uint64) time.Duration {
	results := make([]uint64, n)
	var all sync.WaitGroup
	start := time.Now()
	for t := range n {
		all.Go(func() { results[t] = work(t) })
	}
	all.Wait()
	elapsed := time.Since(start)
	runtime.KeepAlive(results)
	return elapsed
}

// sum reads words in order, in four chains of additions, so that reading is what takes the time.
func sum(words []uint64) uint64 {
	var a, b, c, d uint64
	for ; len(words) >= 8; words = words[8:] {
		a += words[0] + words[4]
		b += words[1] + words[5]
		c += words[2] + words[6]
		d += words[3] + words[7]
	}
	for _, word := range words {
		a += word
	}
	return a + b + c + d
}

// gather reads n words from random places that do not depend on each other (splitmix64, Steele et al. 2014).
func gather(words []uint64, seed uint64, n int) (total uint64) {
	for i := range uint64(n) {
		x := (seed + i + 1) * 0x9e3779b97f4a7c15
		x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
		place, _ := bits.Mul64(x^x>>27, uint64(len(words)))
		total += words[place]
	}
	return total
}

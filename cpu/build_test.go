package cpu

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/tepsbench/teps/plugins"
)

// Kernel 1 ends with its context wherever it is, and the engine is as good as new then.
func TestKernel1CanBeCancelledAnywhere(t *testing.T) {
	tuples := kronecker(t, 14)
	truth := truthOf(t, tuples, 1<<14)
	for _, set := range []map[string]string{
		{optionThreads: "3"},
		{optionThreads: "2", optionAdjacency: "packed", optionReorder: reorderKolganov},
		{optionThreads: "1", optionReorder: reorderNeighbour},
	} {
		e := New()
		construct := func(ctx context.Context) error {
			_, err := e.Construct(ctx, plugins.Graph{Tuples: tuples, Options: set})
			return err
		}
		start := time.Now()
		if err := construct(context.Background()); err != nil {
			t.Fatal(err)
		}
		usual := time.Since(start)
		cancelled := 0
		for i := range 40 {
			ctx, cancel := context.WithCancel(context.Background())
			time.AfterFunc(usual*time.Duration(i)/40, cancel)
			if err := construct(ctx); errors.Is(err, context.Canceled) {
				cancelled++
			} else if err != nil {
				t.Fatalf("%v, cancelled after %d/40 of the usual time: %v", set, i, err)
			}
			cancel()
		}
		t.Logf("%v: %d of 40 were cancelled in time", set, cancelled)
		if err := construct(context.Background()); err != nil {
			t.Fatal(err)
		}
		check(t, e, truth, 1)
		e.Close()
	}
}

// A loop over the tuples looks at the context between batches.
func TestBatchesEndWithTheContext(t *testing.T) {
	b := &builder{tuples: kronecker(t, 8)}
	rest, seen := b.tuples, 0
	for tuples := b.batch(&rest); len(tuples) > 0; tuples = b.batch(&rest) {
		if seen += len(tuples); seen == 3*batchSize {
			b.stopped.Store(true)
		}
	}
	if seen != 3*batchSize {
		t.Errorf("%d tuples of %d were handed out, want the three batches before the end", seen, len(b.tuples))
	}
}

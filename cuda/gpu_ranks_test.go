// SPDX-License-Identifier: Apache-2.0

//go:build cuda

package cuda

import (
	"context"
	"encoding/binary"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/internal/must"
	"github.com/tepsbench/teps/plugins"
)

// Ranks of these tests are goroutines on one GPU instead of processes with a GPU each; teps conform tests those. Each
// has its share of the multiprocessors, and the addresses of the others.
func init() {
	exportMemory = func(at uint64) ([]byte, error) { return binary.NativeEndian.AppendUint64(nil, at), nil }
	openMemory = func(handle []byte) (uint64, error) { return binary.NativeEndian.Uint64(handle), nil }
	closeMemory = func(uint64) error { return nil }
}

type ranksOfTest struct {
	worlds   []group
	searches []*rankSearch
	built    []plugins.Built
}

// do calls f for each rank at the same time.
func (r *ranksOfTest) do(f func(k int) error) (errs []error) {
	errs = make([]error, len(r.worlds))
	var all sync.WaitGroup
	for k, world := range r.worlds {
		all.Go(func() { errs[k] = agree(world, f(k)) })
	}
	all.Wait()
	return errs
}

// first returns the error of a rank that does not stop because of another one.
func first(errs []error) error {
	for _, err := range errs {
		if err != nil && !errors.Is(err, errOther) {
			return err
		}
	}
	return errors.Join(errs...)
}

func newRanksOfTest(ctx context.Context, in plugins.Input, set plugins.Settings) (*ranksOfTest, error) {
	n := set.Int("ranks")
	r := &ranksOfTest{newGoroutines(n), make([]*rankSearch, n), make([]plugins.Built, n)}
	c, err := configure(set)
	if err != nil {
		return nil, err
	}
	all := len(in.Tuples)
	return r, first(r.do(func(k int) error {
		one, err := openRank(ctx, in.Tuples[all*k/n:all*(k+1)/n], c, &worldGroup{r.worlds[k], k, n})
		if err != nil {
			return err
		}
		one.device.notCooperative, one.device.searchBlocks = n > 1, one.device.Multiprocessors/n
		r.searches[k], r.built[k], err = one.construct(ctx)
		return err
	}))
}

// parents calls search for each rank with room for the parents of its labels, and puts them into parent.
func (r *ranksOfTest) parents(parent []graph.Vertex, search func(k int, own []graph.Vertex) error) []error {
	n := len(r.worlds)
	own := make([][]graph.Vertex, n)
	errs := r.do(func(k int) error {
		own[k] = make([]graph.Vertex, (len(parent)+n-1-k)/n)
		return search(k, own[k])
	})
	for l := range parent {
		parent[l] = own[l%n][l/n]
	}
	return errs
}

func (r *ranksOfTest) free() error {
	return first(r.do(func(k int) error { return r.built[k].Free() }))
}

// buildRanks is kernel 1 with ranks that are goroutines, or that of one GPU.
func buildRanks(ctx context.Context, in plugins.Input, set plugins.Settings) (all plugins.Built, err error) {
	if set.Int("ranks") == 0 {
		return build(ctx, in, set, nil)
	} else if in.ShortestPaths || len(in.Tuples) == 0 && in.Recipe != nil {
		return build(ctx, in, set, &worldGroup{}) // which refuses that
	}
	r, err := newRanksOfTest(ctx, in, set)
	if err != nil {
		return all, err
	}
	all = r.built[0]
	entries := int64(0)
	for _, b := range r.built {
		n, _ := b.Entries.Get()
		entries += n
		all.Elapsed = max(all.Elapsed, b.Elapsed)
	}
	all.Entries = plugins.Counted(entries)
	all.Search = func(ctx context.Context, root graph.Vertex, out plugins.Output) (plugins.Traversal, error) {
		each := make([]plugins.Traversal, len(r.built))
		err := first(r.parents(out.Parent, func(k int, own []graph.Vertex) (err error) {
			each[k], err = r.built[k].Search(ctx, root, plugins.Output{Parent: own})
			return err
		}))
		if err != nil {
			return plugins.Traversal{}, err
		}
		return plugins.CombineTraversals(each), nil
	}
	all.Repeat = func(ctx context.Context, roots []graph.Vertex, duration time.Duration, out plugins.Output) (
		searches int64, err error) {
		each := make([]int64, len(r.built))
		err = first(r.parents(out.Parent, func(k int, own []graph.Vertex) (err error) {
			each[k], err = r.built[k].Repeat(ctx, roots, duration, plugins.Output{Parent: own})
			return err
		}))
		return each[0], err
	}
	all.Free = r.free
	return all, nil
}

// A GPU that cannot start its part of a search ends the search for all, and the next search is right again. A GPU that
// does not answer ends the search for all.
func TestSearchEndsIfAGPUFails(t *testing.T) {
	needGPU(t)
	defer func(usual time.Duration) { patience = usual }(patience)
	patience = time.Second
	_, tuples := generate(t, "kron:12")
	set := must.Get(plugins.Resolve(options(), map[string]string{"ranks": "2"}))
	r := must.Get(newRanksOfTest(t.Context(), plugins.Input{Tuples: tuples}, set))
	defer func() {
		if err := r.free(); err != nil {
			t.Error(err)
		}
	}()
	parent, last := make([]graph.Vertex, r.built[0].Vertices), r.searches[1].device
	search := func() []error {
		return r.parents(parent, func(k int, own []graph.Vertex) error {
			_, err := r.built[k].Search(t.Context(), 1, plugins.Output{Parent: own})
			return err
		})
	}
	fails := func(rank int, want string) {
		t.Helper()
		err := search()[rank]
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("got %v, want one line with %q", err, want)
		}
	}
	shared := last.searchShared
	last.searchShared = 1 << 30
	fails(1, "launch the search")
	last.searchShared = shared
	if err := first(search()); err != nil {
		t.Error(err)
	}
	silent := must.Get(last.Lookup("wake"))
	last.searchFunction, last.searchShared = silent, 0
	fails(0, "the GPU of rank 1 did not answer that of rank 0 within 1s")
}

func TestRanksRefuseWhatDoesNotWork(t *testing.T) {
	needGPU(t)
	_, tuples := generate(t, "kron:16")
	for _, test := range []struct {
		set  map[string]string
		want string
		kind error
	}{
		{map[string]string{"device": "1000"}, "GPU 1000 of the option device: the GPUs of this machine",
			plugins.ErrUnavailable},
		{map[string]string{"ranks": "2", "memory": "0.01"}, "raise the option memory", plugins.ErrMemory},
		{map[string]string{"ranks": "2", "transfer": "nccl"}, "needs a GPU for each process", plugins.ErrUnavailable},
	} {
		settings := must.Get(plugins.Resolve(options(), test.set))
		_, err := buildRanks(t.Context(), plugins.Input{Tuples: tuples}, settings)
		if err == nil || !strings.Contains(err.Error(), test.want) || !errors.Is(err, test.kind) {
			t.Errorf("%v: got %v, want %q", test.set, err, test.want)
		}
	}
}

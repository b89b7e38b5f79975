// SPDX-License-Identifier: Apache-2.0

//go:build cuda

package cuda

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/tepsbench/teps/cuda/team"
	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/internal/must"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/plugins/enginetest"
)

// Ranks of these tests are goroutines on one GPU instead of processes with a GPU each; teps conform tests those. Each
// has its share of the multiprocessors, and the addresses of the others.
func newRanksOfTest(ctx context.Context, in plugins.Input, set plugins.Settings) (
	r enginetest.Ranks, searches []*rankSearch, err error) {
	n := set.Int("ranks")
	c, err := configure(set)
	if err != nil {
		return nil, nil, err
	}
	worlds, searches := enginetest.Goroutines(n), make([]*rankSearch, n)
	r, err = enginetest.Build(n, in, func(k int, slice plugins.Input) (plugins.Built, error) {
		return team.Joined(worlds[k], func() (built plugins.Built, err error) {
			one, err := openRank(ctx, slice.Tuples, c, &team.World{Group: worlds[k], Here: n})
			if err != nil {
				return built, err
			}
			one.device.notCooperative, one.device.searchBlocks = n > 1, one.device.Multiprocessors/n
			searches[k], built, err = one.construct(ctx)
			return built, err
		}, func(call func()) { call() })
	})
	return r, searches, err
}

// buildRanks is kernel 1 with ranks that are goroutines, or that of one GPU.
func buildRanks(ctx context.Context, in plugins.Input, set plugins.Settings) (all plugins.Built, err error) {
	if set.Int("ranks") == 0 {
		return build(ctx, in, set, nil)
	} else if in.ShortestPaths || len(in.Tuples) == 0 && in.Recipe != nil {
		return build(ctx, in, set, &team.World{}) // which refuses that
	}
	r, _, err := newRanksOfTest(ctx, in, set)
	if err != nil {
		return all, err
	}
	return r.Built(), nil
}

// A GPU that cannot start its part of a search ends the search for all, and the next search is right again. A GPU that
// does not answer ends the search for all.
func TestSearchEndsIfAGPUFails(t *testing.T) {
	needGPU(t)
	defer func(usual time.Duration) { patience = usual }(patience)
	patience = time.Second
	_, tuples := generate(t, "kron:12")
	set := must.Get(plugins.Resolve(options(), map[string]string{"ranks": "2"}))
	r, searches, err := newRanksOfTest(t.Context(), plugins.Input{Tuples: tuples}, set)
	must.Do(err)
	defer func() {
		if err := r.Free(); err != nil {
			t.Error(err)
		}
	}()
	parent, last := make([]graph.Vertex, r[0].Vertices), searches[1].device
	search := func() []error {
		return r.Parents(parent, func(k int, own plugins.Output) error {
			_, err := r[k].Search(t.Context(), 1, own)
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
	if err := errors.Join(search()...); err != nil {
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

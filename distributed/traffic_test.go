package distributed

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
)

// In two dimensions a rank talks to at most (R-1)+(C-1) others between two reductions, in one dimension to at most P-1,
// and in graphs with edges between all it does.
func TestRanksTalkToTheirGridRowAndColumnAlone(t *testing.T) {
	tuples := kronecker(t, 10, 16)
	for _, c := range []Configuration{
		{Grid: Grid{4, 4}}, {Grid: Grid{2, 8}}, {Grid: Grid{5, 3}}, {Grid: Grid{7, 1}}, {Grid: Grid{1, 7}},
		{Grid: Grid{16, 1}, OneD: true}, {Grid: Grid{7, 1}, OneD: true},
	} {
		for _, alpha := range []float64{0, 15} {
			c.Rule = graph.Switch{Alpha: alpha, Beta: 64}
			ranks := c.Grid.Ranks()
			want := c.Grid.R - 1 + c.Grid.C - 1
			if c.OneD {
				want = ranks - 1
			}
			n := &notes{talks: map[int]map[int]bool{}}
			var worlds []Comm
			for _, world := range newLocal(ranks) {
				worlds = append(worlds, watch(world, n))
			}
			searches := make([]*search, ranks)
			each(worlds, func(world Comm) {
				rank := world.Rank()
				p, _, err := buildPart(t.Context(), world, c, tuples[len(tuples)*rank/ranks:len(tuples)*(rank+1)/ranks], 0)
				if err != nil {
					t.Error(err)
					return
				}
				searches[rank] = newSearch(p, world, c)
			})
			n.talks, n.most = map[int]map[int]bool{}, 0 // kernel 1 talks to all
			parent := make([]graph.Vertex, 1<<10)
			if err := searchLocal(t.Context(), searches, make([]*SearchRecord, ranks), 1, parent); err != nil {
				t.Fatal(err)
			}
			if n.most != want {
				t.Errorf("%+v: a rank has talked to %d others in a level, want %d", c, n.most, want)
			}
		}
	}
}

// count counts four searches of a graph.
func count(t *testing.T, tuples []graph.Edge, scale int, options map[string]string) Traffic {
	t.Helper()
	var roots []graph.Vertex
	for _, e := range tuples[:4] {
		u, _ := e.Ends()
		roots = append(roots, u)
	}
	validator, err := graph.NewValidator(tuples, 1<<scale, 0)
	if err != nil {
		t.Fatal(err)
	}
	traffic, err := CountTraffic(t.Context(), tuples, 1<<scale, options, roots, Cost{2 * time.Microsecond, 10e9},
		func(root graph.Vertex, parent []graph.Vertex) error {
			_, err := validator.Validate(t.Context(), root, parent)
			return err
		})
	if err != nil {
		t.Fatal(err)
	}
	return traffic
}

// Adaptive messages take at most the bytes of either pure form.
func TestAdaptiveMessagesAreAtMostAsLongAsEitherForm(t *testing.T) {
	const scale = 12
	tuples := kronecker(t, scale, 16)
	for _, ranks := range []int{2, 6, 16} {
		for _, partition := range []string{"1d", "2d"} {
			for _, predecessors := range []string{"late", "early"} {
				bytes := map[string]float64{}
				for _, form := range []string{"adaptive", "lists", "bitmaps"} {
					bytes[form] = count(t, tuples, scale, map[string]string{
						optionRanks: strconv.Itoa(ranks), optionPartition: partition, optionPredecessors: predecessors, optionMessages: form,
					}).Bytes
				}
				if bytes["adaptive"] > bytes["lists"] || bytes["adaptive"] > bytes["bitmaps"] {
					t.Errorf("%d ranks, %s, %s: %v", ranks, partition, predecessors, bytes)
				}
			}
		}
	}
}

// In two dimensions modelled transfers take less time than in one, and the more so the more ranks there are.
func TestTwoDimensionsWinWithManyRanks(t *testing.T) {
	const scale = 12
	tuples := kronecker(t, scale, 16)
	before := 0.0
	for _, ranks := range []int{64, 256} {
		one := count(t, tuples, scale, map[string]string{optionRanks: strconv.Itoa(ranks), optionPartition: "1d"})
		two := count(t, tuples, scale, map[string]string{optionRanks: strconv.Itoa(ranks), optionPartition: "2d"})
		ratio := one.Modelled / two.Modelled
		if ratio < 2 || ratio < before {
			t.Errorf("%d ranks: 1D %.3g s, 2D %.3g s, %.1f times; with fewer ranks %.1f times", ranks, one.Modelled, two.Modelled, ratio, before)
		}
		before = ratio
		if one.Busiest != int64(ranks-1) {
			t.Errorf("%d ranks in 1D: the busiest rank has sent %d messages in a level, want one to every other", ranks, one.Busiest)
		}
	}
}

// What phases, levels and ranks report adds up.
func TestRecordsAddUp(t *testing.T) {
	tuples := kronecker(t, 12, 16)
	for _, options := range []map[string]string{{optionRanks: "6"}, {optionRanks: "5", optionPartition: "1d"}} {
		e := New()
		if _, err := e.Construct(t.Context(), plugins.Graph{Tuples: tuples, Options: options}); err != nil {
			t.Fatal(err)
		}
		u, _ := tuples[0].Ends()
		got, err := e.Search(t.Context(), u, make([]graph.Vertex, 1<<12))
		if err != nil {
			t.Fatal(err)
		}
		var byLevel, byRank [2]int64
		number := func(c plugins.Count) int64 { n, _ := c.Get(); return n }
		var inside time.Duration
		for k, level := range got.Levels {
			var messages, bytes int64
			var sum time.Duration
			for _, p := range level.Phases {
				messages, bytes, sum = messages+number(p.Messages), bytes+number(p.Bytes), sum+p.Elapsed
				if p.Slowest < p.Elapsed {
					t.Errorf("level %d, %s: the slowest rank took %v, and the mean is %v", k, p.Name, p.Slowest, p.Elapsed)
				}
			}
			if messages != number(level.Messages) || bytes != number(level.Bytes) || sum != level.Elapsed {
				t.Errorf("level %d: phases have %d messages, %d bytes, %v; the level %v", k, messages, bytes, sum, level)
			}
			byLevel[0], byLevel[1], inside = byLevel[0]+messages, byLevel[1]+bytes, inside+sum
		}
		for _, p := range got.Phases {
			byLevel[0], byLevel[1], inside = byLevel[0]+number(p.Messages), byLevel[1]+number(p.Bytes), inside+p.Elapsed
		}
		for _, rank := range got.Ranks {
			for _, p := range rank.Phases {
				byRank[0], byRank[1] = byRank[0]+number(p.Messages), byRank[1]+number(p.Bytes)
			}
		}
		if byLevel != byRank || byLevel[0] == 0 || inside > got.Elapsed {
			t.Errorf("%v: levels sent %v, ranks %v (messages, bytes); phases take %v of %v", options, byLevel, byRank, inside, got.Elapsed)
		}
		e.Close()
	}
}

func TestRefusalsNameTheWayOut(t *testing.T) {
	e := New()
	defer e.Close()
	for want, g := range map[string]struct {
		graph plugins.Graph
		is    error
	}{
		"want a divisor of ranks": {plugins.Graph{Options: map[string]string{optionRanks: "6", optionRows: "4"}}, plugins.ErrOption},
		"relabel the vertices":    {plugins.Graph{Tuples: []graph.Edge{graph.MakeEdge(1, 1<<40)}}, plugins.ErrTuples},
	} {
		_, err := e.Construct(t.Context(), g.graph)
		if !errors.Is(err, g.is) || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q of %v, got: %v", want, g.is, err)
		}
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := e.Construct(over, plugins.Graph{Tuples: kronecker(t, 8, 16)}); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled construction returns %v", err)
	}
}

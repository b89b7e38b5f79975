package distributed_test

import (
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tepsbench/teps/distributed"
	"github.com/tepsbench/teps/distributed/comm"
	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/graph/validate"
	"github.com/tepsbench/teps/internal/team"
	"github.com/tepsbench/teps/plugins"
)

// In two dimensions a rank exchanges messages with (R-1)+(C-1) others in a level, in one dimension with P-1.
func TestRanksExchangeMessagesWithinTheirGridRowAndColumn(t *testing.T) {
	tuples := kronecker(t, 10, 16)
	for _, c := range []distributed.Configuration{
		{Grid: distributed.Grid{R: 4, C: 4}}, {Grid: distributed.Grid{R: 2, C: 8}}, {Grid: distributed.Grid{R: 5, C: 3}},
		{Grid: distributed.Grid{R: 4, C: 4}, Prefix: true}, // through the last rank of a grid row, which sends to all others
		{Grid: distributed.Grid{R: 7, C: 1}}, {Grid: distributed.Grid{R: 1, C: 7}},
		{Grid: distributed.Grid{R: 16, C: 1}, OneD: true}, {Grid: distributed.Grid{R: 7, C: 1}, OneD: true},
	} {
		c.Threads = 1
		for _, alpha := range []float64{0, 15} {
			c.Rule = graph.Switch{Alpha: alpha, Beta: 64}
			size := c.Grid.Ranks()
			want := c.Grid.R - 1 + c.Grid.C - 1
			if c.OneD {
				want = size - 1
			}
			p := &partners{level: map[int]map[int]bool{}}
			var worlds []comm.Group
			for _, world := range comm.NewLocal(size, 1) {
				worlds = append(worlds, recordPartners(world, p))
			}
			ranks, teams := make([]*distributed.Rank, size), team.NewTeams(size)
			if err := onAll(worlds, func(world comm.Group) (err error) {
				k := world.Rank()
				ranks[k], _, err = distributed.NewRank(t.Context(), world, c, teams,
					tuples[len(tuples)*k/size:len(tuples)*(k+1)/size], 0)
				return err
			}); err != nil {
				t.Fatal(err)
			}
			p.level, p.max = map[int]map[int]bool{}, 0 // in kernel 1 all exchange messages
			parent := make([]graph.Vertex, 1<<10)
			if err := onAll(worlds, func(world comm.Group) error {
				rank := ranks[world.Rank()]
				_, first, stride := rank.Partition.Slots(world.Rank())
				_, err := rank.Search(t.Context(), 1, parent, first, stride)
				return err
			}); err != nil {
				t.Fatal(err)
			}
			if p.max != want {
				t.Errorf("%+v: a rank exchanged messages with %d others in a level, want %d", c, p.max, want)
			}
		}
	}
}

// traffic is what the ranks send in some searches.
type traffic struct {
	messages, bytes float64
	busiest         int64   // messages of the rank that sends most
	modeled         float64 // seconds that rank needs with 2 us a message and 10 GB/s
}

// measureTraffic searches four times and validates the results.
func measureTraffic(t *testing.T, tuples []graph.Edge, scale int, options map[string]string) (sum traffic) {
	t.Helper()
	validator, err := validate.New(tuples, 1<<scale, 0)
	if err != nil {
		t.Fatal(err)
	}
	e := distributed.New()
	defer e.Close()
	if _, err := e.Construct(t.Context(), plugins.Input{Tuples: tuples, Options: options}); err != nil {
		t.Fatal(err)
	}
	parent := make([]graph.Vertex, 1<<scale)
	for _, tuple := range tuples[:4] {
		root, _ := tuple.Ends()
		got, err := e.Search(t.Context(), root, parent)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := validator.Validate(t.Context(), root, parent); err != nil {
			t.Fatal(err)
		}
		var busiest int64
		var modeled float64
		for _, rank := range got.Ranks {
			var messages, bytes int64
			for _, p := range rank.Phases {
				messages, bytes = messages+number(p.Messages), bytes+number(p.Bytes)
			}
			busiest, modeled = max(busiest, messages), max(modeled, float64(messages)*2e-6+float64(bytes)/10e9)
			sum.messages, sum.bytes = sum.messages+float64(messages), sum.bytes+float64(bytes)
		}
		sum.busiest, sum.modeled = sum.busiest+busiest, sum.modeled+modeled
	}
	return sum
}

func number(c plugins.Count) int64 { n, _ := c.Get(); return n }

func TestAdaptiveMessagesAreAtMostAsLongAsEitherForm(t *testing.T) {
	const scale = 12
	tuples := kronecker(t, scale, 16)
	for _, ranks := range []int{2, 6, 16} {
		for _, partition := range []string{"1d-dest", "1d-source", "2d"} {
			bytes := map[string]float64{}
			for _, form := range []string{"adaptive", "lists", "bitmaps"} {
				bytes[form] = measureTraffic(t, tuples, scale, map[string]string{
					"ranks": strconv.Itoa(ranks), "partition": partition, "messages": form,
				}).bytes
			}
			if bytes["adaptive"] > bytes["lists"] || bytes["adaptive"] > bytes["bitmaps"] {
				t.Errorf("%d ranks, %s: got %v bytes", ranks, partition, bytes)
			}
		}
	}
}

// The busiest rank has much less to send in two dimensions than in one, and the more so the more ranks there are.
func TestTwoDimensionsSendLessWithManyRanks(t *testing.T) {
	const scale = 12
	tuples := kronecker(t, scale, 16)
	previous := 0.0
	for _, ranks := range []int{64, 256} {
		one := measureTraffic(t, tuples, scale, map[string]string{"ranks": strconv.Itoa(ranks), "partition": "1d-source"})
		two := measureTraffic(t, tuples, scale, map[string]string{"ranks": strconv.Itoa(ranks), "partition": "2d"})
		ratio := one.modeled / two.modeled
		if ratio < 2 || ratio < previous {
			t.Errorf("%d ranks: modeled 1D %.3g s, 2D %.3g s, ratio %.1f, with fewer ranks %.1f",
				ranks, one.modeled, two.modeled, ratio, previous)
		}
		previous = ratio
	}
}

// Thousands of ranks search a small graph, so that their messages can be counted.
func TestManyRanks(t *testing.T) {
	const scale = 10
	ranks := 1024
	if testing.Short() {
		ranks = 128
	}
	tuples := kronecker(t, scale, 16)
	if got := measureTraffic(t, tuples, scale,
		map[string]string{"ranks": strconv.Itoa(ranks), "partition": "2d"}); got.messages == 0 {
		t.Error("no messages were counted")
	}
}

// The messages, bytes and times of phases, levels and ranks add up.
func TestRecordsAddUp(t *testing.T) {
	tuples := kronecker(t, 12, 16)
	for _, options := range []map[string]string{
		{"ranks": "6", "partition": "2d"}, {"ranks": "5", "partition": "1d-source"}, {"ranks": "3"},
	} {
		e := distributed.New()
		if _, err := e.Construct(t.Context(), plugins.Input{Tuples: tuples, Options: options}); err != nil {
			t.Fatal(err)
		}
		u, _ := tuples[0].Ends()
		got, err := e.Search(t.Context(), u, make([]graph.Vertex, 1<<12))
		if err != nil {
			t.Fatal(err)
		}
		type sum struct {
			messages, bytes int64
			elapsed         time.Duration
		}
		add := func(to *sum, p plugins.Phase) {
			to.messages, to.bytes = to.messages+number(p.Messages), to.bytes+number(p.Bytes)
			to.elapsed += p.Elapsed
		}
		var byLevel, byRank sum
		for k, level := range got.Levels {
			var phases sum
			for _, p := range level.Phases {
				add(&phases, p)
				add(&byLevel, p)
				if p.Slowest < p.Elapsed {
					t.Errorf("level %d, %s: slowest %v, mean %v", k, p.Name, p.Slowest, p.Elapsed)
				}
			}
			if want := (sum{number(level.Messages), number(level.Bytes), level.Elapsed}); phases != want {
				t.Errorf("level %d: phases add up to %v, want %v", k, phases, want)
			}
		}
		for _, p := range got.Phases {
			add(&byLevel, p)
		}
		for _, rank := range got.Ranks {
			for _, p := range rank.Phases {
				add(&byRank, p)
			}
		}
		if byLevel.messages != byRank.messages || byLevel.bytes != byRank.bytes || byLevel.messages == 0 {
			t.Errorf("%v: levels sent %v, ranks %v", options, byLevel, byRank)
		}
		if byLevel.elapsed > got.Elapsed {
			t.Errorf("%v: phases take %v, the search %v", options, byLevel.elapsed, got.Elapsed)
		}
		e.Close()
	}
}

func TestConstructRefuses(t *testing.T) {
	e := distributed.New()
	defer e.Close()
	options := func(partition, ranks, rows string) plugins.Input {
		return plugins.Input{Options: map[string]string{"partition": partition, "ranks": ranks, "rows": rows}}
	}
	for _, c := range []struct {
		want string
		in   plugins.Input
		is   error
	}{
		{"rows=4 does not divide ranks=6", options("2d", "6", "4"), plugins.ErrOption},
		{"rows=2 needs partition=2d", options("1d-source", "4", "2"), plugins.ErrOption},
		{"relabel the vertices", plugins.Input{Tuples: []graph.Edge{graph.MakeEdge(1, 1<<40)}}, plugins.ErrTuples},
	} {
		if _, err := e.Construct(t.Context(), c.in); !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %q of %v", err, c.want, c.is)
		}
	}
}

func TestFirstErrorSkipsRanksThatWereStopped(t *testing.T) {
	err := distributed.FirstError([]error{distributed.ErrOtherRank, nil, plugins.ErrMemory, distributed.ErrOtherRank})
	if err != plugins.ErrMemory {
		t.Errorf("got %v, want %v", err, plugins.ErrMemory)
	}
}

// The leaves of a star are the group of its center, except for those that count as hubs themselves: 32 of each rank.
// All ranks of a grid row know that the center discovers its group, so only the others are sent and asked for.
func TestVerticesOfGroupsAreNotSent(t *testing.T) {
	const vertices, center, ranks, hubsPerRank = 4000, 5, 4, 32
	var tuples []graph.Edge
	for v := range graph.Vertex(vertices) {
		if v != center {
			tuples = append(tuples, graph.MakeEdge(center, v))
		}
	}
	e := distributed.New()
	defer e.Close()
	options := map[string]string{"ranks": "4", "partition": "2d", "messages": "lists", "direction": "bottomup"}
	if _, err := e.Construct(t.Context(), plugins.Input{Tuples: tuples, Options: options}); err != nil {
		t.Fatal(err)
	}
	parent := make([]graph.Vertex, vertices)
	found, err := e.Search(t.Context(), center, parent)
	if err != nil {
		t.Fatal(err)
	}
	for v, p := range parent {
		if p != center {
			t.Fatalf("vertex %d: got parent %d, want the center %d", v, p, center)
		}
	}
	sent := map[string]int64{}
	for _, rank := range found.Ranks {
		for _, phase := range rank.Phases {
			bytes, _ := phase.Bytes.Get()
			messages, _ := phase.Messages.Get()
			sent[phase.Name] += (bytes - 4*messages) / 4
		}
	}
	if n := sent["fold"]; n == 0 || n > ranks*hubsPerRank {
		t.Errorf("%d vertices were sent to their owners, want some and at most %d", n, ranks*hubsPerRank)
	}
	if n := sent["predecessors"]; n > 2*sent["fold"] { // asked for, and answered
		t.Errorf("%d words were sent for predecessors of %d vertices", n, sent["fold"])
	}
}

// A grid row of C ranks passes a prefix on C-1 times and sends the union C-1 times, where all to all it may take C(C-1)
// messages.
func TestFoldByPrefixTakesFewerMessages(t *testing.T) {
	tuples := kronecker(t, 12, 16)
	for fold, want := range map[string]int64{"alltoall": 4 * 4 * 3, "prefix": 4 * 2 * 3} {
		e := distributed.New()
		options := map[string]string{"ranks": "16", "partition": "2d", "fold": fold}
		if _, err := e.Construct(t.Context(), plugins.Input{Tuples: tuples, Options: options}); err != nil {
			t.Fatal(err)
		}
		root, _ := tuples[0].Ends()
		search, err := e.Search(t.Context(), root, make([]graph.Vertex, 1<<12))
		if err != nil {
			t.Fatal(err)
		}
		got := int64(0) // in the level with most
		for _, l := range search.Levels {
			for _, p := range l.Phases {
				if n, _ := p.Messages.Get(); p.Name == distributed.Fold.String() {
					got = max(got, n)
				}
			}
		}
		if got != want {
			t.Errorf("fold=%s: got %d messages of the fold in a level, want %d", fold, got, want)
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}
}

package distributed

import (
	"context"
	"fmt"
	"math/bits"
	"sync"
	"time"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
)

// Counting: searches by thousands of in-process ranks over a small graph, for the messages alone. The messages are those
// of real searches, counted as they are sent; the time that a network would need for them is a model's.

// Cost is the model of a message (Hockney, "The communication challenge for MPP", Parallel Computing 20, 1994): it takes
// the latency and its bytes divided by the bandwidth. A rank sends one message after the other, a phase takes as long as
// the rank that has most to send, and phases follow each other. Contention and overlap are left out.
type Cost struct {
	Latency   time.Duration
	Bandwidth float64 // bytes a second out of one rank
}

// Time is what a rank needs for its messages.
func (c Cost) Time(messages, bytes int64) time.Duration {
	return time.Duration(messages)*c.Latency + time.Duration(float64(bytes)/c.Bandwidth*float64(time.Second))
}

// Traffic is what was counted, per search: means over the searches. Predecessors are included, reductions are not.
type Traffic struct {
	Ranks     int     `json:"ranks"`
	Partition string  `json:"partition"`
	Grid      string  `json:"grid,omitempty"` // RxC; 2d only
	Searches  int     `json:"searches"`
	Levels    float64 `json:"levels"`
	Messages  float64 `json:"messages"`      // of all ranks
	Bytes     float64 `json:"bytes"`         // of all ranks
	Busiest   int64   `json:"busiest"`       // most messages that one rank sent in a level
	Phases    []Sent  `json:"phases"`        // expand, fold, predecessors
	Modelled  float64 `json:"modelled"`      // seconds of transfer, by the model
	Reduced   float64 `json:"modelled_sums"` // seconds of reductions, by the model: log2 of the ranks messages there and back for each level
}

// Sent is what one phase sent, per search.
type Sent struct {
	Name     string  `json:"name"`
	Messages float64 `json:"messages"`
	Bytes    float64 `json:"bytes"`
	Modelled float64 `json:"modelled"` // seconds
}

// CountTraffic searches from every root with in-process ranks and counts. options are those of New. check gets every
// parent array, one entry for each of so many vertices; its error ends the counting.
func CountTraffic(ctx context.Context, tuples []graph.Edge, vertices int64, options map[string]string, roots []graph.Vertex, cost Cost,
	check func(root graph.Vertex, parent []graph.Vertex) error,
) (Traffic, error) {
	settings, err := plugins.Settle(searchOptions("4"), options)
	if err != nil {
		return Traffic{}, err
	}
	c, err := configure(settings)
	if err != nil {
		return Traffic{}, err
	}
	t := Traffic{Ranks: c.Grid.Ranks(), Partition: "1d", Searches: len(roots)}
	if !c.OneD {
		t.Partition, t.Grid = "2d", c.Grid.String()
	}
	counted := []Phase{Expand, Fold, Predecessors}
	for _, p := range counted {
		t.Phases = append(t.Phases, Sent{Name: p.String()})
	}
	searches, _, err := buildLocal(ctx, c, tuples)
	if err != nil {
		return t, err
	}
	parent := make([]graph.Vertex, vertices)
	records := make([]*SearchRecord, len(searches))
	for _, root := range roots {
		if err := searchLocal(ctx, searches, records, root, parent); err != nil {
			return t, err
		}
		finishParents(parent, searches[0].partition.Labels, root)
		if err := check(root, parent); err != nil {
			return t, fmt.Errorf("search from %d over %d ranks: %w", root, t.Ranks, err)
		}
		t.add(records, counted, cost)
	}
	t.divide(float64(len(roots)))
	return t, nil
}

// searchLocal lets every rank search.
func searchLocal(ctx context.Context, searches []*search, records []*SearchRecord, root graph.Vertex, parent []graph.Vertex) error {
	errs := make([]error, len(searches))
	one := func(rank int) {
		_, first, stride := searches[rank].partition.Slots(rank)
		records[rank], errs[rank] = searches[rank].run(ctx, root, parent, first, stride)
	}
	var all sync.WaitGroup
	for rank := 1; rank < len(searches); rank++ {
		all.Go(func() { one(rank) })
	}
	one(0)
	all.Wait()
	return firstFailure(errs)
}

// add adds a search.
func (t *Traffic) add(records []*SearchRecord, counted []Phase, cost Cost) {
	depth := len(records[0].Levels)
	t.Levels += float64(depth)
	hops := bits.Len(uint(t.Ranks - 1))
	t.Reduced += float64(depth+1) * 2 * float64(hops) * cost.Latency.Seconds()
	for k, p := range counted {
		steps := 1
		if p < levelPhases {
			steps = depth
		}
		for level := range steps {
			var longest time.Duration
			for _, r := range records {
				m := r.measure(p, level)
				longest = max(longest, cost.Time(m.Messages, m.Bytes))
				t.Phases[k].Messages += float64(m.Messages)
				t.Phases[k].Bytes += float64(m.Bytes)
			}
			t.Phases[k].Modelled += longest.Seconds()
		}
	}
	for level := range depth {
		for _, r := range records {
			var messages int64
			for _, m := range r.Levels[level].Phases {
				messages += m.Messages
			}
			t.Busiest = max(t.Busiest, messages)
		}
	}
}

// measure is a phase of a level, or one outside levels.
func (s *SearchRecord) measure(p Phase, level int) *Measure {
	if p < levelPhases {
		return &s.Levels[level].Phases[p]
	}
	return &s.Beside[p-levelPhases]
}

// divide makes means of sums.
func (t *Traffic) divide(searches float64) {
	t.Levels /= searches
	t.Reduced /= searches
	for k := range t.Phases {
		p := &t.Phases[k]
		p.Messages, p.Bytes, p.Modelled = p.Messages/searches, p.Bytes/searches, p.Modelled/searches
		t.Messages += p.Messages
		t.Bytes += p.Bytes
		t.Modelled += p.Modelled
	}
}

// TrafficMemory is an upper bound on what CountTraffic takes with so many ranks, in either cut. It leaves more room than need: the
// graph of the cut before may not have been collected. Every rank holds words of every other (ranks^2) and of the vertices of its
// rows and columns (ranks to a vertex). Peaks that were measured are half of what comes of it to nearly all: docs/results/distributed has them.
func TrafficMemory(ranks int) plugins.Memory {
	r := float64(ranks)
	return plugins.Memory{Fixed: 32<<20 + int64(520*r*r), PerVertex: 15*r + 64, PerTuple: 72}
}

package harness

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/machine"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/power"
	"github.com/tepsbench/teps/record"
)

var (
	someSoftware = record.Software{Version: "v0", Compiler: "go", Program: strings.Repeat("0123456789abcdef", 4)}
	someMachine  = machine.Machine{CPU: "a processor", Threads: 2, MemoryBytes: 1 << 30, OS: "linux"}
)

// serial is an engine that uses the oracle, with hooks to make it misbehave.
type serial struct {
	csr      *graph.CSR
	searches int
	after    func(n int, root graph.Vertex, parent []graph.Vertex, t *plugins.Traversal) error // the n-th search from 1
	describe func(*plugins.Description)
	build    func(*plugins.Construction) error
	closed   *int
}

func (s *serial) Describe(context.Context) (plugins.Description, error) {
	d := plugins.Description{Name: "serial", Version: "1", Summary: "the oracle",
		Options: []plugins.Option{
			{Name: "speed", Kind: plugins.Int, Default: "1", Min: plugins.Bound(1), Meaning: "nothing"},
		}}
	if s.describe != nil {
		s.describe(&d)
	}
	return d, nil
}

func (s *serial) Construct(ctx context.Context, g plugins.Input) (plugins.Construction, error) {
	start := time.Now()
	var err error
	if len(g.Tuples) == 0 && g.Recipe != nil {
		g.Tuples = make([]graph.Edge, g.Recipe.Tuples())
		err = g.Recipe.Generate(ctx, g.Tuples, 0, 0)
	}
	n := graph.Vertex(0)
	for _, t := range g.Tuples {
		u, v := t.Ends()
		n = max(n, u+1, v+1)
	}
	if err == nil {
		s.csr, err = graph.NewCSR(g.Tuples, int64(n))
	}
	c := plugins.Construction{Elapsed: time.Since(start), Claims: plugins.Claims{
		OriginalLabelsInClock: true, ClearingInClock: true, ParentBits: 64, VertexBits: 64, Tuning: "nothing to tune"}}
	if err == nil && s.build != nil {
		err = s.build(&c)
	}
	return c, err
}

func (s *serial) Search(ctx context.Context, root graph.Vertex, parent []graph.Vertex) (plugins.Traversal, error) {
	if err := ctx.Err(); err != nil {
		return plugins.Traversal{}, err
	}
	start := time.Now()
	found, _, err := s.csr.Search(root)
	if err != nil {
		return plugins.Traversal{}, err
	}
	for i := copy(parent, found); i < len(parent); i++ {
		parent[i] = graph.Unreached
	}
	t := plugins.Traversal{Elapsed: time.Since(start)}
	if len(s.csr.Neighbors(root)) == 0 {
		return t, nil // it measures what a call costs
	}
	if s.searches++; s.after != nil {
		err = s.after(s.searches, root, parent, &t)
	}
	return t, err
}

func (s *serial) Close() error {
	if s.closed != nil {
		*s.closed++
	}
	return nil
}

// inside is a Host whose engines run in this process.
type inside struct {
	engines map[string]func() (plugins.Engine, error)
	lent    int
	meters  func(specifications []string) ([]power.Meter, []power.Absence, error) // nil: there are none
}

func (h *inside) Meters(_ context.Context, specifications []string) ([]power.Meter, []power.Absence, error) {
	if h.meters == nil {
		return nil, []power.Absence{{Source: "rapl", Reason: "there is no powercap folder"}}, nil
	}
	return h.meters(specifications)
}

// hostOf is a host of engines of any kind.
func hostOf[E plugins.Engine](engines map[string]E) *inside {
	h := &inside{engines: map[string]func() (plugins.Engine, error){}}
	for name, e := range engines {
		h.engines[name] = func() (plugins.Engine, error) { return e, nil }
	}
	return h
}

func (h *inside) Open(_ context.Context, spec record.EngineSpec) (plugins.Engine, error) {
	open, ok := h.engines[spec.Name]
	if !ok {
		return nil, fmt.Errorf("no engine %s", spec.Name)
	}
	return open()
}

func (h *inside) Tuples(n int64) ([]graph.Edge, func() error, error) {
	h.lent++
	return make([]graph.Edge, n), h.release, nil
}

func (h *inside) Reserve(n int64) ([]graph.Edge, func() error, error) { return h.Tuples(min(n, 1<<16)) }

func (h *inside) Trim([]graph.Edge) error { return nil }

func (h *inside) Parents(n int64) ([]graph.Vertex, func() error, error) {
	h.lent++
	return make([]graph.Vertex, n), h.release, nil
}

func (h *inside) release() error {
	if h.lent--; h.lent < 0 {
		return errors.New("released twice")
	}
	return nil
}

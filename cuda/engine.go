//go:build cuda

package cuda

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
)

// engine holds at most one graph: kernel 1 makes it, Close or the next kernel 1 gives it back.
type engine struct {
	closed bool
	device *device // open since the first Construct
	memory *memory
	search *search // nil: no graph
}

// New returns an engine without a graph; where there is no GPU, one that says why. It holds no resources before Construct.
func New() plugins.Engine {
	if why := missing(); why != "" {
		return &absent{why: why}
	}
	return &engine{}
}

func (e *engine) Describe(context.Context) (plugins.Description, error) {
	if e.closed {
		return plugins.Description{}, fmt.Errorf("cuda: describe: %w", plugins.ErrClosed)
	}
	devices, err := describeDevices()
	if err != nil {
		return plugins.Description{}, err
	}
	return plugins.Description{
		Name: "cuda", Version: Version, Summary: summary, Devices: devices, Options: options(), Memory: hostMemory(),
	}, nil
}

func (e *engine) Construct(ctx context.Context, g plugins.Graph) (plugins.Construction, error) {
	if e.closed {
		return plugins.Construction{}, fmt.Errorf("cuda: construct: %w", plugins.ErrClosed)
	}
	c, err := configure(g.Options)
	if err != nil {
		return plugins.Construction{}, errors.Join(fmt.Errorf("cuda: construct: %w", err), e.drop())
	}
	if err := e.open(c.device); err != nil {
		return plugins.Construction{}, err
	}
	release, err := e.device.use()
	if err != nil {
		return plugins.Construction{}, err
	}
	defer release()
	built, err := e.construct(ctx, g, c)
	if err != nil {
		return plugins.Construction{}, errors.Join(err, e.drop())
	}
	return built, nil
}

// open drops the graph, and opens the device if another one was open.
func (e *engine) open(number int) error {
	if err := e.drop(); err != nil {
		return err
	}
	if e.device != nil && e.device.number == number {
		return nil
	}
	if err := e.shut(); err != nil {
		return err
	}
	d, err := onThread(func() (*device, error) { return openDevice(number) })
	e.device = d
	return err
}

func (e *engine) construct(ctx context.Context, g plugins.Graph, c configuration) (plugins.Construction, error) {
	start := time.Now()
	var err error
	if e.memory, err = newMemory(c.memory); err != nil {
		return plugins.Construction{}, err
	}
	b, phases, err := build(ctx, e.device, e.memory, c, g.Tuples)
	if err != nil {
		return plugins.Construction{}, err
	}
	if e.search, err = newSearch(b); err != nil {
		return plugins.Construction{}, err
	}
	elapsed := time.Since(start)
	return plugins.Construction{
		Elapsed: elapsed,
		Bytes:   e.memory.used + e.memory.inHost,
		Entries: plugins.Counted(int64(b.graph.Entries)),
		Phases:  phases,
		Claims: plugins.Claims{
			OriginalLabelsInClock: true,
			ClearingInClock:       true,
			ParentBits:            64,
			VertexBits:            32,
			Tuning:                "alpha, beta and every constant are fixed defaults or set by the user before kernel 1",
		},
		Details: append([]plugins.Fact{
			{Name: plugins.DeviceUUID, Value: e.device.uuid},
			{Name: "vertices that are not isolated", Value: fmt.Sprint(b.graph.Vertices)},
			{Name: "vertices that a search looks at", Value: fmt.Sprint(b.graph.Searched)},
			{Name: "bytes on the device", Value: fmt.Sprint(e.memory.used)},
			{Name: "bytes pinned in the host", Value: fmt.Sprint(e.memory.inHost)},
			{Name: "parents", Value: "in device memory, 64 bits each, when the clock stops; the host's copy is made after it"},
			{Name: "before the clock", Value: "an empty kernel wakes device and driver; it knows neither root nor graph"},
			{Name: "output template", Value: "kernel 1 prepares an array with every vertex's first neighbour, in original labels; " +
				"each search copies it and confirms or replaces every entry inside its clock"},
		}, b.notes...),
	}, nil
}

func (e *engine) Search(ctx context.Context, root graph.Vertex, parent []graph.Vertex) (plugins.Traversal, error) {
	switch {
	case e.closed:
		return plugins.Traversal{}, fmt.Errorf("cuda: search from %d: %w", root, plugins.ErrClosed)
	case e.search == nil:
		return plugins.Traversal{}, fmt.Errorf("cuda: search from %d: %w; call Construct first", root, plugins.ErrNotConstructed)
	}
	if err := checkSearch(root, len(parent), int64(e.search.graph.Labels)); err != nil {
		return plugins.Traversal{}, err
	}
	if err := ctx.Err(); err != nil {
		return plugins.Traversal{}, err
	}
	release, err := e.device.use()
	if err != nil {
		return plugins.Traversal{}, err
	}
	defer release()
	return e.search.run(ctx, root, parent)
}

func (e *engine) Close() error {
	err := errors.Join(e.drop(), e.shut())
	e.closed = true
	return err
}

// drop gives back the graph and what searches it.
func (e *engine) drop() error {
	if e.device == nil {
		return nil
	}
	release, err := e.device.use()
	if err != nil {
		return err
	}
	defer release()
	if e.search != nil {
		err = e.search.close()
	}
	if e.memory != nil {
		err = errors.Join(err, e.memory.releaseAll())
	}
	e.search, e.memory = nil, nil
	return err
}

// shut closes the device.
func (e *engine) shut() error {
	if e.device == nil {
		return nil
	}
	_, err := onThread(func() (*device, error) { return nil, e.device.close() })
	e.device = nil
	return err
}

package cuda

import (
	"context"
	"fmt"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
)

// Version of this engine; it changes with every change of the method or of what the options mean.
const Version = "1.0"

const summary = "Direction-optimising search on one NVIDIA GPU: edge-balanced or dynamic-parallel top-down, aligned bottom-up, one launch a search."

// absent is the engine where there is no GPU, no driver, or no CUDA in the build: it describes itself and says why.
type absent struct {
	why    string
	closed bool
}

func (a *absent) Describe(context.Context) (plugins.Description, error) {
	if a.closed {
		return plugins.Description{}, fmt.Errorf("cuda: describe: %w", plugins.ErrClosed)
	}
	return plugins.Description{
		Name: "cuda", Version: Version, Summary: summary, Unavailable: a.why, Options: options(), Memory: hostMemory(),
	}, nil
}

func (a *absent) Construct(_ context.Context, g plugins.Graph) (plugins.Construction, error) {
	if a.closed {
		return plugins.Construction{}, fmt.Errorf("cuda: construct: %w", plugins.ErrClosed)
	}
	if _, err := configure(g.Options); err != nil {
		return plugins.Construction{}, fmt.Errorf("cuda: construct: %w", err)
	}
	return plugins.Construction{}, fmt.Errorf("cuda: construct: %w: %s", plugins.ErrUnavailable, a.why)
}

func (a *absent) Search(_ context.Context, root graph.Vertex, _ []graph.Vertex) (plugins.Traversal, error) {
	if a.closed {
		return plugins.Traversal{}, fmt.Errorf("cuda: search from %d: %w", root, plugins.ErrClosed)
	}
	return plugins.Traversal{}, fmt.Errorf("cuda: search from %d: %w; call Construct first", root, plugins.ErrNotConstructed)
}

func (a *absent) Close() error {
	a.closed = true
	return nil
}

// hostMemory is what the engine takes of the host while lists lie on the device: the driver and staging buffers.
func hostMemory() plugins.Memory { return plugins.Memory{Fixed: 2 << 30} }

//go:build !cgo

package native

import (
	"context"
	"fmt"
	"time"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
)

// library is never loaded by a program that was built without cgo.
type library struct{}

func load(path string) (*library, error) {
	return nil, fmt.Errorf("load %s: this program was built without cgo and cannot load libraries; install a C compiler (Debian: gcc libc6-dev) and build it again with CGO_ENABLED=1", path)
}

func (*library) describe() (plugins.Description, error) { return plugins.Description{}, nil }

func (*library) construct(context.Context, []graph.Edge, []string, plugins.Settings) (made, error) {
	return made{}, nil
}

func (*library) search(context.Context, graph.Vertex, []graph.Vertex) (plugins.Traversal, error) {
	return plugins.Traversal{}, nil
}

func (*library) repeats() bool { return false }

func (*library) repeat(context.Context, []graph.Vertex, time.Duration) (int64, error) { return 0, nil }

func (*library) free() {}

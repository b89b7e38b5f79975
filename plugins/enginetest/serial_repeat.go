package enginetest

import (
	"context"
	"fmt"
	"time"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
)

var _ plugins.Repeater = (*serial)(nil)

// Repeat implements plugins.Repeater.
func (e *serial) Repeat(ctx context.Context, roots []graph.Vertex, duration time.Duration) (searches int64, err error) {
	if !e.closed && e.graph != nil && (len(roots) == 0 || duration <= 0) {
		return 0, fmt.Errorf("serial: Repeat: %d roots for %v: want at least one root and a time", len(roots), duration)
	}
	var own []graph.Vertex
	if e.graph != nil {
		own = make([]graph.Vertex, e.graph.NumVertices())
	}
	for _, root := range roots {
		if e.graph != nil && (root < 0 || int64(root) >= int64(len(own))) {
			return 0, fmt.Errorf("serial: Repeat: root %d of %d: %w", root, len(own), plugins.ErrRoot)
		}
	}
	for start := time.Now(); time.Since(start) < duration; searches++ {
		if err := ctx.Err(); err != nil {
			return searches, fmt.Errorf("serial: Repeat: %w", err)
		}
		if _, err := e.Search(ctx, roots[searches%int64(len(roots))], own); err != nil {
			return searches, err
		}
	}
	return searches, nil
}

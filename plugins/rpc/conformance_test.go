package rpc

import (
	"context"
	"testing"

	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/plugins/enginetest"
)

// An engine that passes the conformance suite inside a process passes it behind the connection too, whether its slices
// lie in shared memory or are copied.
func TestAnEngineConformsThroughAChildProcess(t *testing.T) {
	s := newStage(t, HostOptions{})
	enginetest.Test(t, func(ctx context.Context) (plugins.Engine, error) {
		client, err := s.Open(ctx, s.program("serial"))
		if err != nil {
			return nil, err
		}
		return client, nil
	})
}

// copying is a Client without its allocator, so that the suite hands it slices of its own.
type copying struct{ plugins.Engine }

func TestAnEngineConformsWithCopiedSlices(t *testing.T) {
	if testing.Short() {
		t.Skip("the same suite again, by way of copies")
	}
	s := newStage(t, HostOptions{})
	enginetest.Test(t, func(ctx context.Context) (plugins.Engine, error) {
		client, err := s.Open(ctx, s.program("serial"))
		if err != nil {
			return nil, err
		}
		return copying{client}, nil
	})
}

var (
	_ enginetest.Allocator = (*Client)(nil)
	_ enginetest.Footprint = (*Client)(nil)
)

package rpc

import (
	"context"
	"testing"

	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/plugins/enginetest"
)

// An engine that passes the conformance suite inside a process also passes it behind the connection.
func TestEngineConformsThroughAChildProcess(t *testing.T) {
	s := newStage(t)
	enginetest.Test(t, func(ctx context.Context) (plugins.Engine, error) {
		client, err := s.Open(ctx, s.program("serial"))
		if err != nil {
			return nil, err
		}
		return client, nil
	})
}

var (
	_ enginetest.Allocator = (*Client)(nil)
	_ enginetest.Footprint = (*Client)(nil)
)

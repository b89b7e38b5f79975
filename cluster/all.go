// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"sync"
)

// Each calls do for all nodes at the same time. After the first error it cancels the others, waits for them, and
// returns that error.
func (c *Cluster) Each(ctx context.Context, do func(ctx context.Context, n *Node) error) error {
	return each(ctx, len(c.Nodes), func(ctx context.Context, i int) error { return do(ctx, c.Nodes[i]) })
}

// each makes n calls at the same time. After the first error it cancels the others and waits for them. It returns the
// first error of a call that was not canceled, if there is one.
func each(ctx context.Context, n int, call func(ctx context.Context, i int) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var mu sync.Mutex
	var all sync.WaitGroup
	var first error
	for i := range n {
		all.Go(func() {
			err := call(ctx, i)
			if err == nil {
				return
			}
			mu.Lock()
			defer mu.Unlock()
			if first == nil || errors.Is(first, context.Canceled) && !errors.Is(err, context.Canceled) {
				first = err
			}
			cancel()
		})
	}
	all.Wait()
	return first
}

// Group is a *Cluster or a *Job.
type Group interface {
	Each(ctx context.Context, do func(ctx context.Context, n *Node) error) error
	size() int // number of nodes
}

func (c *Cluster) size() int { return len(c.Nodes) }

// All calls a method of all nodes with the same arguments and returns the replies in the order of the nodes.
func All[Reply any](ctx context.Context, g Group, method string, args any) ([]Reply, error) {
	replies := make([]Reply, g.size())
	err := g.Each(ctx, func(ctx context.Context, n *Node) error {
		return n.Call(ctx, method, args, &replies[n.Index])
	})
	return replies, err
}

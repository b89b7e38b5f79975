package rpc

// A Client is an engine behind the connection, with the interface that it also has inside a process. The errors of the
// engine itself come back with its own words; every other error begins with "rpc:" and the engine's name.

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"sync"
	"sync/atomic"
	"time"

	plugin "github.com/hashicorp/go-plugin"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/plugins/rpc/internal/enginepb"
)

// Client implements plugins.Engine. Calls come one at a time; a second one meanwhile fails with ErrBusy. Close may come
// at any time, and ends a running call.
type Client struct {
	host        *Host
	name        string
	checksum    string
	process     *process
	plugin      *plugin.Client
	connections connections
	engine      enginepb.EngineClient

	calls   atomic.Uint64 // number of calls so far
	slot    chan struct{} // holds one element during a call
	closing chan struct{} // closed when Close begins

	mu       sync.Mutex // guards what follows
	closed   bool
	fate     error                  // why the process has ended or was killed
	told     bool                   // a call has returned fate
	graph    bool                   // the last Construct has succeeded, or there was none
	attached map[segmentID]struct{} // parent segments that the engine keeps mapped
}

var (
	_ plugins.Engine   = (*Client)(nil)
	_ plugins.Repeater = (*Client)(nil)
)

func newClient(h *Host, p Program, file image) *Client {
	return &Client{
		host: h, name: p.Name, checksum: file.sum,
		process: newProcess(exec.Command(file.program, p.Args...), &output{logger: h.options.Logger.With("engine", p.Name)}),
		slot:    make(chan struct{}, 1), closing: make(chan struct{}),
		graph: true, attached: map[segmentID]struct{}{},
	}
}

// PID is the engine's process number.
func (c *Client) PID() int { return c.process.cmd.Process.Pid }

// Checksum is the SHA-256 of the engine's file, its program or library, in hex, as it was when the engine was started.
func (c *Client) Checksum() string { return c.checksum }

// Tuples is Host.Tuples of the client's host.
func (c *Client) Tuples(n int64) ([]graph.Edge, func() error, error) { return c.host.Tuples(n) }

// Parents is Host.Parents of the client's host.
func (c *Client) Parents(n int64) ([]graph.Vertex, func() error, error) { return c.host.Parents(n) }

// Describe implements plugins.Engine.
func (c *Client) Describe(ctx context.Context) (description plugins.Description, err error) {
	err = c.exclusively("describe", func() error {
		return c.call(ctx, "describe", func(ctx context.Context, call *enginepb.Call) error {
			reply, err := c.engine.Describe(ctx, &enginepb.DescribeRequest{Call: call})
			if err == nil {
				description, err = descriptionFromWire(reply)
			}
			return err
		})
	})
	return description, err
}

// Construct implements plugins.Engine. Tuples that lie in memory from Host.Tuples (all of it or a part) are not copied;
// others are copied into shared memory first.
func (c *Client) Construct(ctx context.Context, g plugins.Graph) (construction plugins.Construction, err error) {
	err = c.exclusively("construct", func() error {
		tuples, err := lend(c.host, tupleSegment, g.Tuples)
		if err != nil {
			return err
		}
		err = c.call(ctx, "construct", func(ctx context.Context, call *enginepb.Call) error {
			reply, err := c.engine.Construct(ctx, &enginepb.ConstructRequest{
				Call: call, Tuples: toWire(tuples, len(g.Tuples)), Recipe: recipeToWire(g.Recipe), Options: g.Options,
			})
			if err == nil {
				construction, err = constructionFromWire(reply)
			}
			return err
		})
		return errors.Join(err, c.host.giveBack(tuples))
	})
	// A Construct that fails before it reaches the engine leaves an earlier graph there. The contract wants none.
	c.mu.Lock()
	c.graph = err == nil
	c.mu.Unlock()
	return construction, err
}

// Search implements plugins.Engine. A parent array that lies in memory from Host.Parents (all of it or a part) is not
// copied, and stays attached to the engine for the next search; another one is copied there and back, which takes much
// longer than a search.
func (c *Client) Search(ctx context.Context, root graph.Vertex, parent []graph.Vertex) (traversal plugins.Traversal, err error) {
	err = c.exclusively("search", func() error {
		if !c.hasGraph() {
			return fmt.Errorf("rpc: %s: search: %w", c.name, plugins.ErrNotConstructed)
		}
		array, err := lend(c.host, parentSegment, parent)
		if err != nil {
			return err
		}
		if array.segment != nil {
			c.mu.Lock()
			c.attached[array.segment.id] = struct{}{}
			c.mu.Unlock()
		}
		err = c.call(ctx, "search", func(ctx context.Context, call *enginepb.Call) error {
			reply, err := c.engine.Search(ctx, &enginepb.SearchRequest{Call: call, Root: int64(root), Parent: toWire(array, len(parent))})
			if err == nil {
				traversal, err = traversalFromWire(reply)
			}
			return err
		})
		if array.segment != nil && array.segment.repair() && err == nil {
			err = fmt.Errorf("rpc: %s: search: the engine wrote to the %d bytes before parent[0]: %w", c.name, segmentHeader, ErrSegment)
		}
		if array.private {
			copy(parent, view[graph.Vertex](array.segment.elements()))
		}
		return errors.Join(err, c.host.giveBack(array))
	})
	return traversal, err
}

// Repeat implements plugins.Repeater. The error of an engine that does not repeat wraps errors.ErrUnsupported.
func (c *Client) Repeat(ctx context.Context, roots []graph.Vertex, duration time.Duration) (searches int64, err error) {
	err = c.exclusively("repeat", func() error {
		if !c.hasGraph() {
			return fmt.Errorf("rpc: %s: repeat: %w", c.name, plugins.ErrNotConstructed)
		}
		return c.call(ctx, "repeat", func(ctx context.Context, call *enginepb.Call) error {
			reply, err := c.engine.Repeat(ctx, &enginepb.RepeatRequest{
				Call: call, Roots: each(roots, func(root graph.Vertex) int64 { return int64(root) }), DurationNs: int64(duration),
			})
			if searches = reply.GetSearches(); err == nil && searches < 0 {
				err = fmt.Errorf("%d searches: %w", searches, ErrAnswer)
			}
			return err
		})
	})
	return searches, err
}

func (c *Client) hasGraph() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.graph
}

// toWire names lent elements to the engine.
func toWire(l lent, count int) *enginepb.Segment {
	if l.segment == nil {
		return nil
	}
	return &enginepb.Segment{Id: l.segment.id[:], Path: l.segment.path, Total: l.segment.count, First: l.first, Count: int64(count)}
}

// exclusively runs one call at a time.
func (c *Client) exclusively(action string, call func() error) error {
	select {
	case c.slot <- struct{}{}:
	default:
		return fmt.Errorf("rpc: %s: %s: calls come one at a time: %w", c.name, action, ErrBusy)
	}
	defer func() { <-c.slot }()
	c.mu.Lock()
	closed := c.closed
	c.mu.Unlock()
	if closed {
		return fmt.Errorf("rpc: %s: %s: %w", c.name, action, plugins.ErrClosed)
	}
	return call()
}

// detach tells the engine that a segment is released. An engine that does not listen keeps the memory until it ends.
func (c *Client) detach(id segmentID) {
	c.mu.Lock()
	_, attached := c.attached[id]
	delete(c.attached, id)
	c.mu.Unlock()
	if !attached || c.process.gone() {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if _, err := c.engine.Detach(ctx, &enginepb.DetachRequest{SegmentIds: [][]byte{id[:]}}); err != nil {
		c.process.output.logger.Debug("rpc: the engine did not detach a segment", "error", err)
	}
}

// Close implements plugins.Engine: it closes the engine, and ends its process whatever the engine does. A running call
// is cancelled, and returns first. The error is the engine's, or what its process has died of if no call has said so.
func (c *Client) Close() error {
	c.mu.Lock()
	again := c.closed
	c.closed = true
	c.mu.Unlock()
	if !again {
		close(c.closing)
	}
	c.slot <- struct{}{} // after the running call
	defer func() { <-c.slot }()
	if again {
		return nil
	}
	var err error
	if !c.process.gone() {
		ctx, cancel := context.WithTimeout(context.Background(), c.host.options.CloseLimit)
		defer cancel()
		err = c.watched(ctx, nil, "close", func(ctx context.Context, _ *enginepb.Call) error {
			_, err := c.engine.Close(ctx, &enginepb.CloseRequest{})
			return err
		})
	} else if !c.isTold() {
		err = c.death("close")
	}
	c.process.leaving.Store(true)
	c.disconnect()
	c.host.mu.Lock()
	delete(c.host.clients, c)
	c.host.mu.Unlock()
	return err
}

// disconnect lets go-plugin end the process and the connection, and kills the process when that takes too long. A
// process that cannot even be killed (a driver may hang) is left to the system.
func (c *Client) disconnect() {
	done := make(chan struct{})
	go func() {
		c.plugin.Kill()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(exitTime + time.Second):
		c.process.kill()
		select {
		case <-done:
		case <-time.After(killTime):
			c.process.output.logger.Error("rpc: the engine's process cannot be killed", "pid", c.process.ID())
		}
	}
	c.connections.close()
}

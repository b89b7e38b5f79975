// SPDX-License-Identifier: Apache-2.0

package rpc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	plugin "github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/plugins/rpc/internal/enginepb"
)

// Client is an engine or an accelerator in another process. It implements plugins.Engine and plugins.Accelerator. Calls
// must come one at a time; another call fails with ErrBusy. Close may come at any time and ends a running call.
//
// Errors do not name the engine or the call, which the caller knows. Those of the engine itself keep their text.
type Client struct {
	plugins.Lender
	host       *Host
	file       image
	key        string // of the program and its arguments
	process    *process
	part       bool // the engine may have other processes, which wait for this one
	plugin     *plugin.Client
	connection atomic.Pointer[grpc.ClientConn]
	engine     enginepb.EngineClient

	open context.Context // ends with Close
	shut context.CancelFunc

	frozen   atomic.Bool   // by Freeze
	unbuilt  atomic.Bool   // the last Construct has failed, perhaps before the engine could drop its graph
	slot     chan struct{} // holds an element during a call; guards the following fields
	lastCall uint64        // ID of a call
	fate     error         // why the process has ended or was killed
	reported bool          // a call has returned fate
}

var (
	_ plugins.Engine      = (*Client)(nil)
	_ plugins.Repeater    = (*Client)(nil)
	_ plugins.Accelerator = (*Client)(nil)
)

// PID returns the process ID of the engine.
func (c *Client) PID() int { return c.process.started().PID() }

// Freeze stops the engine's process until the next call, so that it cannot change data after a call has
// returned.
func (c *Client) Freeze() { c.frozen.Store(true); c.process.started().Freeze() }

// Checksum returns the SHA-256 of the engine's file, a program or a library, in hex, as of the start of the engine.
func (c *Client) Checksum() string { return c.file.sum }

// PrivateMemory returns the number of bytes that the engine's process shares with no other. It is known on Linux while
// the process runs.
func (c *Client) PrivateMemory() (bytes int64, known bool) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", c.PID()))
	if err != nil {
		return 0, false
	}
	var size, resident, shared int64 // pages, see proc(5)
	if _, err := fmt.Sscan(string(data), &size, &resident, &shared); err != nil {
		return 0, false
	}
	return (resident - shared) * int64(os.Getpagesize()), true
}

// Describe implements plugins.Engine. An engine that does not answer within the limit for its start is killed, and the
// host does not open it again.
func (c *Client) Describe(ctx context.Context) (plugins.Description, error) {
	limit := c.host.limits.start
	limited, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("it may take at most %v", limit))
	defer cancel()
	d, err := exchange(limited, c, c.engine.Describe, &enginepb.DescribeRequest{}, descriptionFromWire)
	if errors.Is(err, ErrHung) && limited.Err() != nil && ctx.Err() == nil {
		c.neverAgain(fmt.Errorf("describe: %w", err))
	}
	return d, err
}

// Construct implements plugins.Engine. Tuples and weights must lie in memory from Host.Tuples and Host.Weights.
func (c *Client) Construct(ctx context.Context, in plugins.Input) (built plugins.Construction, err error) {
	tuples, weights, err := c.lists(in, present)
	if err != nil {
		return built, err
	}
	built, err = exchange(ctx, c, c.engine.Construct, &enginepb.ConstructRequest{
		Tuples: tuples, ShortestPaths: in.ShortestPaths, Weights: weights, Recipe: recipes.message(in.Recipe),
		DeviceTuples: deviceTuples.message(in.DeviceTuples), First: in.First, Options: in.Options,
		Place: places.message(in.Place),
	}, constructionFromWire)
	if !errors.Is(err, ErrBusy) {
		c.unbuilt.Store(err != nil)
	}
	return built, err
}

// lists names the tuples and weights to another process.
func (c *Client) lists(in plugins.Input, state pages) (tuples, weights *enginepb.Segment, err error) {
	if tuples, err = segmentOf(c.host, tupleSegment, in.Tuples, state); err == nil {
		weights, err = segmentOf(c.host, weightSegment, in.Weights, state)
	}
	return tuples, weights, err
}

// checkGraph returns an error if the last Construct has failed.
func (c *Client) checkGraph() error {
	if c.unbuilt.Load() && c.open.Err() == nil {
		return plugins.ErrNotConstructed
	}
	return nil
}

// Close implements plugins.Engine. It cancels a running call, closes the engine and always ends its process. It returns
// the engine's error; or how its process has ended, if no call has returned that; or an error that wraps ErrChecksum if
// the engine's file has changed since its start.
func (c *Client) Close() (err error) {
	c.host.mu.Lock()
	again := c.open.Err() != nil
	c.shut()
	c.host.mu.Unlock()
	c.slot <- struct{}{} // after the running call
	defer func() { <-c.slot }()
	if again {
		return nil
	}
	if !c.reported {
		ctx, cancel := context.WithTimeout(context.Background(), c.host.limits.close)
		defer cancel()
		err = c.watched(ctx, func(ctx context.Context) error {
			_, err := c.engine.Close(ctx, &enginepb.CloseRequest{})
			return err
		})
	}
	c.process.closing.Store(true)
	c.disconnect()
	c.host.mu.Lock()
	delete(c.host.clients, c)
	c.host.mu.Unlock()
	if err == nil {
		err = c.file.compare()
	}
	return err
}

// disconnect makes go-plugin end the process and the connection, and kills the process if that takes too long. A
// process that cannot be killed, because it hangs inside a driver, is left to the system.
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
			c.process.logger.Error("rpc: the engine's process cannot be killed", "pid", c.process.ID())
		}
	}
	if connection := c.connection.Load(); connection != nil {
		_ = connection.Close() // fails only if go-plugin has closed it
	}
}

// A Cancel message informs the engine that a call's context has ended, and the engine answers the call. An engine that
// does not answer is killed, with its process group.

// exchange makes a call, unless another one is running, and reads its answer. Close may end it.
func exchange[Q proto.Message, W, T any](ctx context.Context, c *Client,
	call func(context.Context, Q, ...grpc.CallOption) (W, error), request Q, read func(W) (T, error),
) (answer T, err error) {
	select {
	case c.slot <- struct{}{}:
	default:
		return answer, ErrBusy
	}
	defer func() { <-c.slot }()
	if c.open.Err() != nil {
		return answer, plugins.ErrClosed
	}
	ctx, interrupt := context.WithCancelCause(ctx)
	defer interrupt(nil)
	defer context.AfterFunc(c.open, func() { interrupt(plugins.ErrClosed) })()
	go c.watchStops(ctx, interrupt)
	var reply W
	message := request.ProtoReflect()
	message.Set(message.Descriptor().Fields().ByName("call_id"), protoreflect.ValueOfUint64(c.lastCall+1))
	err = c.watched(ctx, func(ctx context.Context) (err error) {
		reply, err = call(ctx, request)
		return err
	})
	if err != nil {
		return answer, err
	}
	return read(reply)
}

// watchStops interrupts a call if something stops the engine's process for a while, as SIGSTOP does.
func (c *Client) watchStops(call context.Context, interrupt context.CancelCauseFunc) {
	const looks = 4
	interval := c.host.limits.stopped / looks
	for stopped := 0; stopped < looks; {
		select {
		case <-call.Done():
			return
		case <-time.After(interval):
		}
		if stopped++; !c.process.started().IsStopped() {
			stopped = 0
		}
	}
	interrupt(fmt.Errorf("its process %d was stopped, and not continued for %v", c.PID(), c.host.limits.stopped))
}

// watched makes a call and returns the engine's error, or an error that says what happened to the engine. The call of a
// part is made even if ctx has ended: the engine's processes agree on an error.
func (c *Client) watched(ctx context.Context, do func(ctx context.Context) error) error {
	if err := ctx.Err(); err != nil && !c.part {
		return err
	}
	if c.process.started().HasExited() {
		return c.death()
	}
	if c.frozen.Swap(false) {
		_ = c.process.started().Signal(syscall.SIGCONT)
	}
	connection, abort := context.WithCancel(context.Background())
	defer abort()
	c.lastCall++
	start, returned, canceled := time.Now(), make(chan struct{}), make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(canceled)
		c.cancel(ctx, start, returned, abort)
	})
	err := do(connection)
	close(returned)
	if !stop() {
		<-canceled
	}
	if err == nil {
		return nil
	}
	return c.explain(ctx, err)
}

// cancel ends the running call, which began at start, after its context has ended. abort ends it without the engine.
func (c *Client) cancel(ctx context.Context, start time.Time, returned <-chan struct{}, abort func()) {
	sending, stop := context.WithCancel(context.Background())
	var message sync.WaitGroup
	defer message.Wait()
	defer stop()
	id := c.lastCall
	message.Go(func() { _, _ = c.engine.Cancel(sending, &enginepb.CancelRequest{CallId: id}) })

	grace := c.host.limits.grace
	select {
	case <-returned:
		return
	case <-time.After(grace):
	}
	why := ""
	if cause := context.Cause(ctx); cause != ctx.Err() {
		why = fmt.Sprintf(" (%v)", cause)
	}
	c.condemn(fmt.Errorf("%w: no answer %v after the call was canceled%s, %v after its start; killed",
		ErrHung, grace, why, time.Since(start).Round(time.Millisecond)))
	select {
	case <-returned:
	case <-time.After(killTime):
		abort() // not even SIGKILL has ended the process
	}
}

// explain returns the error of a call that gRPC ended with err.
func (c *Client) explain(ctx context.Context, err error) error {
	if answer, ok := FromStatus(err); ok {
		if errors.Is(answer, context.Canceled) && ctx.Err() != nil {
			return &engineError{text: answer.Error(), wrapped: []error{ctx.Err(), context.Cause(ctx)}}
		}
		return answer
	}
	text := printable(status.Convert(err).Message())
	switch status.Code(err) {
	case codes.Unimplemented:
		return fmt.Errorf("the engine does not have this call: %w", errors.ErrUnsupported)
	case codes.Unavailable, codes.Canceled: // the connection is broken
	default:
		if !c.process.started().HasExited() {
			return fmt.Errorf("%w: %s", ErrAnswer, text)
		}
	}
	if !c.process.hasEnded(noticeTime) {
		c.process.kill()
		c.condemn(fmt.Errorf("%w: it closed the connection and was killed: %s; %s", ErrCrashed, text,
			c.process.lastOutput()))
	}
	if err = c.death(); ctx.Err() != nil { // it was canceled, and why
		err = &engineError{text: err.Error(), wrapped: []error{err, ctx.Err(), context.Cause(ctx)}}
	}
	return err
}

// condemn kills the engine for a reason. The first reason counts.
func (c *Client) condemn(reason error) {
	if c.fate == nil {
		c.fate = reason
	}
	c.process.kill()
}

// death returns the error of every call of an engine whose process has ended or was killed.
func (c *Client) death() error {
	if c.fate == nil {
		c.fate = fmt.Errorf("%w: %s", ErrCrashed, c.process.ending())
	}
	c.reported = true
	return c.fate
}

// Search implements plugins.Engine. The arrays must lie in memory from Host.Parents and Host.Distances; the engine
// keeps them mapped for the next search.
func (c *Client) Search(ctx context.Context, root graph.Vertex, out plugins.Output) (t plugins.Traversal, err error) {
	if err = c.checkGraph(); err != nil {
		return t, err
	}
	request := &enginepb.SearchRequest{Root: int64(root)}
	if request.Parent, request.Distance, err = c.output(out); err != nil {
		return t, err
	}
	return exchange(ctx, c, c.engine.Search, request, func(t *enginepb.Traversal) (plugins.Traversal, error) {
		traversal := traversals.value(t)
		return traversal, checkTraversal(traversal, out, c.part)
	})
}

// Repeat implements plugins.Repeater. The error of an engine that does not repeat wraps errors.ErrUnsupported.
func (c *Client) Repeat(ctx context.Context, roots []graph.Vertex, duration time.Duration, out plugins.Output) (
	searches int64, err error) {
	if err = c.checkGraph(); err != nil {
		return 0, err
	}
	request := &enginepb.RepeatRequest{
		DurationNs: int64(duration), Roots: each(roots, func(root graph.Vertex) int64 { return int64(root) }),
	}
	if request.Parent, request.Distance, err = c.output(out); err != nil {
		return 0, err
	}
	return exchange(ctx, c, c.engine.Repeat, request, searchesFromWire)
}

// output names the arrays of a search to another process. Distances without elements are present, too.
func (c *Client) output(out plugins.Output) (parent, distance *enginepb.Segment, err error) {
	if parent, err = segmentOf(c.host, parentSegment, out.Parent, present); err != nil {
		return nil, nil, err
	}
	if distance, err = segmentOf(c.host, distanceSegment, out.Distance, present); out.Distance != nil && distance == nil {
		distance = &enginepb.Segment{}
	}
	return parent, distance, err
}

// checkTraversal checks the report of a search. The parents of a part of a graph, and those of kernel 3, do not tell
// how many levels there may be.
func checkTraversal(t plugins.Traversal, out plugins.Output, part bool) error {
	if part || out.Distance != nil {
		out.Parent = nil
	}
	return impossible(t.Check(out.Parent))
}

package rpc

// An engine learns of the end of a call's context by a Cancel message and answers the call itself. Only an engine that
// does not is killed, with its process group.

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/plugins/rpc/internal/enginepb"
)

// remote makes one gRPC call with the given ID.
type remote func(ctx context.Context, id uint64) error

// exchange makes a call and reads its answer.
func exchange[W, T any](ctx context.Context, c *Client,
	do func(ctx context.Context, id uint64) (W, error), read func(W) (T, error),
) (answer T, err error) {
	var reply W
	err = c.call(ctx, func(ctx context.Context, id uint64) (err error) {
		reply, err = do(ctx, id)
		return err
	})
	if err != nil {
		return answer, err
	}
	return read(reply)
}

// call makes a call unless another one is running. Close may end it.
func (c *Client) call(ctx context.Context, do remote) error {
	select {
	case c.slot <- struct{}{}:
	default:
		return ErrBusy
	}
	defer func() { <-c.slot }()
	if c.open.Err() != nil {
		return plugins.ErrClosed
	}
	ctx, interrupt := context.WithCancelCause(ctx)
	defer interrupt(nil)
	defer context.AfterFunc(c.open, func() { interrupt(plugins.ErrClosed) })()
	return c.watched(ctx, do)
}

// watched makes a call and returns the engine's error, or what has happened to the engine.
func (c *Client) watched(ctx context.Context, do remote) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if c.process.started().HasExited() {
		return c.death()
	}
	connection, abort := context.WithCancel(context.Background())
	defer abort()
	c.lastCall++
	start, returned, canceled := time.Now(), make(chan struct{}), make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(canceled)
		c.cancel(ctx, start, returned, abort)
	})
	err := do(connection, c.lastCall)
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
	if answer, ok := fromStatus(err); ok {
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

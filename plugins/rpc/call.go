package rpc

// Every call is watched while it runs: for the end of its context, for the end of the engine's process, and for a
// process that was stopped. The engine learns of the end of a context by a Cancel message, and answers the call itself;
// only an engine that does not is killed, with its process group. The first look at a process comes after half a
// second, so that nothing happens beside a short search.

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

// lookEvery is how often the state of a process is looked at during a call.
const lookEvery = 500 * time.Millisecond

// remote is one gRPC call.
type remote func(ctx context.Context, call *enginepb.Call) error

// call makes a watched call that Close may end.
func (c *Client) call(ctx context.Context, action string, do remote) error {
	return c.watched(ctx, c.closing, action, do)
}

// watched makes a call and returns the engine's error, or what has become of the engine. closing may be nil.
func (c *Client) watched(ctx context.Context, closing <-chan struct{}, action string, do remote) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("rpc: %s: %s: %w", c.name, action, err)
	}
	if c.process.gone() {
		return c.death(action)
	}
	call := &enginepb.Call{Id: c.calls.Add(1)}
	if deadline, ok := ctx.Deadline(); ok {
		call.TimeoutNs = max(1, int64(time.Until(deadline)))
	}
	wire, abort := context.WithCancel(context.Background())
	defer abort()
	w := watch{client: c, action: action, id: call.Id, began: time.Now(), abort: abort, returned: make(chan struct{})}
	var watcher sync.WaitGroup
	watcher.Go(func() { w.run(ctx, closing) })
	err := do(wire, call)
	close(w.returned)
	watcher.Wait()
	return c.verdict(ctx, action, err)
}

// verdict is the error of a call that has ended with err.
func (c *Client) verdict(ctx context.Context, action string, err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, ErrAnswer) {
		return fmt.Errorf("rpc: %s: %s: %w", c.name, action, err)
	}
	if answer, ok := fromStatus(err); ok {
		return c.cancelled(ctx, answer)
	}
	if status.Code(err) == codes.Unimplemented {
		return fmt.Errorf("rpc: %s: %s: the engine has no such call: %w", c.name, action, errors.ErrUnsupported)
	}
	// No answer of the engine: the connection broke, or what came over it made no sense.
	if code := status.Code(err); code != codes.Unavailable && code != codes.Canceled && !c.process.gone() {
		return fmt.Errorf("rpc: %s: %s: %w: %w", c.name, action, ErrAnswer, err)
	}
	if !c.process.ended(time.Second) {
		c.condemn(fmt.Errorf("it cut the connection and was killed (%w): %w", err, ErrCrashed))
		c.process.ended(time.Second)
	}
	death := c.death(action)
	if ended := ctx.Err(); ended != nil { // true of this call alone, not of later ones
		return &engineError{words: death.Error(), sentinels: []error{death, ended}}
	}
	return death
}

// cancelled gives an answer "cancelled" the reason that the host knows.
func (c *Client) cancelled(ctx context.Context, answer error) error {
	if !errors.Is(answer, context.Canceled) && !errors.Is(answer, context.DeadlineExceeded) {
		return answer
	}
	if err := ctx.Err(); err != nil {
		return &engineError{words: answer.Error(), sentinels: []error{err}}
	}
	select {
	case <-c.closing:
		return &engineError{words: answer.Error(), sentinels: []error{plugins.ErrClosed, context.Canceled}}
	default:
		return answer
	}
}

// condemn kills the engine for a reason; the first reason stays.
func (c *Client) condemn(reason error) {
	c.mu.Lock()
	if c.fate == nil {
		c.fate = reason
	}
	c.mu.Unlock()
	c.process.kill()
}

// death is the error of every call of an engine whose process is gone, or past saving.
func (c *Client) death(action string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.fate == nil {
		c.fate = fmt.Errorf("%w: %s", ErrCrashed, c.process.ending())
	}
	c.told = true
	return fmt.Errorf("rpc: %s: %s: %w", c.name, action, c.fate)
}

func (c *Client) isTold() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.told
}

// watch is the watching of one call.
type watch struct {
	client   *Client
	action   string
	id       uint64
	began    time.Time
	abort    func()        // ends the gRPC call
	returned chan struct{} // closed when it has returned
}

// run watches until the call has returned.
func (w *watch) run(ctx context.Context, closing <-chan struct{}) {
	var messages sync.WaitGroup
	defer messages.Wait()
	messaging, silence := context.WithCancel(context.Background())
	defer silence()

	ended, exited := ctx.Done(), w.client.process.exited
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	var grace, dying <-chan time.Time
	var stoppedSince time.Time
	cancel := func() {
		ended, closing = nil, nil
		grace = time.After(w.client.host.options.Grace)
		messages.Go(func() {
			_, err := w.client.engine.Cancel(messaging, &enginepb.CancelRequest{CallId: w.id})
			if err != nil && messaging.Err() == nil {
				w.client.process.output.logger.Debug("rpc: cancel a call", "error", err)
			}
		})
	}
	condemn := func(reason error) {
		grace, look.C = nil, nil
		w.client.condemn(reason)
		dying = time.After(killTime)
	}
	for {
		select {
		case <-w.returned:
			return
		case <-exited:
			exited = nil
			w.abort()
		case <-dying:
			w.abort() // not even SIGKILL ended it
		case <-ended:
			cancel()
		case <-closing:
			cancel()
		case <-grace:
			condemn(w.hung(ctx))
		case now := <-look.C:
			switch {
			case !isStopped(w.client.PID()):
				stoppedSince = time.Time{}
			case stoppedSince.IsZero():
				stoppedSince = now
			case now.Sub(stoppedSince) >= w.client.host.options.StopLimit:
				condemn(fmt.Errorf("%w: a signal (SIGSTOP or the like) has held it for %v; killed", ErrStopped, now.Sub(stoppedSince).Round(lookEvery)))
			}
		}
	}
}

// hung is the reason to kill an engine that has not returned within the grace time.
func (w *watch) hung(ctx context.Context) error {
	why := ctx.Err()
	if why == nil {
		why = plugins.ErrClosed
	}
	what := ErrHung
	if isStopped(w.client.PID()) {
		what = ErrStopped
	}
	return fmt.Errorf("%w: no answer %v after the end of the call's context (%v), %v after its start; killed",
		what, w.client.host.options.Grace, why, time.Since(w.began).Round(time.Millisecond))
}

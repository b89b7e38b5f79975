package rpc

// Open works around three properties of go-plugin. Its start cannot be interrupted, so it runs in a goroutine and the
// process is killed. It forgets a connection that fails half-way, so the connection is closed here. It keeps the
// directory of the socket until the end, where a killed host would leave it behind; here the directory is removed once
// the connection stands, which is therefore never made again.

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"
	plugin "github.com/hashicorp/go-plugin"
	"github.com/hashicorp/go-plugin/runner"
	"google.golang.org/grpc"

	"github.com/tepsbench/teps/internal/child"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/plugins/rpc/internal/enginepb"
)

// Open starts an engine. If ctx ends before the engine has answered, the engine is killed; after Open ctx is not used.
//
// Errors wrap ErrProgram, ErrChecksum, ErrHandshake, those of ctx, and plugins.ErrClosed after Close.
func (h *Host) Open(ctx context.Context, p Program) (*Client, error) {
	if p.Name == "" {
		p.Name = filepath.Base(p.Path)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	file, err := p.examine()
	if err == nil {
		h.mu.Lock()
		err = h.silent[file.path]
		h.mu.Unlock()
	}
	if err != nil {
		return nil, err
	}
	program, err := filepath.Abs(p.Path) // exec.Command searches PATH for a name without a directory
	if err != nil {
		return nil, err
	}
	sockets, err := child.NewDir("teps-host-")
	if err != nil {
		return nil, err
	}
	client := &Client{
		host: h, file: file, slot: make(chan struct{}, 1),
		process: &process{
			cmd: exec.Command(program, p.Args...), logger: h.logger.With("engine", p.Name), tail: child.NewTail(),
			keep: func(source, line string) { h.output.add(h.logger, p.Name, source, line) },
		},
	}
	client.open, client.shut = context.WithCancel(context.Background())
	err = errors.Join(client.start(ctx, sockets.Path()), sockets.Remove())
	if err == nil {
		err = file.compare()
	}
	if err == nil {
		err = h.adopt(client)
	}
	if err != nil {
		client.process.kill()
		client.disconnect()
		return nil, err
	}
	return client, nil
}

// adopt makes the host responsible for closing a client.
func (h *Host) adopt(c *Client) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return fmt.Errorf("the host is closed: %w", plugins.ErrClosed)
	}
	if h.files[c.file.path] == "" {
		h.files[c.file.path] = c.file.sum
	} else if h.files[c.file.path] != c.file.sum {
		return c.file.changed()
	}
	h.clients[c] = true
	return nil
}

// start runs the program until its engine can be called. After an error the process may still be running.
func (c *Client) start(ctx context.Context, dir string) error {
	limit := c.host.limits.start
	c.plugin = plugin.NewClient(&plugin.ClientConfig{
		HandshakeConfig:  handshakeConfig(),
		VersionedPlugins: versions(&service{}),
		RunnerFunc: func(_ hclog.Logger, spec *exec.Cmd, _ string) (runner.Runner, error) {
			c.process.cmd.Env = environment(os.Environ(), spec.Env)
			return c.process, nil
		},
		SkipHostEnv:      true,
		AutoMTLS:         true,
		AllowedProtocols: []plugin.Protocol{plugin.ProtocolGRPC},
		StartTimeout:     limit + time.Minute, // limit itself is enforced below
		UnixSocketConfig: &plugin.UnixSocketConfig{TempDir: dir},
		Logger:           hclog.NewNullLogger(),
		GRPCDialOptions: []grpc.DialOption{
			grpc.WithIdleTimeout(0), grpc.WithStreamInterceptor(c.stream),
			answerLimits(),
		},
	})
	connected := make(chan error, 1)
	go func() { connected <- c.connect() }()
	timeout := time.NewTimer(limit)
	defer timeout.Stop()
	select {
	case err := <-connected:
		return c.startError(err)
	case <-ctx.Done():
		c.process.kill()
		<-connected
		return fmt.Errorf("it was killed before it answered: %w", ctx.Err())
	case <-timeout.C:
		c.process.kill()
		<-connected
		return fmt.Errorf("%w: it did not answer within %v and was killed; %s", ErrHandshake, limit, c.process.lastOutput())
	}
}

// connect starts the process, connects, and asks go-plugin's health service for a sign of life.
func (c *Client) connect() error {
	protocol, err := c.plugin.Client()
	if err != nil {
		return err
	}
	c.engine = enginepb.NewEngineClient(c.connection.Load())
	return protocol.Ping()
}

// stream is a gRPC interceptor that keeps the connection: the first thing that go-plugin does with it is to open a
// stream.
func (c *Client) stream(ctx context.Context, description *grpc.StreamDesc, connection *grpc.ClientConn, method string,
	streamer grpc.Streamer, options ...grpc.CallOption,
) (grpc.ClientStream, error) {
	c.connection.Store(connection)
	return streamer(ctx, description, connection, method, options...)
}

// startError replaces go-plugin's error about a failed start by what has happened.
func (c *Client) startError(err error) error {
	if err == nil {
		return nil
	}
	if c.process.started() == nil {
		return explainStart(c.process.cmd.Path, err)
	}
	if fault := c.process.fault.Load(); fault != nil {
		c.process.kill()
		if output := c.process.lastOutput(); !strings.Contains(output, "|grpc|") { // the handshake, too late
			return fmt.Errorf("%w; %s", *fault, output)
		}
		return *fault
	}
	if c.process.hasEnded(noticeTime) && !c.process.started().Killed() {
		return fmt.Errorf("%w: it ended before it could be called: %s", ErrHandshake, c.process.ending())
	}
	c.process.kill()
	return fmt.Errorf("%w: it runs but does not answer (%w) and was killed; %s", ErrHandshake, err, c.process.lastOutput())
}

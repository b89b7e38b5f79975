package rpc

// Open starts a program and makes the connection. Three traps of go-plugin are dealt with here: its start cannot be
// interrupted, so it runs in a goroutine and the process is killed under it; it forgets connections that fail half-way,
// so every connection is collected and closed; and it keeps the socket's folder until the end, so that a killed host
// leaves it behind: here the folder goes as soon as the connection stands, which therefore must never be made anew.

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
	plugin "github.com/hashicorp/go-plugin"
	"github.com/hashicorp/go-plugin/runner"
	"google.golang.org/grpc"

	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/plugins/rpc/internal/enginepb"
)

// startTime is the default of Program.StartTimeout.
const startTime = 15 * time.Second

// Open starts an engine. When ctx ends before the engine has answered, it is killed; later ctx means nothing to it.
//
// Errors: ErrProgram, ErrChecksum, ErrHandshake, ErrVersion, those of ctx, and plugins.ErrClosed after Close.
func (h *Host) Open(ctx context.Context, p Program) (*Client, error) {
	if p.Name == "" {
		p.Name = filepath.Base(p.Path)
	}
	if p.StartTimeout <= 0 {
		p.StartTimeout = startTime
	}
	client, err := h.open(ctx, p)
	if err != nil {
		return nil, fmt.Errorf("rpc: open %s: %w", p.Name, err)
	}
	return client, nil
}

func (h *Host) open(ctx context.Context, p Program) (*Client, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	file, err := p.examine()
	if err != nil {
		return nil, err
	}
	h.swept.Do(func() { sweep(folderBase(os.TempDir())) })
	var sockets folder
	dir, err := sockets.path()
	if err != nil {
		return nil, err
	}
	client := newClient(h, p, file)
	err = errors.Join(client.start(ctx, p, file, dir), sockets.remove())
	if err == nil {
		err = file.unchanged()
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

// adopt makes the host responsible for a client.
func (h *Host) adopt(c *Client) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return fmt.Errorf("the host is closed: %w", plugins.ErrClosed)
	}
	h.clients[c] = struct{}{}
	return nil
}

// start runs the program until its engine can be called. After an error the process may still have to be killed.
func (c *Client) start(ctx context.Context, p Program, file image, dir string) error {
	logger := c.process.output.logger
	c.plugin = plugin.NewClient(&plugin.ClientConfig{
		HandshakeConfig:  handshake(),
		VersionedPlugins: versions(&service{}),
		RunnerFunc: func(_ hclog.Logger, spec *exec.Cmd, _ string) (runner.Runner, error) {
			c.process.cmd.Env = environment(os.Environ(), p.Env, spec.Env, lowestLevel(logger))
			return c.process, nil
		},
		SkipHostEnv:      true, // it would win over what Program.Env says
		AutoMTLS:         true,
		AllowedProtocols: []plugin.Protocol{plugin.ProtocolGRPC},
		StartTimeout:     p.StartTimeout + time.Minute, // the shorter one is kept below
		UnixSocketConfig: &plugin.UnixSocketConfig{TempDir: dir},
		Logger:           pluginLogger(logger),
		SyncStdout:       printed{c.process.output, "stdout"},
		SyncStderr:       printed{c.process.output, "stderr"},
		GRPCDialOptions:  []grpc.DialOption{grpc.WithIdleTimeout(0), grpc.WithStreamInterceptor(c.connections.collect)},
	})
	connected := make(chan error, 1)
	go func() { connected <- c.connect() }()
	timeout := time.NewTimer(p.StartTimeout)
	defer timeout.Stop()
	select {
	case err := <-connected:
		return c.startFault(file, err)
	case <-ctx.Done():
		c.process.kill()
		<-connected
		return fmt.Errorf("given up before it answered: %w", ctx.Err())
	case <-timeout.C:
		c.process.kill()
		<-connected
		return fmt.Errorf("no answer within %v; killed%s: %w", p.StartTimeout, c.lastWords(), ErrHandshake)
	}
}

// connect starts the process, connects, and asks go-plugin's health service for a sign of life.
func (c *Client) connect() error {
	protocol, err := c.plugin.Client()
	if err != nil {
		return err
	}
	raw, err := protocol.Dispense(serviceName)
	if err != nil {
		return err
	}
	c.engine = raw.(enginepb.EngineClient) // service.GRPCClient made it
	return protocol.Ping()
}

// startFault turns what go-plugin says about a failed start into what happened.
func (c *Client) startFault(file image, err error) error {
	if err == nil {
		return nil
	}
	if c.process.ID() == "" {
		return file.startError(err)
	}
	if fault := c.process.handshakeFault(); fault != nil {
		c.process.kill()
		return fmt.Errorf("%w%s", fault, c.lastWords())
	}
	if c.process.killed.Load() || !c.process.ended(time.Second) {
		c.process.kill()
		return fmt.Errorf("it runs, but cannot be talked to (%w); killed%s: %w", err, c.lastWords(), ErrHandshake)
	}
	return fmt.Errorf("it ended before it could be called: %s: %w", c.process.ending(), ErrHandshake)
}

// lastWords waits shortly for the end of a killed process and quotes its output.
func (c *Client) lastWords() string {
	c.process.ended(time.Second)
	return c.process.output.lastWords()
}

// connections are the gRPC connections that go-plugin has made for one engine.
type connections struct {
	mu  sync.Mutex
	all []*grpc.ClientConn
}

// collect is a gRPC interceptor. go-plugin opens a stream on every connection first of all, and so shows it to us.
func (c *connections) collect(ctx context.Context, description *grpc.StreamDesc, conn *grpc.ClientConn, method string,
	streamer grpc.Streamer, options ...grpc.CallOption,
) (grpc.ClientStream, error) {
	c.mu.Lock()
	c.all = append(c.all, conn)
	c.mu.Unlock()
	return streamer(ctx, description, conn, method, options...)
}

// close closes what is still open.
func (c *connections) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, conn := range c.all {
		_ = conn.Close() // it says only that it is closed already
	}
}

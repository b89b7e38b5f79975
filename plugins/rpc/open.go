// SPDX-License-Identifier: Apache-2.0

package rpc

// Open works around three properties of go-plugin. Its start cannot be interrupted, so it runs in a goroutine and the
// process is killed. It does not close a connection that fails half-way, so the connection is closed here. It keeps the
// directory of the socket until the end, so the directory is removed here once the connection exists.

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/hashicorp/go-hclog"
	plugin "github.com/hashicorp/go-plugin"
	"github.com/hashicorp/go-plugin/runner"
	"google.golang.org/grpc"

	"github.com/tepsbench/teps/internal/child"
	"github.com/tepsbench/teps/internal/regular"
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
	file, err := examine(cmp.Or(p.Library, p.Path))
	if err != nil {
		return nil, err
	}
	if p.SHA256 != "" && !strings.EqualFold(p.SHA256, file.sum) {
		return nil, fmt.Errorf("%s has the SHA-256 %s, but %s was expected: %w", file.path, file.sum, p.SHA256, ErrChecksum)
	}
	key := fmt.Sprint(file.path, p.Args)
	h.mu.Lock()
	err = h.silent[key]
	h.mu.Unlock()
	program, absErr := filepath.Abs(p.Path) // exec.Command searches PATH for a name without a directory
	if err = cmp.Or(err, absErr); err != nil {
		return nil, err
	}
	sockets, err := child.NewDir("teps-host-")
	if err != nil {
		return nil, err
	}
	client := &Client{
		Lender: h, host: h, file: file, key: key, part: p.Start != nil, slot: make(chan struct{}, 1),
		process: &process{
			cmd: exec.Command(program, p.Args...), start: p.Start, logger: h.logger.With("engine", p.Name),
			tail: child.NewTail(),
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
			if c.process.cmd.Env = spec.Env; c.process.start == nil {
				c.process.cmd.Env = environment(os.Environ(), spec.Env)
			}
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
			grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(4<<20), grpc.ForceCodec(codec{})),
		},
	})
	connected := make(chan error, 1)
	go func() { connected <- c.connect() }()
	select {
	case err := <-connected:
		return c.startError(err)
	case <-ctx.Done():
	case <-time.After(limit):
	}
	c.process.kill()
	<-connected
	if ctx.Err() != nil {
		return fmt.Errorf("it was killed before it answered: %w", ctx.Err())
	}
	err := fmt.Errorf("%w: it did not answer within %v and was killed; %s", ErrHandshake, limit, c.process.lastOutput())
	c.neverAgain(err)
	return err
}

// neverAgain makes the host refuse the program from now on, so that no call waits for a silent engine twice.
func (c *Client) neverAgain(err error) {
	c.host.mu.Lock()
	defer c.host.mu.Unlock()
	c.host.silent[c.key] = err
}

func (c *Client) connect() error {
	protocol, err := c.plugin.Client()
	if err != nil {
		return err
	}
	c.engine = enginepb.NewEngineClient(c.connection.Load())
	return protocol.Ping()
}

// stream is a gRPC interceptor that keeps the connection, on which go-plugin first opens a stream.
func (c *Client) stream(ctx context.Context, description *grpc.StreamDesc, connection *grpc.ClientConn, method string,
	streamer grpc.Streamer, options ...grpc.CallOption,
) (grpc.ClientStream, error) {
	c.connection.Store(connection)
	return streamer(ctx, description, connection, method, options...)
}

// startError replaces go-plugin's error about a failed start by one that says what happened.
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

// Program is an engine's program and how to run it. Only Path is required.
type Program struct {
	Name    string   // of the engine in messages and logs; default: the file's name
	Path    string   // of the program's file; PATH is not searched
	Args    []string // after the program's name
	Library string   // what the program loads, if that is the engine: its checksum counts
	SHA256  string   // expected checksum of the engine's file, in hex; empty: any
	// Start makes a process that exists already run the program; nil: the host starts a child. cmd.Env has only the
	// variables that the process needs besides its own. When the process has ended and all output has been written to
	// cmd.Stdout and cmd.Stderr, atEnd must be called.
	Start func(cmd *exec.Cmd, atEnd func()) (*child.Process, error)
}

// image is a file when its checksum was taken.
type image struct {
	path string // absolute
	sum  string // SHA-256, in hex
	info os.FileInfo
}

// Checksum returns the SHA-256 of an engine's file, a program or a library, in hex. Errors wrap ErrProgram.
func Checksum(path string) (string, error) {
	i, err := examine(path)
	return i.sum, err
}

func examine(name string) (i image, err error) {
	if name == "" {
		return i, fmt.Errorf("no path is given: %w", ErrProgram)
	}
	hash := sha256.New()
	var file *os.File
	if i.path, err = filepath.Abs(name); err == nil {
		file, i.info, err = regular.Open(i.path, os.O_RDONLY)
	}
	if err == nil {
		defer file.Close()
		_, err = io.Copy(hash, file)
	}
	if err != nil {
		return i, fmt.Errorf("%w: %w", ErrProgram, err)
	}
	i.sum = hex.EncodeToString(hash.Sum(nil))
	return i, nil
}

// compare checks that the contents of the engine's file are still those that were examined. It reads the file only if
// its inode, size or time of change differs: it detects a rebuild at the wrong moment, not an attack.
func (i image) compare() error {
	now, err := os.Stat(i.path)
	if err == nil && os.SameFile(i.info, now) && now.Size() == i.info.Size() && now.ModTime().Equal(i.info.ModTime()) {
		return nil
	}
	if now, err := examine(i.path); err != nil || now.sum != i.sum {
		return i.changed()
	}
	return nil // written again with the same contents
}

func (i image) changed() error {
	return fmt.Errorf("%s changed during the run; measure again, and leave it as it is: %w", i.path, ErrChecksum)
}

func explainStart(program string, err error) error {
	hint := ""
	switch {
	case errors.Is(err, fs.ErrPermission):
		hint = "; run chmod +x on it"
	case errors.Is(err, syscall.ENOEXEC):
		hint = ": it was built for another machine, or it is a script whose first line does not begin with #!"
	case errors.Is(err, fs.ErrNotExist):
		hint = ": the interpreter or loader that it names does not exist"
	}
	if cause := (*os.PathError)(nil); errors.As(err, &cause) && cause.Path == program {
		err = cause.Err // without the name of the call and the path
	}
	return fmt.Errorf("%w: %s: %w%s", ErrProgram, program, err, hint)
}

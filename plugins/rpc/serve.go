package rpc

// Serve is all that an engine's main function calls:
//
//	func main() { rpc.Serve(myengine.New()) }
//
// It must be called before anything is printed to standard output: the first line there is the handshake. Afterwards
// both standard outputs, the log package and log/slog are forwarded to the log of the host.

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/hashicorp/go-hclog"
	plugin "github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"

	"github.com/tepsbench/teps/plugins"
)

// Serve hands engine to the host that started this process, and returns when the host has closed it. It sets the
// default logger of log/slog. Without a host it says so on standard error and exits with status 2.
//
// A host that closes an engine, or gives it up, kills the whole process group: what an engine starts should not leave
// it. When the host itself is killed, Linux kills the engine at once, and only the engine: what it has started must
// notice that by itself (syscall.SysProcAttr.Pdeathsig, or the end of its standard input).
func Serve(engine plugins.Engine) {
	if os.Getenv(cookieKey) != cookieValue {
		name, err := os.Executable()
		if err != nil {
			name = os.Args[0]
		}
		fmt.Fprintf(os.Stderr, "%s: this is an engine of teps and does nothing alone; run: teps run --engine %s\n", filepath.Base(name), name)
		os.Exit(2)
	}
	stdout, stderr := os.Stdout, os.Stderr
	slog.SetDefault(slog.New(slog.NewJSONHandler(stderr, &slog.HandlerOptions{Level: levelFromHost()})))
	go followHost(os.Getppid())

	// go-plugin replaces os.Stdout and os.Stderr by streams over the connection, which lose the last words of an engine
	// that prints and exits. They are put back before the first call; the host reads the real ones.
	restore := sync.OnceFunc(func() { os.Stdout, os.Stderr = stdout, stderr })
	s := newServer(engine)
	plugin.Serve(&plugin.ServeConfig{
		HandshakeConfig:  handshake(),
		VersionedPlugins: versions(&service{server: s}),
		GRPCServer: func(options []grpc.ServerOption) *grpc.Server {
			return grpc.NewServer(append(options, grpc.UnaryInterceptor(
				func(ctx context.Context, request any, _ *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (any, error) {
					restore()
					return handle(ctx, request)
				}))...)
		},
		Logger: hclog.New(&hclog.LoggerOptions{Name: "go-plugin", Level: hclog.Warn, Output: stderr}),
	})
	if err := engine.Close(); err != nil {
		slog.Error("close the engine", "error", err)
	}
}

// levelFromHost reads the log level that the host asks for.
func levelFromHost() slog.Level {
	var level slog.Level
	if err := level.UnmarshalText([]byte(os.Getenv(levelKey))); err != nil {
		return slog.LevelInfo
	}
	return level
}

// hostPoll is how often an engine looks whether its host lives.
const hostPoll = 250 * time.Millisecond

// followHost ends this process when its parent is gone. On Linux the host's death also kills its direct children at
// once (processAttributes); this is for other systems, and for engines behind a wrapper script.
func followHost(parent int) {
	for os.Getppid() == parent {
		time.Sleep(hostPoll)
	}
	if syscall.Getpgrp() == os.Getpid() {
		_ = syscall.Kill(0, syscall.SIGKILL) // what it has started, and this process with it
	}
	os.Exit(3)
}

package rpc

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
	"github.com/tepsbench/teps/plugins/rpc/internal/enginepb"
)

// Serve connects engine with the host that has started this process, and returns when the host has closed the engine:
//
//	func main() { rpc.Serve(myengine.New()) }
//
// It must be called before anything is printed to standard output. Afterwards both outputs go to the log of the host,
// line by line. Without a host it says so on standard error and exits with status 2.
//
// A host that closes an engine or gives it up kills its process group. When the host itself is killed, Linux kills the
// engine at once, but not the processes that the engine has started; those must notice by themselves.
func Serve(engine plugins.Engine) { serveUntilClosed(engine, &server{engine: engine}) }

func serveUntilClosed(engine plugins.Engine, server enginepb.EngineServer) {
	if os.Getenv(cookieKey) != cookieValue {
		name, err := os.Executable()
		if err != nil {
			name = os.Args[0]
		}
		fmt.Fprintf(os.Stderr, "%s: this is an engine of teps, which does not run by itself; name it to teps run: %s\n",
			filepath.Base(name), name)
		os.Exit(2)
	}
	stdout, stderr := os.Stdout, os.Stderr
	go dieWithHost(os.Getppid())

	// go-plugin replaces os.Stdout and os.Stderr by streams over the connection, which lose the last output of an engine
	// that ends. They are put back before the first call; the host reads the real ones.
	restore := sync.OnceFunc(func() { os.Stdout, os.Stderr = stdout, stderr })
	plugin.Serve(&plugin.ServeConfig{
		HandshakeConfig:  handshakeConfig(),
		VersionedPlugins: versions(&service{server: server}),
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

// hostPoll is how often an engine looks whether its host is alive.
const hostPoll = 250 * time.Millisecond

// dieWithHost ends this process when its parent is gone. Linux does that at once for direct children of the host (see
// package child); this is for other systems and for engines behind a script.
func dieWithHost(parent int) {
	for os.Getppid() == parent {
		time.Sleep(hostPoll)
	}
	if syscall.Getpgrp() == os.Getpid() {
		_ = syscall.Kill(0, syscall.SIGKILL) // this process and what it has started
	}
	os.Exit(3)
}

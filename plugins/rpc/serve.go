// SPDX-License-Identifier: Apache-2.0

package rpc

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/hashicorp/go-hclog"
	plugin "github.com/hashicorp/go-plugin"
	"golang.org/x/sys/unix"
	"google.golang.org/grpc"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/plugins/rpc/internal/enginepb"
)

// Serve connects engine with the host that has started this process, and returns when the host has closed the engine:
//
//	func main() { rpc.Serve(myengine.New()) }
//
// It must be called before anything is printed to standard output. Afterwards both outputs go to the log of the host,
// line by line. Without a host it says so on standard error and exits with status 2. When the host is killed, Linux
// kills the engine at once, but not the processes that the engine has started; those must watch for the end of the
// engine.
func Serve(engine plugins.Engine) { serveUntilClosed(engine, &server{engine: engine}) }

func serveUntilClosed(engine plugins.Engine, server enginepb.EngineServer) {
	if os.Getenv(cookieKey) != cookieValue {
		name, err := os.Executable()
		if err != nil {
			name = os.Args[0]
		}
		fmt.Fprintf(os.Stderr, "%s: this is an engine of teps, which does not run by itself; run it with teps run: %s\n",
			filepath.Base(name), name)
		os.Exit(2)
	}
	stdout, stderr := os.Stdout, os.Stderr
	go dieWithHost(os.Getppid())
	go dieWithReader(int(stdout.Fd()))

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

// dieWithHost ends this process when its parent is gone, on systems other than Linux and for engines behind a script.
func dieWithHost(parent int) {
	for os.Getppid() == parent {
		time.Sleep(250 * time.Millisecond)
	}
	die()
}

// dieWithReader ends this process when the host, which reads the pipe stdout, is gone. The parent of an engine that a
// launcher has started is not the host.
func dieWithReader(stdout int) {
	for {
		pipe := []unix.PollFd{{Fd: int32(stdout)}}
		if _, err := unix.Poll(pipe, -1); err != nil && err != unix.EINTR {
			return
		}
		switch {
		case pipe[0].Revents&unix.POLLERR != 0:
			die()
		case pipe[0].Revents != 0: // not a pipe, or closed
			return
		}
	}
}

func die() {
	if syscall.Getpgrp() == os.Getpid() {
		_ = syscall.Kill(0, syscall.SIGKILL) // this process and what it has started
	}
	os.Exit(3)
}

// server answers the calls of engine.proto with an Engine. A panic of the engine is not recovered: its state is
// unknown, so the process ends, and the host reports the panic.
type server struct {
	enginepb.UnimplementedEngineServer
	engine plugins.Engine
	part   bool // it is one of several processes

	call sync.Mutex                // held by the running call; guards kept
	kept map[segmentKind]keptShare // of the last call with segments that stay mapped

	mu       sync.Mutex // guards what follows
	running  uint64     // ID of the running call; 0: none
	cancel   context.CancelFunc
	canceled uint64 // highest ID in a Cancel, which may arrive before its call
}

// answer makes a call of the engine and reads the reply as the host does, to check it. Its context ends with Cancel and
// with the connection.
func answer[T, W, R any](ctx context.Context, s *server, id uint64, do func(ctx context.Context) (T, error),
	write func(T) W, read func(W) (R, error),
) (reply W, err error) {
	s.call.Lock()
	defer s.call.Unlock()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s.mu.Lock()
	s.running, s.cancel = id, cancel
	if id <= s.canceled {
		cancel()
	}
	s.mu.Unlock()
	result, err := do(ctx)
	s.mu.Lock()
	s.running = 0
	s.mu.Unlock()
	if err == nil {
		reply = write(result)
		_, err = read(reply)
	}
	return reply, ToStatus(err)
}

func (s *server) Cancel(_ context.Context, request *enginepb.CancelRequest) (*enginepb.CancelReply, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.canceled = max(s.canceled, request.GetCallId())
	if s.running != 0 && s.running <= s.canceled {
		s.cancel()
	}
	return &enginepb.CancelReply{}, nil
}

func (s *server) Describe(ctx context.Context, request *enginepb.DescribeRequest) (*enginepb.Description, error) {
	return answer(ctx, s, request.GetCallId(), s.engine.Describe, descriptions.message, descriptionFromWire)
}

// Construct maps the tuples for the time of the call: an engine must not use them later.
func (s *server) Construct(ctx context.Context, request *enginepb.ConstructRequest) (*enginepb.Construction, error) {
	return answer(ctx, s, request.GetCallId(), func(ctx context.Context) (c plugins.Construction, err error) {
		err = withLists(request, func(in plugins.Input) (err error) {
			in.ShortestPaths, in.Options = request.GetShortestPaths(), request.GetOptions()
			in.DeviceTuples = deviceTuples.value(request.GetDeviceTuples())
			in.Place, in.First = places.value(request.GetPlace()), request.GetFirst()
			c, err = s.engine.Construct(ctx, in)
			return err
		})
		s.part = request.GetPlace().GetSize() > 1
		return c, err
	}, constructions.message, constructionFromWire)
}

// withLists maps the tuples and weights of a request while use runs.
func withLists(request interface {
	GetTuples() *enginepb.Segment
	GetWeights() *enginepb.Segment
	GetRecipe() *enginepb.Recipe
}, use func(in plugins.Input) error) error {
	return mapped(request.GetTuples(), tupleSegment, func(tuples []graph.Edge) error {
		return mapped(request.GetWeights(), weightSegment, func(weights []float32) error {
			return use(plugins.Input{Tuples: tuples, Weights: weights, Recipe: recipes.value(request.GetRecipe())})
		})
	})
}

// mapped maps the elements that wire names, for reading, while use runs; nil if wire names none.
func mapped[E element](wire *enginepb.Segment, kind segmentKind, use func(elements []E) error) error {
	m, err := attach(wire, kind, false)
	if err != nil {
		return err
	}
	defer m.unmap()
	elements, err := part[E](m, wire, kind)
	if err != nil {
		return err
	}
	if wire == nil {
		elements = nil
	}
	return use(elements)
}

func (s *server) Search(ctx context.Context, request *enginepb.SearchRequest) (*enginepb.Traversal, error) {
	return answer(ctx, s, request.GetCallId(), func(ctx context.Context) (t plugins.Traversal, err error) {
		out, err := s.output(request.GetParent(), request.GetDistance())
		if err == nil {
			t, err = s.engine.Search(ctx, graph.Vertex(request.GetRoot()), out)
		}
		if err == nil {
			err = checkTraversal(t, out, s.part)
		}
		return t, err
	}, traversals.message, nothing)
}

// output maps the arrays of a search; kernel 2 has no distances.
func (s *server) output(parents, distances *enginepb.Segment) (out plugins.Output, err error) {
	kinds := []segmentKind{parentSegment}
	if distances != nil {
		kinds = append(kinds, distanceSegment)
	}
	if err = s.dropOthers(kinds...); err == nil {
		out.Parent, err = keep[graph.Vertex](s, parents, parentSegment)
	}
	if err == nil && distances != nil {
		out.Distance, err = keep[float32](s, distances, distanceSegment)
	}
	return out, err
}

// keptShare is a segment that stays mapped after a call.
type keptShare struct {
	mapping
	id uint64
}

// keep maps the segment that wire names unless it is mapped already, in place of the last one of its kind, and returns
// the part of it that wire names, for writing.
func keep[E element](s *server, wire *enginepb.Segment, kind segmentKind) ([]E, error) {
	if share := s.kept[kind]; wire.GetId() != share.id {
		delete(s.kept, kind)
		if err := share.unmap(); err != nil {
			return nil, err
		}
		m, err := attach(wire, kind, true)
		if err != nil {
			return nil, err
		}
		if s.kept == nil {
			s.kept = map[segmentKind]keptShare{}
		}
		s.kept[kind] = keptShare{m, wire.GetId()}
	}
	return part[E](s.kept[kind].mapping, wire, kind)
}

// dropOthers unmaps the segments of all but the given kinds.
func (s *server) dropOthers(kinds ...segmentKind) (err error) {
	for kind, share := range s.kept {
		if !slices.Contains(kinds, kind) {
			err = errors.Join(err, share.unmap())
			delete(s.kept, kind)
		}
	}
	return err
}

// Repeat answers UNIMPLEMENTED for an engine that does not repeat.
func (s *server) Repeat(ctx context.Context, request *enginepb.RepeatRequest) (*enginepb.RepeatReply, error) {
	repeater, ok := s.engine.(plugins.Repeater)
	if !ok {
		return s.UnimplementedEngineServer.Repeat(ctx, request)
	}
	return answer(ctx, s, request.GetCallId(), func(ctx context.Context) (int64, error) {
		out, err := s.output(request.GetParent(), request.GetDistance())
		if err != nil {
			return 0, err
		}
		roots := each(request.GetRoots(), func(root int64) graph.Vertex { return graph.Vertex(root) })
		return repeater.Repeat(ctx, roots, time.Duration(request.GetDurationNs()), out)
	}, func(searches int64) *enginepb.RepeatReply { return &enginepb.RepeatReply{Searches: searches} }, searchesFromWire)
}

func (s *server) Close(context.Context, *enginepb.CloseRequest) (*enginepb.CloseReply, error) {
	return &enginepb.CloseReply{}, ToStatus(s.engine.Close())
}

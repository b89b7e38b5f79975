package rpc

// The tests run real child processes: this test binary, started again with the variable actKey, becomes the engine (or
// the host) that the test is about.

import (
	"context"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	plugin "github.com/hashicorp/go-plugin"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/plugins/enginetest"
)

const (
	actKey  = "TEPS_RPC_TEST_ACT"
	moreKey = "TEPS_RPC_TEST_MORE" // what an act wants to know
)

func TestMain(m *testing.M) {
	if name := os.Getenv(actKey); name != "" {
		act, ok := acts()[name]
		if !ok {
			fmt.Fprintln(os.Stderr, "no such act:", name)
			os.Exit(9)
		}
		act()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// actor is the serial engine, but for what a test replaces.
type actor struct {
	plugins.Engine
	describe  func()
	construct func(plugins.Graph)
	search    func(ctx context.Context, root graph.Vertex, parent []graph.Vertex) (plugins.Traversal, error)
	close     func()
}

func (a *actor) Describe(ctx context.Context) (plugins.Description, error) {
	if a.describe != nil {
		a.describe()
	}
	return a.Engine.Describe(ctx)
}

func (a *actor) Construct(ctx context.Context, g plugins.Graph) (plugins.Construction, error) {
	if a.construct != nil {
		a.construct(g)
	}
	return a.Engine.Construct(ctx, g)
}

func (a *actor) Search(ctx context.Context, root graph.Vertex, parent []graph.Vertex) (plugins.Traversal, error) {
	if a.search != nil {
		return a.search(ctx, root, parent)
	}
	return a.Engine.Search(ctx, root, parent)
}

func (a *actor) Close() error {
	if a.close != nil {
		a.close()
	}
	return a.Engine.Close()
}

func serve(a actor) func() {
	return func() {
		a.Engine = enginetest.NewSerial()
		Serve(&a)
	}
}

// searching makes an engine whose searches do something else.
func searching(do func()) actor {
	return actor{search: func(context.Context, graph.Vertex, []graph.Vertex) (plugins.Traversal, error) {
		do()
		return plugins.Traversal{}, errors.New("the act went on after its end")
	}}
}

// answering makes an engine whose searches give one answer.
func answering(t plugins.Traversal) actor {
	return actor{search: func(context.Context, graph.Vertex, []graph.Vertex) (plugins.Traversal, error) { return t, nil }}
}

func forever() {
	for {
		time.Sleep(time.Hour)
	}
}

// become replaces this process by a shell command.
func become(command string) {
	panic(syscall.Exec("/bin/sh", []string{"sh", "-c", command}, os.Environ()))
}

func lastWords() {
	fmt.Fprintln(os.Stderr, "these are my last words")
	os.Exit(3)
}

func acts() map[string]func() {
	var waits actor
	waits.search = func(ctx context.Context, _ graph.Vertex, _ []graph.Vertex) (plugins.Traversal, error) {
		if note := os.Getenv(moreKey); note != "" { // says that it waits
			if err := os.WriteFile(note, nil, 0o600); err != nil {
				panic(err)
			}
		}
		<-ctx.Done()
		return plugins.Traversal{}, fmt.Errorf("waiter: stopped as told: %w", ctx.Err())
	}
	return map[string]func(){
		"serial": serve(actor{}),
		"host":   hostAct,

		"panics in describe":  serve(actor{describe: func() { panic("boom in describe") }}),
		"panics in construct": serve(actor{construct: func(plugins.Graph) { panic("boom in construct") }}),
		"panics in search":    serve(searching(func() { panic("boom in search") })),
		"exits in describe":   serve(actor{describe: lastWords}),
		"exits in construct":  serve(actor{construct: func(plugins.Graph) { lastWords() }}),
		"exits in search":     serve(searching(lastWords)),
		"faults in describe":  serve(actor{describe: func() { become("kill -SEGV $$") }}),
		"faults in construct": serve(actor{construct: func(plugins.Graph) { become("kill -SEGV $$") }}),
		"faults in search":    serve(searching(func() { become("kill -SEGV $$") })),
		"cuts the connection": serve(searching(func() { closeSockets(); forever() })),

		"writes before the parents": serve(actor{search: func(_ context.Context, root graph.Vertex, parent []graph.Vertex) (plugins.Traversal, error) {
			copy(parent, []graph.Vertex{1, 1, 1})
			writeBefore(parent)
			return plugins.Traversal{Elapsed: 1}, nil
		}}),
		"writes to tuples": serve(actor{construct: func(g plugins.Graph) { g.Tuples[0] = graph.MakeEdge(7, 7) }}),
		"hangs":            serve(searching(forever)),
		"hangs with a child": serve(searching(func() {
			child := exec.Command("sleep", "1000")
			if err := child.Start(); err != nil {
				panic(err)
			}
			if err := os.WriteFile(os.Getenv(moreKey), fmt.Append(nil, child.Process.Pid), 0o600); err != nil {
				panic(err)
			}
			forever()
		})),
		"stops":          serve(searching(func() { syscall.Kill(os.Getpid(), syscall.SIGSTOP); forever() })),
		"waits":          serve(waits),
		"hangs in close": serve(actor{close: forever}),

		"chatters": serve(actor{search: func(context.Context, graph.Vertex, []graph.Vertex) (plugins.Traversal, error) {
			fmt.Println("on standard output")
			fmt.Fprintln(os.Stderr, "on standard error")
			log.Println("through log")
			slog.Warn("through slog", "number", 42)
			slog.Debug("through slog, quietly")
			return plugins.Traversal{}, nil
		}}),
		"shows its environment": serve(actor{search: func(context.Context, graph.Vertex, []graph.Vertex) (plugins.Traversal, error) {
			return plugins.Traversal{}, fmt.Errorf("%s|%s|%s", os.Getenv(moreKey), os.Getenv("TEPS_TEST_INHERITED"), os.Getenv("PLUGIN_UNIX_SOCKET_GROUP"))
		}}),
		"fails by root": serve(actor{search: func(_ context.Context, root graph.Vertex, _ []graph.Vertex) (plugins.Traversal, error) {
			return plugins.Traversal{}, fmt.Errorf("words of root %d: %w", root, sentinels()[root])
		}}),
		"reports its mappings": serve(actor{search: reportMappings}),

		"gives a negative time":      serve(answering(plugins.Traversal{Elapsed: -1})),
		"gives a negative frontier":  serve(answering(plugins.Traversal{Levels: []plugins.Level{{Frontier: -5}}})),
		"gives a negative count":     serve(answering(plugins.Traversal{Levels: []plugins.Level{{Edges: plugins.Counted(-1)}}})),
		"gives an unknown direction": serve(answering(plugins.Traversal{Levels: []plugins.Level{{Direction: 9}}})),
		"gives broken text": serve(answering(plugins.Traversal{Levels: []plugins.Level{{
			Phases: []plugins.Phase{{Name: "\xff\xfe"}},
		}}})),
		"gives an absurd time": serve(answering(plugins.Traversal{Elapsed: 1000 * time.Hour})),

		"prints first":       func() { fmt.Println("Welcome to my engine!"); serve(actor{})() },
		"prints binary":      func() { os.Stdout.Write(make([]byte, 1<<20)); forever() },
		"says nothing":       forever,
		"closes its output":  func() { os.Stdout.Close(); forever() },
		"exits at once":      lastWords,
		"lies":               func() { fmt.Println("1|1|unix|/nowhere/at/all|grpc|" + fakeCertificate); forever() },
		"lies and exits":     func() { fmt.Println("1|1|unix|/nowhere/at/all|grpc|" + fakeCertificate); os.Exit(4) },
		"has no certificate": func() { fmt.Println("1|1|unix|/nowhere/at/all|grpc|"); forever() },
		"speaks net/rpc":     func() { fmt.Println("1|1|unix|/nowhere/at/all|netrpc|"); forever() },
		"speaks version 2": func() {
			plugin.Serve(&plugin.ServeConfig{
				HandshakeConfig: handshake(), GRPCServer: plugin.DefaultGRPCServer,
				VersionedPlugins: map[int]plugin.PluginSet{2: {serviceName: &service{server: newServer(enginetest.NewSerial())}}},
			})
		},
		"speaks versions 1 and 2": func() {
			both := versions(&service{server: newServer(enginetest.NewSerial())})
			both[2] = plugin.PluginSet{}
			plugin.Serve(&plugin.ServeConfig{HandshakeConfig: handshake(), GRPCServer: plugin.DefaultGRPCServer, VersionedPlugins: both})
		},
		"wants another cookie": func() {
			plugin.Serve(&plugin.ServeConfig{
				HandshakeConfig: plugin.HandshakeConfig{MagicCookieKey: cookieKey, MagicCookieValue: "another"},
				GRPCServer:      plugin.DefaultGRPCServer, VersionedPlugins: versions(&service{server: newServer(enginetest.NewSerial())}),
			})
		},
	}
}

// sentinels are all errors that keep their identity on the way from an engine.
func sentinels() []error {
	return []error{
		plugins.ErrUnavailable, plugins.ErrOption, plugins.ErrTuples, plugins.ErrMemory, plugins.ErrNotConstructed,
		plugins.ErrRoot, plugins.ErrParent, plugins.ErrClosed, context.Canceled, context.DeadlineExceeded,
	}
}

// reportMappings answers a search with how often shared memory is mapped, as an error's words.
func reportMappings(context.Context, graph.Vertex, []graph.Vertex) (plugins.Traversal, error) {
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return plugins.Traversal{}, err
	}
	var found []string
	for line := range strings.Lines(string(maps)) {
		if _, name, ok := strings.Cut(line, "/memfd:teps-"); ok {
			found = append(found, strings.Fields(name)[0])
		}
	}
	slices.Sort(found)
	return plugins.Traversal{}, errors.New(strings.Join(found, " "))
}

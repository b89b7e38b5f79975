// SPDX-License-Identifier: Apache-2.0

package rpc

// The tests start real processes: this test binary with the variable actKey, which makes it the engine or the host that
// the test is about.

import (
	"context"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/internal/must"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/plugins/testdata/bycpu"
	"github.com/tepsbench/teps/serial"
)

type traversal = plugins.Traversal

const (
	actKey  = "TEPS_RPC_TEST_ACT"
	moreKey = "TEPS_RPC_TEST_MORE" // a parameter of an act
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

// actor is the serial engine with some methods replaced.
type actor struct {
	engine    plugins.Engine
	describe  func()
	construct func(plugins.Input) error
	search    func(ctx context.Context, root graph.Vertex, parent []graph.Vertex) (traversal, error)
	close     func()
}

func (a *actor) Describe(ctx context.Context) (plugins.Description, error) {
	if a.describe != nil {
		a.describe()
	}
	return a.engine.Describe(ctx)
}

func (a *actor) Construct(ctx context.Context, g plugins.Input) (plugins.Construction, error) {
	if a.construct != nil {
		return plugins.Construction{}, a.construct(g)
	}
	return a.engine.Construct(ctx, g)
}

func (a *actor) Search(ctx context.Context, root graph.Vertex, out plugins.Output) (traversal, error) {
	if a.search != nil {
		return a.search(ctx, root, out.Parent)
	}
	return a.engine.Search(ctx, root, out)
}

func (a *actor) Close() error {
	if a.close != nil {
		a.close()
	}
	return a.engine.Close()
}

func serve(a actor) func() {
	return func() {
		a.engine = serial.New()
		Serve(&a)
	}
}

// searching returns an engine whose searches do something else.
func searching(do func()) actor {
	return actor{search: func(context.Context, graph.Vertex, []graph.Vertex) (traversal, error) {
		do()
		return traversal{}, errors.New("the act did not end")
	}}
}

func forever() {
	for {
		time.Sleep(time.Hour)
	}
}

// become replaces this process with a shell command.
func become(command string) {
	panic(syscall.Exec("/bin/sh", []string{"sh", "-c", command}, os.Environ()))
}

func lastWords() {
	fmt.Fprintln(os.Stderr, "these are my last words")
	os.Exit(3)
}

func acts() map[string]func() {
	var waits actor
	waits.search = func(ctx context.Context, _ graph.Vertex, _ []graph.Vertex) (traversal, error) {
		if note := os.Getenv(moreKey); note != "" { // to report that it waits
			_ = os.WriteFile(note, []byte("waiting"), 0o600)
		}
		<-ctx.Done()
		return traversal{}, fmt.Errorf("waiter: canceled: %w", ctx.Err())
	}
	return map[string]func(){
		"serial": func() { Serve(serial.New()) },
		"host":   hostAct,

		"accelerates": func() { ServeAccelerator(&bycpu.Accelerator{}) },

		"shows its input": serve(actor{construct: func(in plugins.Input) error {
			return fmt.Errorf("%v %q %d", in.Tuples, in.DeviceTuples.Handle, in.DeviceTuples.Count)
		}}),

		"panics in describe":  serve(actor{describe: func() { panic("boom in describe") }}),
		"exits in construct":  serve(actor{construct: func(plugins.Input) error { lastWords(); return nil }}),
		"faults in search":    serve(searching(func() { become("kill -SEGV $$") })),
		"cuts the connection": serve(searching(func() { closeSockets(); forever() })),

		"writes to tuples": serve(actor{construct: func(g plugins.Input) error {
			g.Tuples[0] = graph.MakeEdge(7, 7)
			return nil
		}}),
		"hangs": serve(searching(forever)),
		"works on": serve(actor{search: func(_ context.Context, _ graph.Vertex, parent []graph.Vertex) (traversal, error) {
			go func() {
				for {
					parent[0]++
				}
			}()
			return traversal{Elapsed: 1}, nil
		}}),
		"hangs with a child": serve(searching(func() {
			child := exec.Command("sleep", "1000")
			child.SysProcAttr = &syscall.SysProcAttr{Setsid: runtime.GOOS == "linux"} // it leaves the process group
			_ = child.Start()
			_ = os.WriteFile(os.Getenv(moreKey), fmt.Append(nil, child.Process.Pid), 0o600)
			forever()
		})),
		"waits":             serve(waits),
		"hangs in describe": serve(actor{describe: forever}),
		"hangs in close":    serve(actor{close: forever}),

		"chatters": serve(actor{search: func(context.Context, graph.Vertex, []graph.Vertex) (traversal, error) {
			fmt.Println("on standard output")
			fmt.Fprintln(os.Stderr, "on standard error")
			log.Println("through log")
			slog.Warn("through slog", "number", 42)
			return traversal{}, nil
		}}),
		"reports its mappings": serve(actor{search: reportMappings}),

		"lies in its answers": func() { serveUntilClosed(serial.New(), liar{}) },

		"prints first":      func() { fmt.Println("Welcome to my engine!"); serve(actor{})() },
		"says nothing":      forever,
		"closes its output": func() { os.Stdout.Close(); forever() },
		"exits at once":     lastWords,
		"lies":              func() { fmt.Println("1|1|unix|/nowhere/at/all|grpc|" + fakeCertificate()); forever() },
		"lies and exits":    func() { fmt.Println("1|1|unix|/nowhere/at/all|grpc|" + fakeCertificate()); os.Exit(4) },
	}
}

// reportMappings answers a search with an error that lists the sizes of the mapped segments in bytes.
func reportMappings(context.Context, graph.Vertex, []graph.Vertex) (traversal, error) {
	var found []string
	for line := range strings.Lines(string(must.Get(os.ReadFile("/proc/self/maps")))) {
		if strings.Contains(line, "/memfd:teps-") {
			file := must.Get(os.Stat("/proc/self/map_files/" + strings.Fields(line)[0]))
			found = append(found, strconv.FormatInt(file.Size(), 10))
		}
	}
	return traversal{}, errors.New(strings.Join(found, " "))
}

// BenchmarkEmptySearch is the cost of the connection: a search of one vertex, with and without it.
func BenchmarkEmptySearch(b *testing.B) {
	s := newStage(b)
	tuples := first(s.Tuples(1))
	tuples[0] = graph.MakeEdge(0, 0)
	for name, engine := range map[string]plugins.Engine{"in-process": serial.New(), "rpc": s.open("serial")} {
		b.Run(name, func(b *testing.B) {
			parent := s.parents(1)
			must.Get(engine.Construct(b.Context(), plugins.Input{Tuples: tuples}))
			must.Get(engine.Search(b.Context(), 0, plugins.Output{Parent: parent})) // maps the parents
			b.ReportAllocs()
			for b.Loop() {
				must.Get(engine.Search(b.Context(), 0, plugins.Output{Parent: parent}))
			}
		})
	}
}

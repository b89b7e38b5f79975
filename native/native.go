// Package native makes an engine of a shared library that has the functions of teps_engine.h: C, C++, CUDA, Fortran,
// whatever can export C functions. The engine runs in a process of its own (Serve), so that a library that crashes is
// the error of one call.
//
// What is watched over here: crashes are described in one line (crash.c); all calls come from one thread, because
// OpenMP keeps a team of threads for each thread that calls it; a library whose memory grows with every search is
// refused (leak.go); what the contract asks for beside the two kernels, clocks among it, is package kernels. That a
// search writes nothing behind the parent array is the matter of the pages behind it, which package rpc keeps shut,
// and what a search returns is validated by the host.
package native

import (
	"context"
	_ "embed"
	"fmt"
	"path/filepath"
	"time"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/plugins/kernels"
)

//go:embed teps_engine.h
var header string

// Header is the text of teps_engine.h, which a library is compiled with.
func Header() string { return header }

// Engine is a library as an engine. One process can have one.
type Engine struct {
	path   string
	thread *thread

	loaded *library
	engine plugins.Engine // over the library; nil: not loaded yet
	memory growth
	closed bool
}

var (
	_ plugins.Engine   = (*Engine)(nil)
	_ plugins.Repeater = (*Engine)(nil)
)

// New returns the engine of the library at path, which is loaded by the first call: a library may print what it wants
// while it is loaded, and whatever is wrong with it is an error of that call.
func New(path string) *Engine { return &Engine{path: path, thread: newThread()} }

// made is what teps_construct reports.
type made struct {
	vertices, bytes int64
	entries         plugins.Count
	vertexBits      int
	tuning          string
}

// ready loads the library once.
func (e *Engine) ready() error {
	if e.closed {
		return fmt.Errorf("%s: %w", filepath.Base(e.path), plugins.ErrClosed)
	}
	if e.engine != nil {
		return nil
	}
	path, err := filepath.Abs(e.path) // without a folder in it, dlopen would look elsewhere
	if err != nil {
		return err
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real // as the system lists it
	}
	l, err := load(path)
	if err != nil {
		return err
	}
	d, err := l.describe()
	if err != nil {
		return fmt.Errorf("%s: %w", filepath.Base(path), err)
	}
	e.loaded, e.engine = l, kernels.New(d, e.build(d.Options))
	return nil
}

// build is kernel 1 of the library.
func (e *Engine) build(options []plugins.Option) kernels.Build {
	var names []string
	for _, o := range options {
		names = append(names, o.Name)
	}
	return func(ctx context.Context, tuples []graph.Edge, set plugins.Settings) (kernels.Graph, error) {
		m, err := e.loaded.construct(ctx, tuples, names, set)
		if err != nil {
			return kernels.Graph{}, err
		}
		e.memory = growth{}
		g := kernels.Graph{
			Vertices: m.vertices, Bytes: m.bytes, Entries: m.entries, VertexBits: m.vertexBits, Tuning: m.tuning,
			Search: e.loaded.search, Free: e.loaded.free,
		}
		if e.loaded.repeats() {
			g.Repeat = e.loaded.repeat
		}
		return g, nil
	}
}

// Describe implements plugins.Engine.
func (e *Engine) Describe(ctx context.Context) (d plugins.Description, err error) {
	e.thread.do(func() {
		if err = e.ready(); err == nil {
			d, err = e.engine.Describe(ctx)
		}
	})
	return d, err
}

// Construct implements plugins.Engine.
func (e *Engine) Construct(ctx context.Context, g plugins.Graph) (c plugins.Construction, err error) {
	e.thread.do(func() {
		if err = e.ready(); err == nil {
			c, err = e.engine.Construct(ctx, g)
		}
	})
	return c, err
}

// Search implements plugins.Engine. Beside the contract's errors, it fails for a library that leaks.
func (e *Engine) Search(ctx context.Context, root graph.Vertex, parent []graph.Vertex) (t plugins.Traversal, err error) {
	e.thread.do(func() {
		if err = e.ready(); err == nil {
			t, err = e.engine.Search(ctx, root, parent)
		}
	})
	if err == nil {
		err = e.memory.afterSearch()
	}
	return t, err
}

// Repeat implements plugins.Repeater, by teps_repeat if the library has it.
func (e *Engine) Repeat(ctx context.Context, roots []graph.Vertex, duration time.Duration) (searches int64, err error) {
	e.thread.do(func() {
		if err = e.ready(); err == nil {
			searches, err = e.engine.(plugins.Repeater).Repeat(ctx, roots, duration) // kernels.New promises it
		}
	})
	return searches, err
}

// Close implements plugins.Engine.
func (e *Engine) Close() (err error) {
	if e.closed {
		return nil
	}
	e.thread.do(func() {
		if e.engine != nil {
			err = e.engine.Close()
		}
	})
	e.closed = true
	return err
}

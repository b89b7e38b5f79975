// SPDX-License-Identifier: Apache-2.0

//go:build cgo

package native

// This is the only file of the package that knows C and uses unsafe.

/*
#cgo CFLAGS: -std=gnu99 -O2 -Wall -Wextra
#cgo linux LDFLAGS: -ldl
#include "bridge.h"
*/
import "C"

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
)

// The memory layouts that C and Go share.
var (
	_ [unsafe.Sizeof(graph.Edge{})]byte    = [C.sizeof_teps_tuple]byte{}
	_ [unsafe.Sizeof(graph.Vertex(0))]byte = [C.sizeof_int64_t]byte{}
	_ [unsafe.Sizeof(float32(0))]byte      = [C.sizeof_float]byte{}
)

// maxLevels is the number of levels that a search can report. A Kronecker graph has about ten.
const maxLevels = 4096

// library is a shared library as an engine. Its data for C is outside the Go heap.
type library struct {
	path      string
	functions C.bridge_library
	call      *C.teps_call // nil: not loaded
	graph     *C.teps_graph
	about     plugins.Description
	levels    []plugins.Level // reused by each search
}

// New returns an engine of the library at path. The first call loads it: a library may print anything while it is
// loaded, and a fault of it is an error of that call. A process can have one library.
func New(path string) plugins.Engine {
	l := newLibrary(path)
	return plugins.New(l.describe, l.build)
}

func newLibrary(path string) *library { return &library{path: path} }

// calls are made by Serve.
var calls = make(chan func())

// Serve makes the calls of libraries, on the thread of its caller, until serve returns. That should be the first thread
// of the process: glibc gives other threads small heaps, and returns their pages after each search.
func Serve(serve func()) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	ended := make(chan struct{})
	go func() {
		serve()
		close(ended)
	}()
	for {
		select {
		case call := <-calls:
			call()
		case <-ended:
			return
		}
	}
}

// onThread makes a call on the thread of Serve. It returns the time of the call, without the time to wake the thread.
func (l *library) onThread(call func()) (elapsed time.Duration) {
	done := make(chan struct{})
	calls <- func() {
		start := time.Now()
		call()
		elapsed = time.Since(start)
		close(done)
	}
	<-done
	return elapsed
}

func (l *library) describe() (d plugins.Description, err error) {
	if l.call == nil {
		l.onThread(func() { err = l.load() })
	}
	return l.about, err
}

// explainLoad says why the loader of the system did not load the library at path, and what to do.
func explainLoad(path, reason string) error {
	reason, itself := strings.CutPrefix(reason, path+": ") // or else another library that it needs
	missing := strings.HasSuffix(reason, "cannot open shared object file: No such file or directory")
	switch {
	case itself && (missing || strings.HasPrefix(reason, "wrong ELF class")):
		reason = "it was built for another machine" // the file is there
	case missing:
		reason += "; install it, or add its directory to LD_LIBRARY_PATH"
	case strings.HasPrefix(reason, "undefined symbol"):
		reason += "; link the library that defines it"
	}
	return fmt.Errorf("load %s: %s", path, reason)
}

// load loads the library, reports its crashes from then on, and calls teps_describe.
func (l *library) load() error {
	path, err := filepath.Abs(l.path) // dlopen searches for names without a directory
	if err != nil {
		return err
	}
	file, name := C.CString(path), C.CString(filepath.Base(path))
	message := (*C.char)(C.calloc(1, 1024))
	defer C.free(unsafe.Pointer(file))
	defer C.free(unsafe.Pointer(name))
	defer C.free(unsafe.Pointer(message))
	if C.bridge_load(file, name, &l.functions, message, 1024) != 0 {
		return explainLoad(path, C.GoString(message))
	}
	if l.about, err = l.ask(); err != nil {
		return fmt.Errorf("%s: %w", filepath.Base(path), err)
	}
	// calloc does not fail for so few bytes.
	l.call = (*C.teps_call)(C.calloc(1, C.sizeof_teps_call))
	l.call.levels = (*C.teps_level)(C.calloc(maxLevels, C.sizeof_teps_level))
	l.call.level_room = maxLevels
	l.graph = (*C.teps_graph)(C.calloc(1, C.sizeof_teps_graph))
	return nil
}

func (l *library) ask() (plugins.Description, error) {
	const margin = 1 << 16 // for a library that was compiled with a later header and writes more
	d := (*C.teps_description)(C.calloc(1, C.sizeof_teps_description+margin))
	defer C.free(unsafe.Pointer(d))
	if code := C.bridge_describe(&l.functions, d); code != 0 {
		return plugins.Description{}, fmt.Errorf("teps_describe returned %d; it must return TEPS_OK, and write into "+
			"unavailable what is missing", code)
	}
	if d.abi != C.TEPS_ABI {
		return plugins.Description{}, fmt.Errorf("it was compiled for version %d of teps_engine.h, and this teps needs "+
			"version %d: set abi = TEPS_ABI and compile it with the header of this release", d.abi, C.TEPS_ABI)
	}
	about := plugins.Description{
		Name: text(d.name[:]), Version: text(d.version[:]), Summary: text(d.summary[:]),
		Unavailable: text(d.unavailable[:]), ShortestPaths: l.functions.shortest_paths != nil,
		Memory: plugins.Memory{
			Fixed: int64(d.bytes_fixed), PerVertex: float64(d.bytes_per_vertex), PerTuple: float64(d.bytes_per_tuple),
		},
		PathMemory: plugins.Memory{PerVertex: float64(d.paths_per_vertex), PerTuple: float64(d.paths_per_tuple)},
	}
	if device := text(d.device[:]); device != "" {
		about.Devices = []plugins.Device{{Kind: "device", Name: device, Units: int(d.units)}}
	}
	for _, o := range d.options {
		if o.name[0] == 0 {
			break
		}
		option, err := optionOf(&o)
		if err != nil {
			return plugins.Description{}, err
		}
		about.Options = append(about.Options, option)
	}
	return about, nil
}

func optionOf(o *C.teps_option) (plugins.Option, error) {
	kinds := map[C.int32_t]plugins.Kind{
		C.TEPS_INT: plugins.Int, C.TEPS_FLOAT: plugins.Float, C.TEPS_BOOL: plugins.Bool,
		C.TEPS_CHOICE: plugins.Choice, C.TEPS_TEXT: plugins.Text,
	}
	option := plugins.Option{
		Name: text(o.name[:]), Kind: kinds[o.kind], Default: text(o.value[:]), Meaning: text(o.meaning[:]),
	}
	if option.Kind == "" {
		return option, fmt.Errorf("option %s has the unknown kind %d; want TEPS_INT, TEPS_FLOAT, TEPS_BOOL, TEPS_CHOICE "+
			"or TEPS_TEXT", option.Name, o.kind)
	}
	if o.bounded != 0 {
		option.Min, option.Max = plugins.Bound(float64(o.min)), plugins.Bound(float64(o.max))
	}
	if choices := text(o.choices[:]); choices != "" {
		option.Choices = strings.Split(choices, ",")
	}
	return option, nil
}

func (l *library) build(ctx context.Context, in plugins.Input, options plugins.Settings) (plugins.Built, error) {
	for i, o := range l.about.Options {
		setting, value := &l.call.settings[i], options.All()[o.Name]
		if len(value) >= len(setting.value) {
			return plugins.Built{}, plugins.OptionError("the value of option %s has %d bytes; a library takes at most %d",
				o.Name, len(value), len(setting.value)-1)
		}
		put(setting.name[:], o.Name)
		put(setting.value[:], value)
	}
	l.call.setting_count = C.int32_t(len(l.about.Options))
	*l.graph = C.teps_graph{}
	tuples := (*C.teps_tuple)(unsafe.Pointer(unsafe.SliceData(in.Tuples)))
	l.call.weights = (*C.float)(unsafe.Pointer(unsafe.SliceData(in.Weights)))
	elapsed, err := l.run(ctx, "teps_construct", func() C.int {
		return C.bridge_construct(&l.functions, l.call, tuples, C.int64_t(len(in.Tuples)), l.graph)
	})
	if err != nil {
		return plugins.Built{}, err
	}
	g := l.graph
	if g.state == nil {
		return plugins.Built{}, errors.New("teps_construct returned TEPS_OK but left graph->state NULL; it must point to " +
			"what teps_search needs")
	}
	if g.vertices < 0 || g.bytes < 0 || g.entries < 0 {
		err := fmt.Errorf("teps_construct reports %d vertices, %d bytes and %d entries; they must not be negative",
			g.vertices, g.bytes, g.entries)
		return plugins.Built{}, errors.Join(err, l.free()) // which may clear the graph
	}
	built := plugins.Built{
		Vertices: int64(g.vertices), Elapsed: elapsed, Bytes: int64(g.bytes), VertexBits: int(g.vertex_bits),
		Tuning: text(g.tuning[:]), Free: l.free,
		Search: l.search, Repeat: l.repeat,
	}
	if g.entries > 0 {
		built.Entries = plugins.Counted(int64(g.entries))
	}
	return built, nil
}

// search is kernel 2 or, with distances, kernel 3, timed by the library if it has a clock.
func (l *library) search(ctx context.Context, root graph.Vertex, out plugins.Output) (plugins.Traversal, error) {
	function, parents, distances := results("teps_search", "teps_shortest_paths", out)
	elapsed, err := l.run(ctx, function, func() C.int {
		return C.bridge_search(&l.functions, l.call, l.graph, C.int64_t(root), parents, distances)
	})
	if err != nil {
		return plugins.Traversal{}, err
	}
	return l.report(function, elapsed)
}

// results returns the name of the function of kernel 2 or 3, and its arrays. Those of kernel 3 without vertices are
// not NULL.
func results(search, shortestPaths string, out plugins.Output) (
	function string, parents *C.int64_t, distances *C.float) {
	if function = search; out.Distance != nil {
		function = shortestPaths
	}
	return function, (*C.int64_t)(unsafe.Pointer(unsafe.SliceData(out.Parent))),
		(*C.float)(unsafe.Pointer(unsafe.SliceData(out.Distance)))
}

// report returns the report that a search has written to l.call.
func (l *library) report(function string, elapsed time.Duration) (plugins.Traversal, error) {
	c := l.call
	if c.elapsed_ns < 0 || c.level_count < 0 || c.level_count > maxLevels {
		return plugins.Traversal{}, fmt.Errorf("%s reports %d ns and %d levels; want no negative time and at most "+
			"%d levels", function, c.elapsed_ns, c.level_count, maxLevels)
	}
	elapsed = cmp.Or(time.Duration(c.elapsed_ns), elapsed)
	l.levels = l.levels[:0]
	for _, from := range unsafe.Slice(c.levels, int(c.level_count)) {
		level := plugins.Level{Frontier: int64(from.frontier), Elapsed: time.Duration(from.elapsed_ns)}
		if from.bottom_up != 0 {
			level.Direction = graph.BottomUp
		}
		if from.edges >= 0 {
			level.Edges = plugins.Counted(int64(from.edges))
		}
		l.levels = append(l.levels, level)
	}
	return plugins.Traversal{Elapsed: elapsed, Levels: l.levels}, nil
}

// repeat is a loop of searches, by a function of the library if it has one.
func (l *library) repeat(ctx context.Context, roots []graph.Vertex, duration time.Duration, out plugins.Output) (
	int64, error) {
	has := l.functions.repeat != nil
	if out.Distance != nil {
		has = l.functions.repeat_shortest_paths != nil
	}
	if !has {
		return plugins.InTurn(ctx, roots, duration, func(root graph.Vertex) error {
			_, err := l.search(ctx, root, out)
			return err
		})
	}
	var searches C.int64_t
	function, parents, distances := results("teps_repeat", "teps_repeat_shortest_paths", out)
	first := (*C.int64_t)(unsafe.Pointer(unsafe.SliceData(roots)))
	_, err := l.run(ctx, function, func() C.int {
		return C.bridge_repeat(&l.functions, l.call, l.graph, first, C.int64_t(len(roots)), C.int64_t(duration), parents,
			distances, &searches)
	})
	return int64(searches), err
}

func (l *library) free() error {
	l.onThread(func() { C.bridge_free(&l.functions, l.graph) })
	return nil
}

// run calls a function of the library and returns the time that it took. When ctx ends, it sets call->canceled.
func (l *library) run(ctx context.Context, name string, function func() C.int) (elapsed time.Duration, err error) {
	c := l.call
	c.message[0], c.elapsed_ns, c.level_count = 0, 0, 0
	canceled := (*int32)(unsafe.Pointer(&c.canceled))
	atomic.StoreInt32(canceled, 0)
	set := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		atomic.StoreInt32(canceled, 1)
		close(set)
	})
	var code C.int
	elapsed = l.onThread(func() { code = function() })
	if !stop() {
		<-set // so that it is not set during the next call
	}
	return elapsed, l.failure(ctx, name, code)
}

func (l *library) failure(ctx context.Context, function string, code C.int) error {
	message := text(l.call.message[:])
	if code == C.TEPS_OPTION && message != "" {
		return plugins.OptionError("%s", message)
	}
	if message == "" {
		message = fmt.Sprintf("%s returned %d", function, code)
	}
	kinds := map[C.int]error{
		C.TEPS_UNAVAILABLE: plugins.ErrUnavailable, C.TEPS_OPTION: plugins.ErrOption,
		C.TEPS_TUPLES: plugins.ErrTuples, C.TEPS_MEMORY: plugins.ErrMemory,
	}
	switch kind := kinds[code]; {
	case code == C.TEPS_OK:
		return nil
	case code == C.TEPS_CANCELED && ctx.Err() != nil:
		return ctx.Err()
	case code == C.TEPS_CANCELED:
		return fmt.Errorf("%s returned TEPS_CANCELED, but call->canceled was not set", function)
	case kind != nil:
		return fmt.Errorf("%s: %w", message, kind)
	}
	return errors.New(message)
}

func text(array []C.char) string {
	contents, _, _ := strings.Cut(C.GoStringN(unsafe.SliceData(array), C.int(len(array))), "\x00")
	return contents
}

func put(array []C.char, value string) {
	for i := range len(value) {
		array[i] = C.char(value[i])
	}
	array[len(value)] = 0
}

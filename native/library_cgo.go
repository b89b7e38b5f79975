//go:build cgo

package native

// The functions of a loaded library as Go functions over Go types. This is the only file of the package that knows C
// and uses unsafe: it looks at the slices of package plugins as the arrays of teps_engine.h, whose layouts are the same.

/*
#cgo CFLAGS: -std=gnu99 -O2 -Wall -Wextra
#cgo linux LDFLAGS: -ldl
#include "bridge.h"
*/
import "C"

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
)

// The layouts that C and Go share.
var (
	_ [unsafe.Sizeof(graph.Edge{})]byte    = [C.sizeof_teps_tuple]byte{}
	_ [unsafe.Sizeof(graph.Vertex(0))]byte = [C.sizeof_int64_t]byte{}
)

// levelRoom is the number of levels that a search can report. A Kronecker graph has some ten.
const levelRoom = 4096

// library is a loaded library. Its memory lies outside of the Go heap, where C may keep looking at it.
type library struct {
	functions C.bridge_library
	call      *C.teps_call
	graph     *C.teps_graph
	levels    []plugins.Level // reused by each search
}

// load loads the library at path and watches over it from then on. Only one library may be loaded by a process.
func load(path string) (*library, error) {
	l := &library{}
	text, message := C.CString(path), (*C.char)(C.calloc(1, 1024))
	defer C.free(unsafe.Pointer(text))
	defer C.free(unsafe.Pointer(message))
	name := C.CString(filepath.Base(path))
	defer C.free(unsafe.Pointer(name))
	C.bridge_watch(name, 0, 0) // what a library runs while it is loaded may crash already
	if C.bridge_load(text, &l.functions, message, 1024) != 0 {
		return nil, fmt.Errorf("load %s: %s", path, C.GoString(message))
	}
	low, high := codeOf(path)
	C.bridge_watch(name, C.uintptr_t(low), C.uintptr_t(high))
	// calloc of so little does not fail.
	l.call = (*C.teps_call)(C.calloc(1, C.sizeof_teps_call))
	l.call.levels = (*C.teps_level)(C.calloc(levelRoom, C.sizeof_teps_level))
	l.call.level_room = levelRoom
	l.graph = (*C.teps_graph)(C.calloc(1, C.sizeof_teps_graph))
	return l, nil
}

// describe calls teps_describe and checks what can be wrong with its answer.
func (l *library) describe() (plugins.Description, error) {
	const spare = 1 << 16 // for a library that was compiled with a later header and writes more
	d := (*C.teps_description)(C.calloc(1, C.sizeof_teps_description+spare))
	defer C.free(unsafe.Pointer(d))
	if code := C.bridge_describe(&l.functions, d); code != 0 {
		return plugins.Description{}, fmt.Errorf("teps_describe returned %d; it must return TEPS_OK, and say in unavailable what is missing", code)
	}
	if d.abi < 1 || d.abi > C.TEPS_ABI {
		return plugins.Description{}, fmt.Errorf("it was compiled for version %d of teps_engine.h, this teps loads versions 1 to %d: set abi = TEPS_ABI and compile both from one release", d.abi, C.TEPS_ABI)
	}
	description := plugins.Description{
		Name: text(d.name[:]), Version: text(d.version[:]), Summary: text(d.summary[:]), Unavailable: text(d.unavailable[:]),
		Memory: plugins.Memory{Fixed: int64(d.bytes_fixed), PerVertex: float64(d.bytes_per_vertex), PerTuple: float64(d.bytes_per_tuple)},
	}
	if device := text(d.device[:]); device != "" {
		description.Devices = []plugins.Device{{Kind: "device", Name: device, Units: int(d.units)}}
	}
	for _, o := range d.options {
		if o.name[0] == 0 {
			break
		}
		option, err := optionOf(&o)
		if err != nil {
			return plugins.Description{}, err
		}
		description.Options = append(description.Options, option)
	}
	return description, nil
}

func optionOf(o *C.teps_option) (plugins.Option, error) {
	kinds := map[C.int32_t]plugins.Kind{
		C.TEPS_INT: plugins.Int, C.TEPS_FLOAT: plugins.Float, C.TEPS_BOOL: plugins.Bool, C.TEPS_CHOICE: plugins.Choice, C.TEPS_TEXT: plugins.Text,
	}
	option := plugins.Option{
		Name: text(o.name[:]), Kind: kinds[o.kind], Default: text(o.value[:]), Meaning: text(o.meaning[:]),
	}
	if option.Kind == "" {
		return option, fmt.Errorf("option %s has the unknown kind %d; want TEPS_INT, TEPS_FLOAT, TEPS_BOOL, TEPS_CHOICE or TEPS_TEXT", option.Name, o.kind)
	}
	if o.bounded != 0 {
		option.Min, option.Max = plugins.Bound(float64(o.min)), plugins.Bound(float64(o.max))
	}
	if choices := text(o.choices[:]); choices != "" {
		option.Choices = strings.Split(choices, ",")
	}
	return option, nil
}

// construct calls teps_construct.
func (l *library) construct(ctx context.Context, tuples []graph.Edge, names []string, set plugins.Settings) (made, error) {
	l.begin()
	l.call.setting_count = C.int32_t(len(names))
	for i, name := range names {
		value := set.All()[name]
		if len(value) >= len(l.call.settings[i].value) {
			return made{}, fmt.Errorf("option %s: %d bytes are too long, a library takes up to %d: %w", name, len(value), len(l.call.settings[i].value)-1, plugins.ErrOption)
		}
		put(l.call.settings[i].name[:], name)
		put(l.call.settings[i].value[:], value)
	}
	*l.graph = C.teps_graph{}
	code := l.cancellable(ctx, func() C.int {
		return C.bridge_construct(&l.functions, l.call, (*C.teps_tuple)(unsafe.Pointer(unsafe.SliceData(tuples))), C.int64_t(len(tuples)), l.graph)
	})
	if code != C.TEPS_OK {
		return made{}, l.failure(ctx, "teps_construct", code)
	}
	g := l.graph
	if g.state == nil {
		return made{}, fmt.Errorf("teps_construct returned TEPS_OK and left graph->state NULL: point it to what the search needs")
	}
	if g.vertices < 0 || g.bytes < 0 || g.entries < 0 {
		l.free()
		return made{}, fmt.Errorf("teps_construct reports %d vertices, %d bytes, %d entries; none can be negative", g.vertices, g.bytes, g.entries)
	}
	m := made{vertices: int64(g.vertices), bytes: int64(g.bytes), vertexBits: int(g.vertex_bits), tuning: text(g.tuning[:])}
	if g.entries > 0 {
		m.entries = plugins.Counted(int64(g.entries))
	}
	return m, nil
}

// search calls teps_search. Elapsed is the library's own time; 0 if it takes none.
func (l *library) search(ctx context.Context, root graph.Vertex, parent []graph.Vertex) (plugins.Traversal, error) {
	l.begin()
	code := l.cancellable(ctx, func() C.int {
		return C.bridge_search(&l.functions, l.call, l.graph, C.int64_t(root), (*C.int64_t)(unsafe.Pointer(unsafe.SliceData(parent))))
	})
	if code != C.TEPS_OK {
		return plugins.Traversal{}, l.failure(ctx, "teps_search", code)
	}
	c := l.call
	if c.elapsed_ns < 0 || c.level_count < 0 || c.level_count > levelRoom {
		return plugins.Traversal{}, fmt.Errorf("teps_search reports %d ns and %d levels of %d; neither can be", c.elapsed_ns, c.level_count, levelRoom)
	}
	l.levels = l.levels[:0]
	for _, level := range unsafe.Slice(c.levels, int(c.level_count)) {
		l.levels = append(l.levels, levelOf(level))
	}
	return plugins.Traversal{Elapsed: time.Duration(c.elapsed_ns), Levels: l.levels}, nil
}

func levelOf(level C.teps_level) plugins.Level {
	converted := plugins.Level{Direction: graph.TopDown, Frontier: int64(level.frontier), Elapsed: time.Duration(level.elapsed_ns)}
	if level.bottom_up != 0 {
		converted.Direction = graph.BottomUp
	}
	if level.edges >= 0 {
		converted.Edges = plugins.Counted(int64(level.edges))
	}
	return converted
}

// repeats tells whether the library has teps_repeat.
func (l *library) repeats() bool { return l.functions.repeat != nil }

// repeat calls teps_repeat.
func (l *library) repeat(ctx context.Context, roots []graph.Vertex, duration time.Duration) (int64, error) {
	l.begin()
	var searches C.int64_t
	code := l.cancellable(ctx, func() C.int {
		return C.bridge_repeat(&l.functions, l.call, l.graph, (*C.int64_t)(unsafe.Pointer(unsafe.SliceData(roots))), C.int64_t(len(roots)), C.int64_t(duration), &searches)
	})
	if code != C.TEPS_OK {
		return 0, l.failure(ctx, "teps_repeat", code)
	}
	return int64(searches), nil
}

// free calls teps_free.
func (l *library) free() {
	C.bridge_free(&l.functions, l.graph)
	*l.graph = C.teps_graph{}
}

func (l *library) begin() {
	c := l.call
	c.message[0], c.elapsed_ns, c.level_count = 0, 0, 0
	atomic.StoreInt32((*int32)(unsafe.Pointer(&c.cancelled)), 0)
}

// cancellable makes a call and tells the library of the end of ctx.
func (l *library) cancellable(ctx context.Context, call func() C.int) C.int {
	told := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		atomic.StoreInt32((*int32)(unsafe.Pointer(&l.call.cancelled)), 1)
		close(told)
	})
	code := call()
	if !stop() {
		<-told // the next call must not be told
	}
	return code
}

// failure is the error of a function that has returned code.
func (l *library) failure(ctx context.Context, function string, code C.int) error {
	message := text(l.call.message[:])
	if message == "" {
		message = fmt.Sprintf("%s returned %d", function, code)
	}
	kinds := map[C.int]error{
		C.TEPS_UNAVAILABLE: plugins.ErrUnavailable, C.TEPS_OPTION: plugins.ErrOption, C.TEPS_TUPLES: plugins.ErrTuples, C.TEPS_MEMORY: plugins.ErrMemory,
	}
	switch kind := kinds[code]; {
	case code == C.TEPS_CANCELLED && ctx.Err() != nil:
		return ctx.Err()
	case code == C.TEPS_CANCELLED:
		return fmt.Errorf("%s returned TEPS_CANCELLED, and nobody has cancelled it", function)
	case kind != nil:
		return fmt.Errorf("%s: %w", message, kind)
	}
	return fmt.Errorf("%s", message)
}

// text is what a C array of characters holds, up to its zero byte or its end.
func text(array []C.char) string {
	bytes := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(array))), len(array))
	word, _, _ := strings.Cut(string(bytes), "\x00")
	return word
}

// put writes a text that fits.
func put(array []C.char, value string) {
	for i := range len(value) {
		array[i] = C.char(value[i])
	}
	array[len(value)] = 0
}

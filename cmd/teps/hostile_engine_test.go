//go:build linux && cgo

package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/plugins/rpc"
	"github.com/tepsbench/teps/serial"
)

// hostile is a correct engine that misbehaves as the option fault says, or the variable TEPS_HOSTILE in Describe, which
// has no options. The same engine in C and in Python is in testdata/hostile.
type hostile struct {
	plugins.Engine
	fault string
}

func serveHostile() { rpc.Serve(&hostile{serial.New(), os.Getenv("TEPS_HOSTILE")}) }

// act does what can go wrong in any call.
func (h *hostile) act(call string) {
	switch mode, _ := strings.CutPrefix(h.fault, call+"-"); mode {
	case "crash":
		var null *int
		*null = 1
	case "exit":
		os.Exit(0)
	case "panic":
		panic("boom")
	case "hang":
		time.Sleep(time.Hour)
	case "flood":
		for i := range 20_000 {
			fmt.Printf("%060d\n", i)
			fmt.Fprintf(os.Stderr, "%060d\n", i)
		}
	case "fork":
		child := exec.Command("sleep", "600")
		child.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if err := child.Start(); err != nil {
			panic(err)
		}
	}
}

func (h *hostile) Describe(ctx context.Context) (plugins.Description, error) {
	h.act("describe")
	d, err := h.Engine.Describe(ctx)
	d.Name = "hostile"
	d.Options = []plugins.Option{{Name: "fault", Kind: plugins.Text, Default: "none", Meaning: "what goes wrong"}}
	switch h.fault {
	case "describe-lie":
		d.Memory.PerVertex = -1
	case "describe-name":
		d.Summary = strings.Repeat("x", 1<<20)
	}
	return d, err
}

func (h *hostile) Construct(ctx context.Context, in plugins.Input) (plugins.Construction, error) {
	h.fault, in.Options = cmp.Or(os.Getenv("TEPS_HOSTILE_ALWAYS"), in.Options["fault"]), nil
	h.act("construct")
	switch h.fault {
	case "construct-write":
		in.Tuples[3] = graph.MakeEdge(7, 7)
	case "construct-replace":
		replaceSegments()
	}
	c, err := h.Engine.Construct(ctx, in)
	if h.fault == "construct-lie" {
		c.Elapsed = time.Hour
	}
	return c, err
}

// replaceSegments writes to every segment that the host has open.
func replaceSegments() {
	paths, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", os.Getppid()))
	for _, path := range paths {
		if name, _ := os.Readlink(path); strings.HasPrefix(name, "/memfd:teps-") {
			if f, err := os.OpenFile(path, os.O_RDWR, 0); err == nil {
				_, err = f.WriteAt(make([]byte, 4096), 0)
				fmt.Println(name, err)
			}
		}
	}
}

func (h *hostile) Search(ctx context.Context, root graph.Vertex, parent []graph.Vertex) (plugins.Traversal, error) {
	h.act("search")
	if h.fault == "search-write" {
		*(*graph.Vertex)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(parent)), 8*len(parent))) = 1
	}
	t, err := h.Engine.Search(ctx, root, parent)
	switch h.fault {
	case "search-late":
		go func() {
			for {
				atomic.StoreInt64((*int64)(&parent[0]), -77)
				time.Sleep(10 * time.Microsecond)
			}
		}()
		for atomic.LoadInt64((*int64)(&parent[0])) != -77 { // it goes on after the call
			time.Sleep(10 * time.Microsecond)
		}
	case "search-tree":
		for v, p := range parent {
			if p >= 0 && p != root && parent[p] != root {
				parent[p] = graph.Vertex(v)
				break
			}
		}
	case "search-lie":
		t.Elapsed = time.Hour
	case "search-fast":
		time.Sleep(1300 * time.Millisecond)
		t.Elapsed = time.Microsecond
	case "search-levels":
		t.Levels = make([]plugins.Level, 50_000)
	}
	return t, err
}

func (h *hostile) Repeat(ctx context.Context, roots []graph.Vertex, duration time.Duration) (int64, error) {
	h.act("repeat")
	time.Sleep(duration)
	if h.fault == "repeat-lie" {
		return -5, nil
	}
	return 1000, nil
}

func (h *hostile) Close() error {
	h.act("close")
	return h.Engine.Close()
}

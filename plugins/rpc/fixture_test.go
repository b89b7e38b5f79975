// SPDX-License-Identifier: Apache-2.0

package rpc

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"log/slog"
	"net"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"go.uber.org/goleak"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/internal/must"
	"github.com/tepsbench/teps/plugins"
)

// journal is a log that tests read.
type journal struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(p)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.String()
}

// stage is a host with a log and a temporary directory of its own. After the test no goroutine, file or process may be
// left.
type stage struct {
	*Host
	t       testing.TB
	journal *journal
	self    string // this test binary
	pids    []int
}

func newStage(t testing.TB) *stage {
	t.Helper()
	running := goleak.IgnoreCurrent()
	temp := shortDirectory(t)
	t.Setenv("TMPDIR", temp)
	self := must.Get(os.Executable())
	s := &stage{t: t, journal: &journal{}, self: self}
	s.Host = NewHost(slog.New(slog.NewTextHandler(s.journal, &slog.HandlerOptions{Level: slog.LevelInfo})))
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("closing the host: %v", err)
		}
		for _, pid := range s.pids {
			if !must.Ends(pid) {
				t.Errorf("the engine process %d is still there", pid)
			}
		}
		if left := entries(temp); left != "" {
			t.Errorf("left in the temporary directory: %s", left)
		}
		goleak.VerifyNone(t, running)
	})
	return s
}

// shortDirectory returns a temporary directory with a path short enough for sockets, unlike that of T.TempDir.
func shortDirectory(t testing.TB) string {
	directory := must.Get(os.MkdirTemp("/tmp", "rpc-"))
	t.Cleanup(func() { os.RemoveAll(directory) })
	return directory
}

func entries(dir string) string {
	return strings.Join(must.Get(filepath.Glob(filepath.Join(dir, "*"))), " ")
}

// program returns this test binary in one of its acts, which it reads from its environment. GORACE keeps the race
// detector from sleeping for a second at the end.
func (s *stage) program(act string, env ...string) Program {
	for _, variable := range append([]string{actKey + "=" + act, "GORACE=atexit_sleep_ms=0"}, env...) {
		key, value, _ := strings.Cut(variable, "=")
		s.t.Setenv(key, value)
	}
	return Program{Name: "actor", Path: s.self}
}

// script returns a program that is a shell script and starts the act serial.
func (s *stage) script(text string) Program {
	s.t.Helper()
	p := s.program("serial")
	p.Path = filepath.Join(s.t.TempDir(), "engine")
	must.Do(os.WriteFile(p.Path, []byte("#!/bin/sh\n"+text+"\n"), 0o755))
	return p
}

// open opens one of the acts.
func (s *stage) open(act string, env ...string) *Client {
	s.t.Helper()
	client := must.Get(s.Open(context.Background(), s.program(act, env...)))
	s.pids = append(s.pids, client.PID())
	return client
}

// triangle returns a small graph in shared memory.
func (s *stage) triangle() plugins.Input {
	s.t.Helper()
	tuples := first(s.Tuples(3))
	tuples[0], tuples[1], tuples[2] = graph.MakeEdge(0, 1), graph.MakeEdge(1, 2), graph.MakeEdge(2, 0)
	return plugins.Input{Tuples: tuples}
}

// parents returns a shared parent array.
func (s *stage) parents(n int64) []graph.Vertex {
	s.t.Helper()
	parents := first(s.Parents(n))
	for i := range parents {
		parents[i] = graph.Unwritten
	}
	return parents
}

// works checks that the host can open an engine and search with it.
func (s *stage) works(parent []graph.Vertex) {
	s.t.Helper()
	client := s.open("serial")
	must.Get(client.Construct(context.Background(), s.triangle()))
	must.Get(client.Search(context.Background(), 1, plugins.Output{Parent: parent}))
	if got := fmt.Sprint(parent[:3]); got != "[1 1 1]" {
		s.t.Errorf("parents of the triangle from root 1: %s, want [1 1 1]", got)
	}
}

// fakeCertificate looks like one in a handshake line.
func fakeCertificate() string {
	server := httptest.NewTLSServer(nil)
	defer server.Close()
	return base64.RawStdEncoding.EncodeToString(server.Certificate().Raw)
}

// closeSockets closes all sockets of this process, like a library that "cleans up" file descriptors.
func closeSockets() {
	for fd := 3; fd < 256; fd++ {
		if file := os.NewFile(uintptr(fd), "any"); file != nil {
			if c, err := net.FileConn(file); err == nil {
				c.Close()
				syscall.Shutdown(fd, syscall.SHUT_RDWR)
			}
		}
	}
}

// first returns the first value of a function that does not fail.
func first[T, U any](value T, _ U, err error) T { return must.Get(value, err) }

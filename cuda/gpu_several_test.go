// SPDX-License-Identifier: Apache-2.0

//go:build cuda

package cuda

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
)

// twoRanks builds a graph on two GPUs, and lets them wait for each other for a short time only.
func twoRanks(t *testing.T) (*teamSearch, []graph.Vertex) {
	t.Helper()
	vertices, tuples := kronecker(t, 12)
	settings, err := plugins.Resolve(options(), map[string]string{"gpus": *flagGPUs})
	if err != nil {
		t.Fatal(err)
	}
	c, err := configure(settings)
	if err != nil {
		t.Fatal(err)
	}
	c.patience = time.Second
	s, _, err := constructTeam(t.Context(), tuples, c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.close(); err != nil {
			t.Error(err)
		}
	})
	return s, make([]graph.Vertex, vertices)
}

// A GPU that cannot start its part of a search ends the search for all, and the next search is right again.
func TestSearchEndsIfAGPUDoesNotStart(t *testing.T) {
	needGPU(t)
	s, parent := twoRanks(t)
	last := s.ranks[len(s.ranks)-1].device
	shared := last.searchShared
	last.searchShared = 1 << 30
	_, err := s.run(t.Context(), 1, parent)
	if err == nil || !strings.Contains(err.Error(), "launch the search") || strings.Contains(err.Error(), "\n") {
		t.Errorf("got %v, want one line about the launch", err)
	}
	last.searchShared = shared
	if _, err := s.run(t.Context(), 1, parent); err != nil {
		t.Error(err)
	}
}

// A GPU that stops to answer ends the search for all.
func TestSearchEndsIfAGPUDoesNotAnswer(t *testing.T) {
	needGPU(t)
	s, parent := twoRanks(t)
	last := s.ranks[len(s.ranks)-1].device
	silent, err := last.Lookup("wake")
	if err != nil {
		t.Fatal(err)
	}
	last.searchFunction, last.searchShared = silent, 0
	_, err = s.run(t.Context(), 1, parent)
	if err == nil || !strings.Contains(err.Error(), "did not answer GPU 0 within 1s") {
		t.Errorf("got %v, want a GPU that did not answer", err)
	}
}

func TestSeveralGPUsRefuseWhatDoesNotWork(t *testing.T) {
	needGPU(t)
	_, tuples := kronecker(t, 16)
	for _, test := range []struct {
		set  map[string]string
		want string
		kind error
	}{
		{map[string]string{"gpus": "0,1000"}, "GPU 1000 of the options device and gpus: the GPUs of this machine",
			plugins.ErrOption},
		{map[string]string{"gpus": *flagGPUs, "memory": "0.01"}, "raise the option memory", plugins.ErrMemory},
	} {
		settings, err := plugins.Resolve(options(), test.set)
		if err != nil {
			t.Fatal(err)
		}
		_, err = build(t.Context(), plugins.Input{Tuples: tuples}, settings)
		if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "\n") ||
			!errors.Is(err, test.kind) {
			t.Errorf("%v: got %v, want one line with %q", test.set, err, test.want)
		}
	}
}

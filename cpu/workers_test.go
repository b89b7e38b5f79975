// SPDX-License-Identifier: Apache-2.0

package cpu

import (
	"runtime"
	"strings"
	"testing"

	"github.com/tepsbench/teps/plugins"
)

func TestWorkersThatTheSystemDoesNotRunAreGivenUp(t *testing.T) {
	processors := runtime.NumCPU()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(8 * processors)) // as if the machine had eight times as many
	tuples := kronecker(t, 14)
	for _, c := range []struct {
		threads string
		words   string
	}{
		{"0", "because others keep some busy"}, {"16", "set by the user"},
	} {
		set := map[string]string{"threads": c.threads}
		settings, err := plugins.Resolve(options(), set)
		if err != nil {
			t.Fatal(err)
		}
		e := construction(t, tuples, set)
		size, choice := e.team.Size(), e.choice(settings)
		if err := e.free(); err != nil {
			t.Fatal(err)
		}
		if c.threads == "0" && (size >= 8*processors || size < minShrunk) || c.threads == "16" && size != 16 {
			t.Errorf("threads=%s: %d workers on %d processors", c.threads, size, processors)
		}
		if !strings.Contains(choice, c.words) {
			t.Errorf("threads=%s: the choice is %q, want %q", c.threads, choice, c.words)
		}
	}
}

// All cases with small graphs, with workers and memory in fixed places.
func TestConformanceOfPlaces(t *testing.T) {
	for _, choice := range memoryChoices() {
		conform(t, "threads=3 memory="+choice, small)
	}
	if runtime.GOOS == "linux" {
		conform(t, "threads=3 pin=true", small)
	}
}

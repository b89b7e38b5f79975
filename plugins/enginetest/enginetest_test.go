// SPDX-License-Identifier: Apache-2.0

package enginetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tepsbench/teps/internal/must"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/serial"
)

func openSerial(context.Context) (plugins.Engine, error) { return serial.New(), nil }

func TestSerialEnginePassesEveryCase(t *testing.T) {
	Test(t, openSerial, map[string]string{"work": "hybrid"}) // with levels; package serial tests the defaults
}

func TestCaseNamesAreUniqueAndEveryCaseSaysWhatMustHold(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range Cases() {
		if seen[c.Name] || c.About == "" || !strings.Contains(c.Name, "/") || c.check == nil {
			t.Errorf("case %q: want a unique group/name, a sentence and a check", c.Name)
		}
		seen[c.Name] = true
	}
	if len(seen) < 45 {
		t.Errorf("want the whole suite, found %d cases", len(seen))
	}
}

func TestSelectTakesNamesAndGroups(t *testing.T) {
	selected, err := Select("graph/path", "close/*", "graph/path")
	var names []string
	for _, c := range selected {
		names = append(names, c.Name)
	}
	if want := []string{"graph/path", "close/ends", "close/others"}; err != nil || !slices.Equal(names, want) {
		t.Errorf("got %v and error %v, want %v", names, err, want)
	}
	if all, err := Select(); err != nil || len(all) != len(Cases()) {
		t.Errorf("got %d cases and error %v without a pattern, want all", len(all), err)
	}
	for _, wrong := range []string{"paths", "graph/[", "", "*"} {
		must.Fail(t, must.Err(Select("graph/*", wrong)), fmt.Sprintf("%q", wrong))
	}
}

func TestCaseStoppedByTheCallerIsSkipped(t *testing.T) {
	until := make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(20*time.Millisecond, func() { cancel(); close(until) })
	o := caseNamed(t, "graph/path").Run(ctx, stuck(until), nil, Limit)
	if o.Err != nil || o.Skipped != "stopped: context canceled" {
		t.Errorf("want it skipped as stopped, got %q, error %v", o.Skipped, o.Err)
	}
}

func TestUnavailableEngineIsSkippedWithItsReason(t *testing.T) {
	open := opening(func() *mutant {
		return &mutant{
			describe:  func(d *description) { d.Unavailable = "no such device here" },
			construct: func(build) (construction, error) { return construction{}, plugins.ErrUnavailable },
		}
	})
	for _, c := range Cases() {
		want := "unavailable: no such device here"
		if c.runs == anywhere {
			want = ""
		}
		if o := c.Run(t.Context(), open, nil, Limit); o.Err != nil || o.Skipped != want {
			t.Errorf("%s: %v, got %q, want %q", c.Name, o.Err, o.Skipped, want)
		}
	}
}

func TestOpenerThatFailsIsAFailureWithItsError(t *testing.T) {
	broken := errors.New("no such program")
	o := Cases()[0].Run(t.Context(), func(context.Context) (plugins.Engine, error) { return nil, broken }, nil, Limit)
	if !errors.Is(o.Err, broken) {
		t.Errorf("want the opener's error, got %v", o.Err)
	}
	silent := &mutant{always: func(context.Context) (description, error) { return description{}, broken }}
	o = Cases()[0].Run(t.Context(), opening(func() *mutant { return silent }), nil, Limit)
	if !errors.Is(o.Err, broken) || !strings.Contains(o.Err.Error(), "want a description from Describe") {
		t.Errorf("want Describe's error, got %v", o.Err)
	}
}

// stuck makes an engine that does not return from a search before until is closed, whatever its context says.
func stuck(until chan struct{}) Opener {
	return opening(searching(func(call) (traversal, error) {
		<-until
		return traversal{}, errors.New("too late")
	}))
}

func TestEngineThatHangsFailsTheCaseAtItsLimit(t *testing.T) {
	until := make(chan struct{})
	t.Cleanup(func() { close(until) })
	start := time.Now()
	o := caseNamed(t, "graph/path").Run(t.Context(), stuck(until), nil, 50*time.Millisecond)
	if o.Err == nil || !strings.Contains(o.Err.Error(), "graph/path: time limit of 50ms") {
		t.Errorf("want a failure that names case and limit, got %v", o.Err)
	}
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("want an end soon after the limit, it took %v", took)
	}
}

func TestAllocatorsMemoryIsUsedAndGivenBack(t *testing.T) {
	for _, name := range []string{"graph/path", "construct/again", "search/before-construct", "close/ends"} {
		var engines []*mutant
		o := caseNamed(t, name).Run(t.Context(), opening(func() *mutant {
			engines = append(engines, &mutant{})
			return engines[len(engines)-1]
		}), nil, Limit)
		if o.Err != nil || len(engines) != 1 || engines[0].live != 0 || engines[0].used == 0 {
			t.Errorf("%s: want one engine and no memory left, got %v and %+v", name, o.Err, engines)
		}
	}
}

func caseNamed(t *testing.T, name string) Case {
	t.Helper()
	selected := must.Get(Select(name))
	return selected[0]
}

// SPDX-License-Identifier: Apache-2.0

package cpu

import (
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/tepsbench/teps/internal/memory"
	"github.com/tepsbench/teps/internal/team"
	"github.com/tepsbench/teps/plugins"
)

const maxThreads = 1024

// allowedThreads is the number of hardware threads within the process's affinity and its cgroup's quota.
func allowedThreads() int { return min(runtime.GOMAXPROCS(0), maxThreads) }

// newTeam starts a team; 0 threads are as many as the process may use.
func newTeam(options plugins.Settings, threads int) (*team.Team, error) {
	if threads == 0 {
		threads = allowedThreads()
	}
	if !options.Bool("pin") {
		return team.New(threads), nil
	}
	t, err := team.NewPinned(threads)
	if err != nil {
		return nil, plugins.OptionError("option pin=true: %v", err)
	}
	return t, nil
}

// A team of fewer than minShrunk workers keeps them: it would lose more by one worker than by waiting for it.
const minShrunk = 4

// fit makes the team smaller until the system runs all workers, if their number was left to the engine. It is part of
// kernel 1, and measures how workers are handed empty tasks, for 1/50 of the time that has elapsed and at most 10 ms at
// a time. A worker that shares its processor with another busy program is absent almost half of the time, so a quarter
// of a worker is one too many.
func (e *instance) fit(options plugins.Settings, elapsed time.Duration) (err error) {
	for {
		e.absent = e.team.Absent(min(elapsed/50, 10*time.Millisecond))
		size := max(e.team.Size()-int(e.absent+0.75), minShrunk)
		if options.Int("threads") != 0 || size >= e.team.Size() {
			return nil
		}
		e.team.Rest()
		e.team.Stop()
		if e.team, err = newTeam(options, size); err != nil {
			e.team = team.New(1)
			return err
		}
		e.team.Wake()
	}
}

// choice describes for the record how the number of workers was chosen.
func (e *instance) choice(options plugins.Settings) string {
	measured := fmt.Sprintf("in kernel 1 the system did not run %.2f of them, on average", e.absent)
	switch allowed := allowedThreads(); {
	case options.Int("threads") != 0:
		return "set by the user; " + measured
	case e.team.Size() < allowed:
		return fmt.Sprintf("%d fewer than processors, because others keep some busy; %s", allowed-e.team.Size(), measured)
	default:
		return "one for each processor that the process may use; " + measured
	}
}

func memoryChoices() []string {
	choices := []string{"default"}
	for _, node := range memory.Nodes() {
		choices = append(choices, fmt.Sprintf("node:%d", node))
	}
	return choices
}

func newArena(options plugins.Settings) *memory.Arena {
	if text, ok := strings.CutPrefix(options.Text("memory"), "node:"); ok {
		node, _ := strconv.Atoi(text) // one of memoryChoices
		return memory.NewOn(node)
	}
	return memory.New()
}

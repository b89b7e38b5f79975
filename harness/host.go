// SPDX-License-Identifier: Apache-2.0

// Package harness runs the protocol of the benchmark: generate, construct, search, validate, record. run.go shows it
// from top to bottom.
//
// The harness knows engines through package plugins only. A Host opens them and lends the memory shared with them, so
// the same protocol runs over processes (package rpc) and, in tests, inside one process.
package harness

import (
	"context"
	"fmt"
	"time"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/power"
	"github.com/tepsbench/teps/record"
)

// Host opens engines and meters, and lends the memory that it shares with engines. It may have a method KeepOutput,
// which appends what engines print from then on to a file.
type Host interface {
	plugins.Lender
	// Open starts an engine; Close of the engine ends it. Its answers must not share memory with later ones. An engine
	// may have a method Checksum, which returns the SHA-256 of its file.
	Open(ctx context.Context, spec record.EngineSpec) (plugins.Engine, error)
	// Reserve lends room for up to n tuples, whose memory is taken as it is written. Trim gives back the
	// memory behind tuples, a slice from the beginning of the room; engines can be given them from then on.
	Reserve(n int64) (room []graph.Edge, release func() error, err error)
	Trim(tuples []graph.Edge) error
	// Meters opens the specified power meters on all hosts, or all that are found if none is specified, and reports which
	// are missing, and why. A wrong specification is a record.ErrUsage. The caller closes the meters.
	Meters(ctx context.Context, specifications []string) (power.Meters, []power.Absence, error)
}

// Spreader is a Host that starts engines of several processes (plugins.Description.Spreads).
type Spreader interface {
	// Spread returns the processes of an engine on one of several hosts as one engine. single is a process of the engine
	// that only describes it; the Spread closes it.
	Spread(single plugins.Engine, spec record.EngineSpec, hosts int) Spread
}

// Spread is the processes of an engine on this host.
type Spread interface {
	plugins.Engine
	// Prepare starts the processes, outside the clock of kernel 1.
	Prepare(ctx context.Context, options map[string]string) error
	// Keep leaves the results of searches with the processes, which are not stopped, until Keep(false).
	Keep(keep bool)
}

// ProcessesOf returns the number of processes on each of several hosts that an engine's option ranks asks for; 0: the
// engine on the only host is not started by a launcher.
func ProcessesOf(d plugins.Description, options map[string]string, hosts int) (int, error) {
	settings, err := plugins.Resolve(d.Options, options)
	if err != nil {
		return 0, err
	}
	ranks := settings.Int("ranks")
	if ranks == 0 && hosts == 1 {
		return 0, nil
	}
	if ranks%hosts != 0 || ranks < hosts {
		return 0, fmt.Errorf("%d ranks cannot be distributed evenly over %d hosts: set ranks to a multiple of %[2]d: %w",
			ranks, hosts, plugins.ErrOption)
	}
	return ranks / hosts, nil
}

// Clustered is a Host with several hosts.
type Clustered interface {
	// Data returns the Data of a graph in slices on the hosts, or nil if there is only this host.
	Data(plan record.Plan, id record.GraphID) Data
	// Memory returns the number of hosts, and the least memory that is available on any of them.
	Memory(ctx context.Context) (hosts int, bytes int64, source string, err error)
}

// Progress shows how far a run is. All calls come from one goroutine, between timed calls of an engine.
type Progress interface {
	// Step starts a step of total units, or of an unknown number if total is 0. Steps do not overlap.
	Step(name string, total int64) Step
	// Note shows a message that the user should not miss.
	Note(text string)
	// Left shows an estimate of the time that the rest of the run will take, or 0 if that is unknown.
	Left(time.Duration)
}

// Step is the progress of one step.
type Step interface {
	Add(units int64)
	// End ends the step: with err, or with a summary of what was done if err is nil.
	End(summary string, err error)
}

// Silent is a Progress, and its Step, that shows nothing.
type Silent struct{}

func (Silent) Step(string, int64) Step { return Silent{} }
func (Silent) Note(string)             {}
func (Silent) Left(time.Duration)      {}
func (Silent) Add(int64)               {}
func (Silent) End(string, error)       {}

// SPDX-License-Identifier: Apache-2.0

// Package sweep measures many combinations: engines, values of their options, graphs and repeats. Each is a job: an
// ordinary run in its own directory. A job that is complete is not measured again.
package sweep

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"syscall"

	"github.com/tepsbench/teps/machine"
	"github.com/tepsbench/teps/record"
)

// Sweep describes the measurements.
type Sweep struct {
	Engines []Engine
	Plan    record.Plan // of every run, without its engine; its graphs are those of the sweep
	Repeats int
}

// Engine is an engine with the values of its options. Every combination of them is a variant.
type Engine struct {
	Spec    record.EngineSpec // without the options below
	Options []Values          // in the order of the file
	Labeled bool              // the user has given the name: only options with several values are added to it
}

// Values are the values that an option takes, one after the other.
type Values struct {
	Option string
	Values []string
}

// MaxJobs is the maximum size of a sweep; a larger number is probably a mistake.
const MaxJobs = 10_000

// variants returns every engine with every combination of its options, in the order of the file.
func (s Sweep) variants() (all []record.EngineSpec) {
	for _, e := range s.Engines {
		specs := []record.EngineSpec{e.Spec}
		for _, option := range e.Options {
			var next []record.EngineSpec
			for _, spec := range specs {
				for _, value := range option.Values {
					if len(next) > MaxJobs {
						return next // which Check refuses
					}
					v := spec
					v.Options = map[string]string{option.Option: value}
					maps.Copy(v.Options, spec.Options)
					if !e.Labeled || len(option.Values) > 1 {
						v.Name += ":" + option.Option + "=" + value
					}
					next = append(next, v)
				}
			}
			specs = next
		}
		all = append(all, specs...)
	}
	return all
}

// Check returns a record.ErrUsage that names the mistake in the sweep and its correction.
func (s Sweep) Check() error {
	switch {
	case s.Repeats < 1:
		return record.Usage("repeats: %d: want at least 1", s.Repeats)
	case float64(len(s.variants()))*float64(len(s.Plan.GraphIDs()))*float64(s.Repeats) > MaxJobs:
		return record.Usage("the sweep has more than %d runs; leave out values, graphs or repeats", MaxJobs)
	}
	whole := s.Plan
	whole.Engines = s.variants()
	for _, g := range whole.Graphs {
		if g.Path == record.StandardInput {
			return record.Usage("standard input can be read only once; name a file")
		}
	}
	return whole.Check()
}

// jobs returns the jobs, graph by graph, so that the input of each graph is generated once. Every variant is measured
// once, then every variant again in the opposite order, and so on: a machine that slows down steadily then affects all
// variants alike.
func (s Sweep) jobs() (jobs []*Job) {
	variants := s.variants()
	for _, id := range s.Plan.GraphIDs() {
		for repeat := 1; repeat <= s.Repeats; repeat++ {
			for _, spec := range variants {
				plan := s.Plan.Only(id)
				plan.Engines = []record.EngineSpec{spec}
				jobs = append(jobs, &Job{Plan: plan, Repeat: repeat, State: Missing})
			}
			slices.Reverse(variants)
		}
		if s.Repeats%2 == 1 {
			slices.Reverse(variants)
		}
	}
	return jobs
}

// String describes the sweep in a line.
func (s Sweep) String() string {
	return fmt.Sprintf("%d runs (variants: %d, graphs: %d, repeats: %d)",
		len(s.jobs()), len(s.variants()), len(s.Plan.Scales)+len(s.Plan.Graphs), s.Repeats)
}

// Job is one run of a sweep: one engine with its options on one graph.
type Job struct {
	Plan      record.Plan // of one engine and one graph
	Repeat    int         // from 1
	Directory string      // directory of the run; empty if the engine is unavailable
	Memory    int64       // bytes that the run needs, by the engine's estimate
	State     State
	Reason    string      // why the State is Bad
	Run       *record.Run // without its roots; nil before there is one
}

// State is how far a job has come.
type State string

const (
	Missing     State = "to do" // never measured, or interrupted
	Done        State = "done"
	Invalid     State = "invalid" // complete, but a search is wrong
	Failed      State = "failed"  // the engine failed
	Unreadable  State = "unreadable"
	Unavailable State = "unavailable" // the engine cannot run here
)

// Bad reports whether something went wrong.
func (s State) Bad() bool { return s != Missing && s != Done }

// Engine is the job's engine.
func (j *Job) Engine() record.EngineSpec { return j.Plan.Engines[0] }

// Graph is the job's graph.
func (j *Job) Graph() record.GraphID { return j.Plan.GraphIDs()[0] }

// notInFileNames matches characters that some systems or shells refuse in the name of a file.
var notInFileNames = regexp.MustCompile(`[^a-zA-Z0-9._=-]`)

// name names the job's directory. The name ends in a checksum of everything that identifies a measurement: the
// plan with the engine's options and the checksum of its program, the engine's version, the repeat, the build of teps
// and the machine. A change of any of these is another job.
func (j *Job) name(version string, software record.Software, machine machine.Machine) {
	plan := j.Plan
	plan.HostDevice = nil            // which changes no result
	data, _ := json.Marshal(struct { // cannot fail
		Plan                      record.Plan
		Repeat                    int
		Program, Machine, Version string
	}{plan, j.Repeat, cmp.Or(software.Program, software.String()), machine.Identity(), version})
	sum := sha256.Sum256(data)
	inName := func(text string) string {
		text = notInFileNames.ReplaceAllString(text, "-")
		return text[:min(len(text), 60)]
	}
	graph := inName(cmp.Or(j.Graph().Source, fmt.Sprintf("s%02d", j.Graph().Scale)))
	if kernel := j.Graph().Kernel; kernel != record.BFS {
		graph += "-" + kernel.String()
	}
	j.Directory = fmt.Sprintf("%s-%s-r%d-%x", graph, inName(j.Engine().Name), j.Repeat, sum[:6])
}

// look sets the State from the job's record in dir.
func (j *Job) look(dir string) {
	path := filepath.Join(dir, j.Directory)
	_, err := os.Stat(filepath.Join(path, record.ResultFile))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return
	}
	result, err := record.Load(path)
	if err != nil {
		j.State, j.Reason = Unreadable, fmt.Sprintf("%v; remove %s to measure it again", err, path)
		return
	}
	j.keep(result.Runs[0])
}

// keep sets the State from a run, and the Reason why it has no valid result.
func (j *Job) keep(run record.Run) {
	j.State = Done
	switch {
	case run.State == record.Failed || run.State == record.Complete && run.Energy.Failed():
		j.State = Failed
	case run.State != record.Complete:
		j.State = Missing
	case !run.Sound():
		j.State = Invalid
	}
	j.Reason = run.Failure
	switch first := slices.IndexFunc(run.Roots, record.RootRecord.Broken); {
	case first >= 0:
		j.Reason = fmt.Sprintf("%d of %d searches are wrong: %s", run.BrokenRoots(), len(run.Roots),
			run.Roots[first].Violation)
	case run.Energy.Failed() && run.Failure == "":
		j.Reason = "energy: " + run.Energy.Failure
	case j.State == Invalid:
		j.Reason = "no vertex of the graph has a neighbor, so it has no root to search from"
	}
	run.Roots = nil
	j.Run = &run
}

// SPDX-License-Identifier: Apache-2.0

// Package sweep measures many combinations: engines, values of their options, graphs and repeats. Each is a job: an
// ordinary run in its own directory. A job that is complete is not measured again.
package sweep

import (
	"fmt"
	"maps"
	"slices"

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

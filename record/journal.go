// SPDX-License-Identifier: Apache-2.0

package record

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"github.com/tepsbench/teps/plugins"
)

// Entry is one line of roots.jsonl. One of its pointers is set, or none for a kind of a newer version. The journal is
// the source of every Result, during a run as after it, so a resumed run and an uninterrupted one have the same form.
type Entry struct {
	Engine string `json:"engine,omitempty"` // label; absent for Session and Graph
	GraphID
	Session     *Session             `json:"session,omitempty"`
	Graph       *GraphRecord         `json:"graph,omitempty"`
	Description *plugins.Description `json:"description,omitempty"`
	Kernel1     *Kernel1             `json:"kernel1,omitempty"`
	Root        *RootRecord          `json:"root,omitempty"`
	Confirm     *Confirmation        `json:"confirm,omitempty"`
	Energy      *EnergyRecord        `json:"energy,omitempty"`
	End         *End                 `json:"end,omitempty"`
}

// Confirmation says that the CPU has validated searches that the host's device had validated, and agreed.
type Confirmation struct {
	Roots []int   `json:"roots"` // their indexes
	Time  float64 `json:"time"`  // that the run waited for it after the last search, seconds
}

// Session starts the entries of one process: the first of a run, and one for each resume.
type Session struct {
	Started     time.Time         `json:"started"`
	Environment map[string]string `json:"environment,omitempty"`
}

// End closes an engine's entries for a graph. If it is missing, the process ended first.
type End struct {
	State   State  `json:"state"`
	Failure string `json:"failure,omitempty"`
	// Void: none of its searches count, because the engine changed the tuples, or the host's device and the CPU disagree.
	Void bool `json:"void,omitempty"`
}

// usable follows an error about a line.
const usable = "; the lines before it are usable: delete that line, all after it, and " + ResultFile

// parseJournal reads roots.jsonl. A process that is killed while it writes leaves a torn last line, without a newline:
// it is ignored, and whole is the length of the lines before it. Any other unreadable line is an error.
func parseJournal(data []byte) (entries []Entry, whole int, err error) {
	for line := 1; whole < len(data); line++ {
		length := bytes.IndexByte(data[whole:], '\n') + 1
		if length == 0 {
			break
		}
		var e Entry
		if err := json.Unmarshal(data[whole:whole+length], &e); err != nil {
			return nil, 0, fmt.Errorf("line %d is damaged: %w"+usable, line, err)
		}
		entries = append(entries, e)
		whole += length
	}
	return entries, whole, nil
}

// replay makes the result of a plan from the entries of its journal.
func replay(m Manifest, entries []Entry) (Result, error) {
	r := Result{Manifest: m}
	for _, id := range m.Plan.GraphIDs() {
		for _, spec := range m.Plan.Engines {
			r.Runs = append(r.Runs, Run{Engine: spec, GraphID: id, State: Interrupted})
		}
	}
	sessions := 0
	for n, e := range entries {
		var err error
		switch {
		case e.Session != nil:
			if sessions++; sessions > 1 {
				for i := range r.Runs {
					r.Runs[i].retry()
				}
			}
		case e.Graph != nil:
			err = r.setGraph(e)
		case e.Description != nil || e.Kernel1 != nil || e.Root != nil || e.Confirm != nil || e.Energy != nil ||
			e.End != nil:
			err = r.apply(e)
		} // other kinds are of newer versions
		if err != nil {
			return r, fmt.Errorf("line %d: %w"+usable, n+1, err)
		}
	}
	for i := range r.Runs {
		run := &r.Runs[i]
		run.Unchecked = unchecked(entries, run.Engine.Name, run.GraphID)
		run.conclude(m)
		if _, err := json.Marshal([]any{run.Statistics, run.Energy}); err != nil { // infinite
			return r, fmt.Errorf("the times, counts or power of %s %s are impossible: %w", run.Engine.Name,
				run.At(), err)
		}
	}
	return r, nil
}

// unchecked counts the searches of sessions that were killed: an End follows the searches of all others, and its
// writer has compared the tuples with those that were generated.
func unchecked(entries []Entry, engine string, id GraphID) (n int) {
	pending := 0
	for _, e := range entries {
		switch {
		case e.Session != nil:
			n, pending = n+pending, 0
		case e.Engine != engine || e.GraphID != id:
		case e.Root != nil:
			pending++
		case e.End != nil && e.End.Void:
			n, pending = 0, 0 // all searches are repeated
		case e.End != nil:
			pending = 0
		}
	}
	return n
}

// setGraph gives the runs of a graph their input, except those that have searched all roots of an earlier session.
func (r *Result) setGraph(e Entry) error {
	if e.Source == "" {
		want := r.Plan.Recipe(e.Scale)
		if e.Graph.Recipe != want {
			return fmt.Errorf("the graph was generated from %+v, but the plan has %+v", e.Graph.Recipe, want)
		}
		e.Graph.Vertices = want.Vertices()
	}
	for i := range r.Runs {
		run := &r.Runs[i]
		if run.GraphID != e.GraphID {
			continue
		}
		if run.Graph != nil && !run.Graph.Same(e.Graph) {
			return fmt.Errorf("the tuples of %s are not those of an earlier session", e.GraphID)
		}
		if !run.searched() {
			run.Graph = e.Graph
		}
	}
	return nil
}

// retry clears a failure of the engine or of its energy loop, because a resume repeats what failed.
func (r *Run) retry() {
	if r.Void {
		*r = Run{Engine: r.Engine, GraphID: r.GraphID, State: Interrupted}
	}
	if r.State == Failed {
		r.State, r.Failure = Interrupted, ""
	}
	if r.Energy.Failed() {
		r.State, r.Energy = Interrupted, nil
	}
}

// searched reports whether every root has been searched. A graph built after that serves the energy loop only.
func (r *Run) searched() bool {
	return r.Graph != nil && len(r.Roots) > 0 && len(r.Roots) == r.Graph.RootsFound
}

func (r *Result) apply(e Entry) error {
	for i := range r.Runs {
		if run := &r.Runs[i]; run.Engine.Name == e.Engine && run.GraphID == e.GraphID {
			return run.apply(e)
		}
	}
	return fmt.Errorf("engine %q %s is not in the plan", e.Engine, e.At())
}

func (r *Run) apply(e Entry) error {
	switch {
	case e.Description != nil && !r.searched(): // a later one is of the energy loop only
		r.Description = e.Description
	case e.Kernel1 != nil && r.searched():
		if r.Energy == nil {
			r.Rebuilt = e.Kernel1
		}
	case e.Kernel1 != nil:
		r.Sessions++
		r.Options = e.Kernel1.Options
		r.Construction = &e.Kernel1.Construction
		r.ConstructWall, r.ConstructRepeats, r.Idle = e.Kernel1.Wall, e.Kernel1.Repeats, e.Kernel1.Idle
		r.DeviceTuples = e.Kernel1.DeviceTuples
		if e.Kernel1.Checksum != "" {
			r.Engine.Checksum = e.Kernel1.Checksum
		}
	case e.Root != nil:
		if e.Root.Index != len(r.Roots) {
			return fmt.Errorf("root %d where root %d is expected", e.Root.Index, len(r.Roots))
		}
		r.Roots = append(r.Roots, *e.Root)
	case e.Confirm != nil:
		for _, i := range e.Confirm.Roots {
			if i < 0 || i >= len(r.Roots) {
				return fmt.Errorf("root %d is confirmed and was not searched", i)
			}
			r.Roots[i].Confirmed = true
			r.Roots[i].Validation += e.Confirm.Time / float64(len(e.Confirm.Roots))
		}
	case e.Energy != nil:
		r.Energy = e.Energy
	case e.End != nil:
		r.State, r.Failure, r.Void = e.End.State, e.End.Failure, e.End.Void
	}
	return nil
}

// conclude derives the statistics, figures and compliance of a run from its entries.
func (r *Run) conclude(m Manifest) {
	r.Statistics = Summarize(r.Roots)
	r.Valid = r.Sound()
	for _, root := range r.Roots {
		r.Valid = r.Valid && root.Validated
	}
	if r.Energy != nil {
		r.Energy.Figures = r.Energy.figures()
		r.Energy.Green = r.Energy.green(r.Graph)
	}
	r.Compliance = comply(m, *r)
}

// SPDX-License-Identifier: Apache-2.0

package record

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/tepsbench/teps/plugins"
)

// Entry is one line of roots.jsonl. Exactly one of its pointers is set; in an entry of a newer version, none may be.
type Entry struct {
	Engine string `json:"engine,omitempty"` // label; absent for Session and Graph
	GraphID
	Session     *Session             `json:"session,omitempty"`
	Graph       *GraphRecord         `json:"graph,omitempty"`
	Description *plugins.Description `json:"description,omitempty"`
	Kernel1     *Kernel1             `json:"kernel1,omitempty"`
	Root        *RootRecord          `json:"root,omitempty"`
	Clock       *EnergyLoop          `json:"clock,omitempty"` // see Run.Clock
	Confirm     *Confirmation        `json:"confirm,omitempty"`
	Energy      *EnergyRecord        `json:"energy,omitempty"`
	End         *End                 `json:"end,omitempty"`
	Digest      string               `json:"digest,omitempty"` // the last member: see digestOf
}

// Confirmation says that the CPU has validated searches that the host's device had validated, and agreed. Only records
// of teps/2.0 have it; later ones have RootRecord.Confirmed.
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
	Void   bool        `json:"void,omitempty"`
	Memory *PeakMemory `json:"memory,omitempty"` // nil: not known
}

// PeakMemory is the most memory that processes had, in bytes, as the system counts it. It includes the tuples and the
// parents that host and engine share, as far as a process has touched them.
type PeakMemory struct {
	Host   int64 `json:"host,omitempty"` // since the host began, so the most over all runs so far
	Engine int64 `json:"engine,omitempty"`

	Nodes []NodeMemory `json:"nodes,omitempty"` // of a run on several hosts
}

// NodeMemory is PeakMemory on one of several hosts.
type NodeMemory struct {
	Name   string `json:"name"`           // of the host
	Node   int64  `json:"node,omitempty"` // of the process that makes the tuples and validates
	Engine int64  `json:"engine,omitempty"`
}

// Schema names the form of the records that this version writes, teps/MAJOR.MINOR; teps/2 is teps/2.0.
//
// The minor number is raised when members or kinds of journal entries are added: a reader accepts every minor number
// and ignores what it does not know. The major number is raised when something changes its meaning or its place: a
// reader refuses any other major number. docs/schema describes the members.
const Schema = "teps/2.2"

// parseManifest reads run.json. Its error continues the name of the file.
func parseManifest(data []byte) (m Manifest, err error) {
	err = json.Unmarshal(data, &m)
	major, _, _ := strings.Cut(m.Schema, ".")
	switch {
	case m.Schema == "" && err != nil || major == "teps/2" && err != nil:
		return m, fmt.Errorf(" is damaged: %w; restore it from a copy", err)
	case major == "teps/2":
		if err := m.Plan.Check(); err != nil {
			return m, fmt.Errorf(" is damaged: its plan is not valid: %v", err)
		}
		return m, nil
	case strings.HasPrefix(m.Schema, "teps/"):
		return m, fmt.Errorf(": the record has schema %q, but this teps reads %s; use the version that wrote it", m.Schema,
			Schema)
	}
	return m, fmt.Errorf(": not a record of teps (schema %q, want %q)", m.Schema, Schema)
}

// usable follows an error about a line.
const usable = "; the lines before it are usable: delete that line, all after it, and " + ResultFile

// parseJournal reads roots.jsonl. A process that is killed while it writes leaves a torn last line, without a newline:
// it is ignored, and whole is the length of the lines before it. Any other line that cannot be read, or that was
// edited, is an error. Lines of teps/2.0 have no digests.
func parseJournal(plan, data []byte) (entries []Entry, whole int, err error) {
	digest := digestOf(plan)
	for line := range bytes.Lines(data) {
		if !bytes.HasSuffix(line, []byte("\n")) {
			break
		}
		var e Entry
		if err := json.Unmarshal(line, &e); err != nil {
			return nil, 0, fmt.Errorf("line %d is damaged: %w"+usable, len(entries)+1, err)
		}
		entries, whole = append(entries, e), whole+len(line)
		if n := len(entries); entries[0].Digest != "" || e.Digest != "" {
			text := line[:max(bytes.LastIndex(line, []byte(lineDigest)), 0)]
			digest = digestOf([]byte(digest), text)
			if edited := string(line[len(text):]) != lineDigest+digest+lineEnd; edited && n == 1 {
				return nil, 0, fmt.Errorf("line 1, or %s, was edited; restore the files", ManifestFile)
			} else if edited {
				return nil, 0, fmt.Errorf("line %d was edited, or lines before it are missing"+usable, n)
			}
		}
	}
	return entries, whole, nil
}

// inALine makes one short line of an error that may quote any part of a record.
func inALine(err error) error {
	const half = 500 // of the bytes that are shown
	text := strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, err.Error())
	if n := len(text); n > 2*half {
		text = strings.ToValidUTF8(text[:half], "") + " ... " + strings.ToValidUTF8(text[n-half:], "")
	}
	return errors.New(text)
}

// replay makes the result of a plan from the entries of its journal, so a resumed run and an uninterrupted one have
// the same form.
func replay(m Manifest, entries []Entry) (Result, error) {
	r := Result{Manifest: m}
	for _, id := range m.Plan.GraphIDs() {
		for _, spec := range m.Plan.Engines {
			r.Runs = append(r.Runs, Run{Engine: spec, GraphID: id, State: Interrupted})
		}
	}
	for n, e := range entries {
		var err error
		switch {
		case e.Session != nil:
			for i := range r.Runs {
				r.Runs[i].resume()
			}
		case e.Graph != nil:
			err = r.setGraph(e)
		case e.Description != nil || e.Kernel1 != nil || e.Root != nil || e.Clock != nil ||
			e.Confirm != nil || e.Energy != nil || e.End != nil:
			i := slices.IndexFunc(r.Runs, func(r Run) bool { return r.Engine.Name == e.Engine && r.GraphID == e.GraphID })
			if i >= 0 {
				err = r.Runs[i].apply(e)
			} else {
				err = fmt.Errorf("engine %q %s is not in the plan", e.Engine, e.At())
			}
		} // other kinds are of newer versions
		if err != nil {
			return r, fmt.Errorf("line %d: %w"+usable, n+1, err)
		}
	}
	for i := range r.Runs {
		run := &r.Runs[i]
		run.conclude(m)
		if _, err := json.Marshal([]any{run.Statistics, run.Energy}); err != nil { // infinite
			return r, fmt.Errorf("the times, counts or power of %s %s are impossible: %w", run.Engine.Name,
				run.At(), err)
		}
	}
	return r, nil
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
		switch {
		case run.GraphID != e.GraphID:
		case e.Graph.RootsFound > r.Plan.Roots:
			return fmt.Errorf("%s has %d roots, but the plan has %d", e.GraphID, e.Graph.RootsFound, r.Plan.Roots)
		case run.Graph != nil && (!run.Graph.Same(e.Graph) || run.Graph.RootsFound != e.Graph.RootsFound):
			return fmt.Errorf("the tuples or roots of %s are not those of an earlier session", e.GraphID)
		case !run.searched():
			run.Graph = e.Graph
		}
	}
	return nil
}

// resume begins a session: it clears a failure of the engine or of its energy loop, because a resume repeats what
// failed. Searches without an End are those of a process that was killed before it compared the tuples.
func (r *Run) resume() {
	r.Unchecked, r.pending = r.Unchecked+r.pending, 0
	switch {
	case r.Void:
		*r = Run{Engine: r.Engine, GraphID: r.GraphID, State: Interrupted}
	case r.State == Failed:
		r.State, r.Failure = Interrupted, ""
	}
	if r.Energy.Failed() {
		r.State, r.Energy = Interrupted, nil
	}
}

// searched reports whether every root has been searched. A graph that is built later is for the energy loop only.
func (r *Run) searched() bool {
	return r.Graph != nil && len(r.Roots) > 0 && len(r.Roots) == r.Graph.RootsFound
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
		k := e.Kernel1
		r.Sessions++
		r.Options, r.Construction, r.DeviceTuples = k.Options, &k.Construction, k.DeviceTuples
		r.ConstructWall, r.Cost = k.Wall, k.Cost
		r.Hosts = k.Hosts
		if k.Checksum != "" {
			r.Engine.Checksum = k.Checksum
		}
	case e.Root != nil:
		switch {
		case e.Root.Index != len(r.Roots):
			return fmt.Errorf("root %d where root %d is expected", e.Root.Index, len(r.Roots))
		case r.Graph == nil || len(r.Roots) >= r.Graph.RootsFound:
			return fmt.Errorf("root %d of a graph that has fewer roots", e.Root.Index)
		case r.Construction == nil:
			return fmt.Errorf("root %d before kernel 1", e.Root.Index)
		}
		r.Roots, r.pending = append(r.Roots, *e.Root), r.pending+1
	case e.Clock != nil:
		r.Clock = e.Clock
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
		r.State, r.Failure, r.Void, r.pending = e.End.State, e.End.Failure, e.End.Void, 0
		r.Memory = cmp.Or(e.End.Memory, r.Memory)
	}
	return nil
}

// conclude derives the statistics, figures and compliance of a run from its entries.
func (r *Run) conclude(m Manifest) {
	r.Statistics = Summarize(r.Roots)
	r.Valid = r.Sound() && !slices.ContainsFunc(r.Roots, func(root RootRecord) bool { return !root.Validated })
	if r.Energy != nil {
		hosts := r.Hosts
		if r.Rebuilt != nil { // for the loop
			hosts = r.Rebuilt.Hosts
		}
		r.Energy.Figures = r.Energy.figures(hosts)
		r.Energy.Green = r.Energy.green(r.Graph, hosts)
	}
	r.Compliance = comply(m, *r)
}

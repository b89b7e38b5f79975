package harness

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"github.com/tepsbench/teps/plugins"
)

// entry is one line of roots.jsonl. Exactly one of its pointers is set. The journal of a run is the whole truth about
// it: a Result is always made by replaying entries, during a run as after it, so a resumed run and an undisturbed one
// cannot differ in form.
type entry struct {
	Engine  string        `json:"engine,omitempty"` // label; absent in a session entry
	Scale   int           `json:"scale,omitempty"`
	Session *session      `json:"session,omitempty"`
	Graph   *GraphRecord  `json:"graph,omitempty"`
	Kernel1 *Kernel1      `json:"kernel1,omitempty"`
	Root    *RootRecord   `json:"root,omitempty"`
	Energy  *EnergyRecord `json:"energy,omitempty"`
	End     *end          `json:"end,omitempty"`
	Seal    string        `json:"seal,omitempty"` // seal.go; absent in records of the first release
}

// session opens the entries of one process: the first of a run, and one for each resume.
type session struct {
	Started     time.Time         `json:"started"`
	Software    Software          `json:"software"`
	Machine     Machine           `json:"machine"`
	Environment map[string]string `json:"environment,omitempty"`
}

// Kernel1 is written when an engine has built the graph.
type Kernel1 struct {
	Description  plugins.Description  `json:"description"`
	Options      map[string]string    `json:"options"`
	Checksum     string               `json:"checksum,omitempty"`
	Construction plugins.Construction `json:"construction"`
	Wall         float64              `json:"wall"` // seconds on the host's clock around the call
}

// end closes an engine's entries at a scale. Without one, the process ended first.
type end struct {
	State   State  `json:"state"`
	Failure string `json:"failure,omitempty"`
	// Description is kept where no kernel 1 was.
	Description *plugins.Description `json:"description,omitempty"`
}

// parseJournal reads roots.jsonl. A last line that is torn (no newline, or not an entry) is what a process leaves that
// is killed while it writes: it is left out, and whole gives the length of what comes before it. Anything else that
// cannot be read is damage, and an error; so is a line whose seal does not follow from the lines before it. An entry of a
// kind that a newer version has added is kept without its content.
func parseJournal(m Manifest, data []byte) (entries []entry, whole int, err error) {
	form, _ := parseForm(m.Schema)
	before := m.Seal
	for line := 1; whole < len(data); line++ {
		length := bytes.IndexByte(data[whole:], '\n')
		if length < 0 {
			return entries, whole, nil
		}
		var e entry
		err := json.Unmarshal(data[whole:whole+length], &e)
		if err == nil {
			err = e.check(form.newer())
		}
		if err != nil {
			if whole+length+1 == len(data) {
				return entries, whole, nil
			}
			return nil, 0, fmt.Errorf("line %d is damaged: %w", line, err)
		}
		if m.Sealed() && !onLine.holds(data[whole:whole+length], sealMember, before) {
			return nil, 0, fmt.Errorf("line %d is not what was written there: it was edited, or lines before it were edited, removed, added or moved", line)
		}
		entries, before = append(entries, e), e.Seal
		whole += length + 1
	}
	return entries, whole, nil
}

func (e entry) check(newer bool) error {
	set := 0
	for _, present := range []bool{e.Session != nil, e.Graph != nil, e.Kernel1 != nil, e.Root != nil, e.Energy != nil, e.End != nil} {
		if present {
			set++
		}
	}
	if set != 1 && !(newer && set == 0) {
		return fmt.Errorf("an entry of %d kinds, want one", set)
	}
	return nil
}

// replay makes the result of a plan from the entries of its journal.
func replay(m Manifest, entries []entry) (Result, error) {
	r := Result{Manifest: m}
	at := map[cell]int{}
	for _, scale := range m.Plan.Scales {
		for _, spec := range m.Plan.Engines {
			at[cell{spec.Name, scale}] = len(r.Runs)
			r.Runs = append(r.Runs, Run{Engine: spec, Scale: scale, State: Interrupted})
		}
	}
	sessions := 0
	for n, e := range entries {
		r.Journal = e.Seal
		if e.Session != nil {
			if sessions++; sessions > 1 {
				for i := range r.Runs {
					r.Runs[i].tryAgain()
				}
			}
			continue
		}
		if e.Graph != nil {
			if want := m.Plan.Recipe(e.Scale); e.Graph.Recipe != want {
				return r, fmt.Errorf("line %d: the graph was made by %+v, and the plan says %+v", n+1, e.Graph.Recipe, want)
			}
			for _, spec := range m.Plan.Engines {
				if i, ok := at[cell{spec.Name, e.Scale}]; ok && !r.Runs[i].searched() {
					r.Runs[i].Graph = e.Graph
				}
			}
			continue
		}
		if e.Kernel1 == nil && e.Root == nil && e.Energy == nil && e.End == nil {
			continue // of a newer version
		}
		i, ok := at[cell{e.Engine, e.Scale}]
		if !ok {
			return r, fmt.Errorf("line %d: engine %q at scale %d is not in the plan", n+1, e.Engine, e.Scale)
		}
		if err := r.Runs[i].apply(e); err != nil {
			return r, fmt.Errorf("line %d: %w", n+1, err)
		}
	}
	for i := range r.Runs {
		r.Runs[i].conclude(m)
	}
	return r, nil
}

// cell is one engine at one scale.
type cell struct {
	engine string
	scale  int
}

// tryAgain is what a resume does to a run whose engine, or whose energy loop, has failed.
func (r *Run) tryAgain() {
	if r.State == Failed {
		r.State, r.Failure = Interrupted, ""
	}
	if r.Energy != nil && r.Energy.Failure != "" {
		r.State, r.Energy = Interrupted, nil
	}
}

// searched says that there is a search of every root. What a later session builds, it builds for the energy loop: the graph that
// was searched and timed is that of before.
func (r *Run) searched() bool {
	return r.Graph != nil && len(r.Roots) > 0 && len(r.Roots) == r.Graph.RootsFound
}

func (r *Run) apply(e entry) error {
	switch {
	case e.Kernel1 != nil && r.searched():
		if r.Energy == nil {
			r.Rebuilt = e.Kernel1
		}
	case e.Kernel1 != nil:
		r.Sessions++
		r.Description = &e.Kernel1.Description
		r.Options = e.Kernel1.Options
		r.Construction = &e.Kernel1.Construction
		r.ConstructWall = e.Kernel1.Wall
		if e.Kernel1.Checksum != "" {
			r.Engine.Checksum = e.Kernel1.Checksum
		}
	case e.Root != nil:
		if e.Root.Index != len(r.Roots) {
			return fmt.Errorf("root %d where root %d should come", e.Root.Index, len(r.Roots))
		}
		r.Roots = append(r.Roots, *e.Root)
	case e.Energy != nil:
		r.Energy = e.Energy
	case e.End != nil:
		r.State, r.Failure = e.End.State, e.End.Failure
		if r.Description == nil {
			r.Description = e.End.Description
		}
	}
	return nil
}

// conclude derives what a Run says of its roots.
func (r *Run) conclude(m Manifest) {
	r.Statistics = Summarise(r.Roots)
	r.Valid = r.State == Complete && len(r.Roots) > 0
	for _, root := range r.Roots {
		r.Valid = r.Valid && root.Validated && !root.Broken()
	}
	if r.Energy != nil {
		r.Energy.Figures = r.Energy.figures()
		r.Energy.Green = r.Energy.green(r.Graph)
	}
	r.Compliance = comply(m, *r)
}

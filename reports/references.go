// SPDX-License-Identifier: Apache-2.0

package reports

import (
	"cmp"
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

// Published results that a report can show next to measured ones are in references/, one file for each publication,
// with the place of every number in it. They are drawn in gray with hollow marks, have a separate table that says how
// their authors counted, and appear only on request.

//go:embed references/*.json
var referenceFiles embed.FS

// Reference is one publication.
type Reference struct {
	Name     string         `json:"-"`                   // kolganov-2018
	Short    string         `json:"short"`               // for legends
	Source   string         `json:"source"`              // authors, title, where it was published
	Link     string         `json:"link,omitempty"`      // an address that stays, or empty
	Date     string         `json:"date"`                // year, or year and month
	Counting string         `json:"counting"`            // what its TEPS are
	PerTuple float64        `json:"per_tuple,omitempty"` // ReferenceRow.PerTuple of rows without their own
	Rows     []ReferenceRow `json:"rows"`
}

// ReferenceRow is one number or range of numbers, in GTEPS and MTEPS/W. Zero stands for a value that is not given.
type ReferenceRow struct {
	Where        string  `json:"where"`                // table, figure or section
	System       string  `json:"system"`               // the hardware
	Graph        string  `json:"graph,omitempty"`      // for other graphs than Kronecker graphs of one scale
	Source       string  `json:"source,omitempty"`     // a generator of such graphs, as graph.Source names it
	File         string  `json:"file,omitempty"`       // how the names of its files begin, if not as Graph
	Edges        float64 `json:"edges,omitempty"`      // of Graph, as the source counts them
	Scale        int     `json:"scale,omitempty"`      // of a Kronecker graph
	EdgeFactor   int     `json:"edgefactor,omitempty"` // of a Kronecker graph
	GTEPS        float64 `json:"gteps,omitempty"`
	Min          float64 `json:"min,omitempty"` // of the roots, GTEPS
	Max          float64 `json:"max,omitempty"`
	MTEPSPerWatt float64 `json:"mteps_per_watt,omitempty"`
	Of           string  `json:"of"`                    // what was averaged, or how the number was derived
	Approximate  bool    `json:"approximate,omitempty"` // read off a drawing, or rounded by the text
	Estimate     string  `json:"estimate,omitempty"`    // why MTEPS/W are an estimate
	// PerTuple is the number of edges that the source counts for a tuple, which counts once in TEPS: 2 if it counts both
	// directions. Figures divide rates by it, tables do not.
	PerTuple float64 `json:"per_tuple,omitempty"`
}

// References returns the publications of these names, in the order of the names; "all" stands for every one. A name may
// end in a colon and a text: only rows whose system contains it remain. The error names the known ones.
func References(names ...string) ([]Reference, error) {
	files, _ := fs.Glob(referenceFiles, "references/*.json") // the pattern is right
	var known []string
	for _, file := range files {
		known = append(known, strings.TrimSuffix(path.Base(file), ".json"))
	}
	if slices.Contains(names, "all") {
		names = known
	}
	var out []Reference
	for _, full := range names {
		name, system, _ := strings.Cut(full, ":")
		data, err := referenceFiles.ReadFile("references/" + name + ".json")
		if err != nil {
			return nil, fmt.Errorf("unknown reference %q; the references are %s, and all", name,
				strings.Join(known, ", "))
		}
		r := Reference{Name: name}
		if err := json.Unmarshal(data, &r); err != nil {
			return nil, fmt.Errorf("reports: read the built-in reference %s: %w", name, err)
		}
		r.Rows = slices.DeleteFunc(r.Rows, func(row ReferenceRow) bool { return !strings.Contains(row.System, system) })
		if len(r.Rows) == 0 {
			return nil, fmt.Errorf("%s has no system with %q in its name", name, system)
		}
		for i := range r.Rows {
			r.Rows[i].PerTuple = cmp.Or(r.Rows[i].PerTuple, r.PerTuple, 1)
		}
		if !slices.ContainsFunc(out, func(r Reference) bool { return r.Name == name }) {
			out = append(out, r)
		}
	}
	return out, nil
}

func (r ReferenceRow) input() string {
	if r.Scale == 0 {
		return Clean(r.Graph, 2*NameLength)
	}
	return Joined(", ", r.Graph, fmt.Sprintf("scale %d, edge factor %d", r.Scale, r.EdgeFactor))
}

func (r ReferenceRow) rates() string {
	about := ""
	if r.Approximate {
		about = "about "
	}
	switch {
	case r.GTEPS > 0:
		return about + Exactly(r.GTEPS)
	case r.Max > 0:
		return about + Exactly(r.Min) + " … " + Exactly(r.Max)
	}
	return Missing
}

// Exactly spells a published number with the digits that it was published with.
func Exactly(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

// ReferenceTable lists the rows of publications. It never has a measured row.
func (r Report) ReferenceTable() Table {
	t := NewTable("published in|system|graph|#GTEPS|#MTEPS/W|of|read from", "")
	t.Name = "Published elsewhere, not measured here"
	for _, r := range r.References {
		for _, line := range r.Rows {
			watts := Missing
			if line.MTEPSPerWatt > 0 {
				if watts = Exactly(line.MTEPSPerWatt); line.Estimate != "" {
					watts += " (estimate)"
				}
			}
			t.Add(r.Short, line.System, line.input(), line.rates(), watts, Joined("; ", line.Of, line.Estimate), line.Where)
			t.Style(5, "why")
			t.Style(6, "why")
		}
	}
	return t
}

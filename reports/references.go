package reports

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
)

// Published results that a report can show beside measured ones. They lie in references/, one file for each publication,
// with the place in it where every number stands. They were read, not measured: they are drawn in grey with hollow marks,
// stand in a table of their own with the way in which their authors counted, and appear only when asked for.

//go:embed references/*.json
var referenceFiles embed.FS

// Reference is one publication.
type Reference struct {
	Name     string         `json:"-"`              // kolganov-2018
	Short    string         `json:"short"`          // for legends
	Source   string         `json:"source"`         // authors, title, where it was published
	Link     string         `json:"link,omitempty"` // an address that stays, or empty
	Date     string         `json:"date"`           // year, or year and month
	Counting string         `json:"counting"`       // what its TEPS are
	Rows     []ReferenceRow `json:"rows"`
}

// ReferenceRow is one number or range of numbers, in GTEPS and MTEPS/W. Zero stands for what is not given.
type ReferenceRow struct {
	Where        string  `json:"where"`                // table, figure or section
	System       string  `json:"system"`               // the hardware
	Graph        string  `json:"graph,omitempty"`      // where it is no Kronecker graph, or one of no single scale
	Scale        int     `json:"scale,omitempty"`      // of a Kronecker graph
	EdgeFactor   int     `json:"edgefactor,omitempty"` // of a Kronecker graph
	GTEPS        float64 `json:"gteps,omitempty"`
	Min          float64 `json:"min,omitempty"` // of the roots, GTEPS
	Max          float64 `json:"max,omitempty"`
	MTEPSPerWatt float64 `json:"mteps_per_watt,omitempty"`
	Of           string  `json:"of"`                    // what was averaged, or how the number was derived
	Approximate  bool    `json:"approximate,omitempty"` // read off a drawing, or rounded by the text
	Estimate     string  `json:"estimate,omitempty"`    // why MTEPS/W are an estimate
}

// References returns the publications of these names, in the order of the names; "all" stands for every one. The error
// names those that there are.
func References(names ...string) ([]Reference, error) {
	files, err := referenceFiles.ReadDir("references")
	if err != nil {
		return nil, fmt.Errorf("reports: read the built-in references: %w", err)
	}
	var all []Reference
	var known []string
	for _, file := range files {
		data, err := referenceFiles.ReadFile(path.Join("references", file.Name()))
		if err != nil {
			return nil, fmt.Errorf("reports: read the built-in references: %w", err)
		}
		r := Reference{Name: strings.TrimSuffix(file.Name(), ".json")}
		strict := json.NewDecoder(bytes.NewReader(data))
		strict.DisallowUnknownFields()
		if err := strict.Decode(&r); err != nil {
			return nil, fmt.Errorf("reports: read the built-in reference %s: %w", r.Name, err)
		}
		all, known = append(all, r), append(known, r.Name)
	}
	var out []Reference
	for _, name := range names {
		if name == "all" {
			return all, nil
		}
		i := slices.Index(known, name)
		if i < 0 {
			return nil, fmt.Errorf("there is no reference %q; there are %s, and all", name, strings.Join(known, ", "))
		}
		if !slices.ContainsFunc(out, func(r Reference) bool { return r.Name == name }) {
			out = append(out, all[i])
		}
	}
	return out, nil
}

// referenceNames lists names as the option --reference takes them.
func referenceNames(references []Reference) string {
	var names []string
	for _, r := range references {
		names = append(names, r.Name)
	}
	return strings.Join(names, ",")
}

// input says what a row searched.
func (r ReferenceRow) input() string {
	if r.Scale == 0 {
		return clean(r.Graph, 2*nameRunes)
	}
	text := fmt.Sprintf("scale %d, edgefactor %d", r.Scale, r.EdgeFactor)
	if r.Graph != "" {
		text = r.Graph + ", " + text
	}
	return text
}

// rates spells the GTEPS of a row.
func (r ReferenceRow) rates() string {
	about := ""
	if r.Approximate {
		about = "about "
	}
	switch {
	case r.GTEPS > 0:
		return about + shortest(r.GTEPS)
	case r.Max > 0:
		return about + shortest(r.Min) + " … " + shortest(r.Max)
	}
	return missing
}

// shortest spells a published number with the digits that it was published with.
func shortest(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

// referencesTable lists the rows of publications. It never has a measured row.
func referencesTable(references []Reference) tableView {
	t := tableView{
		Name: "Published elsewhere, not measured here",
		Head: append(append(words("published in", "system", "graph"), numbers("GTEPS", "MTEPS/W")...), words("of", "read from")...),
	}
	for _, r := range references {
		for _, row := range r.Rows {
			watts := missing
			if row.MTEPSPerWatt > 0 {
				if watts = shortest(row.MTEPSPerWatt); row.Estimate != "" {
					watts += " (estimate)"
				}
			}
			t.Rows = append(t.Rows, slices.Concat(words(r.Short, row.System, row.input()), numbers(row.rates(), watts),
				[]cell{{joined("; ", row.Of, row.Estimate), "why"}, {row.Where, "why"}}))
		}
	}
	return t
}

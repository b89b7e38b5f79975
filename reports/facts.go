// SPDX-License-Identifier: Apache-2.0

package reports

import (
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/template"

	"github.com/tepsbench/teps/internal/units"
	"github.com/tepsbench/teps/plugins"
)

//go:embed facts.tmpl
var factsTemplate string

// Functions returns the functions of templates. Texts from records must pass name, sentence, engine or clean.
func Functions() template.FuncMap {
	return template.FuncMap{
		"name": Name, "sentence": Sentence, "engine": EngineName, "clean": Clean, "join": strings.Join, "joined": Joined,
		"plural": Plural, "positive": Positive, "measured": Measured, "gteps": GTEPS, "integer": units.Integer,
		"seconds": units.Seconds, "bytes": units.Bytes, "significant": units.Significant, "options": OptionsText,
		"phases": PhasesText, "disturbance": Disturbance, "faults": LevelFaults, "variants": VariantTable,
		"dated":   Dated,
		"share":   func(part, whole int64) string { return Percentage(float64(part), float64(whole)) },
		"percent": func(digits int, share float64) string { return units.Percent(share, digits) },
	}
}

// Facts are the engine, kernel 1, the input and the meters of a run.
func (s Summary) Facts() []Table { return facts(s, "Engine", "Kernel 1", "Input", "Meters") }

// Facts are the machine, the software and the plan of a record.
func (r Result) Facts() []Table { return facts(r, "Machine", "Run") }

// GraphFacts are those of a graph and of the file that it was read from, and its statistics.
func GraphFacts(graph any) Table { return facts(graph, "Graph")[0] }

// facts makes a table of names and values of each of the templates in facts.tmpl.
func facts(data any, names ...string) (tables []Table) {
	all := template.Must(template.New("").Funcs(Functions()).Parse(factsTemplate))
	for _, name := range names {
		t := NewTable(name+"|", "")
		t.Name = name
		var b strings.Builder
		if err := all.ExecuteTemplate(&b, name, data); err != nil {
			t.Add("not shown because", Sentence(err.Error()))
		}
		for line := range strings.Lines(b.String()) {
			if name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t"); value != "" && value != Missing {
				t.Add(name, value)
			}
		}
		tables = append(tables, t)
	}
	return tables
}

func listed[T any](all []T, text func(T) string) string {
	var out []string
	for _, one := range all {
		out = append(out, text(one))
	}
	return strings.Join(out, ", ")
}

// PhasesText lists phases with their times.
func PhasesText(phases []plugins.Phase) string {
	return listed(phases, func(p plugins.Phase) string { return fmt.Sprint(Name(p.Name), " ", units.Duration(p.Elapsed)) })
}

// CountersText lists counters with their values.
func CountersText(counters []plugins.Counter) string {
	return listed(counters, func(c plugins.Counter) string { return Name(c.Name) + " " + units.Integer(c.Value) })
}

// OptionsText lists options by name: alpha=15, threads=2.
func OptionsText(options map[string]string) string {
	return listed(slices.Sorted(maps.Keys(options)), func(name string) string {
		return Name(name) + "=" + Sentence(options[name])
	})
}

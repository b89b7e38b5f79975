// SPDX-License-Identifier: Apache-2.0

package text

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/tepsbench/teps/power"
	"github.com/tepsbench/teps/record"
	"github.com/tepsbench/teps/reports"
)

// form is a run with the fields of its submissions to Graph500 and Green Graph500.
type form struct {
	reports.Summary
	Result           reports.Result
	Why, WhyNotGreen string              // why this is not the draft of a submission; empty: it is
	Figure           *record.PowerFigure // of the whole system for a submission, else the best one; nil without
}

// Submission writes the fields of the forms of Graph500 and, of a run with an energy loop, of Green Graph500. A block
// is the draft of a submission if the run is valid, follows the rules and has the scale of a class and, for Green
// Graph500, if the power is that of the whole system, measured, at an EEHPC level. What is not in the record is
// "(fill in)"; the last line of a block names these blanks.
func Submission(w io.Writer, r reports.Result) error {
	var forms []form
	for _, run := range r.Runs {
		f := form{Summary: run, Result: r, Why: notSubmitted(run)}
		if f.HasLoop() {
			if f.WhyNotGreen, f.Figure = notGreen(run); f.WhyNotGreen != "" {
				if figure, found := run.PowerFigure(); found {
					f.Figure = &figure
				}
			}
		}
		forms = append(forms, f)
	}
	var b bytes.Buffer
	if err := fill(&b, "submission.tmpl", forms); err != nil {
		return err
	}
	blocks := strings.Split(b.String(), "\n\n")
	for i, block := range blocks {
		if names := blanks(block); len(names) > 0 {
			blocks[i] = strings.TrimSuffix(block, "\n") + "\n# To fill in: " + strings.Join(names, ", ")
		}
	}
	return flush(w, bytes.NewBufferString(strings.TrimSuffix(strings.Join(blocks, "\n\n"), "\n")+"\n"), "the submission")
}

// blanks are the names of the fields that somebody must fill in.
func blanks(block string) (names []string) {
	for line := range strings.Lines(block) {
		if name, value, _ := strings.Cut(line, ":"); strings.Contains(value, "(fill in)") {
			names = append(names, strings.ToLower(name[:1])+name[1:])
		}
	}
	return names
}

// HasLoop reports whether the run has an energy loop.
func (f form) HasLoop() bool { return f.Energy != nil && f.Energy.Loop != nil }

// Nodes is the number of nodes and, of several, their names.
func (f form) Nodes() string {
	if len(f.Hosts) > 1 {
		return fmt.Sprintf("%d: %s", len(f.Hosts), strings.Join(f.Hosts, ", "))
	}
	return "1"
}

// Each follows numbers that are those of one of several nodes.
func (f form) Each() string {
	if len(f.Hosts) > 1 {
		return " a node"
	}
	return ""
}

// Class is the largest class of Graph500 whose scale the run reaches; empty: none.
func (f form) Class() (class string) {
	for _, c := range classes() {
		if f.Graph != nil && f.Graph.Recipe.Scale >= c.scale {
			class = "class " + c.name
		}
	}
	return class
}

type class struct {
	name  string
	scale int
}

// classes are those of the Graph500 specification 2.0.
func classes() []class {
	return []class{{"toy", 26}, {"mini", 29}, {"small", 32}, {"medium", 36}, {"large", 39}, {"huge", 42}}
}

// notSubmitted says why a run is not even the draft of a submission.
func notSubmitted(run reports.Summary) string {
	switch why := notOfficial(run); {
	case why != "":
		return why
	case !run.Compliant():
		return "the run is not compliant: " + run.RuleCount()
	case (form{Summary: run}).Class() == "":
		return fmt.Sprintf("the smallest class of Graph500, %s, has scale %d", classes()[0].name, classes()[0].scale)
	}
	return ""
}

// notGreen says why a run with an energy loop is not even the draft of a submission. Of a draft it returns the figure:
// that of the system's meter which reached the level.
func notGreen(run reports.Summary) (why string, figure *record.PowerFigure) {
	green := run.Energy.Green
	if run.Energy.Failure != "" {
		return "the energy loop failed: " + run.Energy.Failure, nil
	}
	for _, f := range run.PowerFigures() {
		if green != nil && green.Level > 0 && f.Of == green.Meter && f.System && f.Method == power.Measured {
			if why := notSubmitted(run); why != "" {
				return why, nil
			}
			return "", &f
		}
	}
	if why := notOfficial(run); why != "" {
		return why, nil
	}
	if green != nil && len(green.Missing) > 0 {
		return "no EEHPC level is reached: it takes " + green.Missing[0], nil
	}
	return "no system power was measured", nil
}

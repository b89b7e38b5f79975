// SPDX-License-Identifier: Apache-2.0

package text

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
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
// "(fill in)"; the last line of a block names these blanks. Of several records only drafts have a block, the largest
// scale and the fastest first; a line for every other run says why it is none.
func Submission(w io.Writer, r reports.Report) error {
	var forms []form
	runs, others := 0, ""
	for _, result := range r.Results {
		for _, run := range result.Runs {
			runs++
			f := form{Summary: run, Result: result, Why: notSubmitted(run)}
			if result.Mark != "" && f.Why != "" {
				others += fmt.Sprintf("# %s: %s %s: %s\n", reports.Sentence(result.Directory), run.Label, run.AtGraph(),
					reports.Sentence(f.Why))
				continue
			}
			if f.HasLoop() {
				f.WhyNotGreen, f.Figure = notGreen(run)
			}
			forms = append(forms, f)
		}
	}
	var b bytes.Buffer
	if len(r.Results) > 1 {
		slices.SortStableFunc(forms, func(a, b form) int {
			return cmp.Or(b.Scale-a.Scale, cmp.Compare(b.Rate(), a.Rate()))
		})
		fmt.Fprintf(&b, "# Drafts of submissions: %d of %s\n%s\n", len(forms), reports.Plural(runs, "run", "runs"), others)
	}
	if len(forms) > 0 || runs == 0 {
		if err := fill(&b, "submission.tmpl", forms); err != nil {
			return err
		}
	}
	blocks := strings.Split(b.String(), "\n\n")
	for i, block := range blocks {
		if names := blanks(block); len(names) > 0 {
			blocks[i] = strings.TrimSuffix(block, "\n") + "\n# To fill in: " + strings.Join(names, ", ")
		}
	}
	text := strings.TrimRight(strings.Join(blocks, "\n\n"), "\n") + "\n"
	return flush(w, bytes.NewBufferString(text), "the submission")
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
		var broken []string
		for _, rule := range run.BrokenRules() {
			broken = append(broken, rule.Rule)
		}
		return "the run is not compliant: " + reports.Joined(": ", run.RuleCount(), strings.Join(broken, "; "))
	case (form{Summary: run}).Class() == "":
		return fmt.Sprintf("the smallest class of Graph500, %s, has scale %d", classes()[0].name, classes()[0].scale)
	}
	return ""
}

// notGreen says why a run with an energy loop is not even the draft of a submission. The figure is that of the system's
// meter which reached the level; without a draft it is the best one, if there is any.
func notGreen(run reports.Summary) (why string, figure *record.PowerFigure) {
	green := run.Energy.Green
	if best, found := run.PowerFigure(); found {
		figure = &best
	}
	if run.Energy.Failure != "" {
		return "the energy loop failed: " + run.Energy.Failure, figure
	}
	for _, f := range run.PowerFigures() {
		if green != nil && green.Level > 0 && f.Of == green.Meter && f.System && f.Method == power.Measured {
			if why = notSubmitted(run); why == "" {
				figure = &f
			}
			return why, figure
		}
	}
	if why := notOfficial(run); why != "" {
		return why, figure
	}
	if green != nil && len(green.Missing) > 0 {
		return "no EEHPC level is reached: it takes " + green.Missing[0], figure
	}
	return "no system power was measured", figure
}

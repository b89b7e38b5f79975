// SPDX-License-Identifier: Apache-2.0

package text

import (
	"fmt"
	"io"
	"strconv"

	"github.com/tepsbench/teps/internal/units"
	"github.com/tepsbench/teps/power"
	"github.com/tepsbench/teps/record"
	"github.com/tepsbench/teps/reports"
)

// greenForm is a run with an energy loop and the fields of its submission.
type greenForm struct {
	reports.Summary
	Result reports.Result
	Why    string              // why this is not the draft of a submission; empty: it is
	Figure *record.PowerFigure // of the whole system for a submission, else the best one; nil without
	Kind   string              // of the figure's power

	System, Accelerators, Implementation, MeterModel, Level string
}

// Green writes the fields of a submission to the Green Graph500 list for every run with an energy loop. A block is the
// draft of one if the run is valid, follows the rules and has the scale of a class, and the power is that of the whole
// system, measured, at an EEHPC level. The first line says what is missing. What is not in the record is "(fill in)".
func Green(w io.Writer, r reports.Result) error {
	var forms []greenForm
	for _, run := range r.Runs {
		if HasLoop(run) {
			forms = append(forms, newGreenForm(r, run))
		}
	}
	return fill(w, "green.tmpl", forms)
}

// HasLoop reports whether a run has an energy loop.
func HasLoop(run reports.Summary) bool { return run.Energy != nil && run.Energy.Loop != nil }

// systemFigure is the figure of a submission: that of the system's meter which reached the level.
func systemFigure(run reports.Summary) (record.PowerFigure, bool) {
	green := run.Energy.Green
	if green == nil || green.Level < 1 {
		return record.PowerFigure{}, false
	}
	for _, f := range run.PowerFigures() {
		if f.Of == green.Meter && f.System && f.Method == power.Measured {
			return f, true
		}
	}
	return record.PowerFigure{}, false
}

const smallestScale = 26 // of a class of Graph500

// notGreen says why a run is not even the draft of a submission; empty: it is.
func notGreen(run reports.Summary) string {
	switch why := notOfficial(run); {
	case why != "":
		return why
	case run.Energy.Failure != "":
		return "the energy loop failed: " + run.Energy.Failure
	case !run.Compliant():
		return "the run is not compliant: " + run.RuleCount()
	}
	if _, found := systemFigure(run); found {
		if run.Graph == nil || run.Graph.Recipe.Scale < smallestScale {
			return fmt.Sprintf("the smallest class of Graph500, toy, has scale %d", smallestScale)
		}
		return ""
	}
	if green := run.Energy.Green; green != nil && len(green.Missing) > 0 {
		return "no EEHPC level is reached: it takes " + green.Missing[0]
	}
	return "no system power was measured"
}

func newGreenForm(r reports.Result, run reports.Summary) greenForm {
	m := r.Machine
	form := greenForm{
		Summary: run, Result: r, Why: notGreen(run), Accelerators: reports.Missing, Implementation: run.Label,
		Level: "none",
		System: reports.Joined(", ", reports.Name(m.CPU), reports.Plural(m.Sockets, "socket", "sockets"),
			reports.Plural(m.Cores, "core", "cores"), units.Bytes(m.MemoryBytes), reports.Name(m.OS)),
	}
	if d := run.Description; d != nil {
		form.Implementation, form.Accelerators = reports.Joined(" ", run.Label, reports.Name(d.Version)), "none"
		if len(d.Devices) > 0 && d.Devices[0].Kind == "gpu" {
			form.Accelerators = run.Device()
		}
	}
	if green := run.Energy.Green; green != nil && green.Level > 0 {
		form.Level = "L" + strconv.Itoa(green.Level)
	}
	f, found := systemFigure(run)
	if form.Why != "" {
		f, found = run.PowerFigure()
	}
	if !found {
		return form
	}
	form.Figure, form.Kind = &f, "system power, "+string(f.Method)
	if !f.System {
		form.Kind = "component power, not the system's: " + f.Of + ", " + string(f.Method)
	}
	for _, meter := range run.Energy.Meters {
		if meter.Meter.Name == f.Of {
			form.MeterModel = meter.Meter.Detail
		}
	}
	return form
}

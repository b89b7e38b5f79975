package reports

import (
	"fmt"
	"strconv"

	"github.com/tepsbench/teps/harness"
	"github.com/tepsbench/teps/power"
)

// Figures of power have a scope and a method, and neither may get lost on the way to a reader: a number of one GPU is not
// that of a system, and an estimate is not a measurement. Every table, drawing and text says both beside the number.

// energyFigures are the figures of a run that may be shown; none where a search was found wrong.
func energyFigures(run harness.Run) []harness.PowerFigure {
	if run.Energy == nil || judge(run).Word == "INVALID" {
		return nil
	}
	var out []harness.PowerFigure
	for _, f := range run.Energy.Figures {
		if finite(f.MTEPSPerWatt, f.Watts, f.Joules) && f.MTEPSPerWatt > 0 {
			out = append(out, f)
		}
	}
	return out
}

// headlineFigure is the figure to show where there is room for one.
func headlineFigure(run harness.Run) (harness.PowerFigure, bool) {
	if len(energyFigures(run)) == 0 {
		return harness.PowerFigure{}, false
	}
	return run.Energy.Headline()
}

// measuredFigure is headlineFigure if it was measured.
func measuredFigure(run harness.Run) (harness.PowerFigure, bool) {
	f, found := headlineFigure(run)
	return f, found && f.Method == power.Measured
}

// anyMeasured says whether a run of r has a measured figure of power.
func anyMeasured(r harness.Result) bool {
	for _, run := range r.Runs {
		if _, found := measuredFigure(run); found {
			return true
		}
	}
	return false
}

// perWatt is the figure for a narrow column: the number and what power it is of.
func perWatt(run harness.Run) string {
	f, found := measuredFigure(run)
	if !found {
		return missing
	}
	return significant(f.MTEPSPerWatt, 4) + " " + f.Label()
}

// kindOfPower says of a figure whether its power is a system's.
func kindOfPower(f harness.PowerFigure) string {
	if f.System {
		return "system"
	}
	return "component"
}

// showedNothing follows the name of a meter without a figure that was read all the time.
const showedNothing = " showed 0 J over the whole loop, so it metered nothing"

// noFigure says why a run that was to be metered has no figure.
func noFigure(e *harness.EnergyRecord) string {
	switch {
	case e.Failure != "":
		return clean(e.Failure, sentenceRunes)
	case e.Loop == nil:
		return "there is no power meter here"
	}
	for _, m := range e.Meters {
		switch {
		case m.Used && m.NoLoop != "":
			return clean(m.Meter.Name+": "+m.NoLoop, sentenceRunes)
		case m.ShowedNothing():
			return clean(m.Meter.Name, nameRunes) + showedNothing
		case m.Used && m.Loop != nil:
			return fmt.Sprintf("%s covers %.3g %% of the loop", clean(m.Meter.Name, nameRunes), m.Loop.Coverage*100)
		}
	}
	for _, m := range e.Meters {
		return clean(m.Meter.Name+": "+m.Why, sentenceRunes)
	}
	return "no meter was used"
}

// energyTable has a line for each figure of power, and one that says why for each run without.
func energyTable(runs []labelled) tableView {
	t := tableView{
		Head: append(append(append(words("engine"), numbers("scale")...), words("power of", "kind", "method")...),
			numbers("watts", "idle watts", "MTEPS/W", "± %", "MTEPS/W above idle", "± %", "J a search", "loop", "searches")...),
		Note: "MTEPS/W is the rate of the energy loop over the mean power of that same interval, idle power included; above idle, the power of the idle baseline is taken off. ± bounds what " +
			"sampling adds; the error of the sensor itself is not in it. Component power is no system power: it leaves out what the meter does not cover.",
	}
	for _, r := range runs {
		e := r.run.Energy
		if e == nil {
			continue
		}
		figures := energyFigures(r.run)
		if len(figures) == 0 {
			t.Rows = append(t.Rows, append(append(append(words(r.label), numbers(strconv.Itoa(r.run.Scale))...), words("no figure: "+noFigure(e), "", "")...),
				numbers(missing, missing, missing, missing, missing, missing, missing, missing, missing)...))
			continue
		}
		for _, f := range figures {
			t.Rows = append(t.Rows, append(append(append(words(r.label), numbers(strconv.Itoa(r.run.Scale))...),
				words(clean(f.Of, nameRunes), kindOfPower(f), string(f.Method))...),
				numbers(significant(f.Watts, 4), known(f.IdleWatts, 1, 4), significant(f.MTEPSPerWatt, 4), significant(f.Uncertainty*100, 2),
					known(f.MTEPSPerWattOverIdle, 1, 4), known(f.UncertaintyOverIdle, 100, 2), significant(f.JoulesPerSearch, 4),
					duration(e.Loop.Elapsed), integer(e.Loop.Searches))...))
		}
	}
	return t
}

// known formats a number that may be missing.
func known(x *float64, factor float64, digits int) string {
	if x == nil {
		return missing
	}
	return significant(*x*factor, digits)
}

// coreShare is the part of one core that the reads of a meter took while it was recorded.
func coreShare(e *harness.EnergyRecord, m harness.Metered) string {
	if n := len(e.Phases); m.ProcessorTime > 0 && n > 0 {
		if recorded := (e.Phases[n-1].To - e.Phases[0].From).Seconds(); recorded > 0 {
			return significant(100*m.ProcessorTime/recorded, 2) + " %"
		}
	}
	return missing
}

// metersTable says of every meter of a run what it showed, used or not.
func metersTable(runs []labelled) tableView {
	t := tableView{
		Head: append(append(append(words("engine"), numbers("scale")...), words("meter", "scope", "method", "reads")...),
			append(numbers("joules in the loop", "± J", "coverage", "longest gap", "updates", "reading took", "of a core"), words("used")...)...),
		Note: "Joules are those of the loop, from the counter where there is one and else by trapezoid over the samples. Coverage is the part of the loop between usable samples. Reads of a register also say what part of one core they took.",
	}
	for _, r := range runs {
		if r.run.Energy == nil {
			continue
		}
		for _, m := range r.run.Energy.Meters {
			joules, doubt, coverage, gap, updates := missing, missing, missing, missing, missing
			if m.Loop != nil {
				joules, doubt = significant(m.Loop.Joules, 5), significant(m.Loop.Uncertainty, 2)
				coverage, gap, updates = significant(m.Loop.Coverage*100, 4)+" %", duration(m.Loop.LargestGap.Seconds()), strconv.Itoa(m.Loop.Updates)
			}
			used := "yes"
			if !m.Used {
				used = "no: " + clean(m.Why, sentenceRunes)
			}
			if len(m.Faults) > 0 {
				used += "; " + clean(m.Faults[0].Text, sentenceRunes)
			}
			t.Rows = append(t.Rows, append(append(append(words(r.label), numbers(strconv.Itoa(r.run.Scale))...),
				words(clean(m.Meter.Name, nameRunes), string(m.Meter.Scope), string(m.Meter.Method), string(m.Meter.Quantity))...),
				append(numbers(joules, doubt, coverage, gap, updates, duration(m.ReadTime), coreShare(r.run.Energy, m)), words(used)...)...))
		}
	}
	return t
}

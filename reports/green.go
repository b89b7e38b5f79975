package reports

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"strconv"

	"github.com/tepsbench/teps/harness"
	"github.com/tepsbench/teps/power"
)

// GreenGraph500 writes what a submission to GreenGraph500 asks for, for every run of r that was metered. A block is a
// submission only if the run is valid and follows the rules and the power is that of the whole system, measured, at an EEHPC level; every
// other block begins with a line that says that it is none, and why. What only the site knows is left as "fill in".
// The error is that of w.
func GreenGraph500(w io.Writer, r harness.Result) error {
	var b bytes.Buffer
	for _, l := range labels(r) {
		if l.run.Energy == nil || l.run.Energy.Loop == nil {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		greenBlock(&b, r, l)
	}
	if b.Len() == 0 {
		b.WriteString("# Not a GreenGraph500 submission: no energy loop was metered (teps run --energy 60s, with a power meter).\n")
	}
	if _, err := w.Write(b.Bytes()); err != nil {
		return fmt.Errorf("reports: write the GreenGraph500 text: %w", err)
	}
	return nil
}

// hasGreen says whether there is anything to write for GreenGraph500.
func hasGreen(r harness.Result) bool {
	for _, run := range r.Runs {
		if run.Energy != nil && run.Energy.Loop != nil {
			return true
		}
	}
	return false
}

// submitted is the figure that a submission goes by: that of the system's meter which reached the level.
func submitted(run harness.Run) (harness.PowerFigure, bool) {
	green := run.Energy.Green
	if green == nil || green.Level < 1 {
		return harness.PowerFigure{}, false
	}
	for _, f := range energyFigures(run) {
		if f.Of == green.Meter && f.System && f.Method == power.Measured {
			return f, true
		}
	}
	return harness.PowerFigure{}, false
}

// noSubmission says why a run is none; empty: it is one.
func noSubmission(run harness.Run) string {
	switch v := judge(run); {
	case v.Grade != good:
		return v.Why
	case run.Energy.Failure != "":
		return "the energy loop failed: " + run.Energy.Failure
	case !compliant(run):
		return fmt.Sprintf("%s; the run's statement of the rules says which", ruleCount(run.Compliance))
	}
	if _, found := submitted(run); found {
		return ""
	}
	f, found := headlineFigure(run)
	for _, m := range run.Energy.Meters {
		if !(found && f.System) && m.Meter.Scope.System() && m.ShowedNothing() {
			return "no system power was measured: " + m.Meter.Name + showedNothing
		}
	}
	if found && !f.System {
		return "component power, not system power: " + f.Of + " leaves out the rest of the machine; GreenGraph500 ranks by the power of the whole system"
	}
	if green := run.Energy.Green; green != nil && len(green.Missing) > 0 {
		return "no EEHPC level is reached: it takes " + green.Missing[0]
	}
	return "no system power was measured"
}

func greenBlock(b *bytes.Buffer, r harness.Result, l labelled) {
	run, e := l.run, l.run.Energy
	f, found := submitted(run)
	why := noSubmission(run)
	switch {
	case why != "":
		fmt.Fprintf(b, "# Not a GreenGraph500 submission: %s\n", clean(why, sentenceRunes))
		f, found = headlineFigure(run)
	default:
		b.WriteString("# GreenGraph500 submission\n")
	}
	field := func(name, format string, args ...any) {
		fmt.Fprintf(b, "%-34s%s\n", name+":", fmt.Sprintf(format, args...))
	}
	const open = "fill in: "
	field("Organization", open+"name of the site")
	field("Location", open+"city, country")
	field("Contact", open+"name and address of electronic mail")
	field("Machine name", open+"as it is to be listed")
	field("Machine", "%s", joined(", ", clean(r.Machine.CPU, nameRunes), plural(r.Machine.Sockets, "socket", "sockets"), plural(r.Machine.Cores, "core", "cores"),
		bytesText(r.Machine.MemoryBytes), clean(r.Machine.OS, nameRunes)))
	field("Accelerators", "%s", accelerators(run))
	field("Year of installation", open+"year")
	field("Number of nodes", open+"number of nodes that were used and metered")
	field("Implementation", "teps %s, engine %s", clean(r.Software.Version, nameRunes), joined(" ", l.label, version(run)))
	field("Problem scale", "%d", run.Scale)
	if run.Graph != nil {
		field("Edge factor", "%d", run.Graph.Recipe.EdgeFactor)
	}
	if e.Green != nil {
		field("Data class", "%s", e.Green.Class)
	}
	if s := drawable(run); s != nil {
		field("GTEPS, harmonic mean of roots", "%s", gteps(s.TEPS.Mean))
	}
	field("GTEPS of the metered loop", "%s", gteps(e.Loop.TEPS))
	if !found {
		field("MTEPS per watt", "%s", missing)
		missingLines(b, run)
		return
	}
	kind := "system power"
	if !f.System {
		kind = "component power, not the system's: " + string(f.Scope)
		if len(f.Meters) > 1 {
			kind = "component power, not the system's: " + f.Of
		}
	}
	kind += ", " + string(f.Method)
	field("MTEPS per watt", "%s (%s)", significant(f.MTEPSPerWatt, 5), kind)
	field("Mean power of the loop", "%s W (%s)", significant(f.Watts, 5), kind)
	field("Bound on the error by sampling", "%s %%", significant(f.Uncertainty*100, 3))
	if f.IdleWatts != nil {
		field("Idle power", "%s W (%s)", significant(*f.IdleWatts, 5), kind)
	}
	field("Meter", "%s", clean(f.Of, nameRunes))
	for _, m := range e.Meters {
		if m.Meter.Name == f.Of && m.Meter.Detail != "" {
			field("Meter model or source", "%s", clean(m.Meter.Detail, sentenceRunes))
		}
	}
	field("Accuracy of the meter", "%s", accuracy(f))
	level := "none"
	if e.Green != nil && e.Green.Level > 0 {
		level = "L" + strconv.Itoa(e.Green.Level)
	}
	field("Power measurement level", "%s", level)
	graph := ""
	if run.Rebuilt != nil {
		graph = "; over the same graph, which a resume built anew after the timed searches"
	}
	field("Power measurement method", "mean over the whole loop of %s, %s searches from %s around and around (%s), none of them validated; %d validated afterwards%s",
		duration(e.Loop.Elapsed), integer(e.Loop.Searches), plural(e.Loop.Roots, "root", "roots"), e.Loop.Kind, afterSearches(e), graph)
	field("Frequency and voltage scaling", "governor %s; "+open+"what else was set", clean(r.Machine.Governor, nameRunes))
	field("Record", "%s, %s", clean(r.ID, nameRunes), r.Started.UTC().Format("2006-01-02 15:04:05 MST"))
	missingLines(b, run)
}

// missingLines lists what the next level asks for.
func missingLines(b *bytes.Buffer, run harness.Run) {
	green := run.Energy.Green
	if green == nil {
		return
	}
	for _, m := range green.Missing {
		fmt.Fprintf(b, "# For level %d: %s\n", green.Level+1, clean(m, sentenceRunes))
	}
}

func accuracy(f harness.PowerFigure) string {
	if f.SensorError <= 0 {
		return "fill in: not stated by the meter"
	}
	return significant(f.SensorError*100, 3) + " %"
}

// accelerators are the engine's devices that are no processors.
func accelerators(run harness.Run) string {
	if run.Description == nil {
		return missing
	}
	var names []string
	for _, d := range run.Description.Devices {
		if d.Kind == "gpu" {
			names = append(names, clean(d.Name, nameRunes))
		}
	}
	if len(names) == 0 {
		return "none"
	}
	return joined(", ", names...)
}

func version(run harness.Run) string {
	if run.Description == nil {
		return ""
	}
	return clean(run.Description.Version, nameRunes)
}

func afterSearches(e *harness.EnergyRecord) int {
	if e.After == nil {
		return 0
	}
	return e.After.Valid
}

// writeGreen writes greengraph500.txt where there is anything to say.
func writeGreen(dir string, r harness.Result) error {
	if !hasGreen(r) {
		return nil
	}
	var text bytes.Buffer
	if err := GreenGraph500(&text, r); err != nil {
		return err
	}
	return writeFile(filepath.Join(dir, "greengraph500.txt"), text.Bytes())
}

package reports

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/tepsbench/teps/harness"
)

// personal stands where only a person knows.
const personal = "(fill in)"

// Submission writes what the list of Graph500 says of a machine, one field a line, for every run of r that may be called
// a result: what the record knows is filled in, what only a person knows says "(fill in)". The official text of the run
// follows. Runs that may not be submitted get a line that says why. The error is that of w.
func Submission(w io.Writer, r harness.Result) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# Graph500 submission, kernel 2 (BFS), from record %s. Fields that say %s are not in a record.\n", clean(r.ID, nameRunes), personal)
	b.WriteString("# The list takes one entry for a machine: choose the run to submit, and check every line.\n")
	if len(r.Runs) == 0 {
		b.WriteString("# The record holds no run.\n")
	}
	for _, l := range labels(r) {
		run := l.run
		fmt.Fprintf(&b, "\n# ---- %s, scale %d\n", l.label, run.Scale)
		if why := unofficial(run); why != "" {
			fmt.Fprintf(&b, "# Not to be submitted: %s\n", clean(why, sentenceRunes))
			continue
		}
		if v := judge(run); v.Grade != good {
			fmt.Fprintf(&b, "# Not to be submitted: %s Run it again with --validate all.\n", clean(v.Why, sentenceRunes))
			continue
		}
		submission(&b, r, l)
	}
	if _, err := w.Write(b.Bytes()); err != nil {
		return fmt.Errorf("reports: write the submission: %w", err)
	}
	return nil
}

// submission writes the fields of one run, in the order of the list's columns.
func submission(b *bytes.Buffer, r harness.Result, l labelled) {
	run := l.run
	for _, rule := range brokenRules(run.Compliance) {
		fmt.Fprintf(b, "# This rule does not hold: %s: %s\n", clean(rule.Rule, sentenceRunes), clean(rule.Detail, sentenceRunes))
	}
	if len(run.Compliance.Rules) == 0 {
		b.WriteString("# The record does not say which rules hold.\n")
	}
	if run.Scale < 26 {
		b.WriteString("# The smallest class of the list, toy, is scale 26.\n")
	}
	known := func(value string) string {
		if value == "" || value == missing {
			return personal
		}
		return value
	}
	year := personal
	if !r.Started.IsZero() {
		year = strconv.Itoa(r.Started.Year()) + " (of this run; the list wants that of the installation)"
	}
	memory := missing
	if m := r.Machine.MemoryBytes; m > 0 {
		memory = significant(float64(m)/(1<<30), 4) + " GiB of the host"
	}
	nodes, cores := "1", positive(int64(r.Machine.Cores))
	if ranks, worker := workersOf(run); worker == "rank" {
		nodes = fmt.Sprintf("%s (the record has %s; it does not say on how many nodes)", personal, plural(ranks, "rank", "ranks"))
		cores = personal
	}
	implementation := "teps " + joined(", ", clean(r.Software.Version, nameRunes), clean(r.Software.Commit, 2*nameRunes)) + "; engine " + l.label
	if d := run.Description; d != nil {
		implementation = "teps " + clean(r.Software.Version, nameRunes) + "; engine " + joined(" ", shownName(d.Name), clean(d.Version, nameRunes)) + "; " + clean(d.Summary, sentenceRunes)
		for i, device := range d.Devices {
			if i > 0 || device.Kind == "cpu" {
				continue
			}
			memory = joined("; ", memory, bytesText(device.MemoryBytes)+" of the "+clean(device.Kind, nameRunes))
			cores = joined("; ", cores, fmt.Sprintf("%s, %d units", clean(device.Name, nameRunes), device.Units))
		}
	}
	for _, field := range []struct{ name, value string }{
		{"Machine name", personal},
		{"Vendor", personal},
		{"Type", known(deviceOf(r, run))},
		{"Network", personal},
		{"Installation site", personal},
		{"Location", personal},
		{"Country", personal},
		{"Year", year},
		{"Application", personal},
		{"Usage", personal},
		{"Number of nodes", nodes},
		{"Number of cores", known(cores)},
		{"Memory", known(memory)},
		{"Implementation", implementation},
		{"Scale", strconv.Itoa(run.Scale)},
		{"GTEPS", significant(run.Statistics.TEPS.Mean/1e9, 6) + " (harmonic mean over " + plural(run.Statistics.NBFS, "root", "roots") + ")"},
		{"Construction time", significant(run.Construction.Elapsed.Seconds(), 6) + " s"},
		{"Power", known(clean(run.Compliance.Power, sentenceRunes))},
		{"Notes", "validated against the input tuples: " + fmt.Sprintf("%d of %d searches", validatedRoots(run), len(run.Roots)) + "; options " + known(optionsText(run.Options))},
		{"Contact", personal},
	} {
		fmt.Fprintf(b, "%-20s%s\n", field.name+":", strings.TrimSpace(field.value))
	}
	b.WriteByte('\n')
	block(b, run)
}

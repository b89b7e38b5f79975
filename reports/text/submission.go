package text

import (
	"fmt"
	"io"

	"github.com/tepsbench/teps/internal/units"
	"github.com/tepsbench/teps/reports"
)

// submissionForm is a run with the fields of its submission.
type submissionForm struct {
	reports.Run
	Why string // why the run cannot be submitted; then only Run is set

	GTEPS                                      float64
	Type, Nodes, Cores, Memory, Implementation string
}

// Submission writes the fields of the Graph500 list, one a line, for every run that is a result: what the record
// contains is filled in, the rest is "(fill in)". The official text of the run follows. Other runs get a line that says
// why they cannot be submitted.
func Submission(w io.Writer, r reports.Result) error {
	record := struct {
		reports.Result
		Version string
		Forms   []submissionForm
	}{Result: r, Version: reports.Joined(", ", reports.Name(r.Software.Version),
		reports.Clean(r.Software.Commit, 2*reports.NameLength))}
	for _, run := range r.Runs {
		record.Forms = append(record.Forms, newSubmissionForm(r, run))
	}
	return fill(w, "submission.tmpl", record)
}

func newSubmissionForm(r reports.Result, run reports.Run) submissionForm {
	f := submissionForm{Run: run, Why: run.Unofficial()}
	if f.Why == "" {
		f.Why = notOfficial(run)
		if run.Verdict().Grade != reports.Good {
			f.Why += " Run it again and validate every search."
		}
	}
	if f.Why != "" {
		return f
	}
	f.GTEPS, f.Type, f.Implementation = run.Statistics.TEPS.Mean/1e9, r.Device(run), run.Label
	f.Nodes, f.Cores = "1", reports.Positive(int64(r.Machine.Cores))
	if _, ranks := run.Workers(); ranks > 0 {
		f.Nodes = fmt.Sprintf("(fill in) (the record has %s; it does not say on how many nodes)",
			reports.Plural(ranks, "rank", "ranks"))
		f.Cores = ""
	}
	if m := r.Machine.MemoryBytes; m > 0 {
		f.Memory = units.Significant(float64(m)/(1<<30), 4) + " GiB of the host"
	}
	if d := run.Description; d != nil {
		f.Implementation = reports.Joined(" ", reports.EngineName(d.Name), reports.Name(d.Version)) + "; " +
			reports.Sentence(d.Summary)
		if len(d.Devices) > 0 && d.Devices[0].Kind != "cpu" {
			device := d.Devices[0]
			f.Memory = reports.Joined("; ", f.Memory, units.Bytes(device.MemoryBytes)+" of the "+reports.Name(device.Kind))
			f.Cores = reports.Joined("; ", f.Cores, fmt.Sprintf("%s, %d units", reports.Name(device.Name), device.Units))
		}
	}
	return f
}

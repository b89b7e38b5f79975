package reports

import (
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/tepsbench/teps/harness"
)

// badge is the best result of a record in one line: "teps s26: 1,122 GTEPS · cuda on NVIDIA H200 · 64/64 valid". Without a
// result it says so.
func badge(r harness.Result) (name, value string, worth grade) {
	best, found := bestRun(r)
	if !found {
		return "teps", "no result · " + noResult(r), bad
	}
	run := r.Runs[best]
	rate := gteps(run.Statistics.TEPS.Mean)
	if n := run.Statistics.TEPS.Mean / 1e9; n >= 1000 {
		rate = integer(int64(n + 0.5))
	}
	where := labels(r)[best].label
	if device := deviceOf(r, run); device != "" {
		where += " on " + device
	}
	return fmt.Sprintf("teps s%d", run.Scale), fmt.Sprintf("%s GTEPS · %s · %d/%d valid", rate, where, validatedRoots(run), len(run.Roots)), judge(run).Grade
}

// worstFirst is the words of judge for what is not well, in the order of how bad that is.
func worstFirst() []string {
	return []string{"INVALID", "FAILED", "INTERRUPTED", "UNKNOWN", "NO ROOTS", "UNCHECKED", "PARTLY CHECKED"}
}

// noResult is the word of the worst run of a record without a result: that of a wrong search before that of an engine that
// failed, and this before that of a run which was only broken off.
func noResult(r harness.Result) string {
	for _, word := range worstFirst() {
		if slices.ContainsFunc(r.Runs, func(run harness.Run) bool { return judge(run).Word == word }) {
			return strings.ToLower(word)
		}
	}
	if len(r.Runs) == 0 {
		return "no runs"
	}
	return "no rates" // valid runs without statistics, kernel 1 or a graph
}

// deviceOf names what searched: the engine's first device, several of them counted, or the host's processor. An engine on
// processors need not know what they are called, so that the machine's own name for them comes first.
func deviceOf(r harness.Result, run harness.Run) string {
	if d := run.Description; d != nil && len(d.Devices) > 0 && d.Devices[0].Name != "" {
		name, n := clean(d.Devices[0].Name, nameRunes), len(d.Devices)
		if d.Devices[0].Kind == "cpu" && r.Machine.CPU != "" {
			name = clean(r.Machine.CPU, nameRunes)
		}
		if n > 1 {
			return fmt.Sprintf("%d × %s", n, name)
		}
		return name
	}
	if r.Machine.CPU != "" {
		return clean(r.Machine.CPU, nameRunes)
	}
	return ""
}

// Badge writes the best result of r in one line. The error is that of w.
func Badge(w io.Writer, r harness.Result) error {
	name, value, _ := badge(r)
	if _, err := fmt.Fprintf(w, "%s: %s\n", name, value); err != nil {
		return fmt.Errorf("reports: write the badge: %w", err)
	}
	return nil
}

// BadgeSVG draws the same as a small picture for the top of a README: grey what was run, then the result on green when
// every search was validated, on amber when not all were, on red without a result. The error is that of w.
func BadgeSVG(w io.Writer, r harness.Result) error {
	p, err := newPen()
	if err != nil {
		return err
	}
	name, value, worth := badge(r)
	style := p.text(11, paper)
	width := func(s string) float64 { return (style.Width(s) + 16).Points() }
	left, right := width(name), width(value)
	color := [...]string{good: "#00694b", fair: "#8a5300", bad: "#b3261e"}[worth]
	escape := func(s string) string {
		var b strings.Builder
		_ = xml.EscapeText(&b, []byte(s)) // a strings.Builder takes everything
		return b.String()
	}
	_, err = fmt.Fprintf(w, `<svg xmlns="http://www.w3.org/2000/svg" width="%.1f" height="20" role="img" aria-label="%[2]s: %[3]s"><title>%[2]s: %[3]s</title>
<clipPath id="r"><rect width="%.1[1]f" height="20" rx="3"/></clipPath>
<g clip-path="url(#r)"><path fill="#444" d="M0 0h%.1[4]fv20H0z"/><path fill="%[6]s" d="M%.1[4]f 0h%.1[5]fv20h-%.1[5]fz"/></g>
<g fill="#fff" font-family="'DejaVu Sans',Verdana,Geneva,sans-serif" font-size="11"><text x="8" y="14">%[2]s</text><text x="%.1[7]f" y="14">%[3]s</text></g></svg>
`, left+right, escape(name), escape(value), left, right, color, left+8)
	if err != nil {
		return fmt.Errorf("reports: write the badge: %w", err)
	}
	return nil
}

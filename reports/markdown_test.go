package reports

import (
	"errors"
	"io"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tepsbench/teps/harness"
	"github.com/tepsbench/teps/plugins"
)

// goodMarkdown checks what GitHub needs to make tables of tables: a line under the head, as many cells in every row; and
// that no tag is there but those that fold.
func goodMarkdown(t *testing.T, text string) {
	t.Helper()
	cell := regexp.MustCompile(`(?:\\.|[^\\|])*\|`)
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if !strings.HasPrefix(line, "|") {
			continue
		}
		cells := len(cell.FindAllString(line[1:], -1))
		if i+1 < len(lines) && strings.HasPrefix(lines[i+1], "| -") {
			if i > 0 && lines[i-1] != "" {
				t.Errorf("no empty line before the table of %q", line)
			}
		}
		if !strings.HasPrefix(lines[i-1], "|") {
			if i+1 == len(lines) || !strings.HasPrefix(lines[i+1], "| -") {
				t.Errorf("no line under the head %q", line)
			}
			continue
		}
		if before := len(cell.FindAllString(lines[i-1][1:], -1)); cells != before {
			t.Errorf("%d cells in %q after %d", cells, line, before)
		}
	}
	for _, tag := range regexp.MustCompile(`(\\*)<[^>]*>?`).FindAllStringSubmatch(text, -1) {
		switch whole := strings.TrimLeft(tag[0], `\`); {
		case len(tag[1])%2 == 1: // escaped
		case whole == "<details>", whole == "</details>", whole == "<summary>", whole == "</summary>", whole == "<sub>", whole == "</sub>", whole == "<!-- -->":
		case strings.HasPrefix(whole, "<https://doi.org/"):
		default:
			t.Errorf("the tag %q", whole)
		}
	}
	if strings.ContainsAny(text, "\x00\x1b\u202e") {
		t.Error("a control character")
	}
}

func TestMarkdownHasTheTablesOfThePage(t *testing.T) {
	var b strings.Builder
	a, other := sample([]string{"cpu", "distributed"}, 16, 17), sample([]string{"cpu"}, 18)
	if err := (Options{References: references(t, "kolganov-2018")}).Markdown(&b, a, other); err != nil {
		t.Fatal(err)
	}
	goodMarkdown(t, b.String())
	for _, want := range []string{
		"## 2 results side by side", "### Runs", "| cpu 0.1.0 | 16 | 64 of 64 |", "### Kernel 1: time and memory", "### Top-down and bottom-up",
		"<summary>Levels of the median root: distributed, scale 17", "### Published elsewhere, not measured here", "| Kolganov 2018 | NVIDIA Tesla P100 |", "**VALID** · **compliant**",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("there is no %q", want)
		}
	}
	if err := (Options{}).Markdown(&b); err == nil || !strings.Contains(err.Error(), "at least one record") {
		t.Errorf("without a record: %v", err)
	}
}

func TestATextFromOutsideIsNoMarkdown(t *testing.T) {
	for in, want := range map[string]string{
		"a|b":            `a\|b`,
		"@someone":       "@<!-- -->someone",
		"#12":            `\#<!-- -->12`,
		"GH-12":          "GH<!-- -->-12",
		"<b>":            `\<b\>`,
		"&lt;":           "&amp;lt;",
		"- x":            `\- x`,
		"https://x.test": "https:<!-- -->//x.test",
		"2D, s20":        "2D, s20",
	} {
		if got := plain(in); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
	rapid.Check(t, func(r *rapid.T) {
		text := clean(rapid.String().Draw(r, "text"), 60)
		result := sample(nil)
		result.ID, result.Machine.CPU = text, text
		var b strings.Builder
		if err := (Options{}).Markdown(&b, result); err != nil {
			r.Fatal(err)
		}
		goodMarkdown(t, b.String())
	})
}

// shortForms checks the renderings of one line, and the form for the list.
func shortForms(t *testing.T, r harness.Result) {
	t.Helper()
	var badge, picture, submission strings.Builder
	if err := errors.Join(Badge(&badge, r), BadgeSVG(&picture, r), Submission(&submission, r)); err != nil {
		t.Fatal(err)
	}
	if strings.Count(badge.String(), "\n") != 1 || !strings.HasPrefix(badge.String(), "teps") {
		t.Errorf("the badge is %q", badge.String())
	}
	wellFormed(t, "badge.svg", []byte(picture.String()))
	for line := range strings.Lines(submission.String()) {
		if strings.HasPrefix(line, "GTEPS:") && strings.Contains(line, missing) || strings.ContainsRune(line, '\x1b') {
			t.Errorf("the line %q", line)
		}
	}
	if _, found := bestRun(r); !found && strings.Contains(submission.String(), "harmonic_mean_TEPS") {
		t.Error("a record without a result has one to submit")
	}
}

func TestTheBadgeIsTheBestResult(t *testing.T) {
	r := sample([]string{"cpu", "cuda"}, 16, 26)
	r.Runs[3].Statistics.TEPS.Mean = 1.1217e12
	r.Runs[3].Description.Devices[0].Kind, r.Runs[3].Description.Devices[0].Name = "gpu", "H200"
	var b strings.Builder
	if err := Badge(&b, r); err != nil {
		t.Fatal(err)
	}
	if got, want := b.String(), "teps s26: 1,122 GTEPS · cuda on H200 · 64/64 valid\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	r.Runs[3].Roots[0].Rule = 1
	b.Reset()
	if err := Badge(&b, r); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(b.String(), "cuda") {
		t.Errorf("an invalid run is the best: %q", b.String())
	}
}

func TestASubmissionSaysWhatOnlyAPersonKnows(t *testing.T) {
	r := sample([]string{"cpu"}, 26)
	r.Runs[0].Roots[0].Validated = true
	var b strings.Builder
	if err := Submission(&b, r); err != nil {
		t.Fatal(err)
	}
	got := b.String()
	for _, want := range []string{"Installation site:  (fill in)\n", "Scale:              26\n", "Type:               AMD EPYC 9354 32-Core Processor\n", "Memory:             24.00 GiB of the host\n", "bfs  harmonic_mean_TEPS:     !  "} {
		if !strings.Contains(got, want) {
			t.Errorf("there is no %q in\n%s", want, got)
		}
	}
	r.Runs[0].Roots[0].Validated = false
	b.Reset()
	if err := Submission(&b, r); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), "Not to be submitted: 63 of 64") || strings.Contains(b.String(), "GTEPS:") {
		t.Errorf("a run that was checked in part can be submitted:\n%s", b.String())
	}
}

// Every format is known by its name, takes several records and says when it gets none.
func TestFormats(t *testing.T) {
	r := sample([]string{"cpu"}, 16)
	for _, f := range Formats() {
		known, err := FormatByName(f.Name)
		if err != nil || known.Name != f.Name || f.Says == "" {
			t.Errorf("%s: %v", f.Name, err)
		}
		var b strings.Builder
		if err := f.Write(Options{}, &b, r, r); err != nil || b.Len() == 0 {
			t.Errorf("%s: %d bytes, %v", f.Name, b.Len(), err)
		}
		if err := f.Write(Options{}, &b); err == nil || !strings.Contains(err.Error(), "at least one record") {
			t.Errorf("%s without a record: %v", f.Name, err)
		}
		if err := f.Write(Options{}, brokenWriter{}, r); !errors.Is(err, errFull) {
			t.Errorf("%s to a full disk: %v", f.Name, err)
		}
	}
	if _, err := FormatByName("pdf"); err == nil || !strings.Contains(err.Error(), "html, markdown") {
		t.Errorf("an unknown format: %v", err)
	}
}

// Without a result the badge says what is worst about the runs, not that there is no result a second time.
func TestABadgeWithoutAResultSaysWhy(t *testing.T) {
	interrupted := func(run *harness.Run) { run.State = harness.Interrupted }
	failed := func(run *harness.Run) { run.State = harness.Failed }
	wrong := func(run *harness.Run) { run.Roots[0].Rule = 3 }
	unchecked := func(run *harness.Run) {
		run.Statistics = nil
		for i := range run.Roots {
			run.Roots[i].Validated = false
		}
	}
	noRates := func(run *harness.Run) { run.Statistics = nil }
	for want, changes := range map[string][]func(*harness.Run){
		"interrupted": {interrupted, interrupted}, "failed": {interrupted, failed, unchecked}, "invalid": {failed, wrong, interrupted},
		"unchecked": {noRates, unchecked}, "no rates": {noRates, noRates}, "no runs": nil,
		"unknown": {unchecked, func(run *harness.Run) { run.State = "?" }}, "no roots": {noRates, func(run *harness.Run) { run.Roots = nil }},
	} {
		r := sample(nil, 16)
		for i, change := range changes {
			run := sampleRun("cpu", i, 16, 4)
			change(&run)
			r.Runs = append(r.Runs, run)
		}
		var b strings.Builder
		if err := Badge(&b, r); err != nil {
			t.Fatal(err)
		}
		if got := b.String(); got != "teps: no result · "+want+"\n" {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// Engines name processors as they can, by their architecture at worst; the machine knows better. Other devices name
// themselves.
func TestTheMachineNamesItsProcessor(t *testing.T) {
	r := sample([]string{"distributed"}, 26)
	r.Runs[0].Description.Devices = []plugins.Device{{Kind: "cpu", Name: "amd64", Units: 2}}
	for _, write := range []func(io.Writer, harness.Result) error{Badge, BadgeSVG, Submission} {
		var b strings.Builder
		if err := write(&b, r); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(b.String(), "amd64") || !strings.Contains(b.String(), r.Machine.CPU) {
			t.Errorf("the processor is not named as the machine does:\n%s", &b)
		}
	}
	r.Machine.CPU = ""
	if got := deviceOf(r, r.Runs[0]); got != "amd64" {
		t.Errorf("without a name from the machine the device is %q", got)
	}
	r = sample([]string{"cuda"}, 26)
	r.Runs[0].Description.Devices = []plugins.Device{{Kind: "gpu", Name: "H200"}, {Kind: "gpu", Name: "H200"}}
	if got := deviceOf(r, r.Runs[0]); got != "2 × H200" {
		t.Errorf("two devices are %q", got)
	}
}

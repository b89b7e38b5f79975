package reports

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/tepsbench/teps/compare"
	"github.com/tepsbench/teps/harness"
)

// shifted is a sample with another id in which the searches of every engine take so many times as long.
func shifted(r harness.Result, id string, factor float64) harness.Result {
	r.ID = id
	r.Runs = slices.Clone(r.Runs)
	for i := range r.Runs {
		roots := slices.Clone(r.Runs[i].Roots)
		for j := range roots {
			roots[j].Time *= factor
		}
		r.Runs[i].Roots = roots
		r.Runs[i].Statistics = statisticsOf(roots)
	}
	return r
}

func compared(t *testing.T, a, b []harness.Result) string {
	t.Helper()
	var text bytes.Buffer
	if err := Comparison(&text, compare.Of(a, b)); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(text.String()) {
		if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > terminalColumns {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	return text.String()
}

func wants(t *testing.T, text string, parts ...string) {
	t.Helper()
	text = strings.Join(strings.Fields(text), " ") // lines are wrapped anywhere
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("no %q in:\n%s", part, text)
		}
	}
}

func TestAComparisonSaysWhatItComesTo(t *testing.T) {
	a := sample([]string{"cpu", "an-engine-with-a-very-long-name", "gone"}, 16, 17)
	b := shifted(sample([]string{"cpu", "an-engine-with-a-very-long-name"}, 16, 17), "b", 1.25)
	b.Machine.CPU = "AMD\x1b[31m EPYC 9754 128-Core Processor"
	text := compared(t, []harness.Result{a}, []harness.Result{b})
	wants(t, text,
		"cpu, scale 16: B is 20 % slower (-20.0 % to -20.0 %, p < 0.0001, of rates without regard to roots p",
		"an-engine-with-a-very-long-name, scale 17: B is 20 % slower",
		"Not compared (only A has it): gone, scale 16; gone, scale 17.",
		"4 of 4 comparisons show a difference. Where nothing differs, at least one of 4 does so by chance with a probability of 19 %.",
		"A and B differ in more than speed:", "2 of 2 records have no seals",
		"processor: A AMD EPYC 9354 32-Core Processor; B AMD [31m EPYC 9754 128-Core Processor",
	)
	if strings.Contains(text, "\x1b") {
		t.Error("a record writes escape sequences to the terminal")
	}
	wants(t, compared(t, []harness.Result{b}, []harness.Result{a}), "cpu, scale 16: B is 25 % faster (+25.0 % to +25.0 %", "With one run a side,")
}

func TestAComparisonSaysWhatItCouldNotSee(t *testing.T) {
	a, b := sample([]string{"cpu"}, 16), shifted(sample([]string{"cpu"}, 16), "b", 1)
	for j := range b.Runs[0].Roots {
		b.Runs[0].Roots[j].Time *= 1 + 0.01*float64(j%7-3)
	}
	wants(t, compared(t, []harness.Result{a}, []harness.Result{b}), "no difference found (", "would have been found 19 times of 20.")
	for j := range b.Runs[0].Roots {
		b.Runs[0].Roots[j].Root += 1 << 16
	}
	wants(t, compared(t, []harness.Result{a}, []harness.Result{b}), "64:64", "The roots differ (0 of 64 and 64 are the same), so rates were ranked", "cannot see small differences")
	seeds := shifted(sample([]string{"cpu"}, 16), "c", 1)
	seeds.Runs[0].Graph = nil
	wants(t, compared(t, []harness.Result{a}, []harness.Result{seeds}), "The graphs differ or are not recorded, so rates were ranked")
	one := sample([]string{"cpu"}, 16)
	one.Runs[0].Roots = one.Runs[0].Roots[:1]
	wants(t, compared(t, []harness.Result{one}, []harness.Result{shifted(one, "b", 3)}), "too few roots for an interval", "A slow-down of no size would have been found",
		"Both sides share 1 root, fewer than the 6 that the test root by root needs, so rates were ranked without regard to roots (Mann-Whitney)")
	wants(t, compared(t, []harness.Result{a, shifted(a, "a2", 1.01)}, []harness.Result{shifted(a, "b1", 1.3), shifted(a, "b2", 1.31)}),
		"Student's t between 2 and 2 runs over 64 roots", "% slower")
	wants(t, compared(t, []harness.Result{a, shifted(a, "a2", 1.01)}, []harness.Result{shifted(a, "b1", 1.3)}), "With one run on a side, what made a whole run slow or fast is taken for a difference: repeat both")
	renamed := shifted(a, "b", 2)
	renamed.Runs[0].Engine.Name = "new"
	wants(t, compared(t, []harness.Result{a}, []harness.Result{renamed}), "cpu against new, scale 16: B is 50 % slower")
	fewer := shifted(a, "b", 2)
	fewer.Runs[0].Roots = fewer.Runs[0].Roots[:16]
	wants(t, compared(t, []harness.Result{a}, []harness.Result{fewer}), "64 roots of A, 16 of B, 16 of both: the others are left out")
	if err := Comparison(broken{}, compare.Comparison{}); !errors.Is(err, errBroken) {
		t.Errorf("a writer that fails: %v", err)
	}
}

func TestAListFitsATerminal(t *testing.T) {
	long := sample([]string{"cpu", "distributed", "an-engine-with-a-very-long-name"}, 16, 18)
	long.Seal, long.Machine.Hostname = "s", "node17.cluster.example.org"
	long.Runs[0].State = harness.Interrupted
	var records []Listing
	records = append(records,
		List("a/very/long/path/to/a/store/of/records/20260314-091500", long, nil),
		List("b", sample([]string{"cpu"}, 20), nil),
		List("c", harness.Result{}, errors.New("line 7 is not what was written\x1b[31m\nthere")),
	)
	var text bytes.Buffer
	if err := ListTable(&text, records); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(text.String(), "\n"), "\n")
	if len(lines) != 6 {
		t.Fatalf("%d lines, want a head, a rule, two records, an empty line and one that cannot be read:\n%s", len(lines), text.String())
	}
	for _, line := range lines {
		if n := utf8.RuneCountInString(line); n > terminalColumns {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	wants(t, lines[2], "…ords/20260314-091500 20260314 2026-03-14 node17.cl… cpu,distribut…", "16…18", "INTERRUPTED yes")
	wants(t, lines[3], "b 20260314 2026-03-14 node17 cpu 20 0.920 VALID no")
	if lines[5] != "cannot be read: line 7 is not what was written [31m there" {
		t.Errorf("got %q", lines[5])
	}
	l := records[0]
	if l.State != "INTERRUPTED" || len(l.Runs) != 6 || *l.Runs[0].TEPS <= 0 || !l.Sealed || !l.Started.Equal(time.Date(2026, 3, 14, 9, 15, 0, 0, time.UTC)) {
		t.Errorf("listed as %+v", l)
	}
	text.Reset()
	if err := ListTable(&text, nil); err != nil || text.String() != "no runs here\n" {
		t.Errorf("an empty list: %q, %v", text.String(), err)
	}
	if err := ListTable(broken{}, records); !errors.Is(err, errBroken) {
		t.Errorf("a writer that fails: %v", err)
	}
}

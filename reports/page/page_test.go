// SPDX-License-Identifier: Apache-2.0

package page

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"math"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/tepsbench/teps/internal/must"
	"github.com/tepsbench/teps/power"
	"github.com/tepsbench/teps/record"
	"github.com/tepsbench/teps/reports"
	"github.com/tepsbench/teps/reports/testdata/samples"
)

func page(results ...record.Result) string {
	return pageWith(nil, results...)
}

func pageWith(references []reports.Reference, results ...record.Result) string {
	r := must.Get(reports.New(references, results...))
	var b strings.Builder
	must.Do(Write(&b, r))
	return b.String()
}

// The page of a run with a wrong engine begins with that, and leads with the fastest valid run.
func TestPageBeginsWithTheEngineThatIsWrong(t *testing.T) {
	r := samples.Result([]string{"slow", "fast", "liar"}, 16)
	for i, teps := range []float64{1e9, 2.5e9, 77e9} {
		r.Runs[i].Statistics.TEPS.Mean = teps
	}
	r.Runs[2].Roots[0].Rule, r.Runs[2].Roots[0].Violation, r.Runs[2].Valid = 5, "no such edge", false
	got := page(r)
	wrong := strings.Index(got, `<span class="badge bad">INVALID</span> liar at scale 16: 1 of 64 searches failed`)
	rate := strings.Index(got, `<span class="rate">2.500</span> GTEPS`)
	if wrong < 0 || rate < wrong || strings.Contains(got, "77.00") {
		t.Errorf("INVALID is at %d and the rate at %d of the page, or the wrong rate is shown", wrong, rate)
	}
	if !strings.Contains(got, "fast at scale 16: Every search was validated") || !strings.Contains(got, "rule 5: no") {
		t.Error("a sentence does not name the engine whose searches are valid, or the rule that is broken")
	}
	if title := got[:strings.Index(got, "</title>")]; !strings.Contains(title, "INVALID") {
		t.Errorf("the title is that of a valid run: %s", title[strings.Index(title, "<title>"):])
	}
}

func TestPageShowsCompliantOnlyIfAllRulesAreKept(t *testing.T) {
	for name, spoil := range map[string]func(*record.Run){
		"a compliant run":              func(*record.Run) {},
		"a run that is not compliant":  func(r *record.Run) { r.Compliance.Compliant = false },
		"an interrupted run":           func(r *record.Run) { r.State, r.Valid = record.Interrupted, false },
		"a run with an unchecked root": func(r *record.Run) { r.Roots[9].Validated = false },
		"a run with a rule that is broken": func(r *record.Run) {
			r.Compliance.Rules[1] = record.Check{Rule: "64 roots", Detail: "3"}
		},
	} {
		r := samples.Result([]string{"cpu"}, 16)
		spoil(&r.Runs[0])
		got := page(r)
		if strings.Contains(strings.ToLower(got), "compliant") != (name == "a compliant run") {
			t.Errorf("whether %s is compliant is wrong", name)
		}
		if broken := strings.Contains(got, "breaks 1 of 4 rules") && strings.Contains(got, "<b>64 roots</b>: 3"); broken !=
			strings.Contains(name, "broken") {
			t.Errorf("%s: the rule that does not hold is named: %v", name, broken)
		}
	}
}

func TestPageShowsSeveralResultsSideBySide(t *testing.T) {
	a, b := samples.Result([]string{"cpu"}, 16, 17), samples.Result([]string{"cpu"}, 16)
	a.ID, b.ID, b.Machine.Hostname = "before", "after", "node18"
	for i := range b.Runs[0].Roots {
		b.Runs[0].Roots[i].Time /= 2
	}
	b.Runs[0].Statistics = record.Summarize(b.Runs[0].Roots)
	got := page(a, b)
	for _, want := range []string{
		"<h2>node18 [2] is 2.00 times faster than node17 [1] (ratio 2.000, 2.000 to 2.000).</h2>",
		"The fastest: at scale 16, cpu [2] has", "on node18; at scale 17, cpu [1] has", "cpu [1]", "cpu [2]",
		"[1] is record before", "[2] is record after",
		"· node18 · AMD EPYC 9354 32-Core Processor, 1 core · 24.0 GiB · teps ",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the page does not contain %q", want)
		}
	}
	if n := strings.Count(got, `<article class="one">`); n != 2 {
		t.Errorf("%d articles, want 2", n)
	}
}

// contrast is the ratio of the luminances of two colors, #rgb or #rrggbb (WCAG 2.2, "contrast ratio").
func contrast(t *testing.T, a, b string) float64 {
	t.Helper()
	luminance := func(color string) (sum float64) {
		digits := strings.TrimPrefix(color, "#")
		if len(digits) == 3 {
			digits = string([]byte{digits[0], digits[0], digits[1], digits[1], digits[2], digits[2]})
		}
		rgb, err := hex.DecodeString(digits)
		if err != nil || len(rgb) != 3 {
			t.Fatalf("%q is not a color: %v", color, err)
		}
		for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
			x := float64(rgb[i]) / 255
			if x <= 0.04045 {
				x /= 12.92
			} else {
				x = math.Pow((x+0.055)/1.055, 2.4)
			}
			sum += weight * x
		}
		return sum
	}
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// In both schemes and on paper every text stands out from what is behind it, and on a dark page every line and bar too.
func TestColorsStandOut(t *testing.T) {
	schemes := regexp.MustCompile(`:root \{([^}]*)\}`).FindAllStringSubmatch(pageStyle, -1)
	if len(schemes) != 3 {
		t.Fatalf("%d schemes, want light, dark and print", len(schemes))
	}
	for i, name := range []string{"light", "dark", "print"} {
		colors := map[string]string{}
		for _, from := range []int{0, i} { // the light scheme, and what another one changes
			for _, c := range regexp.MustCompile(`--([a-z0-9-]+): (#[0-9a-f]+);`).FindAllStringSubmatch(schemes[from][1],
				-1) {
				colors[c[1]] = c[2]
			}
		}
		check := func(front string, limit float64, grounds ...string) {
			for _, ground := range grounds {
				if got := contrast(t, colors[front], colors[ground]); got < limit {
					t.Errorf("%s: %s on %s has a contrast of %.1f, want at least %g", name, front, ground, got, limit)
				}
			}
		}
		for _, text := range []string{"ink", "faint", "good", "fair", "bad", "link"} {
			check(text, 4.5, "paper", "card")
		}
		check("on-bar", 4.5, "outside", "series-4", "series-5")
		if name == "dark" {
			for _, shape := range []string{"outside", "series-0", "series-1", "series-2", "series-3", "series-4", "series-5",
				"more-0", "more-1"} {
				check(shape, 4.5, "paper", "card")
			}
			check("grid", 3, "paper", "card") // WCAG 2.2, 1.4.11
		}
	}
}

// What a record of several contains is folded. The line of a record says that one of its engines is wrong.
func TestPageFoldsManyRecords(t *testing.T) {
	records := sweepOf(1)
	records[1].Runs = append(records[1].Runs, samples.Run("wrong", 0, 16, 64))
	records[1].Runs[1].Roots[0].Rule = 5
	got := page(records...)
	if n := strings.Count(got, "<article class=\"one folded\">\n<details><summary><b>["); n != 3 ||
		!strings.Contains(got, `<b>[2] 20.00 GTEPS</b> <span class="badge bad">INVALID</span>`) {
		t.Errorf("%d of 3 records are folded, or a line does not say INVALID", n)
	}
	if strings.Contains(page(records[:2]...), `class="one folded"`) {
		t.Error("two records are folded")
	}
}

func safePage(t *testing.T, page []byte) {
	t.Helper()
	if n := bytes.Count(page, []byte("<script")); n != 1 {
		t.Errorf("the page has %d scripts, want its own", n)
	}
	for _, bad := range []string{"http-equiv", "<link", "src=", "@import", "NaN", "+Inf", "-Inf", "<no value>",
		"\x1b", "\x00", "\u202e", "%!"} {
		if bytes.Contains(page, []byte(bad)) {
			t.Errorf("the page contains %q", bad)
		}
	}
	// what a reader may follow
	links := regexp.MustCompile(`<a href="https://doi\.org/[^"<>]*">https://doi\.org/[^"<>]*</a>`)
	for _, address := range []string{"http://", "https://", "href="} {
		rest := links.ReplaceAll(bytes.ReplaceAll(page, []byte(`xmlns="http://www.w3.org/2000/svg"`), nil), nil)
		if bytes.Contains(rest, []byte(address)) {
			t.Errorf("the page names the address %s", address)
		}
	}
	if !utf8.Valid(page) {
		t.Error("the page is not UTF-8")
	}
}

// Published values appear when asked for, and then in a separate section and table, and in their color.
func TestPageSeparatesPublishedFromMeasuredRates(t *testing.T) {
	r := samples.Result([]string{"cpu"}, 25, 26)
	references := must.Get(reports.References("all"))
	without, with := page(r), pageWith(references, r)
	safePage(t, []byte(with))
	for _, word := range []string{"Kolganov", "Tesla P100", "not measured here"} {
		if strings.Contains(without, word) {
			t.Errorf("a page that did not ask for references has %q", word)
		}
		if !strings.Contains(with, word) {
			t.Errorf("a page with references lacks %q", word)
		}
	}
	// A table that has a measured engine has no published system, and the other way round.
	for table := range strings.SplitSeq(with, "<table>") {
		table, _, _ = strings.Cut(table, "</table>")
		if strings.Contains(table, "<td>cpu</td>") && strings.Contains(table, "Tesla") {
			t.Error("a table has measured and published rows")
		}
	}
	if !strings.Contains(with, "published by others") || !strings.Contains(with, "edge factor 48") {
		t.Error("the figure does not say what is published, or that a graph has another edge factor")
	}
}

// Runs whose power could not be read have a table that says why, and no figure.
func TestPageShowsEnergyWithAndWithoutFigures(t *testing.T) {
	r := samples.Metered(power.Node)
	got := page(r)
	for _, want := range []string{"<h3>Energy: search rate per watt</h3>", "<h4>Meters</h4>",
		">mteps-per-watt</code>"} {
		if !strings.Contains(got, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	for i := range r.Runs {
		r.Runs[i].Energy = &record.EnergyRecord{Failure: "the loop was interrupted"}
		r.Runs[i].Compliance.Power = "not measured: the loop was interrupted"
	}
	if got := page(r); !strings.Contains(got, "not measured: the loop was interrupted") || strings.Contains(got,
		"mteps-per-watt") {
		t.Error("a page about runs without figures of power does not say why, or draws some")
	}
}

// sweepOf makes the records of a sweep: n repeats of three variants, one run in each record.
func sweepOf(n int) (all []record.Result) {
	for i := range n {
		for speed, name := range []string{"cpu", "cpu:adjacency=csr", "distributed"} {
			r := samples.Result([]string{name}, 16)
			r.ID = fmt.Sprintf("%s-%d", name, i+1)
			r.Runs[0] = samples.Run(name, speed, 16, 64)
			r.Runs[0].Statistics.TEPS.Mean = float64(10*speed+10+i) * 1e9
			all = append(all, r)
		}
	}
	return all
}

// A page of many records begins with a line for each variant; the records themselves are folded.
func TestPageOfASweepHasALineForEachVariant(t *testing.T) {
	got := page(sweepOf(10)...)
	table := got[strings.Index(got, "<tbody>"):strings.Index(got, "</tbody>")]
	if n := strings.Count(table, "<tr"); n != 3 || !strings.Contains(table, "10/10") {
		t.Errorf("the first table has %d rows, want one for each variant:\n%s", n, table)
	}
	if n := strings.Count(got, "<article class=\"one folded\">\n<details><summary>"); n != 30 {
		t.Errorf("%d records are folded, want all 30", n)
	}
}

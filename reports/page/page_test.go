// SPDX-License-Identifier: Apache-2.0

package page

import (
	"bytes"
	"encoding/hex"
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

// Pages are as they were, but for their drawings: with a wrong engine, with runs that are not compliant, of several
// records, of folded ones, of the variants of a sweep, and with power that was read and that was not.
func TestPagesAreAsTheyWere(t *testing.T) {
	rules := samples.FewRoots([]string{"liar", "slow", "compliant", "not compliant", "interrupted", "unchecked", "broken"},
		16)
	rules.Runs[0].Roots[0].Rule, rules.Runs[0].Roots[0].Violation, rules.Runs[0].Valid = 5, "no such edge", false
	samples.SetRate(&rules.Runs[0], 77e9)
	samples.SetRate(&rules.Runs[2], 2.5e9)
	rules.Runs[3].Compliance.Compliant, rules.Runs[4].State = false, record.Interrupted
	rules.Runs[5].Roots[1].Validated, rules.Runs[6].Compliance.Rules[1].Holds = false, false
	one, faster := samples.Result([]string{"cpu"}, 16), samples.FewRoots([]string{"wrong", "cpu"}, 16)
	faster.Runs[0].Roots[0].Rule, faster.Runs[1], faster.Machine.Hostname = 5, samples.Run("cpu", 0, 16, 64), "node18"
	samples.SetRate(&faster.Runs[1], 2e9)
	failed := samples.FewRoots([]string{"broken"}, 17)
	failed.Runs[0].State, failed.Runs[0].Failure = record.Failed, "it crashed"
	metered := samples.FewRoots([]string{"node", "lost"}, 16)
	metered.Runs[0] = samples.WithMeters(metered.Runs[0], power.Node)
	metered.Runs[1].Energy = &record.EnergyRecord{Failure: "the loop was interrupted"}
	metered.Runs[1].Compliance.Power = "not measured: the loop was interrupted"
	drawn := regexp.MustCompile(`(?s)<style>.*?</style>|<script>.*?</script>|<svg.*?</svg>|` +
		`<details class="roots">.*?</details>|<section class="counting">.*?</section>`)
	for name, records := range map[string][]record.Result{
		"rules": {rules}, "several": samples.Several(), "folded": {one, faster, failed},
		"sweep": samples.Sweep()[:9], "metered": {metered},
	} {
		text := page(records...)
		safePage(t, []byte(text))
		samples.Golden(t, name, drawn.ReplaceAllString(text, "…"))
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

func safePage(t *testing.T, page []byte) {
	t.Helper()
	must.Equal(t, bytes.Count(page, []byte("<script")), 1, "scripts of the page")
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

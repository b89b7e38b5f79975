package text

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/tepsbench/teps/compare"
	"github.com/tepsbench/teps/record"
	"github.com/tepsbench/teps/reports/testdata/samples"
)

// shifted is a result with another id in which all searches take factor times as long.
func shifted(r record.Result, id string, factor float64) record.Result {
	r.ID = id
	r.Runs = slices.Clone(r.Runs)
	for i := range r.Runs {
		roots := slices.Clone(r.Runs[i].Roots)
		for j := range roots {
			roots[j].Time *= factor
		}
		r.Runs[i].Roots = roots
		r.Runs[i].Statistics = record.Summarise(roots)
	}
	return r
}

func compared(t *testing.T, a, b []record.Result) string {
	t.Helper()
	var text bytes.Buffer
	if err := Comparison(&text, compare.Of(a, b), 0); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(text.String()) {
		if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > paragraphWidth {
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

func TestComparisonExplainsEachLine(t *testing.T) {
	a := samples.Result([]string{"cpu", "an-engine-with-a-very-long-name", "gone"}, 16, 17)
	b := shifted(samples.Result([]string{"cpu", "an-engine-with-a-very-long-name"}, 16, 17), "b", 1.25)
	b.Machine.CPU = "AMD\x1b[31m EPYC 9754 128-Core Processor"
	text := compared(t, []record.Result{a}, []record.Result{b})
	wants(t, text,
		"cpu, scale 16: B is 20 % slower (-20.0 % to -20.0 %, p < 0.0001). With one run on each side,",
		"an-engine-with-a-very-long-name, scale 17: B is 20 % slower",
		"gone, scale 16: not compared: only A has it. gone, scale 17: not compared: only A has it.",
		"A and B differ in more than speed:",
		"processor: A AMD EPYC 9354 32-Core Processor; B AMD [31m EPYC 9754 128-Core Processor",
	)
	if strings.Contains(text, "\x1b") {
		t.Error("a record writes escape sequences to the terminal")
	}
	wants(t, compared(t, []record.Result{b}, []record.Result{a}), "cpu, scale 16: B is 25 % faster (+25.0 % to +25.0 %",
		"With one run on each side,")
}

func TestComparisonNamesItsLimits(t *testing.T) {
	a, b := samples.Result([]string{"cpu"}, 16), shifted(samples.Result([]string{"cpu"}, 16), "b", 1)
	for j := range b.Runs[0].Roots {
		b.Runs[0].Roots[j].Time *= 1 + 0.01*float64(j%7-3)
	}
	wants(t, compared(t, []record.Result{a}, []record.Result{b}), "no difference found (",
		"would have been found 19 times in 20.")
	for j := range b.Runs[0].Roots {
		b.Runs[0].Roots[j].Root += 1 << 16
	}
	wants(t, compared(t, []record.Result{a}, []record.Result{b}),
		"cannot tell cpu, scale 16: not compared: the sides have 0 roots with a rate in common, but 6 are needed.")
	seeds := shifted(samples.Result([]string{"cpu"}, 16), "c", 1)
	seeds.Runs[0].Graph = nil
	wants(t, compared(t, []record.Result{a}, []record.Result{seeds}),
		"cpu, scale 16: not compared: the graphs differ or were not recorded.")
	one := samples.Result([]string{"cpu"}, 16)
	one.Runs[0].Roots = one.Runs[0].Roots[:1]
	wants(t, compared(t, []record.Result{one}, []record.Result{shifted(one, "b", 3)}),
		"not compared: the sides have 1 roots with a rate in common, but 6 are needed.")
	wants(t, compared(t, []record.Result{a, shifted(a, "a2", 1.01)}, []record.Result{shifted(a, "b1", 1.3), shifted(a,
		"b2", 1.31)}),
		"% slower", "Runs of the same side differ by up to 1.0 %; with 6 runs on each side, the test takes that into "+
			"account.")
	wants(t, compared(t, []record.Result{a, shifted(a, "a2", 1.01)}, []record.Result{shifted(a, "b1", 1.3)}),
		"Runs of the same side differ by up to 1.0 %")
	renamed := shifted(a, "b", 2)
	renamed.Runs[0].Engine.Name = "new"
	wants(t, compared(t, []record.Result{a}, []record.Result{renamed}), "cpu against new, scale 16: B is 50 % slower")
	fewer := shifted(a, "b", 2)
	fewer.Runs[0].Roots = fewer.Runs[0].Roots[:16]
	wants(t, compared(t, []record.Result{a}, []record.Result{fewer}), "cpu 16 16 0.9078 0.4539 0.500 [0.500 0.500] slower",
		"searches: A 64; B 16")
	if err := Comparison(broken{}, compare.Comparison{}, 0); !errors.Is(err, errBroken) {
		t.Errorf("a writer that fails: %v", err)
	}
}

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
		r.Runs[i].Statistics = record.Summarize(roots)
	}
	return r
}

// comparisons sets B and further sides against A.
func comparisons(sides ...[]record.Result) (all []compare.Comparison) {
	for i, side := range sides[1:] {
		all = append(all, compare.Of(compare.Side{Name: "A", Results: sides[0]},
			compare.Side{Name: string(rune('B' + i)), Results: side}))
	}
	return all
}

func compared(t *testing.T, a, b []record.Result) string {
	t.Helper()
	var text bytes.Buffer
	if err := Comparison(&text, comparisons(a, b), 0); err != nil {
		t.Fatal(err)
	}
	_, sentences, _ := strings.Cut(text.String(), "\n\n")
	for line := range strings.Lines(sentences) {
		if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 80 {
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
		"cpu, scale 16: B is 20 % slower than A (-20.0 % to -20.0 %, p < 0.0001).",
		"an-engine-with-a-very-long-name, scale 17: B is 20 % slower", "With one run on each side,",
		"gone, scale 16; gone, scale 17: no comparison between A and B: only A has it.",
		"A is 1.25 (1.25 to 1.25) times as fast as B: geometric mean, smallest and largest of 4 ratios.",
		"The sides differ in more than speed:",
		"processor: A AMD EPYC 9354 32-Core Processor; B AMD [31m EPYC 9754 128-Core Processor",
	)
	if strings.Contains(text, "–") {
		t.Errorf("the table has lines without numbers:\n%s", text)
	}
	if strings.Contains(text, "\x1b") {
		t.Error("a record writes escape sequences to the terminal")
	}
	wants(t, compared(t, []record.Result{b}, []record.Result{a}),
		"cpu, scale 16: B is 25 % faster than A (+25.0 % to +25.0 %",
		"With one run on each side,")
}

func TestComparisonNamesItsLimits(t *testing.T) {
	a, b := samples.Result([]string{"cpu"}, 16), shifted(samples.Result([]string{"cpu"}, 16), "b", 1)
	for j := range b.Runs[0].Roots {
		b.Runs[0].Roots[j].Time *= 1 + 0.01*float64(j%7-3)
	}
	wants(t, compared(t, []record.Result{a}, []record.Result{b}), "no difference found between A and B (",
		"would have been found 19 times in 20.")
	for j := range b.Runs[0].Roots {
		b.Runs[0].Roots[j].Root += 1 << 16
	}
	wants(t, compared(t, []record.Result{a}, []record.Result{b}),
		"cpu, scale 16: no comparison between A and B: the sides have 0 roots with a "+
			"rate in common, but 6 are needed.")
	seeds := shifted(samples.Result([]string{"cpu"}, 16), "c", 1)
	seeds.Runs[0].Graph = nil
	wants(t, compared(t, []record.Result{a}, []record.Result{seeds}),
		"cpu, scale 16: no comparison between A and B: the graphs differ or were not recorded.")
	one := samples.Result([]string{"cpu"}, 16)
	one.Runs[0].Roots = one.Runs[0].Roots[:1]
	wants(t, compared(t, []record.Result{one}, []record.Result{shifted(one, "b", 3)}),
		"no comparison between A and B: the sides have 1 roots with a rate in common, but 6 are needed.")
	wants(t, compared(t, []record.Result{a, shifted(a, "a2", 1.01)}, []record.Result{shifted(a, "b1", 1.3), shifted(a,
		"b2", 1.31)}),
		"% slower", "Runs of the same side differ by up to 1.0 %; with 6 runs on each side, the test takes that into "+
			"account.")
	wants(t, compared(t, []record.Result{a, shifted(a, "a2", 1.01)}, []record.Result{shifted(a, "b1", 1.3)}),
		"Runs of the same side differ by up to 1.0 %")
	renamed := shifted(a, "b", 2)
	renamed.Runs[0].Engine.Name = "new"
	wants(t, compared(t, []record.Result{a}, []record.Result{renamed}),
		"new against cpu, scale 16: A is 2.00 (2.00 to 2.00) times as fast as B.")
	fewer := shifted(a, "b", 2)
	fewer.Runs[0].Roots = fewer.Runs[0].Roots[:16]
	wants(t, compared(t, []record.Result{a}, []record.Result{fewer}), "cpu 16 16 0.9078 0.4539 0.500 [0.500 0.500] slower",
		"searches: A 64; B 16")
	if err := Comparison(broken{}, nil, 0); !errors.Is(err, errBroken) {
		t.Errorf("a writer that fails: %v", err)
	}
}

// A store has engines and graphs that were not measured together.
func TestComparisonOfTheEnginesOfAStore(t *testing.T) {
	first, second := samples.Result([]string{"cpu", "serial"}, 16), samples.Result([]string{"cpu", "mine"}, 17)
	first.Runs[1].Roots = first.Runs[0].Roots
	second.ID, second.Runs[0].GraphID, second.Runs[0].Engine.Name = "second", record.GraphID{Scale: 18}, "other"
	sides := compare.Engines([]record.Result{first, second})
	var all []compare.Comparison
	for _, side := range sides[1:] {
		all = append(all, compare.Of(sides[0], side))
	}
	var text bytes.Buffer
	if err := Comparison(&text, all, 0); err != nil {
		t.Fatal(err)
	}
	wants(t, text.String(), "These have no graph in common with cpu: other, mine.")
	if strings.Contains(text.String(), "no comparison") {
		t.Errorf("got\n%s", text.String())
	}
	if failures := ComparisonFailures(all, nil); len(failures) != 0 {
		t.Errorf("engines that were compared: %q", failures)
	}
	if failures := ComparisonFailures(all[1:], nil); len(failures) != 1 {
		t.Errorf("nothing was compared: %q", failures)
	}
}

func TestComparisonOfSeveralSides(t *testing.T) {
	a := samples.Result([]string{"cpu", "serial"}, 16, 17)
	sides := [][]record.Result{{a}, {shifted(a, "b", 1.25)}, {shifted(a, "c", 0.25)}}
	var text bytes.Buffer
	if err := Comparison(&text, comparisons(sides...), 0); err != nil {
		t.Fatal(err)
	}
	wants(t, text.String(), "engine scale side roots A GTEPS GTEPS ratio verdict", "cpu 16 B 64", "serial 17 C 64",
		"cpu, scale 16: B is 20 % slower than A", "cpu, scale 16: C is 4.00 (4.00 to 4.00) times as fast as A.",
		"C is 4.00 (4.00 to 4.00) times as fast as A: geometric mean, smallest and largest of 4 ratios.")
	text.Reset()
	named := comparisons(sides...)
	for i := range named {
		named[i].A = "cpu:threads=1:adjacency=csr"
	}
	if err := Comparison(&text, named, 0); err != nil {
		t.Fatal(err)
	}
	wants(t, text.String(), "roots A GTEPS GTEPS ratio",
		"C is 4.00 (4.00 to 4.00) times as fast as cpu:threads=1:adjacency=csr")
	text.Reset()
	if err := ComparisonMarkdown(&text, comparisons(sides[:2]...)); err != nil {
		t.Fatal(err)
	}
	wants(t, text.String(), "| engine | scale | roots | A GTEPS | B GTEPS | B/A | verdict |", "| cpu | 16 | 64 |",
		`- cpu, scale 16: B is 20 % slower than A \(-20.0 %`, "<sub>With one run on each side,")
}

func TestEnginesOfARun(t *testing.T) {
	r := samples.Result([]string{"cpu", "one", "gone"}, 16, 17)
	for i := range r.Runs {
		roots := slices.Clone(r.Runs[0].Roots)
		for j := range roots {
			roots[j].Time *= map[string]float64{"cpu": 1, "one": 2 + float64(r.Runs[i].Scale-16)}[r.Runs[i].Engine.Name]
		}
		r.Runs[i].Roots = roots
	}
	lines := Engines(r)
	want := "cpu is 2.45 (2.00 to 3.00) times as fast as one: geometric mean, smallest and largest of 2 ratios."
	if len(lines) != 1 || lines[0] != want {
		t.Errorf("got %q, want %q alone", lines, want)
	}
	if lines := Engines(samples.Result([]string{"cpu"}, 16)); lines != nil {
		t.Errorf("one engine: %q", lines)
	}
}

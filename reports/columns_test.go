package reports

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/tepsbench/teps/harness"
	"github.com/tepsbench/teps/power"
)

// Twenty engines with long labels and the largest numbers that a record can hold.
func TestColumnsKeepToTheTerminalWhateverStandsInThem(t *testing.T) {
	columns := []Column{{Head: "engine", Left: true}, {Head: "number"}, {Head: "other number", Optional: true}, {Head: "state", Left: true}}
	for name, label := range map[string]string{
		"long options": "distributed:ranks=%d:partition=2d:grid=4096x4096:threads=128:shortcut=leaves",
		"wide letters": "名前がとても長い引擎の名前です名前がとても長い引擎の名前です名前がとても長い引擎の名前です名前がとても長い引擎%d",
		"short":        "cpu%d",
	} {
		t.Run(name, func(t *testing.T) {
			var rows [][]string
			for i := range 20 {
				rows = append(rows, []string{fmt.Sprintf(label, i), "1.234e+123", strings.Repeat("9", 40), coloured("PARTLY CHECKED", fair)})
			}
			var b strings.Builder
			if err := Columns(&b, columns, rows); err != nil {
				t.Fatal(err)
			}
			lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
			if len(lines) != 22 {
				t.Fatalf("%d lines for 20 rows", len(lines))
			}
			for _, line := range lines {
				if n := text.StringWidthWithoutEscSequences(line); n > TerminalWidth {
					t.Errorf("%d columns: %s", n, line)
				}
			}
			if !strings.Contains(b.String(), coloured("PARTLY CHECKED", fair)) || !strings.Contains(b.String(), "1.234e+123") {
				t.Errorf("the verdict or a number is cut:\n%s", &b)
			}
			seen := map[string]bool{}
			for _, line := range lines[2:] {
				if seen[line] && name != "long options" {
					t.Errorf("two variants look the same: %s", line)
				}
				seen[line] = true
			}
		})
	}
}

// A column that may be left out goes before the table gets too wide, and only then.
func TestColumnsLeaveOutWhatIsOptional(t *testing.T) {
	columns := []Column{{Head: "engine", Left: true}, {Head: "a"}, {Head: "b", Optional: true}, {Head: "c", Optional: true}}
	for _, c := range []struct {
		digits int
		want   string
	}{{10, "engine a b c"}, {30, "engine a b"}, {49, "engine a"}} {
		var b strings.Builder
		wide := strings.Repeat("8", c.digits)
		if err := Columns(&b, columns, [][]string{{"cpu", wide, wide, wide}}); err != nil {
			t.Fatal(err)
		}
		head, _, _ := strings.Cut(b.String(), "\n")
		if got := strings.Join(strings.Fields(head), " "); got != c.want {
			t.Errorf("with numbers of %d digits the head is %q, want %q", c.digits, got, c.want)
		}
	}
}

func TestEllipsisKeepsTheEndsOfANameApart(t *testing.T) {
	for width := 8; width < 40; width++ {
		a, b := ellipsis("cpu:threads=1:adjacency=packed:segments=64", width), ellipsis("cpu:threads=1:adjacency=packed:segments=65", width)
		if a == b {
			t.Errorf("at %d columns both are %s", width, a)
		}
		if n := text.StringWidth(a); n != width {
			t.Errorf("%q has %d columns, want %d", a, n, width)
		}
	}
}

// Four variants of one engine differ after their 40th letter, and are told apart in whatever shows their names.
func TestVariantsAreToldApartEverywhere(t *testing.T) {
	ends := []string{"=north", "=south", "=east", "=west"}
	var names []string
	for _, end := range ends {
		names = append(names, "distributed:ranks=16,partition=2d,messages=adaptive,owner"+end)
	}
	r := sample(names, 26)
	for i := range r.Runs {
		r.Runs[i] = meteredRun(r.Runs[i], power.Node)
	}
	said := map[string]string{}
	for name, write := range map[string]func(io.Writer) error{
		"text":       func(w io.Writer) error { return Text(w, r) },
		"submission": func(w io.Writer) error { return Submission(w, r) },
		"green":      func(w io.Writer) error { return GreenGraph500(w, r) },
		"markdown":   func(w io.Writer) error { return Options{}.Markdown(w, r) },
		"page":       func(w io.Writer) error { return HTML(w, r) },
		"table":      func(w io.Writer) error { return Table(w, r, false) },
		"badges": func(w io.Writer) error {
			for _, run := range r.Runs {
				one := r
				one.Runs = []harness.Run{run}
				if err := errors.Join(Badge(w, one), BadgeSVG(w, one)); err != nil {
					return err
				}
			}
			return nil
		},
		"list": func(w io.Writer) error {
			var records []Listing
			for _, run := range r.Runs {
				one := r
				one.Runs = []harness.Run{run}
				records = append(records, List("a", one, nil))
			}
			return ListTable(w, records)
		},
	} {
		var b strings.Builder
		if err := write(&b); err != nil {
			t.Fatal(err)
		}
		said[name] = b.String()
	}
	for name, f := range drawings(t, r) {
		svg, err := f.svg()
		if err != nil {
			t.Fatal(err)
		}
		switch name {
		case "gteps-over-scale", "roots", "directions", "kernel-1":
			said[name] = string(svg)
		}
	}
	if len(said) != 12 {
		t.Fatalf("%d renderings", len(said))
	}
	for name, text := range said {
		for _, end := range ends {
			if !strings.Contains(text, end) {
				t.Errorf("%s does not show the variant that ends in %s", name, end)
			}
		}
	}
}

func TestNamesUnderBarsDoNotRunIntoEachOther(t *testing.T) {
	for _, c := range []struct {
		name  string
		among int
		want  string
	}{
		{"cpu, s16", 2, "cpu, s16"}, {"two-four, s16", 8, "two-\nfour\ns16"},
		{"distributed:ranks=16,owner=block, s16", 12, "dist…r\n=block\ns16"},
		{"distributed:ranks=16,owner=block,messages=lists, s16", 2, "distributed:ranks=16,owner\n=block,messages=lists, s16"},
	} {
		if got := breakName(c.name, c.among); got != c.want {
			t.Errorf("%q among %d is %q, want %q", c.name, c.among, got, c.want)
		}
	}
}

package reports

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/tepsbench/teps/harness"
)

// Format is a rendering that is one text.
type Format struct {
	Name  string // as the option --format takes it
	Says  string // what it is, for the help
	Write func(o Options, w io.Writer, results ...harness.Result) error

	References bool // it shows Options.References
}

// Formats are the renderings, in the order in which a help lists them. A new one is a line here.
func Formats() []Format {
	return []Format{
		{"html", "the page, one file that needs nothing but itself", Options.HTML, true},
		{"markdown", "tables and summary for an issue or a wiki", Options.Markdown, true},
		{"graph500", "the official text, in the reference program's lines", each(Text), false},
		{"text", "the table that ends a run", each(func(w io.Writer, r harness.Result) error { return Table(w, r, false) }), false},
		{"csv", "a row for each search, with all that identifies it", together(CSV), false},
		{"bench", "Go benchmarks, which benchstat reads", together(Bench), false},
		{"submission", "what the Graph500 list asks for, filled in as far as a record can", each(Submission), false},
		{"green", "what a submission to GreenGraph500 asks for, where an energy loop was metered", each(GreenGraph500), false},
		{"badge", "one line: the best result", each(Badge), false},
		{"badge-svg", "the same as a small picture", each(BadgeSVG), false},
	}
}

var errNoRecord = errors.New("reports: there is no result to show; name at least one record")

// FormatByName returns one of Formats. The error names those that there are.
func FormatByName(name string) (Format, error) {
	var names []string
	for _, f := range Formats() {
		if f.Name == name {
			return f, nil
		}
		names = append(names, f.Name)
	}
	return Format{}, fmt.Errorf("there is no format %q; there are %s", name, strings.Join(names, ", "))
}

// together makes a format of a rendering of all results at once.
func together(write func(io.Writer, ...harness.Result) error) func(Options, io.Writer, ...harness.Result) error {
	return func(_ Options, w io.Writer, results ...harness.Result) error {
		if len(results) == 0 {
			return errNoRecord
		}
		return write(w, results...)
	}
}

// each makes a format of a rendering of one result; an empty line stands between several.
func each(write func(io.Writer, harness.Result) error) func(Options, io.Writer, ...harness.Result) error {
	return func(_ Options, w io.Writer, results ...harness.Result) error {
		if len(results) == 0 {
			return errNoRecord
		}
		for i, r := range results {
			if i > 0 {
				if _, err := io.WriteString(w, "\n"); err != nil {
					return fmt.Errorf("reports: write: %w", err)
				}
			}
			if err := write(w, r); err != nil {
				return err
			}
		}
		return nil
	}
}

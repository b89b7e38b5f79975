// SPDX-License-Identifier: Apache-2.0

// Package formats lists every format of a report, and writes everything that a run leaves in its directory.
package formats

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/tepsbench/teps/record"
	"github.com/tepsbench/teps/reports"
	"github.com/tepsbench/teps/reports/page"
	"github.com/tepsbench/teps/reports/parts"
	"github.com/tepsbench/teps/reports/plot"
	"github.com/tepsbench/teps/reports/text"
)

// All are the formats in the order of help texts. A new one is a function in a new file and a line here.
func All() []reports.Format {
	return []reports.Format{
		{Name: "html", Summary: "the page, one file that needs nothing else", References: true, Write: page.Write},
		{Name: "markdown", Summary: "tables and summary for an issue or a wiki", References: true, Write: text.Markdown},
		{Name: "graph500", Summary: "the official text, in the reference program's lines", Write: each(text.Graph500)},
		{Name: "text", Summary: "the table that ends a run, or the variants of several",
			Write: func(w io.Writer, r reports.Report) error { return text.Tables(w, r, 0) }},
		{Name: "csv", Summary: "a row for each search, with all that identifies it", Write: text.CSV},
		{Name: "bench", Summary: "Go benchmarks, which benchstat reads", Write: text.Bench},
		{Name: "junit", Summary: "a test for each run, for CI (XML)", Write: text.JUnit},
		{Name: "openmetrics", Summary: "gauges of each run, for Prometheus", Write: text.OpenMetrics},
		{Name: "submission", Summary: "the forms of Graph500 and Green Graph500, as far as known",
			Write: text.Submission},
	}
}

// each makes a format of a rendering of one result. An empty line separates several.
func each(write func(io.Writer, reports.Result) error) func(io.Writer, reports.Report) error {
	return func(w io.Writer, r reports.Report) error {
		for i, result := range r.Results {
			if i > 0 {
				if _, err := io.WriteString(w, "\n"); err != nil {
					return fmt.Errorf("reports: write: %w", err)
				}
			}
			if err := write(w, result); err != nil {
				return err
			}
		}
		return nil
	}
}

// ByName returns one of the formats. The error names those that there are.
func ByName(formats []reports.Format, name string) (reports.Format, error) {
	var names []string
	for _, f := range formats {
		if f.Name == name {
			return f, nil
		}
		names = append(names, f.Name)
	}
	return reports.Format{}, fmt.Errorf("unknown format %q; the formats are %s", name, strings.Join(names, ", "))
}

// WriteAll writes a report into a directory, which must exist: graph500.txt, the figures as SVG, submission.txt and
// report.html. Each file is replaced whole or not at all. The error names the file.
func WriteAll(dir string, r reports.Report) error {
	write := func(file string, format func(io.Writer, reports.Report) error) error {
		var b bytes.Buffer
		if err := format(&b, r); err != nil {
			return err
		}
		if err := record.WriteFile(filepath.Join(dir, file), b.Bytes()); err != nil {
			return fmt.Errorf("reports: %w (is the directory there, writable and not full?)", err)
		}
		return nil
	}
	if err := write("graph500.txt", each(text.Graph500)); err != nil {
		return err
	}
	plotter := plot.New()
	for _, f := range parts.Figures(r) {
		if err := plotter.Write(filepath.Join(dir, f.Name+".svg"), f); err != nil {
			return err
		}
	}
	if err := write("submission.txt", text.Submission); err != nil {
		return err
	}
	return write("report.html", page.Write)
}

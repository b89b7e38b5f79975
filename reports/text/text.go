// SPDX-License-Identifier: Apache-2.0

// Package text writes reports as texts: the official Graph500 text, tables for a terminal, Markdown, forms for
// submissions, and data for other programs.
package text

import (
	"bytes"
	"embed"
	"fmt"
	"io"
	"strings"
	"text/template"

	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/tepsbench/teps/reports"
	"github.com/tepsbench/teps/reports/parts"
)

//go:embed *.tmpl
var templates embed.FS

// fill writes one of the templates with its data. Templates print texts from outside with name, sentence or literal.
func fill(w io.Writer, file string, data any) error {
	t := template.Must(template.New(file).Funcs(reports.Functions()).Funcs(template.FuncMap{
		"literal": literal, "sections": sections, "official": prefix, "g": percentG,
		"verdicts": parts.Verdicts, "runfaults": parts.Faults, "sorted": reports.Sorted,
		"several": parts.OfSeveral, "parts": parts.Of, "levels": parts.Levels,
		"bad": bad, "failures": failures, "labels": labels,
		"product": func(x float64, n int) float64 { return x * float64(n) },
		"next":    func(n int) int { return n + 1 },
		"named":   func(name string, t reports.Table) reports.Table { t.Name = name; return t },
	}).ParseFS(templates, "*.tmpl"))
	var b bytes.Buffer
	if err := t.Execute(&b, data); err != nil {
		return fmt.Errorf("text: fill in %s: %w", file, err)
	}
	return flush(w, &b, file)
}

func flush(w io.Writer, b *bytes.Buffer, what string) error {
	if _, err := w.Write(b.Bytes()); err != nil {
		return fmt.Errorf("text: write %s: %w", what, err)
	}
	return nil
}

// Wrap breaks a text between words into lines of at most width columns. Those after the first begin with indent.
func Wrap(s string, width int, indent string) string {
	lines := strings.Split(text.WrapSoft(s, width), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " ")
	}
	return strings.Join(lines, "\n"+indent)
}

// literal escapes a text for Markdown: punctuation with a meaning gets a backslash, and an empty comment keeps GitHub
// from linking names, numbers of issues and addresses.
func literal(s string) string {
	pairs := []string{"&", "&amp;", "#", `\#<!-- -->`, "@", "@<!-- -->", "://", ":<!-- -->//", "www.", "www<!-- -->.",
		"GH-", "GH<!-- -->-"}
	for _, c := range "\\`*_{}[]()<>|~!$" {
		pairs = append(pairs, string(c), `\`+string(c))
	}
	s = strings.NewReplacer(pairs...).Replace(s)
	if strings.HasPrefix(s, "-") || strings.HasPrefix(s, "+") || strings.HasPrefix(s, "=") {
		return `\` + s // a list, a rule or a heading, which begin only at the start of a line
	}
	return s
}

// Markdown writes a report for an issue or a wiki, in GitHub Flavored Markdown 0.29: the verdict, then every table of
// the page, long ones folded. Texts from outside cannot introduce Markdown, HTML, mentions or links to issues.
func Markdown(w io.Writer, r reports.Report) error { return fill(w, "markdown.tmpl", r) }

// JUnit writes a suite for each record with a test for each run, which fails if the run is not sound.
func JUnit(w io.Writer, r reports.Report) error { return fill(w, "junit.tmpl", r) }

// OpenMetrics writes the results of runs as gauges (OpenMetrics 1.0), for the textfile collector of Prometheus.
func OpenMetrics(w io.Writer, r reports.Report) error { return fill(w, "openmetrics.tmpl", r) }

func bad(run reports.Summary) bool { return run.Verdict().Grade >= reports.Bad }

func failures(runs []reports.Summary) (n int) {
	for _, run := range runs {
		if bad(run) {
			n++
		}
	}
	return n
}

// labels are those of a run in OpenMetrics, which escapes quotes, backslashes and line breaks as Go does.
func labels(r reports.Result, run reports.Summary) string {
	return fmt.Sprintf("{record=%q,host=%q,engine=%q,graph=%q}", r.Name(), reports.Name(r.Machine.Hostname), run.Label,
		run.GraphName())
}

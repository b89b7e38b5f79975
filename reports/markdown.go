package reports

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/tepsbench/teps/harness"
)

// Markdown writes results for an issue or a wiki, in GitHub's dialect (GitHub Flavored Markdown 0.29): the verdict, then
// every table of the page, long ones folded. It has no pictures, which an issue takes separately. Texts from outside are
// cleaned, and nothing in them is taken for Markdown, HTML, a mention or an issue. The error is that of w, or says that
// there was no result to show.
func (o Options) Markdown(w io.Writer, results ...harness.Result) error {
	if len(results) == 0 {
		return errors.New("reports: write Markdown: there is no result to show; name at least one record")
	}
	p, err := newPen()
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if len(results) > 1 {
		fmt.Fprintf(&b, "## %d results side by side\n", len(results))
		markdownTable(&b, recordsTable(results))
		for _, c := range p.parts(labels(results...), o.References) {
			if c.together {
				markdownPart(&b, c)
			}
		}
	}
	for i, r := range results {
		mark := ""
		if len(results) > 1 {
			mark = recordMark(i) + " "
		}
		markdownResult(&b, p, mark, r, o.References)
	}
	if len(o.References) > 0 {
		b.WriteString("\n### Published elsewhere, not measured here\n\n")
		for _, r := range o.References {
			fmt.Fprintf(&b, "- **%s**: %s.", plain(r.Short), plain(r.Source))
			if r.Link != "" {
				fmt.Fprintf(&b, " <%s>.", r.Link)
			}
			fmt.Fprintf(&b, " Dated %s. *Counting:* %s\n", plain(r.Date), plain(r.Counting))
		}
		folded(&b, "All numbers", func() { markdownTable(&b, referencesTable(o.References)) })
	}
	b.WriteString("\n<sub>TEPS: input tuples of the component, each once, over the engine's clock; GTEPS are 10⁹ of them a second, the harmonic mean over the roots. Validation holds parents against the input tuples. – was not measured. Made by `teps report DIR --format markdown`.</sub>\n")
	if _, err := w.Write(b.Bytes()); err != nil {
		return fmt.Errorf("reports: write Markdown: %w", err)
	}
	return nil
}

func markdownResult(b *bytes.Buffer, p pen, mark string, r harness.Result, references []Reference) {
	h := headline(r)
	if h.Rate != "" {
		fmt.Fprintf(b, "\n## %s%s GTEPS\n\n%s\n", plain(mark), plain(h.Rate), plain(h.Of))
	} else {
		fmt.Fprintf(b, "\n## %sNo result\n", plain(mark))
	}
	fmt.Fprintf(b, "\n**%s**", plain(h.Verdict.Word))
	if h.Badge != "" {
		fmt.Fprintf(b, " · **%s**", plain(h.Badge))
	}
	fmt.Fprintf(b, " · record %s\n\n%s\n", plain(clean(r.ID, nameRunes)), plain(h.Verdict.Why))
	for i, rule := range h.Broken {
		if i == 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(b, "- does not hold: **%s**: %s\n", plain(rule.Rule), plain(rule.Detail))
	}
	runs := labels(r)
	if len(runs) > 0 {
		b.WriteString("\n### Runs\n")
		markdownTable(b, runsTable(runs))
	}
	for _, c := range p.parts(runs, references) {
		markdownPart(b, c)
	}
	for i, run := range r.Runs {
		root, found := medianRoot(run)
		if !found {
			continue
		}
		folded(b, fmt.Sprintf("Levels of the median root: %s, scale %d, vertex %d, %s", runs[i].label, run.Scale, root.Root, duration(root.Time)),
			func() { markdownTable(b, levelsTable(root)) })
	}
	folded(b, "Machine and run", func() {
		for _, group := range facts(r) {
			t := tableView{Head: words(group.Name, "")}
			for _, f := range group.Facts {
				t.Rows = append(t.Rows, words(f.Name, f.Value))
			}
			if len(t.Rows) > 0 {
				markdownTable(b, t)
			}
		}
	})
}

func markdownPart(b *bytes.Buffer, c part) {
	fmt.Fprintf(b, "\n### %s\n\n%s\n", plain(c.title), plain(c.says))
	if len(c.table.Rows) > 24 {
		folded(b, fmt.Sprintf("%d rows", len(c.table.Rows)), func() { markdownTable(b, c.table) })
	} else {
		markdownTable(b, c.table)
	}
	for _, t := range c.folded {
		if len(t.Rows) > 0 {
			folded(b, t.Name, func() { markdownTable(b, t) })
		}
	}
}

// folded puts what write writes under a line that opens it.
func folded(b *bytes.Buffer, summary string, write func()) {
	fmt.Fprintf(b, "\n<details><summary>%s</summary>\n", plain(summary))
	write()
	b.WriteString("\n</details>\n")
}

func markdownTable(b *bytes.Buffer, t tableView) {
	b.WriteByte('\n')
	line := func(cells []cell, of func(cell) string) {
		b.WriteByte('|')
		for _, c := range cells {
			b.WriteString(" " + of(c) + " |")
		}
		b.WriteByte('\n')
	}
	text := func(c cell) string { return plain(c.Text) }
	line(t.Head, text)
	line(t.Head, func(c cell) string {
		if c.Class == "num" {
			return "---:"
		}
		return "---"
	})
	for _, row := range t.Rows {
		line(row, text)
	}
	if t.Note != "" {
		fmt.Fprintf(b, "\n<sub>%s</sub>\n", plain(t.Note))
	}
}

// plain makes a text mean itself in Markdown: punctuation that may begin something is escaped, and an empty comment
// keeps GitHub from linking names, numbers of issues and addresses.
func plain(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch r {
		case '\\', '`', '*', '_', '{', '}', '[', ']', '(', ')', '<', '>', '#', '|', '~', '!', '$':
			b.WriteByte('\\')
			b.WriteRune(r)
		case '&':
			b.WriteString("&amp;")
		default:
			b.WriteRune(r)
		}
	}
	s = strings.NewReplacer("@", "@<!-- -->", "://", ":<!-- -->//", "www.", "www<!-- -->.", `\#`, `\#<!-- -->`, "GH-", "GH<!-- -->-").Replace(b.String())
	// A list, a rule or a heading begins at the start of a line only.
	if strings.HasPrefix(s, "-") || strings.HasPrefix(s, "+") || strings.HasPrefix(s, "=") {
		s = `\` + s
	}
	return s
}

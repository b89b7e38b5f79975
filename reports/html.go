package reports

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"html/template"
	"io"

	"github.com/tepsbench/teps/harness"
)

//go:embed page.html
var pageTemplate string

//go:embed page.css
var pageStyle string

// Options say what a report shows beside its records. The zero value shows the records alone.
type Options struct {
	References []Reference // published results; see References
}

// HTML writes one page about one result or several: headline, figures with their tables, the statement of rules, kernel
// 1, every root, the machine and the way in which things are counted. The page needs nothing but itself: no network, no
// script; figures are part of it. It follows the reader's light or dark scheme and prints. Texts from outside are
// cleaned and escaped. The error is that of w, or says that there was no result to show.
func (o Options) HTML(w io.Writer, results ...harness.Result) error {
	if len(results) == 0 {
		return errors.New("reports: make the page: there is no result to show; name at least one record")
	}
	p, err := newPen()
	if err != nil {
		return err
	}
	pages := pager{pen: p, references: o.References}
	view, err := pages.page(results)
	if err != nil {
		return err
	}
	view.Style = template.CSS(pageStyle)
	t, err := template.New("page").Parse(pageTemplate)
	if err != nil {
		return fmt.Errorf("reports: read the built-in page: %w", err)
	}
	var b bytes.Buffer
	if err := t.Execute(&b, view); err != nil {
		return fmt.Errorf("reports: make the page: %w", err)
	}
	if _, err := w.Write(b.Bytes()); err != nil {
		return fmt.Errorf("reports: write the page: %w", err)
	}
	return nil
}

// HTML is Options.HTML with the records alone.
func HTML(w io.Writer, results ...harness.Result) error { return Options{}.HTML(w, results...) }

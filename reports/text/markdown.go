// SPDX-License-Identifier: Apache-2.0

package text

import (
	"io"

	"github.com/tepsbench/teps/reports"
)

// Markdown writes a report for an issue or a wiki, in GitHub's dialect (GitHub Flavored Markdown 0.29): the verdict,
// then every table of the page, long ones folded. Figures have to be added by hand. Texts from outside cannot introduce
// Markdown, HTML, mentions or links to issues.
func Markdown(w io.Writer, r reports.Report) error { return fill(w, "markdown.tmpl", r) }

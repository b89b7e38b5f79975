// SPDX-License-Identifier: Apache-2.0

package text

import (
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tepsbench/teps/internal/must"
	"github.com/tepsbench/teps/reports"
	"github.com/tepsbench/teps/reports/testdata/samples"
)

// goodMarkdown checks what GitHub needs to make tables of tables: a line under the head, as many cells in every row;
// and that no tag is there but those that fold.
func goodMarkdown(t *testing.T, text string) {
	t.Helper()
	cell := regexp.MustCompile(`(?:\\.|[^\\|])*\|`)
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if !strings.HasPrefix(line, "|") {
			continue
		}
		cells := len(cell.FindAllString(line[1:], -1))
		if i+1 < len(lines) && strings.HasPrefix(lines[i+1], "| -") {
			if i > 0 && lines[i-1] != "" {
				t.Errorf("no empty line before the table of %q", line)
			}
		}
		if !strings.HasPrefix(lines[i-1], "|") {
			if i+1 == len(lines) || !strings.HasPrefix(lines[i+1], "| -") {
				t.Errorf("no line under the head %q", line)
			}
			continue
		}
		must.Equal(t, cells, len(cell.FindAllString(lines[i-1][1:], -1)), line)
	}
	for _, tag := range regexp.MustCompile(`(\\*)<[^>]*>?`).FindAllStringSubmatch(text, -1) {
		switch whole := strings.TrimLeft(tag[0], `\`); {
		case len(tag[1])%2 == 1: // escaped
		case whole == "<details>", whole == "</details>", whole == "<summary>", whole == "</summary>", whole == "<sub>",
			whole == "</sub>", whole == "<!-- -->":
		case strings.HasPrefix(whole, "<https://doi.org/"):
		default:
			t.Errorf("the tag %q", whole)
		}
	}
	if strings.ContainsAny(text, "\x00\x1b\u202e") {
		t.Error("a control character")
	}
}

func TestMarkdownEscapesNames(t *testing.T) {
	for in, want := range map[string]string{
		"a|b":            `a\|b`,
		"@someone":       "@<!-- -->someone",
		"#12":            `\#<!-- -->12`,
		"GH-12":          "GH<!-- -->-12",
		"<b>":            `\<b\>`,
		"&lt;":           "&amp;lt;",
		"- x":            `\- x`,
		"https://x.test": "https:<!-- -->//x.test",
		"2D, s20":        "2D, s20",
	} {
		must.Equal(t, literal(in), want, in)
	}
	rapid.Check(t, func(r *rapid.T) {
		text := reports.Clean(rapid.String().Draw(r, "text"), 60)
		result := samples.FewRoots([]string{"cpu"}, 16)
		result.ID, result.Machine.CPU = text, text
		var b strings.Builder
		if err := Markdown(&b, report(result)); err != nil {
			r.Fatal(err)
		}
		goodMarkdown(t, b.String())
	})
}

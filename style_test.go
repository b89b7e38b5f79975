// SPDX-License-Identifier: Apache-2.0

package teps_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/tepsbench/teps/internal/must"
)

// forbiddenPhrases are idioms that native readers stumble over, in code, comments, messages and documents, and British
// spelling.
var forbiddenPhrases = regexp.MustCompile(`(?i)\b(` + strings.Join([]string{
	`(is|are|was|were|be|been) told\b`, `told (by|of|so|apart)\b`, `(is|are|was|were|be) no [a-z]+`, `of which\b`,
	`so many\b`, `what is not there\b`, `of no use\b`, `as good as\b`, `none of (its|their|our) business\b`,
	`in its own words\b`, `be had\b`, `nothing to speak of\b`, `leaps?\b`, `spared?\b`, `strays?\b`, `beside\b`,
	`folders?\b`, `the finds\b`, `finds (of|that|are|go|as|lie)\b`, `at the least\b`, `whoever\b`, `in any case\b`,
	`keeps? no tuples\b`, `aside\b`, `a [a-z]+ of (its|their) own\b`, `who (needs|asks|reads|wants)\b`, `that has gone\b`, `meanwhile\b`,
	`(neighb|col|fav|behavi)our`, `cancelled`, `(re|un)?labell(ed|ing)\b`, `modelled`, `licence`, `centre`, `grey\b`,
	`(un)?(optim|initial|summar|serial|symmetr|final|normal|general)is(e[drs]?|ing|ation)\b`,
}, "|") + `)`)

// forbiddenWords may not be part of a Go identifier: private words, and words with a standard counterpart (max, min).
var forbiddenWords = []string{
	"finds", "stray", "strays", "claim", "settle", "settled", "deal", "dealt", "weigh", "weighed", "listing", "told",
	"tell",
	"spared", "spare", "fresh", "above", "beside", "least", "most", "longest", "spoil", "hear", "bide",
}

// texts returns the paths of the files that people read.
func texts(t *testing.T, suffixes ...string) []string {
	t.Helper()
	var paths []string
	must.Do(filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != "." &&
			(strings.HasPrefix(d.Name(), ".") && d.Name() != ".ci" || d.Name() == "references"):
			return fs.SkipDir
		case !d.IsDir() && slices.Contains(suffixes, filepath.Ext(path)) && path != "style_test.go" &&
			!strings.HasSuffix(path, ".pb.go") && !strings.HasSuffix(path, ".gen.go"):
			paths = append(paths, filepath.ToSlash(path))
		}
		return nil
	}))
	return paths
}

// allowedPhrases are matches of forbiddenPhrases that are fine.
var allowedPhrases = regexp.MustCompile(`(?i)\bthere (is|are|was|were) no\b|` +
	`\b(is|are|was|were) no (more|less|longer|better|worse|faster|slower)\b|` +
	`"(relabelled|symmetrised)|: (relabelled|symmetrised)\b`) // in records

func TestProseIsPlainEnglish(t *testing.T) {
	pages := []string{"reports/page/page.html"} // no others: the commands in documents write pages of old records
	for _, path := range append(pages, texts(t, ".go", ".cu", ".cuh", ".c", ".h", ".md", ".txtar", ".py", ".proto")...) {
		data := must.Get(os.ReadFile(path))
		for n, line := range strings.Split(string(data), "\n") {
			if !forbiddenPhrases.MatchString(line) {
				continue
			}
			for _, found := range forbiddenPhrases.FindAllString(allowedPhrases.ReplaceAllString(line, ""), -1) {
				t.Errorf("%s:%d: %q: say it in plain English", path, n+1, found)
			}
		}
	}
}

// words splits an identifier such as maxLevels or HTTPServer into lower-case words.
func words(name string) []string {
	var all []string
	start := 0
	runes := []rune(name)
	for i := 1; i <= len(runes); i++ {
		if i == len(runes) || runes[i] == '_' || unicode.IsUpper(runes[i]) && !unicode.IsUpper(runes[i-1]) {
			all = append(all, strings.ToLower(strings.Trim(string(runes[start:i]), "_")))
			start = i
		}
	}
	return all
}

func TestIdentifiersUseTheFieldsTerms(t *testing.T) {
	for _, path := range texts(t, ".go") {
		files := token.NewFileSet()
		parsed := must.Get(parser.ParseFile(files, path, nil, parser.SkipObjectResolution))
		declared := func(id *ast.Ident) {
			for _, word := range words(id.Name) {
				if slices.Contains(forbiddenWords, word) && !strings.HasPrefix(id.Name, "Test") {
					t.Errorf("%s: %s: use a term of the field instead of %q", files.Position(id.Pos()), id.Name, word)
				}
			}
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				declared(n.Name)
			case *ast.TypeSpec:
				declared(n.Name)
			case *ast.ValueSpec:
				for _, id := range n.Names {
					declared(id)
				}
			case *ast.Field:
				for _, id := range n.Names {
					declared(id)
				}
			case *ast.AssignStmt:
				for _, left := range n.Lhs {
					if id, ok := left.(*ast.Ident); ok && n.Tok == token.DEFINE {
						declared(id)
					}
				}
			}
			return true
		})
	}
}

func TestPagesHaveTextInLinesThatFit(t *testing.T) {
	const goColumns, markdownColumns = 120, 100
	for _, path := range texts(t, ".go", ".md") {
		data := must.Get(os.ReadFile(path))
		if filepath.Ext(path) == ".md" && strings.Count(string(data), "\n") < 3 {
			t.Errorf("%s: a heading with nothing under it", path)
		}
		code := false
		for n, line := range strings.Split(string(data), "\n") {
			columns := utf8.RuneCountInString(line)
			if strings.HasPrefix(strings.TrimSpace(line), "```") {
				code = !code
			}
			switch {
			case filepath.Ext(path) == ".go" && columns > goColumns:
				t.Errorf("%s:%d: %d columns; Go has at most %d", path, n+1, columns, goColumns)
			case filepath.Ext(path) == ".md" && columns > markdownColumns && !code && strings.Contains(line, " ") &&
				!strings.HasPrefix(strings.TrimSpace(line), "|") && !strings.Contains(line, "]("):
				t.Errorf("%s:%d: %d columns; Markdown has at most %d outside tables, code and links",
					path, n+1, columns, markdownColumns)
			}
		}
	}
}

// anchors returns the fragments that lead to the headings of a page, as GitHub makes them.
func anchors(page string) []string {
	var all []string
	for _, heading := range regexp.MustCompile("(?ms)^```.*?^```$|^#+ (.*?)$").FindAllStringSubmatch(page, -1) {
		text := regexp.MustCompile(`[^\w\- ]`).ReplaceAllString(strings.ToLower(heading[1]), "")
		all = append(all, strings.ReplaceAll(text, " ", "-"))
	}
	return all
}

// Links between pages lead to files, directories and headings of the project.
func TestLinksLeadToFiles(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)#\s]*)(?:#([^)\s]+))?\)`)
	for _, path := range texts(t, ".md") {
		data := must.Get(os.ReadFile(path))
		for _, m := range link.FindAllStringSubmatch(string(data), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			target, page := path, data
			if m[1] != "" {
				target = filepath.Join(filepath.Dir(path), m[1])
				if _, err := os.Stat(target); err != nil {
					t.Errorf("%s: a link to %s, which is not there", path, m[1])
					continue
				}
				page, _ = os.ReadFile(target) // none for a directory
			}
			if m[2] != "" && !slices.Contains(anchors(string(page)), m[2]) {
				t.Errorf("%s: a link to #%s, a heading that %s does not have", path, m[2], target)
			}
		}
	}
}

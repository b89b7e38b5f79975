// SPDX-License-Identifier: Apache-2.0

package formats

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/tepsbench/teps/internal/must"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/power"
	"github.com/tepsbench/teps/record"
	"github.com/tepsbench/teps/reports"
	"github.com/tepsbench/teps/reports/parts"
	"github.com/tepsbench/teps/reports/plot"
	"github.com/tepsbench/teps/reports/testdata/samples"
	"github.com/tepsbench/teps/reports/text"
)

const hostile = `<script>alert("1")</script>&'` + "\x1b[31m\x00\n\u202e\xff" + ` style="fill:#222222"`

// partial are results that failures of all kinds leave behind.
func partial() map[string]record.Result {
	evil := samples.Result([]string{hostile, hostile + "2"}, 16)
	evil.ID, evil.Machine.CPU, evil.Command = hostile, hostile, []string{hostile}
	evil.Runs[0].Failure, evil.Runs[0].State = hostile, record.Failed
	evil.Runs[1].Description.Summary, evil.Runs[1].Options = hostile, map[string]string{hostile: hostile}
	evil.Runs[1].Compliance.Rules[0].Detail = hostile
	evil.Runs[1].Roots[0].Violation = hostile

	deep := samples.Result([]string{"cpu"}, 16)
	for i := range 5000 {
		deep.Runs[0].Roots[0].Levels = append(deep.Runs[0].Roots[0].Levels, plugins.Level{Frontier: 1,
			Elapsed: time.Duration(i)})
	}

	many := samples.Result(nil, 16)
	for i := range 20 { // more than a figure has room for
		name := fmt.Sprintf("engine-%02d", i)
		many.Plan.Engines = append(many.Plan.Engines, record.EngineSpec{Name: name})
		many.Runs = append(many.Runs, samples.Run(name, i, 16, 8))
	}
	thousands := samples.Result([]string{"cpu"}, 16)
	thousands.Runs[0] = samples.Run("cpu", 0, 16, 2050)

	bare := samples.Result([]string{"cpu", strings.Repeat("a name without end ", 30)}, 16)
	for i := range bare.Runs {
		bare.Runs[i].Description, bare.Runs[i].Options = nil, nil
		for k := range bare.Runs[i].Roots {
			bare.Runs[i].Roots[k].Levels = nil
		}
	}

	silent := samples.Ranked() // ranks, and levels without times
	for i := range silent.Runs {
		for k := range silent.Runs[i].Roots {
			for l := range silent.Runs[i].Roots[k].Levels {
				silent.Runs[i].Roots[k].Levels[l].Elapsed = 0
			}
		}
	}

	return map[string]record.Result{
		"unofficial": samples.Unofficial()[0], "hostile names": evil, "five thousand levels": deep,
		"twenty engines": many, "thousands of roots": thousands, "nothing but rates": bare, "levels without times": silent,
		"ranks": samples.Ranked(), "one root": {Runs: []record.Run{samples.Run("cpu", 0, 16, 1)}},
	}
}

func TestEveryFormatTakesPartialResults(t *testing.T) {
	for name, r := range partial() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			report := reportOf(r)
			for _, f := range All() {
				var b bytes.Buffer
				must.Do(f.Write(&b, report))
				if b.Len() == 0 && f.Name != "bench" {
					t.Errorf("%s is empty", f.Name)
				}
				if strings.ContainsAny(b.String(), "\x00\x1b\u202e") && f.Name != "csv" {
					t.Errorf("%s has a control character", f.Name)
				}
				if f.Name == "html" && (!utf8.Valid(b.Bytes()) || b.Len() > 16<<20 ||
					strings.Count(b.String(), "<script") != 1 || notANumber.MatchString(b.String())) {
					t.Error("the page is not UTF-8, is larger than 16 MiB, has a foreign script or a number that is none")
				}
			}
			for _, f := range parts.Figures(report) {
				p, svg := drawn(f)
				if wellFormed(t, f.Name, svg); notANumber.Match(svg) {
					t.Errorf("%s has a number that is none", f.Name)
				}
				if pdf, err := p.Draw(".pdf", f); err != nil || len(pdf) < 1000 {
					t.Errorf("%s.pdf has %d bytes: %v", f.Name, len(pdf), err)
				}
			}
		})
	}
}

// reportOf makes a report of records.
func reportOf(records ...record.Result) reports.Report {
	return must.Get(reports.New(nil, records...))
}

// drawn is a figure as SVG.
func drawn(f reports.Figure) (plot.Plotter, []byte) {
	p := plot.New()
	svg := must.Get(p.Draw(".svg", f))
	return p, svg
}

func data(path string) string {
	out := must.Get(os.ReadFile(path))
	return string(out)
}

func wellFormed(t *testing.T, name string, data []byte) {
	t.Helper()
	d := xml.NewDecoder(bytes.NewReader(data))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatalf("%s is not XML: %v", filepath.Base(name), err)
		}
		if start, ok := token.(xml.StartElement); ok && start.Name.Local == "script" {
			t.Errorf("%s has a script", filepath.Base(name))
		}
	}
}

var notANumber = regexp.MustCompile(`NaN|[+-]Inf`)

func TestWriteAllLeavesNoPartOfAFile(t *testing.T) {
	dir := t.TempDir()
	// The file cannot replace a directory, so the rename fails and the temporary file is removed.
	blocked := filepath.Join(dir, "graph500.txt")
	must.Do(os.MkdirAll(filepath.Join(blocked, "x"), 0o755))
	err := WriteAll(dir, reportOf(samples.Result([]string{"cpu"}, 16)))
	must.Fail(t, err, "reports: ", "graph500.txt")
	entries := must.Get(os.ReadDir(dir))
	must.Equal(t, len(entries), 1, "files that are left")
	must.Is(t, WriteAll(filepath.Join(dir, "absent"), reportOf(samples.Result(nil))), fs.ErrNotExist)
}

// Every format is known by its name and takes several records.
func TestFormats(t *testing.T) {
	r := samples.Result([]string{"cpu"}, 16)
	for _, f := range All() {
		known, err := ByName(All(), f.Name)
		if err != nil || known.Name != f.Name || f.Summary == "" {
			t.Errorf("%s: %v", f.Name, err)
		}
		var b strings.Builder
		if err := f.Write(&b, reportOf(r, r)); err != nil || b.Len() == 0 {
			t.Errorf("%s: %d bytes, %v", f.Name, b.Len(), err)
		}
		if err := f.Write(full{}, reportOf(r, r)); !errors.Is(err, errFull) {
			t.Errorf("%s to a full disk: %v", f.Name, err)
		}
	}
	must.Fail(t, must.Err(ByName(All(), "pdf")), "html, markdown")
	must.Is(t, must.Err(reports.New(nil)), reports.ErrNoRecord)
}

// full is a writer to a full disk.
type full struct{}

var errFull = errors.New("no space left")

func (full) Write([]byte) (int, error) { return 0, errFull }

// A plot in the list of parts is on the page, in Markdown and in files.
func TestANewPlotIsOneLine(t *testing.T) {
	record := samples.Ranked()
	record.Runs = append(record.Runs, samples.WithMeters(samples.Run("metered", 1, 16, 8), power.GPU))
	r, dir := reportOf(record), t.TempDir()
	must.Do(WriteAll(dir, r))
	var markdown strings.Builder
	must.Do(text.Markdown(&markdown, r))
	page := data(filepath.Join(dir, "report.html"))
	for _, plot := range parts.All() {
		part := plot(r.All, nil)
		if !strings.Contains(page, "<h3>"+part.Title+"</h3>") || !strings.Contains(markdown.String(), "### "+part.Title) {
			t.Errorf("the page or Markdown lacks %q", part.Title)
		}
		for _, f := range part.Figures {
			if _, err := os.Stat(filepath.Join(dir, f.Name+".svg")); len(f.Panels) > 0 && err != nil {
				t.Error(err)
			}
		}
	}
}

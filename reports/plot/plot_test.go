// SPDX-License-Identifier: Apache-2.0

package plot

import (
	"bytes"
	"image"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/tepsbench/teps/internal/must"
	"github.com/tepsbench/teps/power"
	"github.com/tepsbench/teps/record"
	"github.com/tepsbench/teps/reports"
	"github.com/tepsbench/teps/reports/parts"
	"github.com/tepsbench/teps/reports/testdata/samples"
)

// figures are the figures of a result by name.
func figures(r record.Result, publications ...string) map[string]reports.Figure {
	references := must.Get(reports.References(publications...))
	report := must.Get(reports.New(references, r))
	out := map[string]reports.Figure{}
	for _, f := range parts.Figures(report) {
		out[f.Name] = f
	}
	return out
}

func TestFiguresLookAsTheyDid(t *testing.T) {
	all := figures(samples.Result([]string{"cpu", "distributed"}, 16, 17, 18))
	copied := func(from map[string]reports.Figure, names ...string) {
		for _, name := range names {
			all[name] = from[name]
		}
	}
	copied(figures(samples.Ranked()), "strong-scaling", "weak-scaling", "phases")
	metered := figures(samples.Metered(power.Node))
	copied(metered, "mteps-per-watt", "power-cuda-s22")
	all["gteps-over-scale-published"] = figures(samples.Result([]string{"cpu"}, 24, 25), "all")["gteps-over-scale"]
	all["mteps-per-watt-published"] = figures(samples.Metered(power.Node), "kolganov-2018")["mteps-per-watt"]
	for name, f := range all {
		t.Run(name, func(t *testing.T) {
			samples.Drawing(t, filepath.Join("testdata", name+".svg"), must.Get(New().Draw(".svg", f)))
		})
	}
}

// Texts of a PDF are outlines, so any letter of the typeface can be shown and no typeface is embedded.
func TestPDFDrawsTextsAsOutlines(t *testing.T) {
	f := figures(samples.Result([]string{"cpu-größer-名"}, 16, 17))["gteps-over-scale"]
	pdf := must.Get(New().Draw(".pdf", f))
	for _, want := range []string{"%PDF-", "%%EOF"} {
		if !bytes.Contains(pdf, []byte(want)) {
			t.Errorf("the PDF has no %s", want)
		}
	}
	if bytes.Contains(pdf, []byte("/FontFile")) || len(pdf) > 200<<10 {
		t.Errorf("the PDF has %d bytes: it seems to contain a typeface", len(pdf))
	}
	f.Title, f.Notes, f.Legend, f.Panels[0].X.Title, f.Panels[0].Y.Title = "", nil, nil, "", ""
	bare, err := New().Draw(".pdf", f)
	if err != nil || len(bare) > len(pdf)*3/4 {
		t.Errorf("without its texts the PDF has %d of %d bytes (%v): texts are not drawn", len(bare), len(pdf), err)
	}
}

func TestWriteChoosesTheFormByTheExtension(t *testing.T) {
	dir, f := t.TempDir(), figures(samples.Result([]string{"cpu"}, 16, 17))["gteps-over-scale"]
	for extension, magic := range map[string]string{".svg": "<?xml", ".png": "\x89PNG", ".PDF": "%PDF"} {
		path := filepath.Join(dir, "rates"+extension)
		must.Do(New().Write(path, f))
		data, err := os.ReadFile(path)
		if err != nil || !bytes.HasPrefix(data, []byte(magic)) {
			t.Errorf("%s does not begin with %q (%v)", path, magic, err)
		}
		if png, _, err := image.DecodeConfig(bytes.NewReader(data)); extension == ".png" && png.Width != 2040 {
			t.Errorf("the PNG is %d pixels wide, want 6.8 inches of 300 (%v)", png.Width, err)
		}
	}
	must.Is(t, New().Write(filepath.Join(dir, "x.gif"), f), ErrExtension)
	must.Is(t, New().Write(filepath.Join(dir, "absent", "x.svg"), f), os.ErrNotExist)
	must.Equal(t, len(must.Get(os.ReadDir(dir))), 3, "files")
}

// Every color of every figure is one that a page can change; names stay as they are.
func TestInlineRecolorsInkAndNotNames(t *testing.T) {
	all := figures(samples.Ranked())
	maps.Copy(all, figures(samples.Metered(power.Node), "all"))
	all["named"] = figures(samples.Result([]string{`#222222 fill:#DDDDDD`}, 16))["roots"]
	for name, f := range all {
		svg := must.Get(New().Inline(f, reports.FigureWidth))
		if name == "named" && !strings.Contains(svg, "#222222 fill:#DDD") {
			t.Error("the engine's name has changed")
		}
		must.Equal(t, regexp.MustCompile(`style="[^"]*#`).FindString(svg), "", name)
		if !strings.Contains(svg, "stroke:var(--ink)") || strings.Contains(svg, "<?xml") {
			t.Errorf("%s: ink does not have the page's color", name)
		}
	}
}

func TestNamesLeaveRoomInANarrowFigure(t *testing.T) {
	var names reports.Axis
	for _, name := range []string{"cpu, 2¹⁴", "distributed-2d, uniform:100000:1000000",
		"distributed-1d-dest, uniform:100000:1000000",
		"distributed-1d-dest, 2¹⁴", "distributed-1d-dest sssp, 2¹⁴"} { // no single cut at 16 columns keeps these apart
		names.Names, names.Ticks = true, append(names.Ticks, reports.Tick{Label: name})
	}
	for _, tick := range shortened(names) {
		if n := utf8.RuneCountInString(tick.Label); n > 28 {
			t.Errorf("%s: %d columns", tick.Label, n)
		}
	}
}

package reports

import (
	"bytes"
	"errors"
	"flag"
	"image"
	_ "image/png"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"

	"github.com/tepsbench/teps/harness"
	"github.com/tepsbench/teps/power"
)

var update = flag.Bool("update", false, "write the golden drawings instead of comparing with them")

func drawings(t *testing.T, r harness.Result) map[string]*figure {
	t.Helper()
	p, err := newPen()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]*figure{}
	for _, f := range p.draw(labels(r), nil).all() {
		out[f.name] = f
	}
	return out
}

// The golden drawings are compared as texts with numbers in them: the texts must be the same, the numbers within a
// fiftieth of a point (another processor may round the last digit differently).
func TestFiguresLookAsTheyDid(t *testing.T) {
	all := drawings(t, sample([]string{"cpu", "distributed"}, 16, 17, 18))
	for _, name := range []string{"strong-scaling", "weak-scaling", "phases", "traffic", "ranks"} {
		all[name] = drawings(t, rankedSample())[name]
	}
	p, err := newPen()
	if err != nil {
		t.Fatal(err)
	}
	all["gteps-over-scale-published"] = overScale(p, labels(sample([]string{"cpu"}, 24, 25)), references(t, "all"))
	metered := meteredSample(power.Node)
	for _, name := range []string{"mteps-per-watt", "mteps-per-watt-over-scale"} {
		all[name] = drawings(t, metered)[name]
	}
	all["mteps-per-watt-published"] = perWattOverScale(p, labels(metered), publishedWatts(references(t, "kolganov-2018")))
	for name, f := range all {
		t.Run(name, func(t *testing.T) {
			got, err := f.svg()
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join("testdata", name+".svg")
			if *update {
				if err := os.WriteFile(path, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			number := regexp.MustCompile(`-?[0-9]+(\.[0-9]+)?(e[-+][0-9]+)?`)
			if !bytes.Equal(number.ReplaceAll(got, []byte("0")), number.ReplaceAll(want, []byte("0"))) {
				t.Fatalf("%s differs in more than its numbers; look at it, then run the test with -update", name)
			}
			were := number.FindAllString(string(want), -1)
			for i, now := range number.FindAllString(string(got), -1) {
				a, err1 := strconv.ParseFloat(now, 64)
				b, err2 := strconv.ParseFloat(were[i], 64)
				if err1 != nil || err2 != nil || math.Abs(a-b) > 0.02 {
					t.Fatalf("number %d of %s was %s and is %s", i, name, were[i], now)
				}
			}
		})
	}
}

func TestTheSameResultIsDrawnAsTheSameBytes(t *testing.T) {
	r := sample([]string{"cpu", "distributed"}, 16, 17)
	first, second := drawings(t, r), drawings(t, r)
	for name := range first {
		a, err1 := first[name].svg()
		b, err2 := second[name].svg()
		if err := errors.Join(err1, err2); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(a, b) {
			t.Errorf("%s.svg differs from one drawing to the next", name)
		}
	}
	a, err1 := first["gteps-over-scale"].png()
	b, err2 := second["gteps-over-scale"].png()
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(a, b) {
		t.Error("the PNG differs from one drawing to the next")
	}
}

func TestEachFigureIsWrittenAsSVGPNGAndPDF(t *testing.T) {
	dir := t.TempDir()
	paths, err := Options{}.WritePlots(dir, sample([]string{"cpu", "distributed"}, 16, 17))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, path := range paths {
		names = append(names, filepath.Base(path))
	}
	var want []string
	for _, name := range []string{"gteps-over-scale", "roots", "directions", "kernel-1", "levels-cpu-s17", "levels-distributed-s17"} {
		want = append(want, name+".svg", name+".png", name+".pdf")
	}
	if !slices.Equal(names, want) {
		t.Errorf("files are %q, want %q", names, want)
	}
	file := data(t, filepath.Join(dir, "roots.png"))
	if _, _, err := image.Decode(bytes.NewReader(file)); err != nil {
		t.Error(err)
	}
	if at := bytes.Index(file, []byte("pHYs\x00\x00\x2e\x23\x00\x00\x2e\x23\x01")); at < 0 { // 11811 dots a metre
		t.Error("the PNG does not say that it has 300 dots an inch")
	}
	png, _, err := image.DecodeConfig(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	if png.Width != 2040 {
		t.Errorf("the PNG is %d pixels wide, want 6.8 inches of 300", png.Width)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != len(paths) {
		t.Errorf("%d files in the folder, want the %d that were named", len(entries), len(paths))
	}
}

// A PDF holds its texts as texts, superscripts included, in a typeface that it brings along, and nothing of the moment in
// which it was drawn.
func TestAPDFHoldsItsTextsAndItsTypeface(t *testing.T) {
	f := drawings(t, sample([]string{"cpu-größer-名"}, 16, 17))["gteps-over-scale"]
	first, err1 := f.pdf()
	second, err2 := f.pdf()
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(first, second) {
		t.Error("the PDF differs from one drawing to the next")
	}
	for _, want := range []string{"%PDF-", "/FontFile2", "/ToUnicode", "%%EOF"} {
		if !bytes.Contains(first, []byte(want)) {
			t.Errorf("the PDF has no %s", want)
		}
	}
	if len(first) > 200<<10 {
		t.Errorf("the PDF has %d bytes: the whole typeface seems to be in it", len(first))
	}
	program, err := exec.LookPath("pdftotext")
	if err != nil {
		t.Skip("there is no pdftotext to read the texts with (Debian: apt-get install poppler-utils)")
	}
	path := filepath.Join(t.TempDir(), "figure.pdf")
	if err := os.WriteFile(path, first, 0o644); err != nil {
		t.Fatal(err)
	}
	text, err := exec.Command(program, path, "-").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"2¹⁶", "2¹⁷", "cpu-größer-", "Search rate (GTEPS)", "Mark: harmonic mean."} {
		if !bytes.Contains(text, []byte(want)) {
			t.Errorf("%q cannot be read in the PDF:\n%s", want, text)
		}
	}
}

func TestAPictureIsOneFigureInTheFormOfItsFile(t *testing.T) {
	dir, r := t.TempDir(), sample([]string{"cpu"}, 16, 17)
	for extension, magic := range map[string]string{".svg": "<?xml", ".png": "\x89PNG", ".pdf": "%PDF"} {
		path := filepath.Join(dir, "rates"+extension)
		if err := (Options{}).Picture(path, "gteps-over-scale", r); err != nil {
			t.Fatal(err)
		}
		if !bytes.HasPrefix(data(t, path), []byte(magic)) {
			t.Errorf("%s does not begin with %q", path, magic)
		}
	}
	err := Options{}.Picture(filepath.Join(dir, "x.svg"), "rates", r)
	if !errors.Is(err, harness.ErrUsage) || !strings.Contains(err.Error(), "gteps-over-scale, roots, directions, kernel-1, levels-cpu-s17") {
		t.Errorf("an unknown picture: %v", err)
	}
	if err := (Options{}).Picture(filepath.Join(dir, "x.gif"), "roots", r); !errors.Is(err, harness.ErrUsage) {
		t.Errorf("an unknown form: %v", err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 3 {
		t.Errorf("%d files, %v", len(entries), err)
	}
}

func TestTheTypefaceHasSubstitutes(t *testing.T) {
	svg, err := drawings(t, sample([]string{"cpu"}, 16))["roots"].svg()
	if err != nil {
		t.Fatal(err)
	}
	if n, with := bytes.Count(svg, []byte("font-family")), bytes.Count(svg, []byte("'DejaVu Sans',Verdana")); n == 0 || n != with {
		t.Errorf("%d of %d texts have a substitute for DejaVu Sans", with, n)
	}
}

func TestAPageRecoloursInkAndNotNames(t *testing.T) {
	r := sample([]string{`#222222 fill:#DDDDDD`}, 16)
	got, err := drawings(t, r)["roots"].inline()
	if err != nil {
		t.Fatal(err)
	}
	svg := string(got)
	if !strings.Contains(svg, "#222222 fill:#DDD") {
		t.Error("the engine's name has changed")
	}
	for _, style := range regexp.MustCompile(`style="[^"]*"`).FindAllString(svg, -1) {
		if strings.Contains(style, "#") {
			t.Errorf("a colour that a dark page cannot change: %s", style)
		}
	}
	if !strings.Contains(svg, "stroke:var(--ink)") || !strings.Contains(svg, "fill:var(--series-0)") || strings.Contains(svg, "<?xml") {
		t.Error("ink and series do not have the page's colours")
	}
}

func TestARunWithAWrongAnswerIsNotDrawn(t *testing.T) {
	r := sample([]string{"cpu"}, 16)
	r.Runs[0].Roots[0].Rule, r.Runs[0].Roots[0].Violation = 1, "a cycle"
	if got := drawings(t, r); len(got) != 0 {
		t.Errorf("%d figures of an invalid run", len(got))
	}
}

func TestAnEngineKeepsItsLookWhenOthersFail(t *testing.T) {
	r := sample([]string{"first", "second"}, 16)
	both := seriesOf(labels(r))
	r.Runs[0].Statistics = nil
	alone := seriesOf(labels(r))
	if len(both) != 2 || len(alone) != 1 || alone[0].look.line != both[1].look.line {
		t.Errorf("second is drawn as %v alone, as %v beside first", alone[0].look, both[1].look)
	}
}

func TestEnginesWhoseNamesCleanAlikeStayApart(t *testing.T) {
	r := sample([]string{"a\x00b", "a b"}, 16, 17)
	got := labels(r)
	if got[0].label != "a b" || got[1].label != "a b" || got[2].label != "a b #2" || got[3].label != "a b #2" {
		t.Errorf("labels are %q %q %q %q", got[0].label, got[1].label, got[2].label, got[3].label)
	}
	if figures := drawings(t, r); figures["levels-a-b-s17"] == nil || figures["levels-a-b-s17-2"] == nil {
		t.Errorf("their figures of levels share a file")
	}
}

func TestTheRootThatStandsForAllHasTheMedianRate(t *testing.T) {
	run := sampleRun("cpu", 0, 16, 5)
	for i, seconds := range []float64{5, 1, 4, 2, 3} {
		run.Roots[i].Time = seconds
	}
	if root, found := medianRoot(run); !found || root.Index != 4 {
		t.Errorf("search %d stands for all, want 4", root.Index)
	}
	run.Roots[4].Levels = nil // of the four that are left, the lower of the two in the middle
	if root, found := medianRoot(run); !found || root.Index != 3 {
		t.Errorf("search %d stands for all, want 3", root.Index)
	}
}

func TestThinningKeepsBothEnds(t *testing.T) {
	values := make([]float64, 5000)
	for i := range values {
		values[i] = float64(i)
	}
	got := drawn(values, 512)
	if len(got) != 512 || got[0] != 0 || got[511] != 4999 || !slices.IsSorted(got) {
		t.Errorf("%d values from %v to %v", len(got), got[0], got[len(got)-1])
	}
}

func TestTicksAreRoundAndInRange(t *testing.T) {
	labelsOf := func(ticks []plot.Tick) string {
		var out []string
		for _, tick := range ticks {
			if !tick.IsMinor() {
				out = append(out, tick.Label)
			}
		}
		return strings.Join(out, " ")
	}
	for _, c := range []struct{ got, want string }{
		{labelsOf(linearTicks(0, 1.27)), "0.0 0.2 0.4 0.6 0.8 1.0 1.2"},
		{labelsOf(linearTicks(0, 0.00063)), "0.0000 0.0001 0.0002 0.0003 0.0004 0.0005 0.0006"},
		{labelsOf(linearTicks(0, 940)), "0 200 400 600 800"},
		{labelsOf(logTicks(-1.2, 0.4)), "0.1 0.2 0.5 1 2"},
		{labelsOf(logTicks(-0.2, 7.5)), "10⁰ 10¹ 10² 10³ 10⁴ 10⁵ 10⁶ 10⁷"},
		{labelsOf(scaleTicks(16, 20)), "2¹⁶ 2¹⁷ 2¹⁸ 2¹⁹ 2²⁰"},
		{labelsOf(scaleTicks(10, 42)), "2¹⁰ 2¹³ 2¹⁶ 2¹⁹ 2²² 2²⁵ 2²⁸ 2³¹ 2³⁴ 2³⁷ 2⁴⁰"},
	} {
		if c.got != c.want {
			t.Errorf("ticks are %q, want %q", c.got, c.want)
		}
	}
}

func TestNumbersAreShownWithTheirPrecision(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{significant(0.0123456, 4), "0.01235"}, {significant(9.99996, 4), "10.00"}, {significant(1234.5, 3), "1230"}, {significant(0, 4), "0"},
		{significant(math.NaN(), 4), missing}, {significant(1.5e-9, 3), "1.5e-09"}, {significant(-2.5, 2), "-2.5"},
		{duration(0.00123456), "1.235 ms"}, {duration(4.2e-5), "42.00 µs"}, {duration(90), "90.00 s"}, {duration(-1), missing}, {measured(0), missing},
		{bytesText(0), missing}, {bytesText(1023), "1023 B"}, {bytesText(24 << 30), "24.0 GiB"},
		{integer(0), "0"}, {integer(-1234567), "-1,234,567"}, {integer(999), "999"}, {optional(nil), missing}, {share(1, 0), missing},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

func TestAFileThatCannotBeWrittenLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	// A folder stands where the file belongs: the rename fails, and the half-made file goes.
	blocked := filepath.Join(dir, "graph500.txt")
	if err := os.MkdirAll(filepath.Join(blocked, "x"), 0o755); err != nil {
		t.Fatal(err)
	}
	err := WriteAll(dir, sample([]string{"cpu"}, 16))
	if err == nil || !strings.Contains(err.Error(), "graph500.txt") || !strings.HasPrefix(err.Error(), "reports: ") {
		t.Errorf("got %v", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != 1 {
		t.Errorf("%d files are left, want the folder alone", len(entries))
	}
	if err := WriteAll(filepath.Join(dir, "absent"), sample(nil)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a folder that is not there gave %v", err)
	}
}

// What docs/reports.md says of how wide plots are holds.
func TestPlotsAreAsWideAsTheyAreSaidToBe(t *testing.T) {
	docs, err := os.ReadFile("../docs/reports.md")
	if err != nil {
		t.Fatal(err)
	}
	said := strings.Join(strings.Fields(string(docs)), " ")
	if !strings.Contains(said, "6.8 inches wide") || !strings.Contains(said, "`gteps-over-scale` of one scale and at most four engines is narrower, 4.4 inches") {
		t.Error("docs/reports.md does not say how wide plots are")
	}
	for _, c := range []struct {
		engines []string
		scales  []int
		rates   float64
	}{{[]string{"a", "b", "c", "d"}, []int{16}, 4.4}, {[]string{"a", "b", "c", "d", "e"}, []int{16}, 6.8}, {[]string{"a"}, []int{16, 17}, 6.8}} {
		for name, f := range drawings(t, sample(c.engines, c.scales...)) {
			want := 6.8
			if name == scaleFigure {
				want = c.rates
			}
			if width, _ := f.size(); !near(float64(width/vg.Inch), want) {
				t.Errorf("%d engines, %d scales: %s is %v inches wide, want %v", len(c.engines), len(c.scales), name, float64(width/vg.Inch), want)
			}
		}
	}
}

// Everything that a run of two engines at five scales leaves behind: text, four figures twice, the page.
func BenchmarkWriteAll(b *testing.B) {
	r := sample([]string{"cpu", "distributed"}, 16, 17, 18, 19, 20)
	dir := b.TempDir()
	for b.Loop() {
		if err := WriteAll(dir, r); err != nil {
			b.Fatal(err)
		}
	}
}

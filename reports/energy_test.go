package reports

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/tepsbench/teps/harness"
	"github.com/tepsbench/teps/power"
)

// meteredRun adds an energy loop of 60 s to a run, on meters of the given scopes with 100 ms updates.
func meteredRun(run harness.Run, scopes ...power.Scope) harness.Run {
	const idle, seconds = 10.0, 60.0
	e := &harness.EnergyRecord{
		Wanted: seconds,
		Loop:   &harness.EnergyLoop{Kind: harness.LoopByRepeat, Elapsed: seconds, Searches: 12000, Roots: 64, NEdge: int64(run.Statistics.TEPS.Mean * seconds), TEPS: run.Statistics.TEPS.Mean},
		After:  &harness.AfterLoop{Searches: 4, Valid: 4},
		Phases: []harness.EnergyPhase{
			{Name: harness.PhaseSettle, From: -12 * time.Second, To: -10 * time.Second}, {Name: harness.PhaseIdle, From: -10 * time.Second},
			{Name: harness.PhaseLoop, To: 60 * time.Second}, {Name: harness.PhaseAfter, From: 60 * time.Second, To: 63 * time.Second},
		},
		Green: &harness.Green{Class: harness.SmallData, Missing: []string{"a meter of the whole system"}},
	}
	for i, scope := range scopes {
		base := 60 + 40*float64(i)
		m := harness.Metered{
			Meter: power.Info{Name: string(scope) + "-0", Source: "test", Scope: scope, Method: power.Measured, Quantity: power.Energy, Error: 0.01, Detail: "model 17"}, Used: true,
			Loop:     &power.Amount{Joules: 3 * base * seconds, Watts: 3 * base, Uncertainty: base, Coverage: 1, LargestGap: 100 * time.Millisecond, Updates: 600, How: "counter"},
			Idle:     &power.Amount{Joules: base * idle, Watts: base, Uncertainty: base / 10, Coverage: 1, LargestGap: 100 * time.Millisecond, Updates: 100, How: "counter"},
			ReadTime: 0.2, Period: 100 * time.Millisecond,
		}
		joules := 0.0
		for n := range 751 {
			at := time.Duration(n-120) * 100 * time.Millisecond
			watts := base
			if at > 0 && at <= 60*time.Second {
				watts = base*3 + 12*math.Sin(float64(n)/5)
			}
			joules += watts / 10
			m.Curve.At, m.Curve.Joules = append(m.Curve.At, at), append(m.Curve.Joules, joules)
		}
		m.Curve.Of = len(m.Curve.At)
		e.Meters = append(e.Meters, m)
		over, off := e.Loop.TEPS/1e6/(2*base), 0.02
		idleWatts := base
		e.Figures = append(e.Figures, harness.PowerFigure{
			Of: m.Meter.Name, Meters: []string{m.Meter.Name}, Scope: scope, System: scope.System(), Method: power.Measured, Joules: 3 * base * seconds, Watts: 3 * base,
			Uncertainty: 0.0055, SensorError: 0.01, MTEPSPerWatt: e.Loop.TEPS / 1e6 / (3 * base), JoulesPerSearch: 3 * base * seconds / 12000,
			IdleWatts: &idleWatts, MTEPSPerWattOverIdle: &over, UncertaintyOverIdle: &off,
		})
		if scope.System() {
			e.Green.Level, e.Green.Meter, e.Green.Missing = 1, m.Meter.Name, []string{"readings over the whole run"}
		}
	}
	run.Energy = e
	return run
}

// meteredSample is a result of which every run was metered.
func meteredSample(scopes ...power.Scope) harness.Result {
	r := sample([]string{"cpu", "cuda"}, 18, 20, 22)
	for i := range r.Runs {
		if r.Runs[i].Engine.Name == "cuda" {
			r.Runs[i] = meteredRun(r.Runs[i], append([]power.Scope{power.GPU}, scopes...)...)
		} else {
			r.Runs[i] = meteredRun(r.Runs[i], append([]power.Scope{power.Package, power.DRAM}, scopes...)...)
		}
	}
	return r
}

func TestFiguresOfPowerAreDrawnForEveryMeteredRun(t *testing.T) {
	dir := t.TempDir()
	if keep := os.Getenv("TEPS_KEEP_FIGURES"); keep != "" {
		dir = keep
	}
	r := meteredSample()
	if err := WriteAll(dir, r); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"mteps-per-watt", "mteps-per-watt-over-scale", "power-cpu-s18", "power-cuda-s22"} {
		svg, err := os.ReadFile(filepath.Join(dir, name+".svg"))
		if err != nil {
			t.Error(err)
			continue
		}
		if _, err := os.Stat(filepath.Join(dir, name+".png")); err != nil {
			t.Error(err)
		}
		for _, bad := range []string{"NaN", "Inf", "system:"} {
			if bytes.Contains(svg, []byte(bad)) {
				t.Errorf("%s.svg holds %q", name, bad)
			}
		}
	}
	page, err := os.ReadFile(filepath.Join(dir, "report.html"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"search rate per watt", "package-0", "component", "MTEPS/W above idle", "Power over time, cuda at scale 22"} {
		if !bytes.Contains(page, []byte(want)) {
			t.Errorf("the page does not say %q", want)
		}
	}
}

// Whatever is drawn, tabled and written of a run whose meters are those of components, none of it calls the power a system's.
func TestComponentPowerIsNowhereCalledSystemPower(t *testing.T) {
	dir := t.TempDir()
	r := meteredSample()
	if err := WriteAll(dir, r); err != nil {
		t.Fatal(err)
	}
	var table bytes.Buffer
	if err := Table(&table, r, false); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	allowed := regexp.MustCompile(`no system power|not system power|not the system|is no system power|power of the whole system|meter of the whole system|component power, not the system's`)
	claim := regexp.MustCompile(`(?i)system power|the system|<td>system<|system:`)
	for _, path := range files {
		if filepath.Ext(path) == ".png" {
			continue
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(data), "\n") {
			if rest := allowed.ReplaceAllString(line, ""); claim.MatchString(rest) && !strings.Contains(rest, "operating system") {
				t.Errorf("%s:%d: %.200s", filepath.Base(path), i+1, rest)
			}
		}
	}
	if !strings.Contains(table.String(), "MTEPS/W") || !regexp.MustCompile(`\d gpu\b`).MatchString(table.String()) || !regexp.MustCompile(`\d package\b`).MatchString(table.String()) {
		t.Errorf("table:\n%s", &table)
	}
	text, err := os.ReadFile(filepath.Join(dir, "greengraph500.txt"))
	if err != nil {
		t.Fatal(err)
	}
	blocks := strings.Split(string(text), "\n\n")
	if len(blocks) != len(r.Runs) {
		t.Errorf("%d blocks for %d runs", len(blocks), len(r.Runs))
	}
	for _, block := range blocks {
		if !strings.HasPrefix(block, "# Not a GreenGraph500 submission: component power, not system power: ") {
			t.Errorf("a block of components begins with: %.100s", block)
		}
	}
}

func TestTheSubmissionTextIsOneWithASystemsMeterAlone(t *testing.T) {
	system := func(change func(*harness.Run)) string {
		r := sample([]string{"cpu"}, 20)
		r.Runs[0] = meteredRun(r.Runs[0], power.Package, power.Wall)
		if change != nil {
			change(&r.Runs[0])
		}
		var b bytes.Buffer
		if err := GreenGraph500(&b, r); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	text := system(nil)
	if !strings.HasPrefix(text, "# GreenGraph500 submission\n") || strings.Contains(text, "Not a") {
		t.Errorf("got:\n%s", text)
	}
	for _, want := range []string{
		`Organization:\s+fill in: `, `Machine:\s+AMD EPYC 9354`, `Problem scale:\s+20\n`, `Data class:\s+small data`, `MTEPS per watt:\s+[\d.]+ \(system power, measured\)`,
		`Mean power of the loop:\s+300\.00 W \(system power, measured\)`, `Meter:\s+wall-0\n`, `Meter model or source:\s+model 17`, `Accuracy of the meter:\s+1\.00 %`,
		`Power measurement level:\s+L1\n`, `# For level 2: readings over the whole run`, `12,000 searches from 64 roots around and around \(repeat\)`,
	} {
		if !regexp.MustCompile(want).MatchString(text) {
			t.Errorf("the text has no %q:\n%s", want, text)
		}
	}
	anew := system(func(r *harness.Run) { r.Rebuilt = &harness.Kernel1{} })
	if !strings.HasPrefix(anew, "# GreenGraph500 submission\n") || !strings.Contains(anew, "4 validated afterwards; over the same graph, which a resume built anew") {
		t.Errorf("a loop over a graph built anew:\n%s", anew)
	}
	for says, change := range map[string]func(*harness.Run){
		"1 of 64 searches fail validation": func(r *harness.Run) { r.Roots[3].Violation, r.Roots[3].Rule = "a tuple skips a level", 3 },
		"the energy loop failed: it died":  func(r *harness.Run) { r.Energy.Failure, r.Energy.Figures = "it died", nil },
		"1 of 4 rules do not hold":         func(r *harness.Run) { r.Compliance.Rules[1].Holds, r.Compliance.Compliant = false, false },
		"no EEHPC level is reached: it takes a loop of at least 60 s": func(r *harness.Run) {
			r.Energy.Green = &harness.Green{Class: harness.SmallData, Meter: "wall-0", Missing: []string{"a loop of at least 60 s"}}
		},
		"no system power was measured: wall-0 showed 0 J over the whole loop": func(r *harness.Run) {
			r.Energy.Figures = r.Energy.Figures[:1]
			amount := *r.Energy.Meters[1].Loop
			amount.Joules, amount.Watts = 0, 0
			r.Energy.Meters[1].Loop, r.Energy.Green = &amount, &harness.Green{Class: harness.SmallData, Missing: []string{"a meter of the whole system"}}
		},
		"component power, not system power: package-0": func(r *harness.Run) {
			r.Energy.Figures = r.Energy.Figures[:1]
		},
	} {
		if text := system(change); !strings.HasPrefix(text, "# Not a GreenGraph500 submission: "+says) {
			t.Errorf("want %q, got:\n%s", says, text)
		}
	}
	var b bytes.Buffer
	if err := GreenGraph500(&b, sample([]string{"cpu"}, 18)); err != nil || !strings.HasPrefix(b.String(), "# Not a GreenGraph500 submission: no energy loop") {
		t.Errorf("%v: %s", err, &b)
	}
}

// A run without a figure has no number, nowhere: dashes, and why.
func TestARunWithoutAFigureHasNoNumber(t *testing.T) {
	r := sample([]string{"cpu", "cuda", "other"}, 18)
	r.Runs[0].Energy = &harness.EnergyRecord{Wanted: 60, Absent: []power.Absence{{Source: "rapl", Reason: "no powercap here"}}}
	r.Runs[1].Energy = &harness.EnergyRecord{Wanted: 60, Failure: "the GPU has fallen off the bus"}
	zero := meteredRun(r.Runs[2], power.Package).Energy
	zero.Meters[0].Loop.Joules, zero.Meters[0].Loop.Watts = 0, 0
	if why := noFigure(zero); why != "package-0 showed 0 J over the whole loop, so it metered nothing" {
		t.Errorf("a meter that shows 0 J: %s", why)
	}
	dir := t.TempDir()
	if err := WriteAll(dir, r); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "greengraph500.txt")); err == nil {
		t.Error("a text for GreenGraph500 without any loop")
	}
	var table bytes.Buffer
	if err := Table(&table, r, false); err != nil || strings.Contains(table.String(), "MTEPS/W") {
		t.Errorf("%v:\n%s", err, &table)
	}
	page, err := os.ReadFile(filepath.Join(dir, "report.html"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"no figure: there is no power meter here", "no figure: the GPU has fallen off the bus"} {
		if !bytes.Contains(page, []byte(want)) {
			t.Errorf("the page does not say %q", want)
		}
	}
	if svgs, _ := filepath.Glob(filepath.Join(dir, "*watt*.svg")); len(svgs) > 0 {
		t.Errorf("drawn without figures: %v", svgs)
	}
	// Estimates are labelled, and never in the column of measured figures.
	run := meteredRun(r.Runs[2], power.Package)
	run.Energy.Figures[0].Method = power.Declared
	r.Runs[2] = run
	table.Reset()
	if err := Table(&table, r, false); err != nil || strings.Contains(table.String(), "MTEPS/W") {
		t.Errorf("%v:\n%s", err, &table)
	}
	if err := WriteAll(dir, r); err != nil {
		t.Fatal(err)
	}
	if text, _ := os.ReadFile(filepath.Join(dir, "mteps-per-watt.svg")); !bytes.Contains(text, []byte("declared")) {
		t.Error("the drawing does not say that the power was declared")
	}
}

func TestNumbersOfADamagedEnergyRecordAreNotShown(t *testing.T) {
	r := sample([]string{"cpu"}, 18)
	r.Runs[0] = meteredRun(r.Runs[0], power.Wall)
	for _, x := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), -1, 0} {
		broken := r
		broken.Runs = []harness.Run{r.Runs[0]}
		e := *r.Runs[0].Energy
		e.Figures = []harness.PowerFigure{e.Figures[0]}
		e.Figures[0].MTEPSPerWatt = x
		e.Meters = []harness.Metered{e.Meters[0]}
		e.Meters[0].Curve = harness.Curve{At: []time.Duration{0, 1, 1}, Joules: []float64{x, 1, x}}
		broken.Runs[0].Energy = &e
		dir := t.TempDir()
		if err := WriteAll(dir, broken); err != nil {
			t.Errorf("%g: %v", x, err)
		}
		files, _ := filepath.Glob(filepath.Join(dir, "*.svg"))
		for _, path := range files {
			if data, _ := os.ReadFile(path); bytes.Contains(data, []byte("NaN")) || bytes.Contains(data, []byte("Inf")) {
				t.Errorf("%g: %s holds a number that is none", x, filepath.Base(path))
			}
		}
	}
}

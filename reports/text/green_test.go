package text

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/power"
	"github.com/tepsbench/teps/record"
	"github.com/tepsbench/teps/reports/testdata/samples"
)

func TestGreenIsASubmissionOnlyWithSystemPower(t *testing.T) {
	system := func(change func(*record.Run)) string {
		r := samples.Result([]string{"cpu"}, 20)
		r.Runs[0] = samples.WithMeters(r.Runs[0], power.Package, power.Wall)
		if change != nil {
			change(&r.Runs[0])
		}
		var b bytes.Buffer
		if err := Green(&b, report(t, r).Results[0]); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	text := system(nil)
	if !strings.HasPrefix(text, "# Green Graph500 submission\n") || strings.Contains(text, "Not a") {
		t.Errorf("got:\n%s", text)
	}
	for _, want := range []string{
		`Organization:\s+\(fill in\)`, `Machine:\s+AMD EPYC 9354`, `Problem scale:\s+20\n`, `Data class:\s+small data`,
		`MTEPS per watt:\s+[\d.]+ \(system power, measured\)`,
		`Mean power of the loop:\s+300\.00 W \(system power, measured\)`, `Meter:\s+wall-0\n`,
		`Meter model or source:\s+model 17`, `Accuracy of the meter:\s+1\.00 %`,
		`Power measurement level:\s+L1\n`, `# For level 2: readings over the whole run`,
		`12,000 searches from 64 roots in turn \(repeat\)`,
	} {
		if !regexp.MustCompile(want).MatchString(text) {
			t.Errorf("the text has no %q:\n%s", want, text)
		}
	}
	gpus := system(func(r *record.Run) {
		d := *r.Description
		d.Devices = []plugins.Device{{Kind: "gpu", Name: "NVIDIA H200"}, {Kind: "gpu", Name: "NVIDIA H200"}}
		r.Description = &d
	})
	if !regexp.MustCompile(`Accelerators:\s+2 × NVIDIA H200\n`).MatchString(gpus) {
		t.Errorf("the text does not name two accelerators:\n%s", gpus)
	}
	anew := system(func(r *record.Run) { r.Rebuilt = &record.Kernel1{} })
	if !strings.HasPrefix(anew, "# Green Graph500 submission\n") || !strings.Contains(anew,
		"4 more were validated after the loop; over the same graph, which was built again") {
		t.Errorf("a loop over a graph built anew:\n%s", anew)
	}
	for says, change := range map[string]func(*record.Run){
		"1 of 64 searches failed validation": func(r *record.Run) {
			r.Roots[3].Violation,
				r.Roots[3].Rule = "a tuple skips a level", 3
		},
		"the energy loop failed: it died": func(r *record.Run) {
			r.Energy.Failure,
				r.Energy.Figures = "it died", nil
		},
		"the run is not compliant: breaks 1 of 4 rules": func(r *record.Run) {
			r.Compliance.Rules[1].Holds,
				r.Compliance.Compliant = false, false
		},
		"no EEHPC level is reached: it takes a loop of at least 60 s": func(r *record.Run) {
			r.Energy.Green = &record.Green{Class: record.SmallData, Meter: "wall-0",
				Missing: []string{"a loop of at least 60 s"}}
		},
		"no EEHPC level is reached: it takes a meter of the whole system; metered instead: package": func(r *record.Run) {
			r.Energy.Figures, r.Energy.Green = r.Energy.Figures[:1], &record.Green{Class: record.SmallData,
				Missing: []string{"a meter of the whole system; metered instead: package"}}
		},
		"no system power was measured": func(r *record.Run) { r.Energy.Green = nil },
	} {
		if text := system(change); !strings.HasPrefix(text, "# Not a Green Graph500 submission: "+says) {
			t.Errorf("want %q, got:\n%s", says, text)
		}
	}
	var b bytes.Buffer
	if err := Green(&b, report(t, samples.Result([]string{"cpu"}, 18)).Results[0]); err != nil ||
		!strings.HasPrefix(b.String(), "# Not a Green Graph500 submission: the record has no energy loop") {
		t.Errorf("%v: %s", err, &b)
	}
}

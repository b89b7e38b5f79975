// SPDX-License-Identifier: Apache-2.0

package formats

import (
	"bytes"
	"math"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/tepsbench/teps/internal/must"
	"github.com/tepsbench/teps/power"
	"github.com/tepsbench/teps/record"
	"github.com/tepsbench/teps/reports/parts"
	"github.com/tepsbench/teps/reports/testdata/samples"
	"github.com/tepsbench/teps/reports/text"
)

// No rendering of a run that was metered by components calls its power system power.
func TestComponentPowerIsNowhereCalledSystemPower(t *testing.T) {
	dir := t.TempDir()
	r := samples.Metered()
	r.Runs = []record.Run{r.Runs[0], r.Runs[3]} // of each engine
	must.Do(WriteAll(dir, reportOf(r)))
	var table bytes.Buffer
	must.Do(text.Table(&table, reportOf(r).Results[0], 0, false))
	files := must.Get(filepath.Glob(filepath.Join(dir, "*")))
	allowed := regexp.MustCompile(`no system power|not system power|not the system|power of the whole system|` +
		`meter of the whole system|component power, not the system's`)
	mention := regexp.MustCompile(`(?i)system power|the system|<td>system<|system:`)
	for _, path := range files {
		for i, line := range strings.Split(data(path), "\n") {
			if rest := allowed.ReplaceAllString(line, ""); mention.MatchString(rest) &&
				!strings.Contains(strings.ToLower(rest), "operating system") && !strings.HasPrefix(rest, "System: ") {
				t.Errorf("%s:%d: %.200s", filepath.Base(path), i+1, rest)
			}
		}
	}
	if !strings.Contains(table.String(), "MTEPS/W") || !regexp.MustCompile(`\d gpu\b`).MatchString(table.String()) ||
		!regexp.MustCompile(`\d package\b`).MatchString(table.String()) {
		t.Errorf("table:\n%s", &table)
	}
	blocks := strings.Split(data(filepath.Join(dir, "submission.txt")), "\n\n")
	if len(blocks) != len(r.Runs) {
		t.Errorf("%d blocks for %d runs", len(blocks), len(r.Runs))
	}
	for _, block := range blocks {
		if !strings.Contains(block, "# Not a Green Graph500 submission: no EEHPC level is reached: it takes a meter of "+
			"the whole system") {
			t.Errorf("a block of components is %s", block)
		}
	}
}

func TestDamagedEnergyRecordIsNotShown(t *testing.T) {
	r := samples.Result([]string{"cpu"}, 18)
	r.Runs[0] = samples.WithMeters(r.Runs[0], power.Wall)
	for _, x := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), -1, 0} {
		broken := r
		broken.Runs = []record.Run{r.Runs[0]}
		e := *r.Runs[0].Energy
		e.Figures = []record.PowerFigure{e.Figures[0]}
		e.Figures[0].MTEPSPerWatt = x
		e.Meters = []record.Metered{e.Meters[0]}
		e.Meters[0].Curve = record.Curve{At: []time.Duration{0, 1, 1}, Joules: []float64{x, 1, x}}
		broken.Runs[0].Energy = &e
		for _, f := range parts.Figures(reportOf(broken)) {
			if _, svg := drawn(f); notANumber.Match(svg) {
				t.Errorf("%g: %s contains an invalid number", x, f.Name)
			}
		}
	}
}

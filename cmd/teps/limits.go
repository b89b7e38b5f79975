package main

import (
	"fmt"
	"regexp"
	"strconv"

	"github.com/tepsbench/teps/record"
)

// A limit is what --fail-if asks of every run, or of those of one engine.
type limit struct {
	text, engine, quantity string
	below                  bool // fails below bound; otherwise above it
	bound                  float64
}

var limitForm = regexp.MustCompile(`^(?:(.+)\.)?(gteps|median|kernel1|mteps/w)([<>])([0-9.]+)$`)

// parseLimits reads limits such as gteps<4 and cpu.median>0.5 for the engines of a plan.
func parseLimits(texts []string, plan record.Plan) (all []limit, err error) {
	for _, text := range texts {
		m := limitForm.FindStringSubmatch(text)
		if m == nil {
			return nil, usage("--fail-if %q: want [ENGINE.]QUANTITY<NUMBER or >NUMBER; the quantities are gteps, median (ms), "+
				"kernel1 (s) and mteps/w", text)
		}
		bound, err := strconv.ParseFloat(m[4], 64)
		if err != nil {
			return nil, usage("--fail-if %q: %q is not a number", text, m[4])
		}
		known := m[1] == ""
		for _, e := range plan.Engines {
			known = known || e.Name == m[1]
		}
		if !known {
			return nil, usage("--fail-if %q: unknown engine %q; see --engine", text, m[1])
		}
		if m[2] == "mteps/w" && plan.Energy == 0 {
			return nil, usage("--fail-if %q: needs --energy", text)
		}
		all = append(all, limit{text: text, engine: m[1], quantity: m[2], below: m[3] == "<", bound: bound})
	}
	return all, nil
}

// unitOf are the units of the quantities, after a space.
var unitOf = map[string]string{"median": " ms", "kernel1": " s"}

// broken returns a line for each run that does not keep a limit. What has not been measured does not keep it.
func broken(limits []limit, runs []record.Run) (lines []string) {
	for _, l := range limits {
		for _, run := range runs {
			if l.engine != "" && l.engine != run.Engine.Name {
				continue
			}
			value, known := l.of(run)
			if what := fmt.Sprintf("%s, %s: %s", run.Engine.Name, run.GraphID, l.quantity); !known {
				lines = append(lines, fmt.Sprintf("%s was not measured (--fail-if %q)", what, l.text))
			} else if l.below && value < l.bound || !l.below && value > l.bound {
				lines = append(lines, fmt.Sprintf("%s is %.4g%s (--fail-if %q)", what, value, unitOf[l.quantity], l.text))
			}
		}
	}
	return lines
}

// of returns the quantity of a run.
func (l limit) of(run record.Run) (value float64, known bool) {
	switch s := run.Statistics; {
	case l.quantity == "kernel1" && run.Construction != nil:
		return run.Construction.Elapsed.Seconds(), true
	case l.quantity == "gteps" && s != nil:
		return s.TEPS.Mean / 1e9, true
	case l.quantity == "median" && s != nil:
		return s.Time.Median * 1e3, true
	case l.quantity == "mteps/w":
		figure, ok := run.Energy.Headline()
		return figure.MTEPSPerWatt, ok
	}
	return 0, false
}

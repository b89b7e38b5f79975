package harness

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tepsbench/teps/power"
)

// Green is what the loop is worth as a GreenGraph500 result (run rules v1.1; levels after the EE HPC Working Group's power
// measurement methodology v2.0).
type Green struct {
	Class   string   `json:"class"`             // BigData or SmallData
	Level   int      `json:"level"`             // 1 to 3; 0: none, and no submission
	Meter   string   `json:"meter,omitempty"`   // of the system, that the level is for
	Missing []string `json:"missing,omitempty"` // what the next level asks for, a sentence each
}

// Classes of GreenGraph500: big data is from 2^30 vertices and 2^34 tuples on.
const (
	BigData   = "big data"
	SmallData = "small data"
)

// greenClass is the class of a graph.
func greenClass(g *GraphRecord) string {
	if g != nil && g.Recipe.Vertices() >= 1<<30 && g.Tuples >= 1<<34 {
		return BigData
	}
	return SmallData
}

// green looks at what the figures say of the whole system.
func (e *EnergyRecord) green(g *GraphRecord) *Green {
	if e.Failure != "" || e.Loop == nil {
		return nil
	}
	out := &Green{Class: greenClass(g)}
	for _, f := range e.Figures {
		if !f.System || f.Method != power.Measured {
			continue
		}
		level, missing := e.level(f)
		if out.Meter == "" || level > out.Level {
			out.Level, out.Meter, out.Missing = level, f.Of, missing
		}
	}
	if out.Meter == "" {
		out.Missing = []string{"a meter of the whole system: --meter ipmi, --meter redfish=... or a wall meter by --meter command=...; " + e.instead()}
	}
	return out
}

// instead says what there is instead of a system's power that was measured.
func (e *EnergyRecord) instead() string {
	var components, unmeasured []string
	for _, f := range e.Figures {
		list := &components
		if f.System {
			list = &unmeasured
		}
		if label := f.Label(); !slices.Contains(*list, label) {
			*list = append(*list, label)
		}
	}
	text := "what was metered is the power of components (" + strings.Join(components, "; ") + ")"
	switch {
	case len(components)+len(unmeasured) == 0:
		return e.noneCovers()
	case len(unmeasured) > 0:
		text = "the system's power is not measured (" + strings.Join(unmeasured, "; ") + ")"
	}
	if nothing := e.showedNothing(); nothing != "" {
		text += ", and " + nothing
	}
	return text
}

// level is the highest level whose rules hold for the figure of a system's meter, and what the next one asks for.
func (e *EnergyRecord) level(f PowerFigure) (level int, missing []string) {
	m := e.meter(f.Of)
	gap := m.Loop.LargestGap.Seconds()
	ask := func(holds bool, format string, args ...any) {
		if !holds {
			missing = append(missing, fmt.Sprintf(format, args...))
		}
	}
	within := func(limit float64) {
		ask(f.SensorError > 0 && f.SensorError <= limit, "a meter whose maker states an error of at most %g %% (%s)", limit*100, stated(f.SensorError))
	}
	ask(e.Loop.Elapsed >= LevelOneTime.Seconds(), "a loop of at least 60 s (it lasted %.4g s): --energy 60s", e.Loop.Elapsed)
	ask(gap <= 1, "a reading every second (the longest time between two was %.3g s)", gap)
	ask(m.Loop.Coverage >= 1, "readings over the whole loop (they cover %.4g %% of it)", m.Loop.Coverage*100)
	within(0.05)
	if len(missing) > 0 {
		return 0, missing
	}
	ask(false, "readings over the whole run, kernel 1 included (the recording begins with the idle baseline)")
	ask(m.Loop.Updates >= 10, "at least 10 readings in the loop (there are %d)", m.Loop.Updates)
	ask(f.IdleWatts != nil, "the idle power (%s)", m.NoIdle)
	within(0.02)
	return 1, missing
}

func (e *EnergyRecord) meter(name string) Metered {
	for _, m := range e.Meters {
		if m.Meter.Name == name {
			return m
		}
	}
	return Metered{}
}

func stated(x float64) string {
	if x == 0 {
		return "this one states none; --meter says it behind the scope, as in command:wall@1%=..."
	}
	return fmt.Sprintf("this one states %.3g %%", x*100)
}

// powerText is what the compliance statement says of power: class, level, scope and meter, or that nothing was measured.
func powerText(r Run) string {
	e := r.Energy
	switch {
	case e == nil:
		return "not measured; no power class or level is stated"
	case e.Failure != "":
		return "not measured: " + e.Failure
	case e.Loop == nil:
		return "not measured: there is no power meter here; no power class or level is stated"
	}
	f, known := e.Headline()
	if !known {
		return fmt.Sprintf("not measured: %s; GreenGraph500 class %s, no level", e.noneCovers(), greenClass(r.Graph))
	}
	kind := "component power, which is not the system's: " + f.Label()
	if f.System {
		kind = "system power: " + f.Label()
	}
	level := "no EEHPC level"
	if e.Green != nil && e.Green.Level > 0 {
		level = fmt.Sprintf("EEHPC level %d", e.Green.Level)
	}
	graph := ""
	if r.Rebuilt != nil {
		graph = "; the loop ran over a graph that a resume built anew"
	}
	return fmt.Sprintf("%.4g MTEPS/W, %s, meter %s; GreenGraph500 class %s, %s%s", f.MTEPSPerWatt, kind, f.Of, greenClass(r.Graph), level, graph)
}

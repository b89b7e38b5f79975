package sweep

import (
	"math"

	"github.com/tepsbench/teps/harness"
)

// Model estimates how long a cell will take, from runs that were measured: those in the store, short ones made to
// calibrate it, and those of this sweep as they end. Kernel 1, searches and validation are nearly linear in the tuples, so
// their times are carried over from the nearest scale by the number of tuples; what a run takes beside them (the start of
// an engine, the syncing of its records) hardly depends on the graph. The model errs where a graph leaves the caches on
// the way; its numbers are shown as estimates, and get better as the sweep goes on.
type Model struct {
	byEngine   map[string][]sample // by name, options and all
	generation []point
	rest       float64 // of the run that was measured last
}

// sample is what a run says of an engine at a scale, in seconds.
type sample struct {
	tuples    int64
	construct float64 // kernel 1
	search    float64 // one search
	validate  float64 // one validation; 0: none was measured
	rest      float64 // of the run beside these; 0: not known
}

// point is a time for a number of tuples.
type point struct {
	tuples  int64
	seconds float64
}

// NewModel knows nothing.
func NewModel() *Model { return &Model{byEngine: map[string][]sample{}} }

// Learn takes note of a run.
func (m *Model) Learn(r harness.Result) {
	for _, run := range r.Runs {
		if run.Graph != nil {
			m.generation = append(m.generation, point{run.Graph.Tuples, run.Graph.Generation})
		}
		if s, ok := sampleOf(run); ok {
			m.byEngine[run.Engine.Name] = append(m.byEngine[run.Engine.Name], s)
		}
	}
}

// learnWall is Learn for a run of which the whole time is known, in seconds.
func (m *Model) learnWall(r harness.Result, wall float64) {
	m.Learn(r)
	run := r.Runs[0]
	if s, ok := sampleOf(run); ok {
		searches, validated := searchesOf(r.Plan)
		s.rest = max(0, wall-s.construct-searches*s.search-validated*s.validate-r.Plan.EnergyTime().Seconds())
		samples := m.byEngine[run.Engine.Name]
		samples[len(samples)-1] = s
		m.rest = s.rest
	}
}

// searchesOf returns how many searches and validations a run of the plan has at each scale.
func searchesOf(p harness.Plan) (searches, validations float64) {
	validations = float64(p.Roots)
	if p.Validate != harness.AllRoots {
		validations = float64(min(p.Roots, p.Validate))
	}
	return float64(p.Roots + p.WarmUps), validations
}

func sampleOf(run harness.Run) (sample, bool) {
	if run.Graph == nil || run.Construction == nil || len(run.Roots) == 0 {
		return sample{}, false
	}
	s := sample{tuples: run.Graph.Tuples, construct: run.ConstructWall}
	validated := 0
	for _, root := range run.Roots {
		s.search += root.Wall / float64(len(run.Roots))
		if root.Validated {
			s.validate += root.Validation
			validated++
		}
	}
	if validated > 0 {
		s.validate /= float64(validated)
	}
	return s, true
}

// Knows says whether the model can tell the time of an engine's cell at any scale.
func (m *Model) Knows(engine string) bool { return len(m.byEngine[engine]) > 0 }

// Cell estimates the time of a cell in seconds, without the generation of its input. It is not known before a run of
// its engine was measured.
func (m *Model) Cell(c Cell) (seconds float64, known bool) {
	s, factor, known := m.nearest(c)
	if !known {
		return 0, false
	}
	searches, validations := searchesOf(c.Plan)
	rest := s.rest
	if rest == 0 {
		rest = m.rest
	}
	return factor*(s.construct+searches*s.search+validations*s.validate) + rest + c.Plan.EnergyTime().Seconds(), true
}

// Construct estimates the time of a cell's kernel 1 in seconds.
func (m *Model) Construct(c Cell) (seconds float64, known bool) {
	s, factor, known := m.nearest(c)
	return factor * s.construct, known
}

// nearest is what is known of a cell's engine at the scale nearest to the cell's, and how many times as many tuples the
// cell has.
func (m *Model) nearest(c Cell) (s sample, factor float64, known bool) {
	samples := m.byEngine[c.Engine().Name]
	if len(samples) == 0 {
		return s, 0, false
	}
	s = samples[0]
	for _, other := range samples[1:] {
		if distance(other.tuples, c.Tuples()) <= distance(s.tuples, c.Tuples()) { // the latest of the nearest
			s = other
		}
	}
	return s, float64(c.Tuples()) / float64(s.tuples), true
}

// Generation estimates the time to generate so many tuples, in seconds.
func (m *Model) Generation(tuples int64) (seconds float64, known bool) {
	if len(m.generation) == 0 {
		return 0, false
	}
	p := m.generation[0]
	for _, other := range m.generation[1:] {
		if distance(other.tuples, tuples) <= distance(p.tuples, tuples) {
			p = other
		}
	}
	return p.seconds * float64(tuples) / float64(p.tuples), true
}

// distance is how many scales lie between two numbers of tuples.
func distance(a, b int64) float64 { return math.Abs(math.Log2(float64(a) / float64(b))) }

// Estimate is a time that is partly known.
type Estimate struct {
	Seconds float64 // of what is known
	Unknown int     // cells of which nothing is known
}

// Left estimates the time of entries, each input generated once.
func (m *Model) Left(entries []*Entry) Estimate {
	var out Estimate
	generated := map[int]bool{}
	for _, e := range entries {
		if !generated[e.Scale()] {
			generated[e.Scale()] = true
			seconds, _ := m.Generation(e.Tuples())
			out.Seconds += seconds
		}
		seconds, known := m.Cell(e.Cell)
		if out.Seconds += seconds; !known {
			out.Unknown++
		}
	}
	return out
}

package sweep

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tepsbench/teps/harness"
)

// Sweep is what is to be measured.
type Sweep struct {
	Engines []Engine
	Plan    harness.Plan // of every run, less its engine and its scale; Scales are those of the sweep
	Repeats int
	Order   Order
	Exclude []Exclusion
}

// Engine is an engine with the values that its options are to take. It stands for one variant for each combination.
type Engine struct {
	Spec    harness.EngineSpec // as it is when no option varies; Name is unique only together with the options
	Options []Values           // in the order of the file
	Labeled bool               // the user has given the name: only options that vary are added to it
}

// Values are what one option is to take, one after the other.
type Values struct {
	Option string
	Values []string
}

// Order says in which order the cells of one scale are measured.
type Order string

const (
	// Interleaved measures every variant once, then every variant again in the opposite order, and so on. What drifts
	// steadily (a machine that warms up, a neighbour that grows) then falls on all variants alike.
	Interleaved Order = "interleaved"
	// Grouped measures all repeats of a variant, then those of the next.
	Grouped Order = "grouped"
)

// Exclusion leaves out the cells that it describes. What it does not name is any.
type Exclusion struct {
	Engine string // name of the engine, without options; empty: any
	Scales []int
	Set    []Values
	Where  string // in the file, for messages
}

// MaxCells bounds a sweep: more are a slip of the pen.
const MaxCells = 100_000

// Variants returns every engine with every combination of its options, in the order of the file.
func (s Sweep) Variants() []harness.EngineSpec {
	var all []harness.EngineSpec
	for _, e := range s.Engines {
		all = append(all, e.variants()...)
	}
	return all
}

func (e Engine) variants() []harness.EngineSpec {
	specs := []harness.EngineSpec{e.Spec}
	for _, axis := range e.Options {
		var next []harness.EngineSpec
		for _, spec := range specs {
			for _, value := range axis.Values {
				v := spec
				v.Options = maps.Clone(spec.Options)
				if v.Options == nil {
					v.Options = map[string]string{}
				}
				v.Options[axis.Option] = value
				if !e.Labeled || len(axis.Values) > 1 {
					v.Name += ":" + axis.Option + "=" + value
				}
				next = append(next, v)
			}
		}
		specs = next
	}
	return specs
}

// count is how many variants there are, without making them.
func (e Engine) count() int {
	n := 1
	for _, axis := range e.Options {
		n = min(n*len(axis.Values), MaxCells+1)
	}
	return n
}

// Check returns a harness.ErrUsage that says what is wrong with the sweep and what would do.
func (s Sweep) Check() error {
	switch {
	case s.Repeats < 1 || s.Repeats > MaxCells:
		return harness.Usage("%d repeats: want 1 to %d", s.Repeats, MaxCells)
	case s.Order != Interleaved && s.Order != Grouped:
		return harness.Usage("order %q: want %s or %s", s.Order, Interleaved, Grouped)
	}
	n := 0
	for _, e := range s.Engines {
		n = min(n+e.count(), MaxCells+1)
	}
	if n*len(s.Plan.Scales)*s.Repeats > MaxCells {
		return harness.Usage("more than %d runs; leave out values, scales or repeats", MaxCells)
	}
	whole := s.Plan
	whole.Engines = s.Variants()
	names := map[string]bool{}
	for _, v := range whole.Engines {
		if names[v.Name] {
			return harness.Usage("engine %s is named twice; give one a label of its own", v.Name)
		}
		names[v.Name] = true
	}
	if err := whole.Check(); err != nil {
		return err
	}
	for _, x := range s.Exclude {
		if !s.excludesSomething(x) {
			return harness.Usage("%s: this leaves out nothing; the sweep has the engines %s", x.Where, strings.Join(s.bases(), ", "))
		}
	}
	if len(s.Cells()) == 0 {
		return harness.Usage("exclude leaves out every run")
	}
	return nil
}

// bases are the names of the engines without options.
func (s Sweep) bases() []string {
	var names []string
	for _, e := range s.Engines {
		if !slices.Contains(names, e.Spec.Name) {
			names = append(names, e.Spec.Name)
		}
	}
	return names
}

// Cells returns what is to be measured, in order: scale by scale, so that the tuples of one are generated once.
func (s Sweep) Cells() []Cell {
	var variants []variant
	for _, e := range s.Engines {
		for _, spec := range e.variants() {
			variants = append(variants, variant{e.Spec.Name, spec})
		}
	}
	var cells []Cell
	add := func(v variant, scale, repeat int) {
		if slices.ContainsFunc(s.Exclude, func(x Exclusion) bool { return x.matches(v, scale) }) {
			return
		}
		plan := s.Plan
		plan.Engines, plan.Scales = []harness.EngineSpec{v.spec}, []int{scale}
		cells = append(cells, Cell{Plan: plan, Repeat: repeat})
	}
	for _, scale := range s.Plan.Scales {
		if s.Order == Grouped {
			for _, v := range variants {
				for repeat := 1; repeat <= s.Repeats; repeat++ {
					add(v, scale, repeat)
				}
			}
			continue
		}
		for repeat := 1; repeat <= s.Repeats; repeat++ {
			for i := range variants {
				if repeat%2 == 0 {
					i = len(variants) - 1 - i
				}
				add(variants[i], scale, repeat)
			}
		}
	}
	return cells
}

// variant is an engine with one value for each option, and its name without options.
type variant struct {
	base string
	spec harness.EngineSpec
}

func (x Exclusion) matches(v variant, scale int) bool {
	if x.Engine != "" && x.Engine != v.base || len(x.Scales) > 0 && !slices.Contains(x.Scales, scale) {
		return false
	}
	for _, axis := range x.Set {
		if value, set := v.spec.Options[axis.Option]; !set || !slices.Contains(axis.Values, value) {
			return false
		}
	}
	return true
}

func (s Sweep) excludesSomething(x Exclusion) bool {
	for _, e := range s.Engines {
		for _, spec := range e.variants() {
			for _, scale := range s.Plan.Scales {
				if x.matches(variant{e.Spec.Name, spec}, scale) {
					return true
				}
			}
		}
	}
	return false
}

// String describes the sweep in a line.
func (s Sweep) String() string {
	return fmt.Sprintf("%s x scales %v x %d: %d runs, %s", counted(len(s.Variants()), "engine", "engines"), s.Plan.Scales, s.Repeats, len(s.Cells()), s.Order)
}

func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

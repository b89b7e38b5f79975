// SPDX-License-Identifier: Apache-2.0

package reports

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/tepsbench/teps/internal/units"
	"github.com/tepsbench/teps/plugins"
)

// Facts are the engine, kernel 1, the input and the meters of a run.
func (s Summary) Facts() []Table {
	return []Table{s.engineFacts(), s.constructionFacts(), s.inputFacts(), s.meterFacts()}
}

// Facts are the machine, the software and the plan of a record.
func (r Result) Facts() []Table { return []Table{r.machineFacts(), r.softwareFacts()} }

func (s Summary) engineFacts() Table {
	g := NewFacts("Engine")
	if d := s.Description; d != nil {
		g.Fact("name", Joined(" ", EngineName(d.Name), Name(d.Version)))
		g.Fact("method", Sentence(d.Summary))
		g.Fact("not available because", Sentence(d.Unavailable))
		for _, device := range d.Devices {
			texts := []string{Sentence(device.Name), units.Bytes(device.MemoryBytes)}
			if device.Units > 0 {
				texts = append(texts, Plural(device.Units, "unit", "units"))
			}
			for _, fact := range device.Details {
				texts = append(texts, Name(fact.Name)+" "+Sentence(fact.Value))
			}
			g.Fact(Name(device.Kind), Joined(", ", texts...))
		}
	}
	g.Fact("program", Sentence(s.Engine.Path))
	g.Fact("SHA-256", Sentence(s.Engine.Checksum))
	g.Fact("options in effect", OptionsText(s.Options))
	g.Fact("set by the user", OptionsText(s.Engine.Options))
	g.Fact("disturbed", Disturbance(s))
	if s.Sessions > 1 {
		g.Fact("sessions", fmt.Sprintf("%d: the run was interrupted and resumed", s.Sessions))
	}
	return g
}

func (s Summary) constructionFacts() Table {
	g := NewFacts("Kernel 1")
	c := s.Construction
	if c == nil {
		return g
	}
	g.Fact("time, host's clock", Measured(s.ConstructWall))
	g.Fact("phases", PhasesText(c.Phases))
	g.Fact("the engine claims", claimsText(c.Claims))
	for _, fact := range c.Details {
		g.Fact(Name(fact.Name), Sentence(fact.Value))
	}
	if s.Rebuilt != nil {
		again := units.Seconds(s.Rebuilt.Construction.Elapsed.Seconds())
		g.Fact("again for the energy loop", "in "+again+", when the run was resumed after the last search")
	}
	return g
}

func (s Summary) inputFacts() Table {
	g := NewFacts("Input")
	if in := s.Graph; in != nil {
		text := s.GraphName()
		if k := in.Recipe; k.Scale > 0 {
			text = fmt.Sprintf("Kronecker, scale %d, edge factor %d, seeds %d and %d", k.Scale, k.EdgeFactor, k.Seed1,
				k.Seed2)
		}
		g.Fact("graph", text)
		if s.Source != "" {
			g.Fact("size", fmt.Sprintf("%s vertices, %s tuples", units.Integer(in.Vertices), units.Integer(in.Tuples)))
			g.Fact("SHA-256 of the tuples", Sentence(in.SHA256))
		}
		if f := in.File; f != nil {
			directed := map[bool]string{true: "directed, each line is one undirected tuple", false: "undirected"}
			g.Fact("file", Joined(", ", Name(f.Format), Name(f.Compression), units.Bytes(f.Bytes), directed[f.Symmetrized]))
			g.Fact("SHA-256 of the file", Sentence(f.SHA256))
		}
		g.Fact("roots", fmt.Sprintf("%d found, %d draws rejected", in.RootsFound, in.RejectedDraws))
	}
	return g
}

func (r Result) machineFacts() Table {
	m := r.Machine
	g := NewFacts("Machine")
	g.Fact("host", Name(m.Hostname))
	g.Fact("processor", Sentence(m.CPU))
	g.Fact("sockets", Positive(int64(m.Sockets)))
	g.Fact("cores", Positive(int64(m.Cores)))
	g.Fact("threads", Positive(int64(m.Threads)))
	g.Fact("last-level cache", units.Bytes(m.CacheBytes))
	if m.ClockMHz > 0 && Finite(m.ClockMHz) {
		g.Fact("clock", units.Significant(m.ClockMHz, 4)+" MHz")
	}
	g.Fact("governor", Name(m.Governor))
	g.Fact("multithreading", map[string]string{"on": "on", "off": "off", "forceoff": "off",
		"notsupported": "not supported"}[m.SMT])
	g.Fact("NUMA nodes", Positive(int64(m.NUMANodes)))
	g.Fact("memory", units.Bytes(m.MemoryBytes))
	if s := m.MemorySpeed; s != nil {
		g.Fact("memory speed", fmt.Sprintf("%s GB/s in order, %s million random reads/s; %s, %s",
			units.Significant(s.Bandwidth/1e9, 3), units.Significant(s.RandomReads/1e6, 3), units.Bytes(s.Bytes),
			Plural(s.Threads, "thread", "threads")))
	}
	if l := m.Load; l != nil {
		g.Fact("load", fmt.Sprintf("other work used %s of %s, load average %s", units.Significant(l.Busy, 2),
			Plural(l.Processors, "processor", "processors"), units.Significant(l.Average, 3)))
	}
	g.Fact("huge pages", Name(m.HugePages))
	g.Fact("system", Joined(", ", Name(m.OS), Name(m.Kernel)))
	g.Fact("virtual machine", Name(m.Virtual))
	for _, gpu := range m.GPUs {
		g.Fact("GPU", Joined(", ", Sentence(gpu.Name), Name(gpu.PCI), Name(gpu.Address), Name(gpu.Driver)))
	}
	return g
}

func (r Result) softwareFacts() Table {
	g := NewFacts("Run")
	g.Fact("started", dated(r.Started, time.RFC3339))
	g.Fact("note", Sentence(r.Environment["TEPS_NOTE"]))
	g.Fact("command", Clean(strings.Join(r.Command, " "), 4*SentenceLength))
	if r.Software.Version != "" {
		g.Fact("teps", Sentence(r.Software.Build()))
	}
	g.Fact("compiler", Name(r.Software.Compiler))
	checksum := map[bool]string{true: "checksummed", false: "without a checksum"}[r.Checksummed()]
	g.Fact("record", Joined(", ", Clean(r.ID, 2*NameLength), Name(r.Schema), checksum))
	if p := r.Plan; p.EdgeFactor > 0 {
		validate := "every search"
		if p.Validate >= 0 {
			validate = Plural(p.Validate, "search", "searches")
		}
		g.Fact("plan", fmt.Sprintf("%s a run, edge factor %d, seeds %d and %d, %s; validate %s; at most %s a call",
			Plural(p.Roots, "root", "roots"), p.EdgeFactor, p.Seed1, p.Seed2,
			Plural(p.WarmUps, "warm-up search", "warm-up searches"), validate, p.Timeout))
	}
	return g
}

// list joins the texts of all.
func list[T any](all []T, text func(T) string) string {
	var out []string
	for _, one := range all {
		out = append(out, text(one))
	}
	return strings.Join(out, ", ")
}

// PhasesText lists phases with their times.
func PhasesText(phases []plugins.Phase) string {
	return list(phases, func(p plugins.Phase) string { return Name(p.Name) + " " + units.Seconds(p.Elapsed.Seconds()) })
}

// CountersText lists counters with their values.
func CountersText(counters []plugins.Counter) string {
	return list(counters, func(c plugins.Counter) string { return Name(c.Name) + " " + units.Integer(c.Value) })
}

// OptionsText lists options by name: alpha=15, threads=2.
func OptionsText(options map[string]string) string {
	return list(slices.Sorted(maps.Keys(options)), func(name string) string {
		return Name(name) + "=" + Sentence(options[name])
	})
}

// claimsText says what an engine claims about its clock and its types.
func claimsText(c plugins.Claims) string {
	where := map[bool]string{true: "inside", false: "outside"}
	text := fmt.Sprintf("parents reach original labels %s the clock; clearing is %s the clock",
		where[c.OriginalLabelsInClock], where[c.ClearingInClock])
	if c.VertexBits > 0 {
		text += fmt.Sprintf("; %d-bit internal vertices", c.VertexBits)
	}
	if c.Tuning != "" {
		text += "; tuning: " + Sentence(c.Tuning)
	}
	return text
}

// meterFacts are what every meter of the energy loop showed, and why it was not used.
func (s Summary) meterFacts() Table {
	t := NewFacts("Meters")
	if s.Energy == nil {
		return t
	}
	for _, m := range s.Energy.Meters {
		texts := []string{string(m.Meter.Method) + " " + string(m.Meter.Quantity) + " of " + string(m.Meter.Scope)}
		if l := m.Loop; l != nil {
			texts = append(texts, fmt.Sprintf("%s J ± %s J over %s %% of the loop in %d updates",
				units.Significant(float64(l.Joules), 5), units.Significant(float64(l.Uncertainty), 2),
				units.Significant(l.Coverage*100, 4), l.Updates))
		}
		if !m.Used {
			texts = append(texts, "not used: "+Sentence(m.Why))
		}
		if texts = append(texts, Sentence(m.NoLoop)); len(m.Faults) > 0 {
			texts = append(texts, Sentence(m.Faults[0].Text))
		}
		t.Fact(Name(m.Meter.Name), Joined("; ", texts...))
	}
	return t
}

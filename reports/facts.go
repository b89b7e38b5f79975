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
func (r Run) Facts() []Table {
	return []Table{r.engineFacts(), r.constructionFacts(), r.inputFacts(), r.meterFacts()}
}

// Facts are the machine, the software and the plan of a record.
func (r Result) Facts() []Table { return []Table{r.machineFacts(), r.softwareFacts()} }

func (r Run) engineFacts() Table {
	g := newFacts("Engine")
	if d := r.Description; d != nil {
		g.fact("name", Joined(" ", EngineName(d.Name), Name(d.Version)))
		g.fact("method", Sentence(d.Summary))
		g.fact("not available because", Sentence(d.Unavailable))
		for _, device := range d.Devices {
			texts := []string{Sentence(device.Name), units.Bytes(device.MemoryBytes)}
			if device.Units > 0 {
				texts = append(texts, Plural(device.Units, "unit", "units"))
			}
			for _, fact := range device.Details {
				texts = append(texts, Name(fact.Name)+" "+Sentence(fact.Value))
			}
			g.fact(Name(device.Kind), Joined(", ", texts...))
		}
	}
	g.fact("program", Sentence(r.Engine.Path))
	g.fact("SHA-256", Sentence(r.Engine.Checksum))
	g.fact("options in effect", OptionsText(r.Options))
	g.fact("set by the user", OptionsText(r.Engine.Options))
	g.fact("disturbed", Disturbance(r))
	if r.Sessions > 1 {
		g.fact("sessions", fmt.Sprintf("%d: the run was interrupted and resumed", r.Sessions))
	}
	return g
}

func (r Run) constructionFacts() Table {
	g := newFacts("Kernel 1")
	c := r.Construction
	if c == nil {
		return g
	}
	g.fact("time, host's clock", measured(r.ConstructWall))
	g.fact("phases", phasesText(c.Phases))
	g.fact("the engine claims", claimsText(c.Claims))
	for _, fact := range c.Details {
		g.fact(Name(fact.Name), Sentence(fact.Value))
	}
	if r.Rebuilt != nil {
		again := units.Seconds(r.Rebuilt.Construction.Elapsed.Seconds())
		g.fact("again for the energy loop", "in "+again+", when the run was resumed after the last search")
	}
	return g
}

func (r Run) inputFacts() Table {
	g := newFacts("Input")
	if in := r.Graph; in != nil {
		text := r.GraphName()
		if k := in.Recipe; k.Scale > 0 {
			text = fmt.Sprintf("Kronecker, scale %d, edge factor %d, seeds %d and %d", k.Scale, k.EdgeFactor, k.Seed1, k.Seed2)
		}
		g.fact("graph", text)
		if r.Source != "" {
			g.fact("size", fmt.Sprintf("%s vertices, %s tuples", units.Integer(in.Vertices), units.Integer(in.Tuples)))
			g.fact("SHA-256 of the tuples", Sentence(in.SHA256))
		}
		if f := in.File; f != nil {
			directed := map[bool]string{true: "directed, each line is one undirected tuple", false: "undirected"}
			g.fact("file", Joined(", ", Name(f.Format), Name(f.Compression), units.Bytes(f.Bytes), directed[f.Symmetrized]))
			g.fact("SHA-256 of the file", Sentence(f.SHA256))
		}
		g.fact("roots", fmt.Sprintf("%d found, %d draws rejected", in.RootsFound, in.RejectedDraws))
	}
	return g
}

func (r Result) machineFacts() Table {
	m := r.Machine
	g := newFacts("Machine")
	g.fact("host", Name(m.Hostname))
	g.fact("processor", Sentence(m.CPU))
	g.fact("sockets", Positive(int64(m.Sockets)))
	g.fact("cores", Positive(int64(m.Cores)))
	g.fact("threads", Positive(int64(m.Threads)))
	g.fact("last-level cache", units.Bytes(m.CacheBytes))
	if m.ClockMHz > 0 && Finite(m.ClockMHz) {
		g.fact("clock", units.Significant(m.ClockMHz, 4)+" MHz")
	}
	g.fact("governor", Name(m.Governor))
	g.fact("multithreading", map[string]string{"on": "on", "off": "off", "forceoff": "off",
		"notsupported": "not supported"}[m.SMT])
	g.fact("NUMA nodes", Positive(int64(m.NUMANodes)))
	g.fact("memory", units.Bytes(m.MemoryBytes))
	if s := m.MemorySpeed; s != nil {
		g.fact("memory speed", fmt.Sprintf("%s GB/s in order, %s million random reads/s; %s, %s",
			units.Significant(s.Bandwidth/1e9, 3), units.Significant(s.RandomReads/1e6, 3), units.Bytes(s.Bytes),
			Plural(s.Threads, "thread", "threads")))
	}
	if l := m.Load; l != nil {
		g.fact("load", fmt.Sprintf("other work used %s of %s, load average %s", units.Significant(l.Busy, 2),
			Plural(l.Processors, "processor", "processors"), units.Significant(l.Average, 3)))
	}
	g.fact("huge pages", Name(m.HugePages))
	g.fact("system", Joined(", ", Name(m.OS), Name(m.Kernel)))
	g.fact("virtual machine", Name(m.Virtual))
	for _, gpu := range m.GPUs {
		g.fact("GPU", Joined(", ", Sentence(gpu.Name), Name(gpu.PCI), Name(gpu.Address), Name(gpu.Driver)))
	}
	return g
}

func (r Result) softwareFacts() Table {
	g := newFacts("Run")
	g.fact("started", dated(r.Started, time.RFC3339))
	g.fact("note", Sentence(r.Environment["TEPS_NOTE"]))
	g.fact("command", Clean(strings.Join(r.Command, " "), 4*SentenceLength))
	g.fact("teps", Joined(", ", Name(r.Software.Version), Clean(r.Software.Commit, 2*NameLength)))
	g.fact("compiler", Name(r.Software.Compiler))
	checksum := map[bool]string{true: "checksummed", false: "without a checksum"}[r.Checksummed()]
	g.fact("record", Joined(", ", Clean(r.ID, 2*NameLength), Name(r.Schema), checksum))
	if p := r.Plan; p.EdgeFactor > 0 {
		validate := "every search"
		if p.Validate >= 0 {
			validate = Plural(p.Validate, "search", "searches")
		}
		g.fact("plan", fmt.Sprintf("%s a run, edge factor %d, seeds %d and %d, %s; validate %s; at most %s a call",
			Plural(p.Roots, "root", "roots"), p.EdgeFactor, p.Seed1, p.Seed2,
			Plural(p.WarmUps, "warm-up search", "warm-up searches"), validate, p.Timeout))
	}
	return g
}

func phasesText(phases []plugins.Phase) string {
	var out []string
	for _, phase := range phases {
		out = append(out, Name(phase.Name)+" "+units.Seconds(phase.Elapsed.Seconds()))
	}
	return strings.Join(out, ", ")
}

func countersText(counters []plugins.Counter) string {
	var out []string
	for _, c := range counters {
		out = append(out, Name(c.Name)+" "+units.Integer(c.Value))
	}
	return strings.Join(out, ", ")
}

// OptionsText lists options by name: alpha=15, threads=2.
func OptionsText(options map[string]string) string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(options)) {
		out = append(out, Name(name)+"="+Sentence(options[name]))
	}
	return strings.Join(out, ", ")
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

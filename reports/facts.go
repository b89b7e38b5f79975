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

// Facts are the engine, kernel 1 and the input of a run.
func (r Run) Facts() []Facts { return []Facts{r.engineFacts(), r.constructionFacts(), r.inputFacts()} }

// Facts are the machine, the software and the plan of a record.
func (r Result) Facts() []Facts { return []Facts{r.machineFacts(), r.softwareFacts()} }

func (r Run) engineFacts() Facts {
	g := Facts{Name: "Engine"}
	if d := r.Description; d != nil {
		g.add("name", Joined(" ", EngineName(d.Name), Name(d.Version)))
		g.add("method", Sentence(d.Summary))
		g.add("not available because", Sentence(d.Unavailable))
		for _, device := range d.Devices {
			texts := []string{Sentence(device.Name), units.Bytes(device.MemoryBytes)}
			if device.Units > 0 {
				texts = append(texts, Plural(device.Units, "unit", "units"))
			}
			for _, fact := range device.Details {
				texts = append(texts, Name(fact.Name)+" "+Sentence(fact.Value))
			}
			g.add(Name(device.Kind), Joined(", ", texts...))
		}
	}
	g.add("program", Sentence(r.Engine.Path))
	g.add("SHA-256", Sentence(r.Engine.Checksum))
	g.add("options in effect", OptionsText(r.Options))
	g.add("set by the user", OptionsText(r.Engine.Options))
	if r.Sessions > 1 {
		g.add("sessions", fmt.Sprintf("%d: the run was interrupted and resumed", r.Sessions))
	}
	return g
}

func (r Run) constructionFacts() Facts {
	g := Facts{Name: "Kernel 1"}
	c := r.Construction
	if c == nil {
		return g
	}
	g.add("time, engine's clock", units.Seconds(c.Elapsed.Seconds()))
	g.add("time, host's clock", measured(r.ConstructWall))
	g.add("held for searching", units.Bytes(c.Bytes))
	g.add("adjacency entries", Count(c.Entries))
	g.add("phases", phasesText(c.Phases))
	g.add("the engine claims", claimsText(c.Claims))
	for _, fact := range c.Details {
		g.add(Name(fact.Name), Sentence(fact.Value))
	}
	if r.Rebuilt != nil {
		again := units.Seconds(r.Rebuilt.Construction.Elapsed.Seconds())
		g.add("again for the energy loop", "in "+again+", when the run was resumed after the last search")
	}
	return g
}

func (r Run) inputFacts() Facts {
	g := Facts{Name: "Input"}
	if in := r.Graph; in != nil {
		k := in.Recipe
		g.add("graph", fmt.Sprintf("Kronecker, scale %d, edge factor %d, seeds %d and %d", k.Scale, k.EdgeFactor, k.Seed1,
			k.Seed2))
		g.add("tuples", Positive(in.Tuples))
		g.add("generation", measured(in.Generation))
		g.add("roots", fmt.Sprintf("%d found, %d draws rejected", in.RootsFound, in.RejectedDraws))
	}
	return g
}

func (r Result) machineFacts() Facts {
	m := r.Machine
	g := Facts{Name: "Machine"}
	g.add("host", Name(m.Hostname))
	g.add("processor", Sentence(m.CPU))
	g.add("sockets", Positive(int64(m.Sockets)))
	g.add("cores", Positive(int64(m.Cores)))
	g.add("threads", Positive(int64(m.Threads)))
	g.add("last-level cache", units.Bytes(m.CacheBytes))
	if m.ClockMHz > 0 && Finite(m.ClockMHz) {
		g.add("clock", units.Significant(m.ClockMHz, 4)+" MHz")
	}
	g.add("governor", Name(m.Governor))
	g.add("threads of a core", Name(m.SMT))
	g.add("NUMA nodes", Positive(int64(m.NUMANodes)))
	g.add("memory", units.Bytes(m.MemoryBytes))
	g.add("huge pages", Name(m.HugePages))
	g.add("system", Joined(", ", Name(m.OS), Name(m.Kernel)))
	g.add("virtual machine", Name(m.Virtual))
	for _, gpu := range m.GPUs {
		g.add("GPU", Joined(", ", Sentence(gpu.Name), Name(gpu.PCI), Name(gpu.Address), Name(gpu.Driver)))
	}
	return g
}

func (r Result) softwareFacts() Facts {
	g := Facts{Name: "Run"}
	g.add("started", dated(r.Started, time.RFC3339))
	g.add("command", Clean(strings.Join(r.Command, " "), 4*SentenceLength))
	g.add("teps", Joined(", ", Name(r.Software.Version), Clean(r.Software.Commit, 2*NameLength)))
	g.add("compiler", Name(r.Software.Compiler))
	checksum := map[bool]string{true: "checksummed", false: "without a checksum"}[r.Checksummed()]
	g.add("record", Joined(", ", Clean(r.ID, 2*NameLength), Name(r.Schema), checksum))
	if p := r.Plan; p.EdgeFactor > 0 {
		validate := "every search"
		if p.Validate >= 0 {
			validate = Plural(p.Validate, "search", "searches")
		}
		g.add("plan", fmt.Sprintf("%s a run, edge factor %d, seeds %d and %d, %s; validate %s; at most %s a call",
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

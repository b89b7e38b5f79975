package reports

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tepsbench/teps/harness"
	"github.com/tepsbench/teps/plugins"
)

// runView is everything about one run that is not in a table of all runs.
type runView struct {
	Name    string
	Open    bool // shown unfolded
	Verdict verdict
	Rate    string // GTEPS, or empty
	Met     bool
	Badge   string
	Rules   []harness.Check
	Facts   []factGroup
	Levels  levelsView
	Roots   tableView
}

// levelsView is the search that stands for all.
type levelsView struct {
	Of     string // empty when no search has levels
	Figure *figureView
	Table  tableView
}

func runDetails(label string, run harness.Run, open bool) runView {
	v := runView{
		Name: fmt.Sprintf("%s, scale %d", label, run.Scale), Open: open, Verdict: judge(run), Roots: rootsTable(run),
		Rules: cleanChecks(slices.Clone(run.Compliance.Rules)), Badge: "compliant",
	}
	v.Met = compliant(run)
	if !v.Met {
		v.Badge = ruleCount(run.Compliance)
	}
	if s := drawable(run); s != nil {
		v.Rate = gteps(s.TEPS.Mean)
	}
	if root, found := medianRoot(run); found {
		v.Levels.Of = fmt.Sprintf("vertex %d, search %d, %s", root.Root, root.Index, duration(root.Time))
		v.Levels.Table = levelsTable(root)
	}
	for _, group := range []factGroup{engineFacts(run), constructionFacts(run), inputFacts(run)} {
		if len(group.Facts) > 0 {
			v.Facts = append(v.Facts, group)
		}
	}
	return v
}

func engineFacts(run harness.Run) factGroup {
	g := factGroup{Name: "Engine"}
	if d := run.Description; d != nil {
		g.add("name", joined(" ", shownName(d.Name), clean(d.Version, nameRunes)))
		g.add("method", clean(d.Summary, sentenceRunes))
		g.add("not available because", clean(d.Unavailable, sentenceRunes))
		for _, device := range d.Devices {
			units := ""
			if device.Units > 0 {
				units = strconv.Itoa(device.Units) + " units"
			}
			g.add(clean(device.Kind, nameRunes), joined(", ", clean(device.Name, sentenceRunes), units, bytesText(device.MemoryBytes), factsText(device.Details)))
		}
	}
	g.add("program", clean(run.Engine.Path, sentenceRunes))
	g.add("SHA-256", clean(run.Engine.Checksum, sentenceRunes))
	g.add("options in effect", optionsText(run.Options))
	g.add("set by the user", optionsText(run.Engine.Options))
	if run.Sessions > 1 {
		g.add("sessions", fmt.Sprintf("%d: the run was interrupted and resumed", run.Sessions))
	}
	return g
}

func constructionFacts(run harness.Run) factGroup {
	g := factGroup{Name: "Kernel 1"}
	c := run.Construction
	if c == nil {
		return g
	}
	g.add("time, engine's clock", duration(c.Elapsed.Seconds()))
	g.add("time, host's clock", measured(run.ConstructWall))
	g.add("held for searching", bytesText(c.Bytes))
	g.add("adjacency entries", counted(c.Entries))
	g.add("phases", phasesText(c.Phases))
	g.add("the engine claims", claimsText(c.Claims))
	for _, fact := range c.Details {
		g.add(clean(fact.Name, nameRunes), clean(fact.Value, sentenceRunes))
	}
	if run.Rebuilt != nil {
		g.add("once more for the energy loop", "in "+duration(run.Rebuilt.Construction.Elapsed.Seconds())+", by a resume after the last search")
	}
	return g
}

func inputFacts(run harness.Run) factGroup {
	g := factGroup{Name: "Input"}
	if in := run.Graph; in != nil {
		g.add("graph", fmt.Sprintf("Kronecker, scale %d, edgefactor %d, seeds %d and %d", in.Recipe.Scale, in.Recipe.EdgeFactor, in.Recipe.Seed1, in.Recipe.Seed2))
		g.add("tuples", positive(in.Tuples))
		g.add("generation", measured(in.Generation))
		g.add("roots", fmt.Sprintf("%d found, %d draws rejected", in.RootsFound, in.RejectedDraws))
	}
	return g
}

// facts are the machine, the software and the plan of a result.
func facts(r harness.Result) []factGroup {
	m := r.Machine
	machine := factGroup{Name: "Machine"}
	machine.add("host", clean(m.Hostname, nameRunes))
	machine.add("processor", clean(m.CPU, sentenceRunes))
	machine.add("sockets", positive(int64(m.Sockets)))
	machine.add("cores", positive(int64(m.Cores)))
	machine.add("threads", positive(int64(m.Threads)))
	machine.add("last-level cache", bytesText(m.CacheBytes))
	if m.ClockMHz > 0 && finite(m.ClockMHz) {
		machine.add("clock", significant(m.ClockMHz, 4)+" MHz")
	}
	machine.add("governor", clean(m.Governor, nameRunes))
	machine.add("NUMA nodes", positive(int64(m.NUMANodes)))
	machine.add("memory", bytesText(m.MemoryBytes))
	machine.add("huge pages", clean(m.HugePages, nameRunes))
	machine.add("system", joined(", ", clean(m.OS, nameRunes), clean(m.Kernel, nameRunes)))
	machine.add("virtual machine", clean(m.Virtual, nameRunes))

	software := factGroup{Name: "Run"}
	if !r.Started.IsZero() {
		software.add("started", r.Started.Format(time.RFC3339))
	}
	software.add("command", clean(strings.Join(r.Command, " "), 4*sentenceRunes))
	software.add("teps", joined(", ", clean(r.Software.Version, nameRunes), clean(r.Software.Commit, 2*nameRunes)))
	software.add("compiler", clean(r.Software.Compiler, nameRunes))
	software.add("record", joined(", ", clean(r.ID, 2*nameRunes), clean(r.Schema, nameRunes), sealText(r)))
	plan := r.Plan
	if plan.EdgeFactor > 0 {
		validate := "every search"
		if plan.Validate >= 0 {
			validate = plural(plan.Validate, "search", "searches")
		}
		software.add("plan", fmt.Sprintf("%s a run, edgefactor %d, seeds %d and %d, %s; validate %s; a call may take %s",
			plural(plan.Roots, "root", "roots"), plan.EdgeFactor, plan.Seed1, plan.Seed2, plural(plan.WarmUps, "warm-up search", "warm-up searches"), validate, plan.Timeout))
	}
	return []factGroup{machine, software}
}

// sealText says whether edits of the record would have been seen.
func sealText(r harness.Result) string {
	if r.Sealed() {
		return "sealed"
	}
	return "not sealed"
}

// add appends a fact unless its value is missing.
func (g *factGroup) add(name, value string) {
	if value != "" && value != missing {
		g.Facts = append(g.Facts, factView{name, value})
	}
}

func phasesText(phases []plugins.Phase) string {
	var out []string
	for _, phase := range phases {
		out = append(out, clean(phase.Name, nameRunes)+" "+duration(phase.Elapsed.Seconds()))
	}
	return strings.Join(out, ", ")
}

func factsText(list []plugins.Fact) string {
	var out []string
	for _, fact := range list {
		out = append(out, clean(fact.Name, nameRunes)+" "+clean(fact.Value, sentenceRunes))
	}
	return strings.Join(out, ", ")
}

func optionsText(options map[string]string) string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(options)) {
		out = append(out, clean(name, nameRunes)+"="+clean(options[name], sentenceRunes))
	}
	return strings.Join(out, ", ")
}

func claimsText(c plugins.Claims) string {
	says := func(holds bool, yes, no string) string {
		if holds {
			return yes
		}
		return no
	}
	bits := func(n int, what string) string {
		if n <= 0 {
			return ""
		}
		return strconv.Itoa(n) + "-bit " + what
	}
	tuning := ""
	if c.Tuning != "" {
		tuning = "tuning: " + clean(c.Tuning, sentenceRunes)
	}
	return joined("; ",
		says(c.OriginalLabelsInClock, "parents are back in original labels inside the clock", "parents reach original labels outside the clock"),
		says(c.ClearingInClock, "clearing is inside the clock", "clearing is outside the clock"),
		bits(c.ParentBits, "parents"), bits(c.VertexBits, "vertices inside"), tuning)
}

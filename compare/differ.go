package compare

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/tepsbench/teps/harness"
)

// fact is something that two runs should have in common.
type fact struct{ what, value string }

// differences are the facts that are not the same in all of a and b, in the order in which they are first met. A fact with
// an empty value was not recorded.
func differences[T any](a, b []T, facts func(T) []fact) (all []Difference) {
	at := map[string]int{}
	add := func(things []T, values func(*Difference) *[]string) {
		for _, thing := range things {
			for _, f := range facts(thing) {
				i, known := at[f.what]
				if !known {
					i = len(all)
					at[f.what] = i
					all = append(all, Difference{What: f.what})
				}
				if list := values(&all[i]); f.value != "" && !slices.Contains(*list, f.value) {
					*list = append(*list, f.value)
				}
			}
		}
	}
	add(a, func(d *Difference) *[]string { return &d.A })
	add(b, func(d *Difference) *[]string { return &d.B })
	for i := range all {
		for _, list := range []*[]string{&all[i].A, &all[i].B} {
			if len(*list) == 0 && settable(all[i].What) {
				*list = []string{"not set"}
			}
		}
	}
	return slices.DeleteFunc(all, func(d Difference) bool {
		unknown := len(d.A) == 0 || len(d.B) == 0 // what was not recorded is not known to differ
		return unknown || len(d.A) == 1 && slices.Equal(d.A, d.B)
	})
}

// What can be set, and is known to be unset where it is not recorded.
const (
	option      = "option "
	environment = "environment: "
	setting     = "build setting "
)

func settable(what string) bool {
	return strings.HasPrefix(what, option) || strings.HasPrefix(what, environment) || strings.HasPrefix(what, setting)
}

// resultFacts are those of a whole record.
func resultFacts(r harness.Result) []fact {
	m := r.Machine
	gpus := map[string]int{}
	for _, g := range m.GPUs {
		gpus[strings.TrimSpace(cmp.Or(g.Name, g.PCI)+" "+g.Driver)]++
	}
	facts := []fact{
		{"host", m.Hostname}, {"processor", m.CPU}, {"sockets", count(m.Sockets)}, {"cores", count(m.Cores)}, {"threads", count(m.Threads)},
		{"SMT", m.SMT}, {"last-level cache", mebibytes(m.CacheBytes)}, {"highest clock", gigahertz(m.ClockMHz)}, {"turbo", m.Clocks.Turbo},
		{"governor", m.Governor}, {"memory", mebibytes(m.MemoryBytes)}, {"NUMA nodes", count(m.NUMANodes)}, {"NUMA balancing", m.Balancing},
		{"huge pages", m.HugePages}, {"system", m.OS}, {"kernel", m.Kernel}, {"microcode", m.Microcode}, {"hypervisor", m.Virtual}, {"GPUs", counted(gpus)},
		{"teps", r.Software.Version + " " + r.Software.Commit}, {"compiler", r.Software.Compiler}, {"program", short(r.Software.Program)},
		{"edgefactor", count(r.Plan.EdgeFactor)}, {"seeds", fmt.Sprintf("%d, %d", r.Plan.Seed1, r.Plan.Seed2)}, {"roots wanted", count(r.Plan.Roots)},
		{"searches to validate", validation(r.Plan.Validate)}, {"warm-up searches", strconv.Itoa(r.Plan.WarmUps)},
	}
	return facts
}

// surroundings are what records of the first release do not hold.
func surroundings(r harness.Result) []fact {
	return append(each(setting, r.Build), each(environment, r.Environment)...)
}

// runFacts are those of one engine at one scale.
func runFacts(r harness.Run) []fact {
	facts := []fact{{"engine's file", short(r.Engine.Checksum)}}
	if d := r.Description; d != nil {
		facts = append(facts, fact{"engine", d.Name + " " + d.Version})
		for _, device := range d.Devices {
			facts = append(facts, fact{"engine's " + device.Kind, strings.TrimSpace(device.Name + " " + count(device.Units))})
		}
	}
	validated := 0
	for _, root := range r.Roots {
		if root.Validated {
			validated++
		}
	}
	var broken []string
	for _, rule := range r.Compliance.Rules {
		if !rule.Holds {
			broken = append(broken, rule.Rule)
		}
	}
	facts = append(facts, fact{"state", string(r.State)}, fact{"times kernel 1 ran", count(r.Sessions)},
		fact{"searches", strconv.Itoa(len(r.Roots))}, fact{"validated", strconv.Itoa(validated)},
		fact{"rules of the benchmark that do not hold", cmp.Or(strings.Join(broken, "; "), "none")})
	return append(facts, each(option, r.Options)...)
}

func each(prefix string, values map[string]string) (facts []fact) {
	for _, name := range slices.Sorted(maps.Keys(values)) {
		facts = append(facts, fact{prefix + name, values[name]})
	}
	return facts
}

func counted(things map[string]int) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(things)) {
		parts = append(parts, fmt.Sprintf("%d %s", things[name], name))
	}
	return strings.Join(parts, ", ")
}

// count leaves a number that was not recorded empty.
func count(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

func mebibytes(n int64) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%d MiB", n>>20)
}

// gigahertz is coarse: a clock that is measured is never the same twice.
func gigahertz(mhz float64) string {
	if mhz == 0 {
		return ""
	}
	return fmt.Sprintf("%.1f GHz", mhz/1000)
}

func short(sum string) string { return sum[:min(12, len(sum))] }

func validation(n int) string {
	if n == harness.AllRoots {
		return "all"
	}
	return strconv.Itoa(n)
}

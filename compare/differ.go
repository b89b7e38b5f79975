// SPDX-License-Identifier: Apache-2.0

package compare

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/tepsbench/teps/record"
)

// facts are alternating names and values that runs should have in common. A value of 0 or "" was not recorded.
type facts []any

// differences returns the facts that are not the same in all of a and b. A fact that one side did not record does not
// count as different.
func differences[T any](a, b []T, of func(T) facts) (all []Difference) {
	for i, thing := range slices.Concat(a, b) {
		for fact := range slices.Chunk(of(thing), 2) {
			k := slices.IndexFunc(all, func(d Difference) bool { return d.What == fact[0] })
			if k < 0 {
				k = len(all)
				all = append(all, Difference{What: fact[0].(string)})
			}
			values := &all[k].A
			if i >= len(a) {
				values = &all[k].B
			}
			value := strings.TrimSpace(fmt.Sprint(fact[1]))
			if !reflect.ValueOf(fact[1]).IsZero() && value != "" && !slices.Contains(*values, value) {
				*values = append(*values, value)
			}
		}
	}
	return slices.DeleteFunc(all, func(d Difference) bool {
		return len(d.A) == 0 || len(d.B) == 0 || len(d.A) == 1 && slices.Equal(d.A, d.B)
	})
}

// settings returns the differences of settings, such as options or variables. A setting that is missing is not set.
func settings[T any](kind string, a, b []T, of func(T) map[string]string) []Difference {
	names := map[string]string{}
	for _, thing := range slices.Concat(a, b) {
		maps.Copy(names, of(thing))
	}
	return differences(a, b, func(thing T) (all facts) {
		for _, name := range slices.Sorted(maps.Keys(names)) {
			all = append(all, kind+" "+name, cmp.Or(of(thing)[name], "not set"))
		}
		return all
	})
}

// resultFacts are those of a whole record.
func resultFacts(r record.Result) facts {
	m, p := r.Machine, r.Plan
	var gpus []string
	for _, g := range m.GPUs {
		gpus = append(gpus, strings.TrimSpace(cmp.Or(g.Name, g.PCI)+" "+g.Driver))
	}
	validate := strconv.Itoa(p.Validate)
	if p.Validate == record.AllRoots {
		validate = "all"
	}
	return facts{
		"host", m.Hostname, "computer", strings.TrimSpace(m.Vendor + " " + m.Product), "processor", m.CPU,
		"sockets", m.Sockets, "cores", m.Cores, "threads", m.Threads,
		"SMT", m.SMT, "last-level cache in MiB", m.CacheBytes >> 20,
		"maximum clock in MHz", math.Round(m.ClockMHz/100) * 100, // a measured clock is never the same twice
		"governor", m.Governor, "memory in MiB", m.MemoryBytes >> 20,
		"NUMA nodes", m.NUMANodes, "huge pages", m.HugePages, "system", m.OS,
		"kernel", m.Kernel, "hypervisor", m.Virtual, "GPUs", strings.Join(gpus, ", "),
		"teps", r.Software.Version + " " + r.Software.Commit, "compiler", r.Software.Compiler,
		"program", short(r.Software.Program), "edge factor", p.EdgeFactor, "seeds", fmt.Sprint(p.Seed1, p.Seed2),
		"roots", p.Roots, "roots to validate", validate, "warm-up searches", strconv.Itoa(p.WarmUps),
	}
}

// runFacts are those of one engine on one graph.
func runFacts(r record.Run) facts {
	validated := r.Count(func(root record.RootRecord) bool { return root.Validated })
	var violated []string
	for _, rule := range r.Compliance.Rules {
		if !rule.Holds {
			violated = append(violated, rule.Rule)
		}
	}
	all := facts{
		"engine file", short(r.Engine.Checksum), "state", r.State, "kernel 1 runs", r.Sessions,
		"searches", len(r.Roots), "validated searches", strconv.Itoa(validated),
		"violated rules of the benchmark", cmp.Or(strings.Join(violated, "; "), "none"),
	}
	if d := r.Description; d != nil {
		all = append(all, "engine", d.Name+" "+d.Version)
		for _, device := range d.Devices {
			all = append(all, "engine's "+device.Kind, fmt.Sprint(device.Name, " ", device.Units))
		}
	}
	return all
}

func short(checksum string) string { return checksum[:min(12, len(checksum))] }

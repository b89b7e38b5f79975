// SPDX-License-Identifier: Apache-2.0

package samples

import (
	"time"

	"github.com/tepsbench/teps/machine"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/power"
	"github.com/tepsbench/teps/record"
)

// FewRoots is a result with a few searches, so that its texts can be read.
func FewRoots(engines []string, scales ...int) record.Result {
	r := Result(nil, scales...)
	for i, engine := range engines {
		for _, scale := range scales {
			r.Runs = append(r.Runs, Run(engine, i, scale, 3))
		}
	}
	return r
}

// Several are two engines, one with a wrong search, names that formats have to escape, and a second record.
func Several() []record.Result {
	a := FewRoots([]string{"cpu", "a,\"b\"/c|d=1"}, 16, 17)
	a.Runs[3].Valid, a.Runs[3].Roots[1].Rule = false, 4
	a.Runs[3].Roots[1].Violation = "vertex 5 is reachable\x1b[2J\nSCALE: 1"
	a.Runs[0].Roots[2].NEdge, a.Runs[0].Roots[2].Depth, a.Runs[0].Roots[2].Validated = nil, nil, false
	b := FewRoots([]string{"=cmd|'/c calc'!A1"}, 18)
	b.ID, b.Machine.Hostname, b.Environment = "second", "", map[string]string{"TEPS_NOTE": "after the BIOS update"}
	b.Runs[0].GraphID, b.Runs[0].Graph = record.GraphID{Source: "roads.mtx"},
		&record.GraphRecord{Vertices: 1000, Tuples: 500_000, SHA256: "ab12"}
	return []record.Result{a, b}
}

// Unofficial are runs without official numbers, each for a different reason.
func Unofficial() []record.Result {
	r := FewRoots([]string{"interrupted", "failed", "no roots", "no statistics", "unchecked", "valid"}, 16)
	r.Runs[0].State, r.Runs[0].Valid = record.Interrupted, false
	r.Runs[1].State, r.Runs[1].Failure = record.Failed, "the engine's process ended\nSCALE:                          42"
	r.Runs[1].Graph, r.Runs[1].Construction, r.Runs[1].Roots, r.Runs[1].Statistics = nil, nil, nil, nil
	r.Runs[2].Roots, r.Runs[2].Statistics = nil, nil
	r.Runs[3].Statistics = nil
	for i := range r.Runs[4].Roots {
		r.Runs[4].Roots[i].Validated = false
	}
	r.Runs[4].Statistics.Validation = nil
	return []record.Result{r}
}

// Green are energy loops; only the first two are submissions.
func Green() []record.Result {
	r := FewRoots([]string{"system", "gpus", "invalid", "loop failed", "not compliant", "no level", "component",
		"no system power", "estimated", "no meter", "no class", "hosts"}, 26)
	for i := range r.Runs {
		r.Runs[i] = WithMeters(r.Runs[i], power.Package, power.Wall)
	}
	d := *r.Runs[1].Description
	d.Devices = []plugins.Device{{Kind: "gpu", Name: "NVIDIA H200"}, {Kind: "gpu", Name: "NVIDIA H200"}}
	r.Runs[1].Description, r.Runs[1].Rebuilt = &d, &record.Kernel1{}
	r.Runs[2].Roots[1].Violation, r.Runs[2].Roots[1].Rule = "a tuple skips a level", 3
	r.Runs[3].Energy.Failure, r.Runs[3].Energy.Figures = "it died", nil
	r.Runs[4].Compliance.Rules[1].Holds, r.Runs[4].Compliance.Compliant = false, false
	r.Runs[5].Energy.Green = &record.Green{Class: record.SmallData, Meter: "wall-0",
		Missing: []string{"a loop of at least 60 s"}}
	r.Runs[6].Energy.Figures, r.Runs[6].Energy.Green = r.Runs[6].Energy.Figures[:1],
		&record.Green{Class: record.SmallData, Missing: []string{"a meter of the whole system; metered instead: package"}}
	r.Runs[7].Energy.Green = nil
	r.Runs[8].Energy.Figures[0].Method, r.Runs[8].Energy.Figures = power.Estimated, r.Runs[8].Energy.Figures[:1]
	small := *r.Runs[10].Graph
	small.Recipe.Scale = 25
	r.Runs[10].Graph = &small
	r.Runs[9].Energy = &record.EnergyRecord{Absent: []power.Absence{{Source: "rapl", Reason: "no powercap here"}}}
	hosts := r.Runs[11].Energy
	r.Runs[11].Hosts, hosts.Figures, hosts.Green.Share = []string{"n1", "n2"}, hosts.Figures[1:], "2 of 2 hosts: n1, n2"
	hosts.Figures[0].Of, hosts.Green.Meter = "wall-0 of 2 hosts", "wall-0 of 2 hosts"
	return []record.Result{r}
}

// Sweep is ten repeats of three variants, one of them with a wrong search, by two builds.
func Sweep() (all []record.Result) {
	for i := range 10 {
		for speed, name := range []string{"cpu", "cpu:adjacency=csr", "distributed"} {
			r := Result(nil, 16)
			r.Started = r.Started.Add(time.Duration(i) * time.Hour)
			r.Runs = []record.Run{Run(name, speed, 16, 3)}
			SetRate(&r.Runs[0], float64(10*speed+10+i)*1e9)
			if r.ID = name + "-" + string(rune('0'+i)); i > 5 {
				r.Software.Commit = "feedbeef1234"
			}
			all = append(all, r)
		}
	}
	all[2].Runs[0].Roots[1].Rule, all[2].Runs[0].Roots[1].Violation = 3, "it skips a level"
	return all
}

// Detailed is a record with all facts: devices, details, a resumed run, meters with a fault, a file, delayed searches.
func Detailed() record.Result {
	r := FewRoots([]string{"cuda", "cpu"}, 18)
	r.Machine.ClockMHz, r.Machine.GPUs = 3250, []machine.GPU{{Name: "H200", PCI: "10de:2335", Address: "0000:18:00.0"}}
	r.Machine.SMT = "notsupported"
	r.Machine.Load = &machine.Load{Busy: 0.5, Processors: 2, Average: 1}
	r.Software.Commit = ""
	r.Plan.Validate, r.Environment = 1, map[string]string{"TEPS_NOTE": "quiet"}
	run := WithMeters(r.Runs[0], power.GPU)
	run.Sessions, run.Rebuilt = 2, &record.Kernel1{Construction: plugins.Construction{Elapsed: 2e9}}
	run.Description.Unavailable = "there is no driver"
	run.Description.Devices = []plugins.Device{{Kind: "gpu", Name: "H200", MemoryBytes: 139 << 30, Units: 132,
		Details: []plugins.Fact{{Name: "clock", Value: "1980 MHz"}}}}
	run.Construction.Details = []plugins.Fact{{Name: "grid", Value: "132 blocks"}}
	run.Energy.Meters[0].Faults = []power.Fault{{Text: "a reading failed"}}
	run.Energy.Meters = append(run.Energy.Meters, record.Metered{Meter: run.Energy.Meters[0].Meter, Why: "covered",
		NoLoop: "the loop was too short"})
	for i := range run.Roots {
		run.Roots[i].Interference = &machine.Interference{Period: run.Roots[i].Time, Waited: run.Roots[i].Time / 2}
	}
	run.Roots[0].NEdge = new(*run.Roots[0].NEdge / 2)
	for i := range run.Roots {
		level := &run.Roots[i].Levels[0]
		level.Counters = []plugins.Counter{{Name: "culled", Value: 7}}
		level.Bytes, level.Messages = plugins.Counted(400), plugins.Counted(5)
	}
	file := r.Runs[1]
	file.Roots[0].Levels[1].Edges = plugins.Count{}
	file.GraphID = record.GraphID{Source: "roads.mtx.gz"}
	file.Graph = &record.GraphRecord{Vertices: 1000, Tuples: 500_000, SHA256: "ab12", RootsFound: 3,
		File: &record.FileRecord{Format: "Matrix Market", Compression: "gzip", Bytes: 4096, SHA256: "cd34",
			Symmetrized: true}}
	r.Runs = []record.Run{run, file}
	return r
}

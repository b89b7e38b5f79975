// SPDX-License-Identifier: Apache-2.0

package sweep

import (
	"fmt"
	"regexp"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/tepsbench/teps/internal/must"
	"github.com/tepsbench/teps/machine"
	"github.com/tepsbench/teps/record"
)

var (
	someSoftware = record.Software{Version: "v0", Compiler: "go", Program: "0123456789abcdef"}
	someMachine  = machine.Machine{CPU: "a processor", Threads: 2, MemoryBytes: 1 << 30, OS: "linux"}
)

func someSweep() Sweep {
	plan := record.DefaultPlan()
	plan.Scales, plan.Roots = []int{6, 7}, 4
	one := []Values{{"threads", []string{"1"}}}
	options := []Values{{"threads", []string{"1", "2"}}}
	return Sweep{
		Engines: []Engine{
			{Spec: record.EngineSpec{Name: "cpu", Builtin: "cpu"}, Options: options},
			{Spec: record.EngineSpec{Name: "mine", Builtin: "cpu"}, Options: one, Labeled: true},
		},
		Plan: plan, Repeats: 2,
	}
}

// describe is a job in a few letters.
func describe(j *Job) string {
	return fmt.Sprintf("%d %s #%d", j.Graph().Scale, j.Engine().Name, j.Repeat)
}

// Every scale has all variants in turn, and their order is reversed with each repeat.
func TestRepeatsAlternateTheOrder(t *testing.T) {
	s := someSweep()
	s.Repeats = 3
	if text := s.String(); text != "18 runs (variants: 3, graphs: 2, repeats: 3)" {
		t.Error(text)
	}
	var got []string
	for _, j := range s.jobs() {
		got = append(got, describe(j))
	}
	if want := []string{
		"6 cpu:threads=1 #1", "6 cpu:threads=2 #1", "6 mine #1", "6 mine #2", "6 cpu:threads=2 #2", "6 cpu:threads=1 #2",
		"6 cpu:threads=1 #3", "6 cpu:threads=2 #3", "6 mine #3", "7 cpu:threads=1 #1", "7 cpu:threads=2 #1", "7 mine #1",
		"7 mine #2", "7 cpu:threads=2 #2", "7 cpu:threads=1 #2", "7 cpu:threads=1 #3", "7 cpu:threads=2 #3", "7 mine #3",
	}; !slices.Equal(want, got) {
		t.Errorf("the order of the jobs: %q", got)
	}
}

func TestCheckRefusesImpossibleSweeps(t *testing.T) {
	for _, c := range map[string]struct {
		change func(*Sweep)
		want   string
	}{
		"no repeat":     {func(s *Sweep) { s.Repeats = 0 }, "repeats: 0"},
		"a name twice":  {func(s *Sweep) { s.Engines = append(s.Engines, s.Engines[1]) }, "mine"},
		"a scale twice": {func(s *Sweep) { s.Plan.Scales = []int{6, 6} }, "scale 6 is named twice"},
		"no engine":     {func(s *Sweep) { s.Engines = nil }, "no engine"},
		"too many":      {func(s *Sweep) { s.Repeats = MaxJobs }, "more than"},
		"standard input": {
			func(s *Sweep) { s.Plan.Graphs = []record.GraphSpec{{Name: "standard input", Path: "-"}} }, "only once",
		},
		"a product beyond an int": {func(s *Sweep) {
			for range 70 {
				s.Engines[0].Options = append(s.Engines[0].Options, Values{"o", []string{"1", "2", "3"}})
			}
		}, "more than"},
	} {
		s := someSweep()
		c.change(&s)
		must.Is(t, s.Check(), record.ErrUsage, c.want)
	}
}

func TestDirectoryIdentifiesTheMeasurement(t *testing.T) {
	first := func() *Job { return someSweep().jobs()[0] }
	directory := func(j *Job, version string, software record.Software, machine machine.Machine) string {
		j.name(version, software, machine)
		return j.Directory
	}
	base := directory(first(), "1", someSoftware, someMachine)
	for name, change := range map[string]func(p *record.Plan){
		"scale":    func(p *record.Plan) { p.Scales = []int{8} },
		"option":   func(p *record.Plan) { p.Engines[0].Options["threads"] = "9" },
		"program":  func(p *record.Plan) { p.Engines[0].Checksum = "ab" },
		"roots":    func(p *record.Plan) { p.Roots = 5 },
		"validate": func(p *record.Plan) { p.Validate = 1 },
		"seed":     func(p *record.Plan) { p.Seed1 = 7 },
	} {
		j := first()
		if change(&j.Plan); directory(j, "1", someSoftware, someMachine) == base {
			t.Errorf("another %s has the same directory %s", name, base)
		}
	}
	again, build, other := first(), someSoftware, someMachine
	again.Repeat, build.Program, other.Threads = 2, "ff", 4
	for name, got := range map[string]string{
		"repeat":  directory(again, "1", someSoftware, someMachine),
		"version": directory(first(), "2", someSoftware, someMachine),
		"build":   directory(first(), "1", build, someMachine),
		"machine": directory(first(), "1", someSoftware, other),
	} {
		if got == base {
			t.Errorf("another %s has the same directory %s", name, base)
		}
	}

	// A sweep that grows keeps its directories.
	grown := someSweep()
	grown.Engines[0].Options[0].Values = []string{"4", "1", "2"}
	grown.Plan.Scales, grown.Repeats = []int{5, 6, 7}, 3
	directories := map[string]bool{}
	for _, j := range grown.jobs() {
		directories[directory(j, "1", someSoftware, someMachine)] = true
	}
	must.Equal(t, len(directories), len(grown.jobs()), "directories of jobs")
	for _, j := range someSweep().jobs() {
		if name := directory(j, "1", someSoftware, someMachine); !directories[name] {
			t.Errorf("the grown sweep has lost %s", name)
		}
	}
}

func TestDirectoryNamesAreValidOnAnySystem(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		j := someSweep().jobs()[0]
		j.Plan.Engines[0].Name = rapid.String().Draw(t, "name")
		j.name("1", someSoftware, someMachine)
		if len(j.Directory) > 100 || !regexp.MustCompile(`^s[a-zA-Z0-9_=.-]*$`).MatchString(j.Directory) {
			t.Fatalf("%q is the directory of %q", j.Directory, j.Plan.Engines[0].Name)
		}
	})
}

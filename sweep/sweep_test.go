package sweep

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tepsbench/teps/harness"
)

var (
	someSoftware = harness.Software{Version: "v0", Compiler: "go", Program: "0123456789abcdef"}
	someMachine  = harness.Machine{CPU: "a processor", Threads: 2, MemoryBytes: 1 << 30, OS: "linux"}
)

func someSweep() Sweep {
	plan := harness.DefaultPlan()
	plan.Scales, plan.Roots = []int{6, 7}, 4
	return Sweep{
		Engines: []Engine{
			{Spec: harness.EngineSpec{Name: "cpu", Builtin: "cpu"}, Options: []Values{{"threads", []string{"1", "2"}}, {"adjacency", []string{"csr", "packed"}}}},
			{Spec: harness.EngineSpec{Name: "mine", Builtin: "cpu"}, Labeled: true, Options: []Values{{"threads", []string{"1"}}}},
		},
		Plan: plan, Repeats: 2, Order: Interleaved,
	}
}

// describe is a cell in a few letters.
func describe(c Cell) string {
	return fmt.Sprintf("%d %s #%d", c.Scale(), c.Engine().Name, c.Repeat)
}

func TestRepeatsGoForthAndBack(t *testing.T) {
	s := someSweep()
	s.Plan.Scales = []int{6}
	var got []string
	for _, c := range s.Cells() {
		got = append(got, describe(c))
	}
	want := []string{
		"6 cpu:threads=1:adjacency=csr #1", "6 cpu:threads=1:adjacency=packed #1", "6 cpu:threads=2:adjacency=csr #1", "6 cpu:threads=2:adjacency=packed #1", "6 mine #1",
		"6 mine #2", "6 cpu:threads=2:adjacency=packed #2", "6 cpu:threads=2:adjacency=csr #2", "6 cpu:threads=1:adjacency=packed #2", "6 cpu:threads=1:adjacency=csr #2",
	}
	if !slices.Equal(got, want) {
		t.Errorf("the cells are\n%s", strings.Join(got, "\n"))
	}
}

func TestBothOrdersHaveTheSameCellsScaleByScale(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := someSweep()
		s.Repeats = rapid.IntRange(1, 5).Draw(t, "repeats")
		s.Plan.Scales = rapid.SliceOfNDistinct(rapid.IntRange(4, 20), 1, 4, rapid.ID[int]).Draw(t, "scales")
		sets := map[Order][]string{}
		for _, order := range []Order{Interleaved, Grouped} {
			s.Order = order
			last, changes := 0, 0
			for _, c := range s.Cells() {
				sets[order] = append(sets[order], describe(c))
				if c.Scale() != last {
					last = c.Scale()
					changes++
				}
			}
			if changes != len(s.Plan.Scales) {
				t.Fatalf("%s changes the scale %d times for %d scales", order, changes, len(s.Plan.Scales))
			}
			slices.Sort(sets[order])
		}
		if n := 5 * s.Repeats * len(s.Plan.Scales); len(slices.Compact(slices.Clone(sets[Grouped]))) != n || !slices.Equal(sets[Grouped], sets[Interleaved]) {
			t.Fatalf("%d cells grouped, %d interleaved, want %d different ones", len(sets[Grouped]), len(sets[Interleaved]), n)
		}
	})
}

func TestExclusionsLeaveOutWhatTheyDescribe(t *testing.T) {
	for name, c := range map[string]struct {
		exclude Exclusion
		left    int
	}{
		"an engine":              {Exclusion{Engine: "mine"}, 16},
		"a scale":                {Exclusion{Scales: []int{7}}, 10},
		"an engine at a scale":   {Exclusion{Engine: "cpu", Scales: []int{7}}, 12},
		"a value":                {Exclusion{Set: []Values{{"adjacency", []string{"packed"}}}}, 12},
		"two values":             {Exclusion{Engine: "cpu", Set: []Values{{"adjacency", []string{"packed"}}, {"threads", []string{"1", "3"}}}}, 16},
		"a value of any engine":  {Exclusion{Set: []Values{{"threads", []string{"1"}}}}, 8},
		"values at all scales":   {Exclusion{Scales: []int{6, 7}, Set: []Values{{"threads", []string{"2"}}}}, 12},
		"an engine's own option": {Exclusion{Engine: "mine", Set: []Values{{"threads", []string{"1"}}}}, 16},
	} {
		s := someSweep()
		s.Exclude = []Exclusion{c.exclude}
		if err := s.Check(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got := len(s.Cells()); got != c.left {
			t.Errorf("%s: %d cells left of 20, want %d", name, got, c.left)
		}
	}
}

func TestSweepsThatCannotBeAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Sweep)
		want   string
	}{
		"no repeat":           {func(s *Sweep) { s.Repeats = 0 }, "0 repeats"},
		"an unknown order":    {func(s *Sweep) { s.Order = "random" }, "interleaved or grouped"},
		"a name twice":        {func(s *Sweep) { s.Engines = append(s.Engines, s.Engines[1]) }, "mine is named twice"},
		"a scale twice":       {func(s *Sweep) { s.Plan.Scales = []int{6, 6} }, "scale 6 is named twice"},
		"no engine":           {func(s *Sweep) { s.Engines = nil }, "no engine"},
		"an idle exclusion":   {func(s *Sweep) { s.Exclude = []Exclusion{{Engine: "gpu", Where: "line 7"}} }, "line 7: this leaves out nothing"},
		"everything excluded": {func(s *Sweep) { s.Exclude = []Exclusion{{}} }, "leaves out every run"},
		"ever so many":        {func(s *Sweep) { s.Repeats = MaxCells }, "more than"},
		"a product beyond an int": {func(s *Sweep) {
			for range 70 {
				s.Engines[0].Options = append(s.Engines[0].Options, Values{"o", []string{"1", "2", "3"}})
			}
		}, "more than"},
	} {
		s := someSweep()
		c.change(&s)
		if err := s.Check(); !errors.Is(err, harness.ErrUsage) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// What makes two measurements different makes two folders; what does not, does not.
func TestAFolderStandsForOneMeasurement(t *testing.T) {
	first := func(s Sweep) Cell { return s.Cells()[0] }
	base := first(someSweep())
	if err := base.name(someSoftware, someMachine); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(c *Cell, s *harness.Software, m *harness.Machine){
		"scale":    func(c *Cell, _ *harness.Software, _ *harness.Machine) { c.Plan.Scales = []int{8} },
		"option":   func(c *Cell, _ *harness.Software, _ *harness.Machine) { c.Plan.Engines[0].Options["threads"] = "9" },
		"program":  func(c *Cell, _ *harness.Software, _ *harness.Machine) { c.Plan.Engines[0].Checksum = "ab" },
		"version":  func(c *Cell, _ *harness.Software, _ *harness.Machine) { c.Version = "2" },
		"repeat":   func(c *Cell, _ *harness.Software, _ *harness.Machine) { c.Repeat = 2 },
		"roots":    func(c *Cell, _ *harness.Software, _ *harness.Machine) { c.Plan.Roots = 5 },
		"validate": func(c *Cell, _ *harness.Software, _ *harness.Machine) { c.Plan.Validate = 1 },
		"seed":     func(c *Cell, _ *harness.Software, _ *harness.Machine) { c.Plan.Seed1 = 7 },
		"build":    func(_ *Cell, s *harness.Software, _ *harness.Machine) { s.Program = "ff" },
		"machine":  func(_ *Cell, _ *harness.Software, m *harness.Machine) { m.Threads = 4 },
	} {
		c, software, machine := first(someSweep()), someSoftware, someMachine
		change(&c, &software, &machine)
		if err := c.name(software, machine); err != nil {
			t.Fatal(err)
		}
		if c.Folder == base.Folder {
			t.Errorf("another %s is the same folder %s", name, c.Folder)
		}
	}

	// A sweep that grows keeps its cells.
	grown := someSweep()
	grown.Engines[0].Options[0].Values = []string{"4", "1", "2"}
	grown.Plan.Scales, grown.Repeats, grown.Order = []int{5, 6, 7}, 3, Grouped
	folders := map[string]bool{}
	for _, c := range grown.Cells() {
		if err := c.name(someSoftware, someMachine); err != nil {
			t.Fatal(err)
		}
		if folders[c.Folder] {
			t.Errorf("two cells have the folder %s", c.Folder)
		}
		folders[c.Folder] = true
	}
	for _, c := range someSweep().Cells() {
		if err := c.name(someSoftware, someMachine); err != nil {
			t.Fatal(err)
		}
		if !folders[c.Folder] {
			t.Errorf("the grown sweep has lost %s", c.Folder)
		}
	}
}

func TestFolderNamesSuitAnySystem(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := someSweep().Cells()[0]
		c.Plan.Engines[0].Name = rapid.String().Draw(t, "name")
		if err := c.name(someSoftware, someMachine); err != nil {
			t.Fatal(err)
		}
		if len(c.Folder) > 100 || strings.Trim(c.Folder, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=.") != "" || c.Folder[0] != 's' {
			t.Fatalf("%q is the folder of %q", c.Folder, c.Plan.Engines[0].Name)
		}
	})
}

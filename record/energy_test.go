// SPDX-License-Identifier: Apache-2.0

package record

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/internal/must"
	"github.com/tepsbench/teps/power"
)

// meteredAs returns a meter that showed the given watts over a loop of ten seconds.
func meteredAs(name, source string, scope power.Scope, watts, idle float64) Metered {
	amount := func(watts float64) *power.Amount {
		return &power.Amount{
			Joules: watts * 10, Watts: watts, Uncertainty: watts * 0.1, Coverage: 1, LargestGap: 100 * time.Millisecond,
		}
	}
	m := Metered{Used: true, Loop: amount(watts), Meter: power.Info{
		Name: name, Source: source, Scope: scope, Method: power.Measured, Quantity: power.Energy, Error: 0.01,
	}}
	if idle > 0 {
		m.Idle = amount(idle)
	}
	return m
}

func tenSeconds(meters ...Metered) *EnergyRecord {
	return &EnergyRecord{
		Loop:   &EnergyLoop{Elapsed: 10, Searches: 1000, Roots: 64, NEdge: 2e10, TEPS: 2e9},
		Meters: meters,
	}
}

// concluded is the record of a loop of ten seconds with what is derived from it.
func concluded(meters ...Metered) *EnergyRecord {
	e := tenSeconds(meters...)
	e.Figures, e.Green = e.figures(nil), e.green(nil, nil)
	return e
}

func names(figures []PowerFigure) (list []string) {
	for _, f := range figures {
		list = append(list, f.Of)
	}
	return list
}

func TestFiguresAndSums(t *testing.T) {
	hole := meteredAs("dram-1", "rapl", power.DRAM, 10, 5)
	hole.Loop.Coverage = 0.95
	other := meteredAs("gpu-1", "nvml", power.GPU, 300, 100)
	other.Used = false
	pkg, gpu := meteredAs("package-0", "rapl", power.Package, 50, 20), meteredAs("gpu-0", "nvml", power.GPU, 600, 100)
	second, dram := meteredAs("package-1", "rapl", power.Package, 40, 20), meteredAs("dram-0", "rapl", power.DRAM, 10, 5)
	for name, c := range map[string]struct {
		meters []Metered
		want   []string
	}{
		"packages and memory": {
			[]Metered{pkg, dram, second}, []string{"package-0", "dram-0", "package-1", sumOfPackages},
		},
		"one package":           {[]Metered{pkg}, []string{"package-0"}},
		"a part is not covered": {[]Metered{pkg, second, hole, gpu}, []string{"gpu-0"}},
		"two sources": {
			[]Metered{pkg, meteredAs("cpu", "hwmon", power.Package, 50, 20)},
			[]string{"package-0", "cpu"},
		},
		"GPUs": {
			[]Metered{gpu, meteredAs("gpu-2", "nvml", power.GPU, 600, 100), other},
			[]string{"gpu-0", "gpu-2", sumOfGPUs},
		},
		"a GPU and a package": {[]Metered{gpu, pkg}, []string{"gpu-0", "package-0"}},
		"psys is in no sum":   {[]Metered{meteredAs("psys", "rapl", power.SoC, 90, 30), pkg}, []string{"psys", "package-0"}},
		"nodes are not added up": {
			[]Metered{meteredAs("bmc", "ipmi", power.Node, 500, 200), meteredAs("pdu", "command", power.Wall, 550, 220)},
			[]string{"bmc", "pdu"},
		},
		"nothing that can be used": {[]Metered{other}, nil},
		"a disconnected meter": {
			[]Metered{pkg, meteredAs("wall", "command", power.Wall, 1e-310, 0)}, []string{"package-0"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			e := tenSeconds(c.meters...)
			figures := e.figures(nil)
			if got := names(figures); !slices.Equal(got, c.want) {
				t.Fatalf("figures of %q, want %q", got, c.want)
			}
			for _, f := range figures {
				if f.System != (f.Scope == power.Node || f.Scope == power.Wall) || len(f.Meters) > 1 && f.System {
					t.Errorf("%s: system = %v", f.Of, f.System)
				}
				watts := 0.0
				for _, m := range c.meters {
					if slices.Contains(f.Meters, m.Meter.Name) {
						watts += m.Loop.Watts
					}
				}
				if f.Watts != watts || math.Abs(f.MTEPSPerWatt-2000/watts) > 1e-9 || math.Abs(f.Joules-watts*10) > 1e-9 {
					t.Errorf("%s: %+v, want %g W", f.Of, f, watts)
				}
				if math.Abs(f.Uncertainty-0.01) > 1e-9 || f.SensorError != 0.01 {
					t.Errorf("%s: uncertainty %g", f.Of, f.Uncertainty)
				}
			}
		})
	}
}

// A figure of some parts is not shown as that of the whole: without a part there is no sum, and without a meter that
// would come first there is no headline.
func TestHeadlineNeedsEveryPart(t *testing.T) {
	stopped := func(name string, scope power.Scope) Metered {
		m := meteredAs(name, "rapl", scope, 40, 20)
		m.Loop, m.NoLoop = nil, "the meter is gone"
		return m
	}
	refused := func(name string, scope power.Scope) power.Absence {
		return power.Absence{Source: name, Scope: scope, Reason: "only root may read it"}
	}
	pkg, gpu := meteredAs("package-0", "rapl", power.Package, 50, 20), meteredAs("gpu-0", "nvml", power.GPU, 600, 100)
	for name, c := range map[string]struct {
		meters   []Metered
		absent   []power.Absence
		figures  []string
		headline string // or what the statement names
	}{
		"all are there":         {[]Metered{pkg, gpu}, nil, []string{"package-0", "gpu-0"}, "gpu-0"},
		"a package":             {[]Metered{pkg, stopped("package-1", power.Package)}, nil, nil, "package-1: the"},
		"memory, not the GPU":   {[]Metered{pkg, gpu, stopped("dram-0", power.DRAM)}, nil, []string{"gpu-0"}, "gpu-0"},
		"a zone is refused":     {[]Metered{pkg}, []power.Absence{refused("dram", power.DRAM)}, nil, "dram: only"},
		"a GPU":                 {[]Metered{pkg}, []power.Absence{refused("g1", power.GPU)}, []string{"package-0"}, "g1: "},
		"the wall meter":        {[]Metered{gpu, stopped("pdu", power.Wall)}, nil, []string{"gpu-0"}, "pdu: the"},
		"a disk's sensor":       {[]Metered{pkg, stopped("nvme", power.Device)}, nil, []string{"package-0"}, "package-0"},
		"a source has no meter": {[]Metered{pkg}, []power.Absence{refused("ipmi", "")}, []string{"package-0"}, "package-0"},
	} {
		e := tenSeconds(c.meters...)
		e.Absent = c.absent
		e.Figures = e.figures(nil)
		e.Green = e.green(nil, nil)
		f, found := e.Headline()
		if got := names(e.Figures); !slices.Equal(got, c.figures) || found && f.Of != c.headline {
			t.Errorf("%s: figures of %q with the headline %q, want %q and %q", name, got, f.Of, c.figures, c.headline)
		}
		if got := powerText(Run{Energy: e}); !strings.Contains(got, c.headline) {
			t.Errorf("%s: %q, want it to name %q", name, got, c.headline)
		}
	}
}

// The rate of several hosts is divided by the power of all of them, or not at all.
func TestFiguresOfSeveralHostsNeedAllHosts(t *testing.T) {
	on := func(host, name, source string, scope power.Scope, watts float64) Metered {
		m := meteredAs(name+" on "+host, source, scope, watts, watts/2)
		m.Meter.Host = host
		return m
	}
	hosts := []string{"n1", "n2", "n3"}
	var walls, packages, nodes, gpus []Metered
	for i, host := range hosts {
		watts := float64(100 * (i + 1))
		walls = append(walls, on(host, "wall", "command", power.Wall, watts))
		packages = append(packages, on(host, "package-0", "rapl", power.Package, watts/2),
			on(host, "package-1", "rapl", power.Package, watts/4), on(host, "dram-0", "rapl", power.DRAM, watts/4))
		nodes = append(nodes, on(host, "dcmi", "ipmi", power.Node, watts))
		gpus = append(gpus, on(host, "gpu-"+host, "nvml", power.GPU, watts))
	}
	stopped := on("n3", "wall", "command", power.Wall, 300)
	stopped.Loop, stopped.NoLoop = nil, "the program has ended"
	unused := gpus[2]
	unused.Used = false
	for name, c := range map[string]struct {
		meters []Metered
		absent []power.Absence
		sums   map[string]float64
		says   string
		share  string
	}{
		"walls": {walls, nil, map[string]float64{"wall of 3 hosts": 600}, "power: wall of 3 hosts, ",
			"3 of 3 hosts: n1, n2, n3"},
		"walls and more": {slices.Concat(walls, nodes), nil,
			map[string]float64{"wall of 3 hosts": 600, "dcmi of 3 hosts": 600}, "", "3 of 3 hosts: n1, n2, n3"},
		"packages": {packages, nil, map[string]float64{sumOfPackages + " of 3 hosts": 600}, "(n1, n2, n3)", "0 of 3 hosts"},
		"GPUs":     {gpus, nil, map[string]float64{sumOfGPUs + " of 3 hosts": 600}, "", "0 of 3 hosts"},
		"a GPU is not the engine's": {slices.Concat(gpus[:2], []Metered{unused}), nil, nil, "no meters cover all hosts",
			"0 of 3 hosts"},
		"one host, by an earlier version": {[]Metered{meteredAs("wall", "command", power.Wall, 100, 50)}, nil, nil,
			"no meters cover all hosts", "0 of 3 hosts"},
		"one has none": {walls[:2], []power.Absence{{Source: "command on n3", Scope: power.Wall, Reason: "no file"}}, nil,
			"command on n3: no file", "2 of 3 hosts: n1, n2"},
		"one stops": {slices.Concat(walls[:2], []Metered{stopped}, packages), nil,
			map[string]float64{sumOfPackages + " of 3 hosts": 600}, "wall on n3: the program has ended", "2 of 3 hosts: n1, n2"},
		"one has no memory meter": {packages[:8], []power.Absence{{Source: "rapl on n3", Scope: power.DRAM}}, nil,
			"rapl on n3", "0 of 3 hosts"},
		"another name on one": {slices.Concat(walls[:2], []Metered{on("n3", "pdu", "command", power.Wall, 300)}), nil, nil,
			"no meters cover all hosts", "3 of 3 hosts: n1, n2, n3"},
		"no meter of one, which no absence says": {walls[1:], nil, nil, "no meters cover all hosts", "2 of 3 hosts: n2, n3"},
	} {
		e := tenSeconds(c.meters...)
		e.Loop.Elapsed, e.Absent = 60, c.absent
		e.Figures = e.figures(hosts)
		e.Green = e.green(nil, hosts)
		must.Equal(t, len(e.Figures), len(c.sums), name, names(e.Figures))
		for _, f := range e.Figures {
			if f.Watts != c.sums[f.Of] || f.MTEPSPerWatt != 2000/f.Watts || *f.IdleWatts != f.Watts/2 {
				t.Errorf("%s: got %+v, want %v", name, f, c.sums)
			}
		}
		if text := powerText(Run{Energy: e, Hosts: hosts}); !strings.Contains(text, c.says) || e.Green.Share != c.share {
			t.Errorf("%s: power %q, share %q", name, text, e.Green.Share)
		}
		level := len(c.sums) > 0 && strings.HasPrefix(c.share, "3")
		if (e.Green.Level == 1) != level || !level && !strings.Contains(e.Green.Missing[0], "on every host ("+c.share+")") {
			t.Errorf("%s: %+v", name, e.Green)
		}
	}
}

func TestExcessOverIdleMustExceedItsUncertainty(t *testing.T) {
	for _, c := range []struct {
		idle float64
		want bool
	}{{50, true}, {99, false}, {120, false}, {0, false}} {
		f := tenSeconds(meteredAs("node", "ipmi", power.Node, 100, c.idle)).figures(nil)[0]
		if (f.MTEPSPerWattOverIdle != nil) != c.want || (f.IdleWatts != nil) != (c.idle > 0) {
			t.Errorf("idle %g W: %+v", c.idle, f)
		}
		if c.want && (*f.MTEPSPerWattOverIdle != 2000/50.0 || math.Abs(*f.UncertaintyOverIdle-1.5/50) > 1e-9) {
			t.Errorf("above idle %g ± %g", *f.MTEPSPerWattOverIdle, *f.UncertaintyOverIdle)
		}
	}
}

// A meter may show nothing while the engine is idle. A loop that failed has no figures, whatever the meters showed.
func TestFiguresOfIdleMetersAndFailedLoops(t *testing.T) {
	m := meteredAs("node", "ipmi", power.Node, 100, 50)
	m.Idle = &power.Amount{Coverage: 1}
	e := tenSeconds(m)
	if f := e.figures(nil)[0]; *f.IdleWatts != 0 || f.MTEPSPerWattOverIdle == nil || *f.MTEPSPerWattOverIdle != 20 {
		t.Errorf("%+v", f)
	}
	if e.Failure = "it died"; e.figures(nil) != nil || e.green(nil, nil) != nil {
		t.Errorf("figures %v, %+v", e.figures(nil), e.green(nil, nil))
	}
}

// Time that a meter does not cover is assumed to be like the rest, and counts as uncertainty in full.
func TestUncoveredTimeIsUncertainty(t *testing.T) {
	m := meteredAs("node", "ipmi", power.Node, 100, 50)
	m.Loop.Coverage, m.Loop.Joules = 0.995, 995
	f := tenSeconds(m).figures(nil)[0]
	if math.Abs(f.Joules-1000) > 1e-9 || math.Abs(f.Uncertainty-(0.005+10/995.0)) > 1e-9 {
		t.Errorf("%g J ± %g", f.Joules, f.Uncertainty)
	}
}

func TestHeadlinePrefersMeasuredSystems(t *testing.T) {
	estimated := meteredAs("stated", "hwmon", power.Wall, 350, 0)
	estimated.Meter.Method = power.Estimated
	pkg, dram := meteredAs("package-0", "rapl", power.Package, 50, 20), meteredAs("dram-0", "rapl", power.DRAM, 10, 5)
	gpu := meteredAs("gpu-0", "nvml", power.GPU, 600, 100)
	for _, c := range []struct {
		meters []Metered
		want   string
		label  string
	}{
		{[]Metered{estimated, dram, pkg}, sumOfPackages, "packages + dram"},
		{[]Metered{estimated, dram, pkg, gpu}, "gpu-0", "gpu"},
		{[]Metered{estimated, gpu, meteredAs("bmc", "ipmi", power.Node, 900, 400)}, "bmc", "node"},
		{[]Metered{estimated}, "stated", "wall, estimated"},
	} {
		if f, found := concluded(c.meters...).Headline(); !found || f.Of != c.want || f.Label() != c.label {
			t.Errorf("headline %q, %q, want %q, %q", f.Of, f.Label(), c.want, c.label)
		}
	}
	if _, found := (*EnergyRecord)(nil).Headline(); found {
		t.Error("a headline without figures")
	}
}

func TestGreenLevels(t *testing.T) {
	graphOf := func(scale, edgeFactor int) *GraphRecord {
		k := graph.Kronecker{Scale: scale, EdgeFactor: edgeFactor}
		return &GraphRecord{Recipe: k, Vertices: k.Vertices(), Tuples: k.Tuples()}
	}
	small := graphOf(24, 16)
	for name, c := range map[string]struct {
		graph   *GraphRecord
		change  func(*EnergyRecord, *Metered)
		class   string
		level   int
		missing string
	}{
		"level 1":                   {small, nil, SmallData, 1, "the whole run, kernel 1 included"},
		"big data":                  {graphOf(30, 16), nil, BigData, 1, ""},
		"many vertices, few tuples": {graphOf(30, 8), nil, SmallData, 1, ""},
		"few vertices, many tuples": {graphOf(29, 32), nil, SmallData, 1, ""},
		"short": {
			small, func(e *EnergyRecord, _ *Metered) { e.Loop.Elapsed = 59.9 }, SmallData, 0, "a loop of at least 60 s",
		},
		"slow": {small, func(_ *EnergyRecord, m *Metered) { m.Loop.LargestGap = 2 * time.Second }, SmallData, 0,
			"a reading every second (the longest time between two was 2 s"},
		"inexact": {small, func(_ *EnergyRecord, m *Metered) { m.Meter.Error = 0.06 }, SmallData, 0,
			"at most 5 % (this one states 6 %"},
		"not stated": {small, func(_ *EnergyRecord, m *Metered) { m.Meter.Error = 0 }, SmallData, 0,
			"at most 5 % (this one states none; it can be added"},
		"hole": {
			small, func(_ *EnergyRecord, m *Metered) { m.Loop.Coverage = 0.995 }, SmallData, 0, "over the whole loop",
		},
		"component": {
			small, func(_ *EnergyRecord, m *Metered) { m.Meter.Scope = power.GPU }, SmallData, 0, "a meter of the whole system",
		},
		"estimated": {small, func(_ *EnergyRecord, m *Metered) { m.Meter.Method = power.Estimated }, SmallData, 0,
			"a meter of the whole system"},
	} {
		t.Run(name, func(t *testing.T) {
			e := tenSeconds(meteredAs("pdu", "command", power.Wall, 400, 200))
			e.Loop.Elapsed = 60
			if c.change != nil {
				c.change(e, &e.Meters[0])
			}
			e.Figures = e.figures(nil)
			green := e.green(c.graph, nil)
			if green.Class != c.class || green.Level != c.level {
				t.Errorf("%+v", green)
			}
			if all := strings.Join(green.Missing, "; "); !strings.Contains(all, c.missing) {
				t.Errorf("missing %q, want %q", all, c.missing)
			}
			text := powerText(
				Run{Energy: &EnergyRecord{Loop: e.Loop, Figures: e.Figures, Green: green, Meters: e.Meters}, Graph: c.graph})
			must.Equal(t, strings.Contains(text, " system power"), name != "component", text)
			must.Equal(t, c.level == 0, strings.Contains(text, "no EEHPC level"), text)
		})
	}
}

// The energy between two points of a curve is exact, whatever the number of samples.
func TestCurveIsShortAndExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		quantity := rapid.SampledFrom([]power.Quantity{power.Energy, power.Power}).Draw(t, "quantity")
		n := rapid.SampledFrom([]int{0, 1, 2, 3, maxPoints - 1, maxPoints, maxPoints + 1, 5000}).Draw(t, "samples")
		breaks := map[int]bool{}
		for range rapid.IntRange(0, 2).Draw(t, "breaks") {
			breaks[rapid.IntRange(1, 5000).Draw(t, "break")] = true
		}
		start := time.Now()
		s := power.Series{Info: power.Info{Quantity: quantity}}
		exact := map[time.Duration]float64{}
		joules, value := 0.0, 0.0
		for i := range n {
			before := value
			if quantity == power.Energy && i%3 == 0 {
				value += float64(i % 7)
			} else if quantity == power.Power {
				value = 100 + float64(i*7919%101)
			}
			at := time.Duration(i) * 10 * time.Millisecond
			if i > 0 && !breaks[i] {
				if quantity == power.Energy {
					joules += value - before
				} else {
					joules += (before + value) / 2 * 0.01
				}
			}
			exact[at] = joules
			s.Readings = append(s.Readings, power.Reading{Time: start.Add(at), Value: value, Break: breaks[i]})
		}
		c := newCurve(s, start)
		if c.Of != n || len(c.At) != len(c.Joules) || len(c.At) > maxPoints || n > 0 && len(c.At) == 0 {
			t.Fatalf("%d samples kept of %d", len(c.At), c.Of)
		}
		for i, at := range c.At {
			if math.Abs(c.Joules[i]-exact[at]) > 1e-6*(1+exact[at]) {
				t.Fatalf("at %v %g J, want %g", at, c.Joules[i], exact[at])
			}
		}
		if n > 0 && c.At[len(c.At)-1] != time.Duration(n-1)*10*time.Millisecond {
			t.Fatalf("the curve ends at %v", c.At[len(c.At)-1])
		}
		within := 0
		for i := range breaks {
			if i < n {
				within++
			}
		}
		if (len(c.Breaks) > 0) != (within > 0) {
			t.Fatalf("breaks %v of %v", c.Breaks, breaks)
		}
	})
}

func TestPowerTextWithoutFigures(t *testing.T) {
	hole := meteredAs("node", "ipmi", power.Node, 100, 50)
	hole.Loop.Coverage = 0.5
	without, zero := concluded(hole), concluded(meteredAs("wall", "command", power.Wall, 0, 0))
	for want, e := range map[string]*EnergyRecord{
		"not measured; no power class":                                         nil,
		"not measured: it died":                                                {Failure: "it died"},
		"not measured: there is no power":                                      {},
		"not measured: node: its readings cover 50 % of the loop":              without,
		"not measured: wall: it showed 0 J over the whole loop; GreenGraph500": zero,
	} {
		if got := powerText(Run{Energy: e}); !strings.HasPrefix(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := fmt.Sprint(zero.green(nil, nil).Missing); !strings.Contains(got, "a meter of the whole system") ||
		len(zero.Figures) != 0 {
		t.Errorf("missing %s", got)
	}
}

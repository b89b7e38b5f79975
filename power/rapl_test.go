package power

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"
)

const package0 = "sys/class/powercap/intel-rapl:0/energy_uj"

func TestRAPLFindsEveryZoneOnce(t *testing.T) {
	meters, absences := findRAPL(unpack(t, "two-packages").tree())
	closeAll(t, meters)
	want := []struct {
		name   string
		scope  Scope
		within string
	}{
		{"rapl:package-0", Package, ""}, {"rapl:package-0/dram", DRAM, ""}, {"rapl:package-0/core", Core, "rapl:package-0"},
		{"rapl:package-0/uncore", Uncore, "rapl:package-0"}, {"rapl:package-1", Package, ""}, {"rapl:package-1/dram", DRAM, ""}, {"rapl:psys", SoC, ""},
	}
	if len(meters) != len(want) {
		t.Fatalf("%d meters, want %d", len(meters), len(want))
	}
	for i, w := range want {
		got := meters[i].Info()
		if got.Name != w.name || got.Scope != w.scope || got.Within != w.within {
			t.Errorf("%+v, want %v", got, w)
		}
		if got.Quantity != Energy || got.Method != Measured || got.Period != time.Millisecond || got.Scope.System() || got.Detail == "" {
			t.Errorf("%+v", got)
		}
	}
	if len(absences) != 2 || !contains(errors.New(reasons(absences)), "shows package-0 a second time, beside intel-rapl:0, and is left out") {
		t.Errorf("absences: %s", reasons(absences))
	}
}

func TestRAPLCounts(t *testing.T) {
	m := unpack(t, "two-packages")
	meters, _ := findRAPL(m.tree())
	closeAll(t, meters)
	zones := byName(meters)
	if j := only(t, zones["rapl:package-0"]); j != 0 {
		t.Errorf("it begins at %v J", j)
	}
	m.write(package0, "150000000\n")
	if j := only(t, zones["rapl:package-0"]); j != 50 {
		t.Errorf("%v J after 50", j)
	}
	// Package 1 stands 0.32885 J before its end; then it shows 2 J.
	m.write("sys/class/powercap/intel-rapl:1/energy_uj", "2000000\n")
	if j := only(t, zones["rapl:package-1"]); math.Abs(j-2.32885) > 1e-9 {
		t.Errorf("%v J across the end of the range", j)
	}
}

func TestRAPLCounterThatWasSetBackIsABreak(t *testing.T) {
	m := unpack(t, "two-packages")
	meters, _ := findRAPL(m.tree())
	closeAll(t, meters)
	zone := byName(meters)["rapl:package-0"]
	m.write(package0, "160000000\n")
	only(t, zone)
	m.write(package0, "1000000\n") // as after a reset; a wrap would have taken 262 kJ
	readings, err := zone.Read(t.Context())
	if !errors.Is(err, ErrBreak) || errors.Is(err, ErrGone) || len(readings) != 1 || readings[0].Value != 60 {
		t.Errorf("%v, %v", readings, err)
	}
	m.write(package0, "3000000\n")
	if j := only(t, zone); j != 62 {
		t.Errorf("after the break: %v J", j)
	}
}

func TestUnwrapper(t *testing.T) {
	at := func(s float64) time.Time { return moment(s) }
	type step struct {
		second, shown, sum float64
		broken             bool
	}
	for name, c := range map[string]struct {
		wrap, most float64
		steps      []step
	}{
		"grows":                      {1000, 100, []step{{0, 900, 0, false}, {1, 950, 50, false}, {2, 950, 50, false}}},
		"wraps":                      {1000, 100, []step{{0, 950, 0, false}, {1, 20, 70, false}, {2, 60, 110, false}}},
		"wraps again and again":      {1000, 1000, []step{{0, 900, 0, false}, {.9, 700, 800, false}, {1.8, 500, 1600, false}}},
		"set back":                   {1000, 10, []step{{0, 500, 0, false}, {1, 3, 0, true}, {2, 8, 5, false}}},
		"many wraps may be missed":   {1000, 100, []step{{0, 500, 0, false}, {10.5, 600, 0, true}, {11, 650, 50, false}}},
		"never wraps":                {0, 0, []step{{0, 500, 0, false}, {1e6, 9e9, 9e9 - 500, false}}},
		"never wraps, and goes back": {0, 0, []step{{0, 500, 0, false}, {1, 499, 0, true}, {2, 501, 2, false}}},
	} {
		var u unwrapper
		for i, s := range c.steps {
			sum, err := u.add(s.shown, at(s.second), c.wrap, c.most)
			if math.Abs(sum-s.sum) > 1e-9 || errors.Is(err, ErrBreak) != s.broken {
				t.Errorf("%s, step %d: %v, %v", name, i, sum, err)
			}
		}
	}
}

func TestRAPLSaysWhyItIsNotThere(t *testing.T) {
	full := unpack(t, "two-packages")
	unnamed := unpack(t, "two-packages")
	unnamed.remove("sys/class/powercap/intel-rapl:1/name")
	unnamed.remove("sys/class/powercap/intel-rapl:2/max_energy_range_uj")
	unnamed.write("sys/class/powercap/intel-rapl:0:2/energy_uj", "\n")
	empty := machine{t, t.TempDir()}
	noZones := machine{t, t.TempDir()}
	noZones.write("sys/class/powercap/intel-rapl/enabled", "1\n")

	meters, absences := findRAPL(denied{full.tree(), "energy_uj"})
	if len(meters) != 0 || !contains(errors.New(reasons(absences)), "root only, as since Linux 5.10: run as root, or: sudo chmod a+r") {
		t.Errorf("no permission: %d meters, %s", len(meters), reasons(absences))
	}
	meters, absences = findRAPL(denied{full.tree(), "intel-rapl:1/energy_uj"})
	if len(meters) != 6 || !contains(errors.New(reasons(absences)), "energy_uj of intel-rapl:1 may be read by root only") {
		t.Errorf("no permission for one: %d meters, %s", len(meters), reasons(absences))
	}
	closeAll(t, meters)
	meters, absences = findRAPL(empty.tree())
	if len(meters) != 0 || !contains(errors.New(reasons(absences)), "there is no /sys/class/powercap") {
		t.Errorf("nothing: %s", reasons(absences))
	}
	meters, absences = findRAPL(noZones.tree())
	if len(meters) != 0 || !contains(errors.New(reasons(absences)), "modprobe intel_rapl_msr") {
		t.Errorf("no zones: %s", reasons(absences))
	}
	meters, absences = findRAPL(unnamed.tree())
	closeAll(t, meters)
	for _, want := range []string{"intel-rapl:1 does not say its name", "intel-rapl:2: max_energy_range_uj does not say", `intel-rapl:0:2: it shows "", which is no count`} {
		if !contains(errors.New(reasons(absences)), want) {
			t.Errorf("%q is not among the absences: %s", want, reasons(absences))
		}
	}
}

func TestRAPLZoneThatVanishesIsGone(t *testing.T) {
	var gone atomic.Bool
	meters, _ := findRAPL(vanishing{unpack(t, "two-packages").tree(), &gone, "intel-rapl:0/energy_uj"})
	closeAll(t, meters)
	zones := byName(meters)
	only(t, zones["rapl:package-0"])
	gone.Store(true)
	if _, err := zones["rapl:package-0"].Read(t.Context()); !errors.Is(err, ErrGone) {
		t.Errorf("%v", err)
	}
	only(t, zones["rapl:package-1"])
}

func TestRAPLOfProcessorsThatDoNotMeasureIsAnEstimate(t *testing.T) {
	for cpuinfo, want := range map[string]Method{
		"vendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t\t: 17\n":                                     Estimated,
		"vendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 45\nmodel name\t: Xeon E5-2680\n":          Estimated,
		"processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 63\nmodel name\t: E5 v3\n": Measured,
		"": Measured,
	} {
		m := unpack(t, "two-packages")
		m.write("proc/cpuinfo", cpuinfo)
		meters, _ := findRAPL(m.tree())
		closeAll(t, meters)
		if got := meters[0].Info(); got.Method != want {
			t.Errorf("%q: %s, want %s", cpuinfo, got.Method, want)
		}
	}
}

func TestZonesAreInOrderOfTheirNumbers(t *testing.T) {
	order := []string{"intel-rapl:0", "intel-rapl:0:1", "intel-rapl:0:2", "intel-rapl:2", "intel-rapl:10", "intel-rapl-mmio:0"}
	for i := range order {
		for j := range order {
			if c := compareZones(order[i], order[j]); c < 0 != (i < j) || c > 0 != (i > j) {
				t.Errorf("%s and %s: %d", order[i], order[j], c)
			}
		}
	}
}

// Under /sys/class every zone is a link into /sys/devices, and a vanished zone leaves the link of none.
func TestRAPLFollowsLinks(t *testing.T) {
	m := machine{t, t.TempDir()}
	zone := "sys/devices/virtual/powercap/intel-rapl/intel-rapl:0"
	m.write(zone+"/name", "package-0\n")
	m.write(zone+"/energy_uj", "1\n")
	m.write(zone+"/max_energy_range_uj", "262143328850\n")
	m.write("sys/class/powercap/intel-rapl/enabled", "1\n")
	for link, target := range map[string]string{"intel-rapl:0": "../../devices/virtual/powercap/intel-rapl/intel-rapl:0", "intel-rapl:1": "../../devices/none"} {
		if err := os.Symlink(target, filepath.Join(m.root, "sys/class/powercap", link)); err != nil {
			t.Fatal(err)
		}
	}
	meters, absences := findRAPL(m.tree())
	closeAll(t, meters)
	if len(meters) != 1 || meters[0].Info().Name != "rapl:package-0" || len(absences) != 1 {
		t.Errorf("%d meters, %s", len(meters), reasons(absences))
	}
}

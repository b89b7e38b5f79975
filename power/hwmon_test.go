package power

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestHwmonFindsPowerAndEnergy(t *testing.T) {
	m := unpack(t, "sensors")
	if err := os.Symlink("../../../devices/pci0000:00/0000:03:00.0", filepath.Join(m.root, "sys/class/hwmon/hwmon0/device")); err != nil {
		t.Fatal(err)
	}
	meters, absences := findHwmon(m.tree())
	closeAll(t, meters)
	got := byName(meters)
	want := map[string]Info{
		"hwmon:hwmon0/power1":  {Scope: GPU, Method: Measured, Quantity: Power, Device: "0000:03:00.0"},
		"hwmon:hwmon1/power1":  {Scope: Node, Method: Measured, Quantity: Power, Period: time.Second},
		"hwmon:hwmon2/energy2": {Scope: Package, Method: Estimated, Quantity: Energy},
		"hwmon:hwmon3/energy1": {Scope: GPU, Method: Measured, Quantity: Energy},
		"hwmon:hwmon4/power1":  {Scope: Device, Method: Measured, Quantity: Power},
	}
	if len(got) != len(want) {
		t.Errorf("%d meters, want %d", len(got), len(want))
	}
	for name, w := range want {
		m, ok := got[name]
		if !ok {
			t.Errorf("no %s", name)
			continue
		}
		i := m.Info()
		if i.Scope != w.Scope || i.Method != w.Method || i.Quantity != w.Quantity || i.Device != w.Device || i.Period != w.Period {
			t.Errorf("%+v, want %+v", i, w)
		}
	}
	for name, value := range map[string]float64{"hwmon:hwmon0/power1": 45, "hwmon:hwmon1/power1": 310, "hwmon:hwmon3/energy1": 0, "hwmon:hwmon4/power1": 5.5} {
		if v := only(t, got[name]); v != value {
			t.Errorf("%s: %v, want %v", name, v, value)
		}
	}
	m.write("sys/class/hwmon/hwmon3/energy1_input", "8000000\n")
	if v := only(t, got["hwmon:hwmon3/energy1"]); v != 7 {
		t.Errorf("%v J after 7", v)
	}
	m.write("sys/class/hwmon/hwmon3/energy1_input", "1000\n")
	if _, err := got["hwmon:hwmon3/energy1"].Read(t.Context()); !errors.Is(err, ErrBreak) {
		t.Errorf("after a reset: %v", err)
	}
	if !contains(errors.New(reasons(absences)), `hwmon:hwmon4/power2: it cannot be read: it shows "nonsense"`) {
		t.Errorf("absences: %s", reasons(absences))
	}
}

func TestHwmonLeavesOutWhatRAPLShows(t *testing.T) {
	m := unpack(t, "sensors")
	m.write("sys/class/powercap/intel-rapl:0/name", "package-0\n")
	meters, absences := findHwmon(m.tree())
	closeAll(t, meters)
	if _, ok := byName(meters)["hwmon:hwmon2/energy2"]; ok || !contains(errors.New(reasons(absences)), "amd_energy shows the counters of rapl") {
		t.Errorf("absences: %s", reasons(absences))
	}
}

func TestHwmonSaysWhyItIsNotThere(t *testing.T) {
	if _, absences := findHwmon(os.DirFS(t.TempDir())); !contains(errors.New(reasons(absences)), "there is no chip under /sys/class/hwmon") {
		t.Errorf("%s", reasons(absences))
	}
	m := machine{t, t.TempDir()}
	m.write("sys/class/hwmon/hwmon0/name", "nvme\n")
	m.write("sys/class/hwmon/hwmon0/temp1_input", "30\n")
	if _, absences := findHwmon(m.tree()); !contains(errors.New(reasons(absences)), "none of the 1 chips") {
		t.Errorf("%s", reasons(absences))
	}
}

func TestBatteriesCountWhileTheMachineRunsFromThem(t *testing.T) {
	m := unpack(t, "sensors")
	meters, absences := findBattery(m.tree())
	if len(meters) != 1 {
		t.Fatalf("%s", reasons(absences))
	}
	if w := only(t, meters[0]); w != 12.5+6 {
		t.Errorf("%v W from two batteries", w)
	}
	if i := meters[0].Info(); i.Scope != Node || !i.Scope.System() {
		t.Errorf("%+v", i)
	}
	m.write("sys/class/power_supply/BAT1/status", "Not charging\n")
	if w := only(t, meters[0]); w != 12.5 {
		t.Errorf("%v W from one battery", w)
	}
	for _, status := range []string{"Charging", "Full"} {
		m.write("sys/class/power_supply/BAT0/status", status+"\n")
		if r, err := meters[0].Read(t.Context()); len(r) != 0 || !contains(err, "unplug the machine") {
			t.Errorf("%s: %v, %v", status, r, err)
		}
		if meters, absences := findBattery(m.tree()); len(meters) != 0 || !contains(errors.New(reasons(absences)), "unplug the machine") {
			t.Errorf("%s: %s", status, reasons(absences))
		}
	}
	m.write("sys/class/power_supply/BAT0/status", "Discharging\n")
	m.remove("sys/class/power_supply/BAT0/power_now")
	if _, absences := findBattery(m.tree()); !contains(errors.New(reasons(absences)), "shows neither power_now nor current_now") {
		t.Errorf("%s", reasons(absences))
	}
	m.remove("sys/class/power_supply/BAT0")
	m.remove("sys/class/power_supply/BAT1")
	if _, absences := findBattery(m.tree()); !contains(errors.New(reasons(absences)), "no battery") {
		t.Errorf("the mouse's battery counts: %s", reasons(absences))
	}
	m.remove("sys/class/power_supply")
	if _, absences := findBattery(m.tree()); !contains(errors.New(reasons(absences)), "without batteries") {
		t.Errorf("%s", reasons(absences))
	}
}

func TestModelFollowsTheProcessors(t *testing.T) {
	m := unpack(t, "sensors")
	meters, absences, err := Find(t.Context(), Config{Root: m.root, Meters: []string{"model:package=20-65"}})
	if err != nil || len(meters) != 1 {
		t.Fatalf("%v, %s", err, reasons(absences))
	}
	closeAll(t, meters)
	if i := meters[0].Info(); i.Method != Estimated || i.Scope != Package {
		t.Errorf("%+v", i)
	}
	if r, err := meters[0].Read(t.Context()); len(r) != 0 || err != nil {
		t.Errorf("without a tick: %v, %v", r, err)
	}
	// 100 ticks, of which 30 idle and 10 waiting for disks; guests are in user already.
	m.write("proc/stat", "cpu  1040 5 1010 6030 10 2 3 0 40 0\n")
	if w := only(t, meters[0]); w != 20+0.6*45 {
		t.Errorf("%v W at 60 %%", w)
	}
	m.write("proc/stat", "cpu  1040 5 1010 7030 10 2 3 0 40 0\n")
	if w := only(t, meters[0]); w != 20 {
		t.Errorf("%v W idle", w)
	}
	for _, text := range []string{"", "intr 1 2 3\n", "cpu  a b c d e f\n"} {
		m.write("proc/stat", text)
		if _, err := meters[0].Read(t.Context()); err == nil {
			t.Errorf("%q is understood", text)
		}
	}
	if _, absences, err := Find(t.Context(), Config{Root: t.TempDir(), Meters: []string{"model:package=20-65"}}); err != nil || len(absences) != 1 || !absences[0].Asked {
		t.Errorf("%v, %+v", err, absences)
	}
}

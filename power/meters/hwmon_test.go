// SPDX-License-Identifier: Apache-2.0

package meters

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/tepsbench/teps/power"
)

func TestHwmonFindsPowerAndEnergy(t *testing.T) {
	m := unpack(t, "sensors")
	m.link("sys/class/hwmon/hwmon0/device", "../../../devices/pci0000:00/0000:03:00.0")
	meters, err := m.open(hwmonSource())
	sensor := func(scope power.Scope, method power.Method, q power.Quantity, device string,
		period time.Duration) power.Info {
		return power.Info{Source: "hwmon", Scope: scope, Method: method, Quantity: q, Device: device, Period: period,
			Step: 1e-6}
	}
	want := map[string]power.Info{
		"hwmon:hwmon0/power1":  sensor(power.GPU, power.Measured, power.Power, "0000:03:00.0", 0),
		"hwmon:hwmon1/power1":  sensor(power.Node, power.Measured, power.Power, "", time.Second),
		"hwmon:hwmon2/power1":  sensor(power.Package, power.Estimated, power.Power, "", 0),
		"hwmon:hwmon3/energy1": sensor(power.GPU, power.Measured, power.Energy, "", 0),
		"hwmon:hwmon4/power1":  sensor(power.Device, power.Measured, power.Power, "", 0),
	}
	got := byName(meters)
	infos := map[string]power.Info{}
	for name, m := range got {
		infos[name] = m.Info()
	}
	if diff := cmp.Diff(want, infos, cmpopts.IgnoreFields(power.Info{}, "Name", "Detail")); diff != "" {
		t.Fatalf("sensors (-want +got):\n%s", diff)
	}
	for name, want := range map[string]float64{
		"hwmon:hwmon0/power1": 45, "hwmon:hwmon1/power1": 310, "hwmon:hwmon3/energy1": 0, "hwmon:hwmon4/power1": 5.5,
	} {
		if v := only(t, got[name]); v != want {
			t.Errorf("%s: got %v, want %v", name, v, want)
		}
	}
	m.write("sys/class/hwmon/hwmon3/energy1_input", "8000000\n")
	if j := only(t, got["hwmon:hwmon3/energy1"]); j != 7 {
		t.Errorf("got %v J, want 7", j)
	}
	if !contains(err, `hwmon:hwmon4/power2: the file shows "nonsense", not a number`) {
		t.Errorf("absent: %v", err)
	}
}

func TestHwmonSaysWhyItIsAbsent(t *testing.T) {
	if _, err := emptyMachine(t).open(hwmonSource()); !contains(err, "no chip was found under /sys/class/hwmon") {
		t.Errorf("an empty machine: %v", err)
	}
	m := emptyMachine(t)
	m.write("sys/class/hwmon/hwmon0/name", "nvme\n")
	m.write("sys/class/hwmon/hwmon0/temp1_input", "30\n")
	if _, err := m.open(hwmonSource()); !contains(err, "none of the 1 chips") {
		t.Errorf("no power sensor: %v", err)
	}
}

package power

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"time"
)

// A battery shows what it gives, in microwatts or as microamperes and microvolts
// (Documentation/ABI/testing/sysfs-class-power in Linux's sources). Only while the machine runs from it is that what the
// machine takes.

const supplies = "sys/class/power_supply"

// batteryPace is how often batteries are asked. Their controllers update every few seconds at most, and are slow to answer.
const batteryPace = 500 * time.Millisecond

func findBattery(tree fs.FS) ([]Meter, []Absence) {
	absent := func(reason string) ([]Meter, []Absence) {
		return nil, []Absence{{Source: "battery", Reason: reason}}
	}
	entries, err := fs.ReadDir(tree, supplies)
	if err != nil {
		return absent("there is no /" + supplies + ": not Linux, or a machine without batteries")
	}
	b := batteries{tree: tree}
	for _, e := range entries {
		folder := path.Join(supplies, e.Name())
		// A mouse has a battery as well; its scope is "Device".
		if word(tree, path.Join(folder, "type")) == "Battery" && word(tree, path.Join(folder, "scope")) != "Device" {
			b.folders = append(b.folders, folder)
		}
	}
	if len(b.folders) == 0 {
		return absent("this machine has no battery")
	}
	if _, err := b.watts(); err != nil {
		return absent(err.Error())
	}
	return []Meter{b}, nil
}

// batteries are all of a machine: it may take from any.
type batteries struct {
	tree    fs.FS
	folders []string
}

func (b batteries) Info() Info {
	return Info{Name: "battery", Source: "battery", Scope: Node, Method: Measured, Quantity: Power, Step: 1e-6,
		Detail: "/" + strings.Join(b.folders, ", /")}
}

func (b batteries) Pace() time.Duration { return batteryPace }
func (b batteries) Close() error        { return nil }

func (b batteries) Read(context.Context) ([]Reading, error) {
	begin := time.Now()
	watts, err := b.watts()
	if err != nil {
		return nil, err
	}
	window := time.Since(begin)
	return []Reading{{Time: begin.Add(window / 2), Value: watts, Window: window}}, nil
}

var errNotDischarging = errors.New("the machine does not run from its battery, which shows nothing else than what it gives: unplug the machine")

// watts sums what the batteries give.
func (b batteries) watts() (float64, error) {
	sum, giving := 0.0, false
	for _, folder := range b.folders {
		switch status := word(b.tree, path.Join(folder, "status")); status {
		case "Discharging":
			giving = true
		case "Charging", "":
			return 0, errNotDischarging
		default: // full, or another battery's turn
			continue
		}
		power, ok := count(b.tree, path.Join(folder, "power_now"))
		if !ok {
			current, hasCurrent := count(b.tree, path.Join(folder, "current_now"))
			voltage, hasVoltage := count(b.tree, path.Join(folder, "voltage_now"))
			if !hasCurrent || !hasVoltage {
				return 0, fmt.Errorf("/%s shows neither power_now nor current_now and voltage_now", folder)
			}
			power = current * voltage / 1e6
		}
		sum += max(power, -power) / 1e6 // some drivers give what flows out a sign
	}
	if !giving {
		return 0, errNotDischarging
	}
	return sum, nil
}

// SPDX-License-Identifier: Apache-2.0

package meters

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/tepsbench/teps/power"
)

// hwmonPath has a directory of sensors per chip (Documentation/hwmon/sysfs-interface in Linux's sources): powerN_input
// and powerN_average in microwatts, energyN_input in microjoules, names in _label files.
const hwmonPath = "sys/class/hwmon"

func hwmonSource() Source {
	return Source{Name: "hwmon", Help: "sensors of drivers: GPUs, boards, ACPI meters", Open: openHwmon}
}

// hwmonCoverage returns the scope and the method of a driver's sensors; by default, they measure a device.
func hwmonCoverage(driver string) (power.Scope, power.Method) {
	switch driver {
	case "amdgpu", "i915", "xe", "nouveau":
		return power.GPU, power.Measured
	case "power_meter": // of ACPI
		return power.Node, power.Measured
	case "fam15h_power":
		return power.Package, power.Estimated
	}
	return power.Device, power.Measured
}

func openHwmon(_ context.Context, r Request) (meters []power.Meter, _ error) {
	files := r.files()
	chips, err := fs.ReadDir(files, hwmonPath)
	if err != nil || len(chips) == 0 {
		return nil, fmt.Errorf("no chip was found under /%s: this is not Linux, it is a virtual machine, or no driver is "+
			"loaded (sensors-detect finds drivers)", hwmonPath)
	}
	var reasons []error
	for _, entry := range chips {
		chip := path.Join(hwmonPath, entry.Name())
		driver := readText(files, path.Join(chip, "name"))
		for _, file := range hwmonFiles(files, chip) {
			if m, err := openSensor(files, file, driver); err != nil {
				reasons = append(reasons, err)
			} else {
				meters = append(meters, m)
			}
		}
	}
	if len(meters)+len(reasons) == 0 {
		return nil, fmt.Errorf("none of the %d chips under /%s shows power or energy", len(chips), hwmonPath)
	}
	return meters, errors.Join(reasons...)
}

// hwmonFiles returns one file for each sensor of a chip: the counter of energy if there is one, otherwise the mean
// power, otherwise the present power.
func hwmonFiles(files fs.FS, chip string) (all []string) {
	known := map[string]bool{}
	for _, kind := range []string{"energy*_input", "power*_average", "power*_input"} {
		found, _ := fs.Glob(files, path.Join(chip, kind)) // the patterns are right
		for _, file := range found {
			name, _, _ := strings.Cut(path.Base(file), "_")
			number := strings.TrimPrefix(strings.TrimPrefix(name, "energy"), "power")
			if !known[number] {
				known[number] = true
				all = append(all, file)
			}
		}
	}
	return all
}

func openSensor(files fs.FS, file, driver string) (*polled, error) {
	chip := path.Dir(file)
	sensor, _, _ := strings.Cut(path.Base(file), "_")
	label := readText(files, path.Join(chip, sensor+"_label"))
	info := power.Info{
		Name: "hwmon:" + path.Base(chip) + "/" + sensor, Source: "hwmon", Quantity: power.Power, Step: 1e-6,
		Detail: strings.TrimSpace("/" + file + ", " + driver + " " + label),
	}
	if strings.HasPrefix(sensor, "energy") {
		info.Quantity = power.Energy
	}
	info.Scope, info.Method = hwmonCoverage(driver)
	if target, err := fs.ReadLink(files, path.Join(chip, "device")); err == nil {
		info.Device = path.Base(target) // the bus address of a GPU
	}
	milliseconds, err := strconv.Atoi(readText(files, path.Join(chip, sensor+"_average_interval")))
	if err == nil && info.Quantity == power.Power {
		info.Period = time.Duration(milliseconds) * time.Millisecond
	}
	m, err := openMicro(files, file, info, total{})
	if err != nil {
		return nil, &power.PartError{Scope: info.Scope, Err: fmt.Errorf("%s: %w", info.Name, err)}
	}
	return m, nil
}

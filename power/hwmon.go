package power

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"
	"time"
)

// Drivers of sensors show what they read under /sys/class/hwmon, a folder a chip (Documentation/hwmon/sysfs-interface in
// Linux's sources): powerN_input and powerN_average in microwatts, energyN_input in microjoules, names in _label files.

const hwmon = "sys/class/hwmon"

// hwmonPace is how often a sensor of a driver is read. Behind the file can be a bus that takes milliseconds, or firmware.
const hwmonPace = 50 * time.Millisecond

// chips are the drivers of which it is known what they cover. Every other one reads some device.
var chips = map[string]struct {
	scope  Scope
	method Method
}{
	"amdgpu": {GPU, Measured}, "i915": {GPU, Measured}, "xe": {GPU, Measured}, "nouveau": {GPU, Measured},
	"power_meter": {Node, Measured}, // ACPI's power meter
	"amd_energy":  {Package, Estimated}, "fam15h_power": {Package, Estimated},
}

func findHwmon(tree fs.FS) ([]Meter, []Absence) {
	absent := func(format string, args ...any) Absence {
		return Absence{Source: "hwmon", Reason: fmt.Sprintf(format, args...)}
	}
	folders, err := fs.ReadDir(tree, hwmon)
	if err != nil || len(folders) == 0 {
		return nil, []Absence{absent("there is no chip under /%s: not Linux, a virtual machine, or no driver is loaded (sensors-detect finds them)", hwmon)}
	}
	_, err = fs.Stat(tree, powercap)
	hasRAPL := err == nil
	var meters []Meter
	var absences []Absence
	for _, folder := range folders {
		chip := path.Join(hwmon, folder.Name())
		driver := word(tree, path.Join(chip, "name"))
		if driver == "amd_energy" && hasRAPL {
			absences = append(absences, absent("amd_energy shows the counters of rapl a second time, and is left out"))
			continue
		}
		files, err := fs.ReadDir(tree, chip)
		if err != nil {
			absences = append(absences, absent("/%s cannot be listed: %v", chip, err))
			continue
		}
		for _, channel := range hwmonChannels(files) {
			label := word(tree, path.Join(chip, channel.base+"_label"))
			if driver == "amd_energy" && !strings.HasPrefix(label, "Esocket") {
				continue // a counter for each core, parts of their socket
			}
			m, err := openChannel(tree, chip, driver, label, channel)
			if err != nil {
				absences = append(absences, absent("%s: %v", m.info.Name, err))
				continue
			}
			meters = append(meters, m)
		}
	}
	if len(meters)+len(absences) == 0 {
		absences = append(absences, absent("none of the %d chips under /%s reads power or energy", len(folders), hwmon))
	}
	return meters, absences
}

// A channel is a sensor of a chip: energy1, or power1 with the file that shows it.
type channel struct {
	base, file string
	quantity   Quantity
}

// hwmonChannels lists the sensors of a chip. Where a number has energy and power, both are of the same thing, and the
// counter is better; where power has a mean and a moment, the mean is.
func hwmonChannels(files []fs.DirEntry) []channel {
	there := map[string]bool{}
	for _, f := range files {
		there[f.Name()] = true
	}
	var all []channel
	for _, f := range files {
		base, kind, _ := strings.Cut(f.Name(), "_")
		number := strings.TrimLeft(base, "abcdefghijklmnopqrstuvwxyz")
		if _, err := strconv.Atoi(number); err != nil {
			continue
		}
		switch sensor := strings.TrimSuffix(base, number); {
		case sensor == "energy" && kind == "input":
			all = append(all, channel{base, f.Name(), Energy})
		case sensor == "power" && there["energy"+number+"_input"]:
		case sensor == "power" && (kind == "average" || kind == "input" && !there[base+"_average"]):
			all = append(all, channel{base, f.Name(), Power})
		}
	}
	return all
}

func openChannel(tree fs.FS, chip, driver, label string, c channel) (*sensor, error) {
	s := &sensor{quantity: c.quantity, info: Info{
		Name: "hwmon:" + path.Base(chip) + "/" + c.base, Source: "hwmon", Scope: Device, Method: Measured, Quantity: c.quantity, Step: 1e-6,
		Detail: strings.TrimSpace("/" + path.Join(chip, c.file) + ", " + driver + " " + label),
	}}
	if known, ok := chips[driver]; ok {
		s.info.Scope, s.info.Method = known.scope, known.method
	}
	if target, err := fs.ReadLink(tree, path.Join(chip, "device")); err == nil {
		s.info.Device = path.Base(target) // a GPU's address on the bus
	}
	if milliseconds, ok := count(tree, path.Join(chip, c.base+"_average_interval")); ok && c.quantity == Power {
		s.info.Period = time.Duration(milliseconds * float64(time.Millisecond))
	}
	var err error
	if s.register, err = openRegister(tree, path.Join(chip, c.file)); err != nil {
		return s, err
	}
	if _, _, _, err = s.register.read(); err != nil {
		_ = s.register.close()
		return s, fmt.Errorf("it cannot be read: %w", err)
	}
	return s, nil
}

// sensor is a channel of a chip: microwatts or microjoules.
type sensor struct {
	info     Info
	quantity Quantity
	register *register
	count    unwrapper
}

func (s *sensor) Info() Info          { return s.info }
func (s *sensor) Pace() time.Duration { return hwmonPace }
func (s *sensor) Close() error        { return s.register.close() }

func (s *sensor) Read(context.Context) ([]Reading, error) {
	shown, at, window, err := s.register.read()
	if err != nil {
		return nil, err
	}
	value := shown / 1e6
	if s.quantity == Energy {
		value, err = s.count.add(value, at, 0, 0)
	}
	return []Reading{{Time: at, Value: value, Window: window}}, err
}

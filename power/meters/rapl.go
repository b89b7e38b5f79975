package meters

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tepsbench/teps/power"
)

// RAPL (running average power limit) counts the energy of Intel and AMD processor packages, of their parts and of
// memory. Linux shows the counters as power capping zones (Documentation/power/powercap in its sources): directories
// such as intel-rapl:0, and intel-rapl:0:1 for a zone within it. energy_uj is the count in microjoules, which starts
// again at zero after max_energy_range_uj.

const powercapPath = "sys/class/powercap"

const (
	// raplPeriod is the time between two updates of the counters (Intel Software Developer's Manual, volume 3B, 16.10).
	raplPeriod = time.Millisecond
	// raplStep is the usual unit of the counters in joules.
	raplStep = 1.0 / (1 << 14)
	// raplMax is more than any zone can draw. A counter that rises faster has been reset.
	raplMax power.Watts = 2000
)

func raplSource() Source {
	return Source{Name: "rapl", Help: "energy counters of processor packages, their parts and memory",
		Open: func(_ context.Context, r Request) ([]power.Meter, error) { return openZones(r.files()) }}
}

func openZones(files fs.FS) (meters []power.Meter, _ error) {
	zones, err := raplZones(files)
	if err != nil {
		return nil, err
	}
	var reasons []error
	var denied []string
	names := map[string]string{}  // by zone
	zoneOf := map[string]string{} // by name
	method, detail := raplMethod(files)
	for _, zone := range zones {
		directory := path.Join(powercapPath, zone)
		name := readText(files, path.Join(directory, "name"))
		if name == "" {
			reasons = append(reasons, fmt.Errorf("/%s has no name", directory))
			continue
		}
		parent := names[zone[:strings.LastIndexByte(zone, ':')]]
		if parent != "" {
			name = parent + "/" + name
		}
		names[zone] = name
		if zoneOf[name] != "" {
			reasons = append(reasons, fmt.Errorf("/%s is left out: it shows the counter of %s again", directory, zoneOf[name]))
			continue
		}
		zoneOf[name] = zone
		m, err := openZone(files, directory)
		switch {
		case errors.Is(err, fs.ErrPermission):
			denied = append(denied, zone)
			continue
		case err != nil:
			reasons = append(reasons, fmt.Errorf("/%s: %w", directory, err))
			continue
		}
		m.info.Name, m.info.Scope, m.info.Method = "rapl:"+name, raplScope(path.Base(name)), method
		m.info.Detail += detail
		if m.info.Scope == power.Core || m.info.Scope == power.Uncore {
			m.info.Within = "rapl:" + parent
		}
		meters = append(meters, m)
	}
	if len(denied) > 0 {
		reasons = append(reasons, fmt.Errorf("only root may read energy_uj of %s (since Linux 5.10): run as root, or run: "+
			"sudo chmod a+r /%s/*/energy_uj", strings.Join(denied, ", "), powercapPath))
	}
	return meters, errors.Join(reasons...)
}

// raplZones lists the zones so that a zone comes after the zone that it lies in, and a zone of intel-rapl before the
// same one of intel-rapl-mmio, another interface to the same counter.
func raplZones(files fs.FS) ([]string, error) {
	entries, err := fs.ReadDir(files, powercapPath)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there is no /%s: this is not Linux, it is a virtual machine, or the kernel has no RAPL "+
			"(try: modprobe intel_rapl_msr)", powercapPath)
	}
	if err != nil {
		return nil, err
	}
	var zones []string
	for _, e := range entries {
		if control, _, isZone := strings.Cut(e.Name(), ":"); isZone && strings.Contains(control, "rapl") {
			zones = append(zones, e.Name())
		}
	}
	if len(zones) == 0 {
		return nil, fmt.Errorf("/%s has no RAPL zones (try: modprobe intel_rapl_msr)", powercapPath)
	}
	slices.SortFunc(zones, func(a, b string) int {
		return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
	})
	return zones, nil
}

// raplMethod reports whether this processor measures its energy. Intel's do since Haswell. Before, and in AMD's, a
// model of the processor's activity feeds the counter (Hackenberg et al., HPPAC 2015; Schöne et al., CLUSTER 2021).
func raplMethod(files fs.FS) (method power.Method, detail string) {
	processor := map[string]string{}
	for line := range strings.Lines(readText(files, "proc/cpuinfo")) {
		if strings.TrimSpace(line) == "" {
			break // the first of many equal processors is enough
		}
		key, value, _ := strings.Cut(line, ":")
		processor[strings.TrimSpace(key)] = strings.TrimSpace(value)
	}
	switch vendor := processor["vendor_id"]; {
	case vendor == "AuthenticAMD" || vendor == "HygonGenuine":
		return power.Estimated, "; this processor computes it from its activity"
	case vendor == "GenuineIntel" && processor["cpu family"] == "6" &&
		slices.Contains([]string{"42", "45", "58", "62"}, processor["model"]):
		return power.Estimated, "; processors before Haswell compute it from their activity"
	}
	return power.Measured, ""
}

// raplScope returns what a zone of a name such as package-0 or core covers.
func raplScope(name string) power.Scope {
	kind, _, _ := strings.Cut(name, "-")
	return cmp.Or(map[string]power.Scope{
		"package": power.Package, "core": power.Core, "uncore": power.Uncore, "dram": power.DRAM, "psys": power.SoC,
	}[kind], power.Device)
}

// openZone opens the counter of a zone, whose name is not known here.
func openZone(files fs.FS, directory string) (*polled, error) {
	wrap, err := strconv.ParseFloat(readText(files, path.Join(directory, "max_energy_range_uj")), 64)
	if err != nil || wrap == 0 {
		return nil, errors.New("max_energy_range_uj does not say where the counter starts again")
	}
	file := path.Join(directory, "energy_uj")
	info := power.Info{
		Source: "rapl", Quantity: power.Energy, Period: raplPeriod, Step: raplStep, Detail: "/" + file,
	}
	return openMicro(files, file, info, total{wrap: power.Joules(wrap / 1e6), maxPower: raplMax})
}

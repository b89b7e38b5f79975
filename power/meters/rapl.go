// SPDX-License-Identifier: Apache-2.0

package meters

import (
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

// RAPL (running average power limit) counts the energy of Intel and AMD processor packages and of memory. Linux shows
// the counters as power capping zones (Documentation/power/powercap in its sources): directories such as intel-rapl:0,
// and intel-rapl:0:1 for a zone within it. energy_uj counts microjoules and restarts at zero after max_energy_range_uj.

const (
	powercapPath         = "sys/class/powercap"
	raplPeriod           = time.Millisecond // between two updates (Intel Software Developer's Manual, volume 3B, 16.10)
	raplStep             = 1.0 / (1 << 14)  // usual unit of the counters in joules
	raplMax      float64 = 2000             // watts, more than any zone draws: a faster rise is a reset
)

// raplScopes maps prefixes of zone names to scopes. The zones core and uncore are parts of packages.
var raplScopes = map[string]power.Scope{"package": power.Package, "dram": power.DRAM, "psys": power.SoC}

func raplSource() Source {
	return Source{Name: "rapl", Help: "energy counters of processor packages and memory",
		Open: func(_ context.Context, r Request) ([]power.Meter, error) { return openZones(r.files()) }}
}

func openZones(files fs.FS) (meters []power.Meter, _ error) {
	zones, _ := fs.Glob(files, powercapPath+"/intel-rapl:*") // of AMD's too; the pattern is right
	if len(zones) == 0 {
		return nil, fmt.Errorf("there is no /%s/intel-rapl:0: this is not Linux, it is a virtual machine, or the kernel "+
			"has no RAPL (try: modprobe intel_rapl_msr)", powercapPath)
	}
	var reasons []error
	denied := 0
	method, detail := raplMethod(files)
	for _, zone := range zones {
		name := readText(files, zone+"/name")
		kind, _, _ := strings.Cut(name, "-")
		scope, known := raplScopes[kind]
		switch {
		case name == "":
			reasons = append(reasons, &power.PartError{Scope: power.Package, Err: fmt.Errorf("/%s has no name", zone)})
			continue
		case !known: // a part of a package
			continue
		}
		if parent := readText(files, zone[:strings.LastIndexByte(zone, ':')]+"/name"); parent != "" {
			name = parent + "/" + name
		}
		m, err := openZone(files, zone)
		if errors.Is(err, fs.ErrPermission) {
			denied++
			err = fmt.Errorf("only root may read energy_uj (since Linux 5.10): run as root, or run: "+
				"sudo chmod a+r /%s/*/energy_uj", powercapPath)
		}
		if err != nil {
			reasons = append(reasons, &power.PartError{Scope: scope, Err: fmt.Errorf("rapl:%s (/%s): %w", name, zone, err)})
			continue
		}
		m.info.Name, m.info.Scope, m.info.Method = "rapl:"+name, scope, method
		m.info.Detail += detail
		meters = append(meters, m)
	}
	if denied == len(reasons) && len(meters) == 0 { // all for the same reason
		reasons = reasons[:min(1, denied)]
	}
	return meters, errors.Join(reasons...)
}

// raplMethod reports whether this processor measures its energy, as Intel's do since Haswell. On older ones and on
// AMD's a model of activity feeds the counter (Hackenberg et al., HPPAC 2015; Schöne et al., CLUSTER 2021).
func raplMethod(files fs.FS) (method power.Method, detail string) {
	processor := map[string]string{}
	for line := range strings.Lines(readText(files, "proc/cpuinfo")) {
		if strings.TrimSpace(line) == "" {
			break // all processors are equal
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

func openZone(files fs.FS, directory string) (*polled, error) {
	wrap, err := strconv.ParseFloat(readText(files, path.Join(directory, "max_energy_range_uj")), 64)
	if err != nil || wrap == 0 {
		return nil, errors.New("max_energy_range_uj does not say where the counter starts again")
	}
	file := path.Join(directory, "energy_uj")
	info := power.Info{
		Source: "rapl", Quantity: power.Energy, Period: raplPeriod, Step: raplStep, Detail: "/" + file,
	}
	return openMicro(files, file, info, total{wrap: wrap / 1e6, maxPower: raplMax})
}

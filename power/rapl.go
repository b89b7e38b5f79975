package power

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
)

// RAPL, the running average power limit of Intel's processors and its likeness in AMD's, counts the energy of packages, of
// their parts and of memory. Linux shows the counters as "power capping" zones: Documentation/power/powercap in its sources.
// A zone lies in a folder such as intel-rapl:0, a zone within it in intel-rapl:0:1; energy_uj shows the count in microjoules
// and begins anew at zero after max_energy_range_uj.

const powercap = "sys/class/powercap"

// raplPeriod is how often the counters are updated (Intel's Software Developer's Manual, volume 3B, 16.10: about 1 ms).
const raplPeriod = time.Millisecond

// mostWatts is more than a zone can take, by a wide margin: what counts up faster has not counted.
const mostWatts = 1000

func findRAPL(tree fs.FS) ([]Meter, []Absence) {
	absent := func(format string, args ...any) Absence {
		return Absence{Source: "rapl", Reason: fmt.Sprintf(format, args...)}
	}
	entries, err := fs.ReadDir(tree, powercap)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, []Absence{absent("there is no /%s: not Linux, a virtual machine, or a kernel without RAPL (try: modprobe intel_rapl_msr)", powercap)}
	}
	if err != nil {
		return nil, []Absence{absent("/%s cannot be listed: %v", powercap, err)}
	}
	var zones, denied []string
	for _, e := range entries {
		if base, _, ok := strings.Cut(e.Name(), ":"); ok && strings.Contains(base, "rapl") {
			zones = append(zones, e.Name())
		}
	}
	if len(zones) == 0 {
		return nil, []Absence{absent("/%s holds no RAPL zones (try: modprobe intel_rapl_msr)", powercap)}
	}
	// A zone's parent comes before it, and a package of intel-rapl before the same one of intel-rapl-mmio.
	slices.SortFunc(zones, compareZones)

	method, maker := raplMethod(tree)
	names := map[string]string{} // of a zone's folder
	taken := map[string]string{} // the folder that has a name
	var meters []Meter
	var absences []Absence
	for _, zone := range zones {
		name := word(tree, path.Join(powercap, zone, "name"))
		if name == "" {
			absences = append(absences, absent("/%s/%s does not say its name", powercap, zone))
			continue
		}
		parent, inZone := names[zone[:strings.LastIndexByte(zone, ':')]]
		full := name
		if inZone {
			full = parent + "/" + name
		}
		names[zone] = full
		if first, again := taken[full]; again {
			absences = append(absences, absent("/%s/%s shows %s a second time, beside %s, and is left out", powercap, zone, full, first))
			continue
		}
		taken[full] = zone
		m, err := openZone(tree, zone, full)
		if errors.Is(err, fs.ErrPermission) {
			denied = append(denied, zone)
			continue
		}
		if err != nil {
			absences = append(absences, absent("/%s/%s: %v", powercap, zone, err))
			continue
		}
		m.info.Method = method
		if maker != "" {
			m.info.Detail += "; " + maker
		}
		if m.info.Scope == Core || m.info.Scope == Uncore {
			m.info.Within = "rapl:" + parent
		}
		meters = append(meters, m)
	}
	if len(denied) > 0 {
		absences = append(absences, absent("energy_uj of %s may be read by root only, as since Linux 5.10: run as root, or: sudo chmod a+r /%s/*/energy_uj",
			strings.Join(denied, ", "), powercap))
	}
	return meters, absences
}

// compareZones orders intel-rapl:0 < intel-rapl:0:1 < intel-rapl:10 < intel-rapl-mmio:0.
func compareZones(a, b string) int {
	as, bs := strings.Split(a, ":"), strings.Split(b, ":")
	if c := strings.Compare(as[0], bs[0]); c != 0 {
		return c
	}
	return slices.CompareFunc(as[1:], bs[1:], func(x, y string) int {
		i, _ := strconv.Atoi(x)
		j, _ := strconv.Atoi(y)
		return i - j
	})
}

// raplMethod says whether this processor measures. Intel's do since Haswell; before, and in AMD's to this day, the counter is fed by a
// model of what the processor does (Hackenberg and others, HPPAC 2015; Schöne and others, CLUSTER 2021).
func raplMethod(tree fs.FS) (Method, string) {
	var vendor, family, model string
	for line := range strings.Lines(word(tree, "proc/cpuinfo")) {
		key, value, _ := strings.Cut(line, ":")
		switch value = strings.TrimSpace(value); strings.TrimSpace(key) {
		case "vendor_id":
			vendor = value
		case "cpu family":
			family = value
		case "model":
			model = value
		}
		if model != "" && family != "" && vendor != "" {
			break
		}
	}
	switch {
	case vendor == "AuthenticAMD" || vendor == "HygonGenuine":
		return Estimated, "this processor computes it from its activity"
	case vendor == "GenuineIntel" && family == "6" && slices.Contains([]string{"42", "45", "58", "62"}, model):
		return Estimated, "processors before Haswell compute it from their activity"
	}
	return Measured, ""
}

func openZone(tree fs.FS, zone, name string) (*raplZone, error) {
	folder := path.Join(powercap, zone)
	wrap, ok := count(tree, path.Join(folder, "max_energy_range_uj"))
	if !ok || wrap <= 0 {
		return nil, errors.New("max_energy_range_uj does not say where the counter begins anew")
	}
	energy, err := openRegister(tree, path.Join(folder, "energy_uj"))
	if err != nil {
		return nil, err
	}
	z := &raplZone{energy: energy, wrap: wrap / 1e6, most: mostWatts, info: Info{
		Name: "rapl:" + name, Source: "rapl", Scope: raplScope(path.Base(name)), Quantity: Energy, Period: raplPeriod,
		Step: raplStep, Detail: "/" + path.Join(folder, "energy_uj"),
	}}
	for _, file := range []string{"constraint_0_power_limit_uw", "constraint_1_power_limit_uw", "constraint_0_max_power_uw", "constraint_1_max_power_uw"} {
		if limit, ok := count(tree, path.Join(folder, file)); ok {
			z.most = max(z.most, 2*limit/1e6)
		}
	}
	if _, err := z.Read(context.Background()); err != nil {
		_ = energy.close()
		return nil, err
	}
	return z, nil
}

// raplStep is the usual unit of the counters, 2^-14 joules; zones in other units are finer or as coarse as this in effect.
const raplStep = 1.0 / (1 << 14)

func raplScope(name string) Scope {
	switch {
	case strings.HasPrefix(name, "package"):
		return Package
	case name == "core":
		return Core
	case name == "uncore":
		return Uncore
	case strings.HasPrefix(name, "dram"):
		return DRAM
	case strings.HasPrefix(name, "psys"):
		return SoC
	}
	return Device
}

// raplZone is a counter that begins anew.
type raplZone struct {
	info   Info
	energy *register
	wrap   float64 // joules at which it begins anew
	most   float64 // watts
	count  unwrapper
}

func (z *raplZone) Info() Info { return z.info }

func (z *raplZone) Read(context.Context) ([]Reading, error) {
	shown, at, window, err := z.energy.read()
	if err != nil {
		return nil, err
	}
	joules, err := z.count.add(shown/1e6, at, z.wrap, z.most)
	return []Reading{{Time: at, Value: joules, Window: window}}, err
}

func (z *raplZone) Close() error { return z.energy.close() }

// An unwrapper makes a sum that only grows of a counter that begins anew at zero.
type unwrapper struct {
	begun bool
	last  float64 // joules shown
	at    time.Time
	sum   float64 // joules since the first reading
}

// add takes what the counter shows and gives the joules since the first call. The counter begins anew after wrap joules (zero:
// never), and its power is at most most watts. ErrBreak: what was spent since the last call cannot be told, and is
// left out of the sum.
func (u *unwrapper) add(shown float64, at time.Time, wrap, most float64) (float64, error) {
	if !u.begun {
		*u = unwrapper{begun: true, last: shown, at: at}
		return 0, nil
	}
	passed := at.Sub(u.at).Seconds()
	rise := shown - u.last
	u.last, u.at = shown, at
	if wrap > 0 && passed*most > wrap {
		return u.sum, fmt.Errorf("%w: it was not read for %.0f s, in which it can have wrapped more than once", ErrBreak, passed)
	}
	if rise < 0 {
		back := -rise
		rise += wrap
		if wrap == 0 || rise < 0 || rise > most*(passed+1) {
			return u.sum, fmt.Errorf("%w: it went back by %s J, which no wrap explains", ErrBreak, formatFloat(back))
		}
	}
	u.sum += rise
	return u.sum, nil
}

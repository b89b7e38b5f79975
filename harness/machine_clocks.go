package harness

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Clocks are the frequencies of the processors when a session began. A virtual machine tells few of them.
type Clocks struct {
	MinMHz     float64 `json:"min_mhz,omitempty"`     // lowest that any processor may be set to
	BaseMHz    float64 `json:"base_mhz,omitempty"`    // guaranteed
	MaxMHz     float64 `json:"max_mhz,omitempty"`     // highest that any processor may be set to, turbo included
	CurrentMHz float64 `json:"current_mhz,omitempty"` // mean over processors, before anything ran
	Turbo      string  `json:"turbo,omitempty"`       // on, off
	Driver     string  `json:"driver,omitempty"`      // intel_pstate, amd-pstate-epp, acpi-cpufreq
}

const cpufreq = "devices/system/cpu/cpu[0-9]*/cpufreq/"

// clocks asks cpufreq (Documentation/admin-guide/pm/cpufreq.rst), and /proc/cpuinfo for the present frequency where there
// is no cpufreq.
func (s sysfs) clocks(proc string) Clocks {
	c := Clocks{MaxMHz: s.largestClock(), CurrentMHz: s.meanClock("scaling_cur_freq")}
	for _, mhz := range s.megahertz("cpuinfo_min_freq") {
		if c.MinMHz == 0 || mhz < c.MinMHz {
			c.MinMHz = mhz
		}
	}
	c.BaseMHz = s.meanClock("base_frequency")
	c.Driver = strings.Join(s.distinct(cpufreq+"scaling_driver"), ", ")
	if c.CurrentMHz == 0 {
		c.CurrentMHz = presentClock(proc)
	}
	switch {
	case s.line("devices/system/cpu/intel_pstate/no_turbo") == "0", s.line("devices/system/cpu/cpufreq/boost") == "1":
		c.Turbo = "on"
	case s.line("devices/system/cpu/intel_pstate/no_turbo") == "1", s.line("devices/system/cpu/cpufreq/boost") == "0":
		c.Turbo = "off"
	}
	return c
}

// megahertz returns a file of cpufreq, which is in kHz, for every processor that has it.
func (s sysfs) megahertz(file string) (all []float64) {
	for _, name := range s.files(cpufreq + file) {
		if kilohertz, err := strconv.ParseInt(s.line(name), 10, 64); err == nil && kilohertz > 0 {
			all = append(all, float64(kilohertz)/1000)
		}
	}
	return all
}

func (s sysfs) meanClock(file string) float64 { return mean(s.megahertz(file)) }

// presentClock is the mean of what /proc/cpuinfo says of every processor.
func presentClock(proc string) float64 {
	text, err := os.ReadFile(filepath.Join(proc, "cpuinfo"))
	if err != nil {
		return 0
	}
	var all []float64
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(line, ":")
		if mhz := (processor{strings.TrimSpace(name): strings.TrimSpace(value)}).clock(); mhz > 0 {
			all = append(all, mhz)
		}
	}
	return mean(all)
}

// mean is 0 of nothing.
func mean(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	return sum / float64(max(len(x), 1))
}

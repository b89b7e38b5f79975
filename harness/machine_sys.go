package harness

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// sysfs is the folder where Linux shows its devices, /sys. Everything read from it is optional: a file that is not
// there, or not in the form of the kernel's documentation (Documentation/ABI/testing, admin-guide/cputopology.rst),
// gives a missing value.
type sysfs string

// line returns a file's text without the white space around it.
func (s sysfs) line(name string) string {
	text, err := os.ReadFile(filepath.Join(string(s), name))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// files returns the files that a pattern names, below s.
func (s sysfs) files(pattern string) []string {
	list, _ := filepath.Glob(filepath.Join(string(s), pattern))
	for i := range list {
		list[i] = strings.TrimPrefix(list[i], string(s))
	}
	return list
}

// distinct returns the different texts of all files of a pattern, sorted.
func (s sysfs) distinct(pattern string) []string {
	var texts []string
	for _, name := range s.files(pattern) {
		if text := s.line(name); text != "" {
			texts = append(texts, text)
		}
	}
	slices.Sort(texts)
	return slices.Compact(texts)
}

// sockets counts the packages that processors belong to; some Arm systems number none of them (-1).
func (s sysfs) sockets() int {
	packages := s.distinct("devices/system/cpu/cpu[0-9]*/topology/physical_package_id")
	return len(slices.DeleteFunc(packages, func(id string) bool { return strings.HasPrefix(id, "-") }))
}

// cores counts what one or several hardware threads share.
func (s sysfs) cores() int {
	if lists := s.distinct("devices/system/cpu/cpu[0-9]*/topology/core_cpus_list"); len(lists) > 0 {
		return len(lists)
	}
	return len(s.distinct("devices/system/cpu/cpu[0-9]*/topology/thread_siblings_list")) // its older name
}

// largestClock returns the highest frequency that any processor may be set to, in MHz; 0: not told.
func (s sysfs) largestClock() float64 {
	var largest float64
	for _, text := range s.distinct("devices/system/cpu/cpu[0-9]*/cpufreq/cpuinfo_max_freq") {
		if kilohertz, err := strconv.ParseInt(text, 10, 64); err == nil {
			largest = max(largest, float64(kilohertz)/1000)
		}
	}
	return largest
}

// governor returns the frequency governor, or all of them where processors differ.
func (s sysfs) governor() string {
	return strings.Join(s.distinct("devices/system/cpu/cpu[0-9]*/cpufreq/scaling_governor"), ", ")
}

func (s sysfs) numaNodes() int { return len(s.files("devices/system/node/node[0-9]*")) }

// hugePages returns the setting of transparent huge pages, which the kernel puts into brackets among all of them.
func (s sysfs) hugePages() string {
	_, rest, _ := strings.Cut(s.line("kernel/mm/transparent_hugepage/enabled"), "[")
	setting, _, _ := strings.Cut(rest, "]")
	return setting
}

// lastLevelCache returns the bytes of all caches of the highest level together. Processors that share one name the
// same list of processors.
func (s sysfs) lastLevelCache() int64 {
	highest, caches := 0, map[string]int64{}
	for _, dir := range s.files("devices/system/cpu/cpu[0-9]*/cache/index[0-9]*") {
		level, err := strconv.Atoi(s.line(filepath.Join(dir, "level")))
		size := cacheSize(s.line(filepath.Join(dir, "size")))
		if err != nil || size == 0 || level < highest || s.line(filepath.Join(dir, "type")) == "Instruction" {
			continue
		}
		if level > highest {
			highest = level
			clear(caches)
		}
		sharers := s.line(filepath.Join(dir, "shared_cpu_list"))
		if sharers == "" {
			sharers = dir // not said: its own
		}
		caches[sharers] = size
	}
	var sum int64
	for _, size := range caches {
		sum += size
	}
	return sum
}

// hypervisor says what the system shows of one: the processor's flag, which a hypervisor sets for its guests, its kind
// and the machine's name, where they are told. gopsutil's own answer is not used: it looks at modules of the host's side
// too, and was seen to be wrong in a microVM. Empty means that nothing was seen, not that there is nothing.
func (s sysfs) hypervisor(flagged bool) string {
	kind := s.line("hypervisor/type")
	if !flagged && kind == "" {
		return ""
	}
	text := "hypervisor flag set"
	if kind != "" {
		text = "hypervisor " + kind
	}
	var maker []string
	for _, file := range []string{"class/dmi/id/sys_vendor", "class/dmi/id/product_name"} {
		if line := s.line(file); line != "" {
			maker = append(maker, line)
		}
	}
	if len(maker) > 0 {
		text += fmt.Sprintf(" (%s)", strings.Join(maker, ", "))
	}
	return text
}

// cacheSize reads a size such as 32768K; 0 is none.
func cacheSize(text string) int64 {
	shift := 0
	switch {
	case strings.HasSuffix(text, "K"):
		shift = 10
	case strings.HasSuffix(text, "M"):
		shift = 20
	}
	n, err := strconv.ParseInt(strings.TrimRight(text, "KM"), 10, 32)
	if err != nil || n < 0 {
		return 0
	}
	return n << shift
}

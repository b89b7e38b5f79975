// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/tepsbench/teps/internal/units"
)

// tree is a directory in which Linux presents the system as files: /sys or /proc. A file that is missing or does not
// have the documented form (Documentation/ABI/testing, admin-guide/cputopology.rst) gives a zero value.
type tree string

// line returns a file's text without surrounding white space.
func (t tree) line(name string) string {
	data, err := os.ReadFile(filepath.Join(string(t), name))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(data))
}

// files returns the files matching a pattern, relative to t.
func (t tree) files(pattern string) []string {
	list, _ := filepath.Glob(filepath.Join(string(t), pattern))
	for i := range list {
		list[i] = strings.TrimPrefix(list[i], string(t))
	}
	return list
}

func (t tree) distinct(pattern string, text func(name string) string) (texts []string) {
	for _, name := range t.files(pattern) {
		texts = append(texts, text(name))
	}
	slices.Sort(texts)
	return slices.Compact(texts)
}

// governor returns the frequency governor in a file. With the governor powersave, some drivers choose the clock by a
// preference, which follows in parentheses: powersave (balance_performance).
func (t tree) governor(name string) string {
	governor, dir := t.line(name), filepath.Dir(name)
	driver := t.line(filepath.Join(dir, "scaling_driver"))
	if governor != "powersave" || !slices.Contains([]string{"intel_pstate", "amd-pstate-epp"}, driver) {
		return governor
	}
	return fmt.Sprintf("%s (%s)", governor, cmp.Or(t.line(filepath.Join(dir, "energy_performance_preference")), driver))
}

// number parses a whole number; 0 if text is not one, and the largest int64 if it is larger.
func number(text string) int64 {
	n, _ := strconv.ParseUint(text, 10, 63)
	return int64(n)
}

// readFiles fills in the facts that gopsutil does not report. Some Arm systems number all sockets -1.
func (m *Machine) readFiles(proc, sys tree, guest bool) {
	const processors = "devices/system/cpu/cpu[0-9]*/"
	packages := sys.distinct(processors+"topology/physical_package_id", sys.line)
	m.Sockets = len(slices.DeleteFunc(packages, func(id string) bool { return id == "" || id[0] == '-' }))
	m.Governor = strings.Join(sys.distinct(processors+"cpufreq/scaling_governor", sys.governor), ", ")
	m.SMT = sys.line("devices/system/cpu/smt/control")
	m.CacheBytes = sys.lastLevelCache()
	m.NUMANodes = len(sys.files("devices/system/node/node[0-9]*"))
	_, rest, _ := strings.Cut(sys.line("kernel/mm/transparent_hugepage/enabled"), "[") // always [madvise] never
	m.HugePages, _, _ = strings.Cut(rest, "]")
	m.Virtual = sys.hypervisor(guest)
	m.Vendor, m.Product = sys.line("class/dmi/id/sys_vendor"), sys.line("class/dmi/id/product_name")
	m.GPUs = sys.gpus(proc)
}

// lastLevelCache returns the total bytes of all caches of the highest level. Processors that share a cache report the
// same list of processors.
func (t tree) lastLevelCache() (sum int64) {
	highest, sizes := int64(0), map[string]int64{}
	for _, dir := range t.files("devices/system/cpu/cpu[0-9]*/cache/index[0-9]*") {
		level := number(t.line(filepath.Join(dir, "level")))
		size := number(strings.TrimSuffix(t.line(filepath.Join(dir, "size")), "K")) * units.KiB // always in KiB
		if level == 0 || size == 0 || level < highest || t.line(filepath.Join(dir, "type")) == "Instruction" {
			continue
		}
		if level > highest {
			highest = level
			clear(sizes)
		}
		sizes[cmp.Or(t.line(filepath.Join(dir, "shared_cpu_list")), dir)] = size
	}
	for _, size := range sizes {
		sum += size
	}
	return sum
}

// hypervisor describes the signs of a hypervisor: the flag that it sets for its guests, its kind, and the machine's
// maker and product. gopsutil also considers modules of a host, and was wrong in a microVM.
func (t tree) hypervisor(guest bool) string {
	text := "hypervisor flag set"
	if kind := t.line("hypervisor/type"); kind != "" {
		text = "hypervisor " + kind
	} else if !guest {
		return ""
	}
	maker, product := t.line("class/dmi/id/sys_vendor"), t.line("class/dmi/id/product_name")
	if names := strings.Trim(maker+", "+product, ", "); names != "" {
		text += fmt.Sprintf(" (%s)", names)
	}
	return text
}

// gpus lists, by address, devices of the PCI classes 3D controller, display controller and processing accelerator, and
// VGA controllers made by GPU vendors (a server's management controller is a VGA controller too). It needs no driver.
func (t tree) gpus(proc tree) (all []GPU) {
	for _, dir := range t.files("bus/pci/devices/*") {
		class := t.line(filepath.Join(dir, "class"))
		vendor := strings.TrimPrefix(t.line(filepath.Join(dir, "vendor")), "0x")
		device := strings.TrimPrefix(t.line(filepath.Join(dir, "device")), "0x")
		vga := strings.HasPrefix(class, "0x0300") && slices.Contains([]string{"10de", "1002", "8086"}, vendor)
		if !vga && !accelerator.MatchString(class) {
			continue
		}
		g := GPU{PCI: vendor + ":" + device, Address: filepath.Base(dir)}
		information := proc.line(filepath.Join("driver/nvidia/gpus", g.Address, "information"))
		if model := nvidiaModel.FindStringSubmatch(information); model != nil {
			g.Name = model[1]
			g.Driver = "NVIDIA " + nvidiaVersion.FindString(proc.line("driver/nvidia/version"))
		}
		all = append(all, g)
	}
	return all
}

var (
	accelerator = regexp.MustCompile(`^0x(0302|0380|1200)`)
	// nvidiaVersion matches 580.65.06 in "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.65.06  ...".
	nvidiaVersion = regexp.MustCompile(`\b\d+\.\d+(\.\d+)?\b`)
	nvidiaModel   = regexp.MustCompile(`(?m)^Model:\s*(\S.*?)\s*$`)
)

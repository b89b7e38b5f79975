// SPDX-License-Identifier: Apache-2.0

// Package machine describes the computer that a run measures: its facts, and the memory available to a process.
package machine

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/shirou/gopsutil/v3/common"
	"github.com/shirou/gopsutil/v3/cpu"
	"github.com/shirou/gopsutil/v3/host"
	"github.com/shirou/gopsutil/v3/mem"

	"github.com/tepsbench/teps/internal/units"
)

// Machine describes the computer, as in a record. Facts that the system does not report are zero and omitted from the
// record.
type Machine struct {
	Hostname    string  `json:"hostname,omitempty"`
	Vendor      string  `json:"vendor,omitempty"`  // maker of the computer
	Product     string  `json:"product,omitempty"` // its model, by the maker's name
	CPU         string  `json:"cpu,omitempty"`
	Sockets     int     `json:"sockets,omitempty"`
	Cores       int     `json:"cores,omitempty"`   // physical
	Threads     int     `json:"threads,omitempty"` // usable by this process
	CacheBytes  int64   `json:"cache_bytes,omitempty"`
	ClockMHz    float64 `json:"clock_mhz,omitempty"` // maximum, or the current clock if the maximum is not known
	SMT         string  `json:"smt,omitempty"`       // as in sysfs: on, off, forceoff, notsupported, notimplemented
	Governor    string  `json:"governor,omitempty"`
	NUMANodes   int     `json:"numa_nodes,omitempty"`
	MemoryBytes int64   `json:"memory_bytes,omitempty"`
	HugePages   string  `json:"huge_pages,omitempty"` // setting of transparent huge pages
	OS          string  `json:"os"`
	Kernel      string  `json:"kernel,omitempty"`
	Virtual     string  `json:"virtual,omitempty"` // signs of a hypervisor
	GPUs        []GPU   `json:"gpus,omitempty"`

	Load *Load `json:"load,omitempty"` // before the run; nil: not known
}

// GPU is a graphics processor or accelerator on the PCI bus, whether an engine uses it or not.
type GPU struct {
	Name    string `json:"name,omitempty"` // from its driver
	PCI     string `json:"pci"`            // vendor:device as in the PCI ID repository: 10de:2335
	Address string `json:"address"`        // on the PCI bus: 0000:18:00.0
	Driver  string `json:"driver,omitempty"`
}

// This describes the machine that the process runs on. Unknown facts stay zero.
func This(ctx context.Context) Machine {
	m := describe(ctx, "/proc", "/sys", "/etc")
	m.Hostname, _ = os.Hostname()
	m.Threads = runtime.GOMAXPROCS(0) // respects affinity, control groups and the variable GOMAXPROCS
	return m
}

func describe(ctx context.Context, proc, sys, etc string) Machine {
	ctx = mounted(ctx, proc, sys, etc)
	m := Machine{OS: runtime.GOOS + "/" + runtime.GOARCH}
	if name, _, version, err := host.PlatformInformationWithContext(ctx); err == nil && name != "" {
		m.OS = fmt.Sprintf("%s (%s)", strings.TrimSpace(name+" "+version), m.OS)
	}
	m.Kernel, _ = host.KernelVersionWithContext(ctx)
	if v, err := mem.VirtualMemoryWithContext(ctx); err == nil {
		m.MemoryBytes = int64(v.Total)
	}
	m.Cores, _ = cpu.CountsWithContext(ctx, false)
	guest := false // whether the processors show that they belong to a virtual machine
	if all, err := cpu.InfoWithContext(ctx); err == nil && len(all) > 0 {
		m.CPU = processorName(all[0])
		guest = slices.Contains(all[0].Flags, "hypervisor")
		for _, one := range all {
			m.ClockMHz = max(m.ClockMHz, one.Mhz)
		}
	}
	m.readFiles(tree(proc), tree(sys), guest)
	return m
}

// mounted returns a context in which gopsutil finds the directories of Linux at proc, sys and etc.
func mounted(ctx context.Context, proc, sys, etc string) context.Context {
	return context.WithValue(ctx, common.EnvKey, common.EnvMap{
		common.HostProcEnvKey: proc, common.HostSysEnvKey: sys, common.HostEtcEnvKey: etc,
	})
}

// Processor returns the name of this machine's processor, or its architecture if the name is not known.
func Processor() string {
	all, _ := cpu.Info()
	return cmp.Or(processorName(append(all, cpu.InfoStat{})[0]), runtime.GOARCH)
}

// processorName returns the name of a processor given by its maker. Some Arm systems report only numbers.
func processorName(p cpu.InfoStat) string {
	if p.ModelName == "" || p.ModelName == "Undefined" {
		return strings.TrimSpace(p.VendorID + " " + p.Model)
	}
	return strings.Join(strings.Fields(p.ModelName), " ")
}

// Identity returns the facts that must be the same in two sessions of one run.
func (m Machine) Identity() string {
	return fmt.Sprintf("%s: %s, %d threads, %d MiB, %s", m.Hostname, m.CPU, m.Threads, m.MemoryBytes>>20, m.OS)
}

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

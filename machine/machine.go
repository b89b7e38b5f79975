// SPDX-License-Identifier: Apache-2.0

// Package machine describes the computer that a run measures: its facts, and the memory available to a process.
package machine

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/shirou/gopsutil/v3/common"
	"github.com/shirou/gopsutil/v3/cpu"
	"github.com/shirou/gopsutil/v3/host"
	"github.com/shirou/gopsutil/v3/mem"
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

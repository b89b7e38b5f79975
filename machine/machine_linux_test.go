// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"maps"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tepsbench/teps/internal/must"
)

// twoSockets returns the files of a server with two processors of four cores; pairs of cores share a last-level cache.
func twoSockets() map[string]string {
	files := map[string]string{
		"proc/meminfo":       meminfo20GiB,
		"etc/debian_version": "12.9\n",
		"sys/kernel/mm/transparent_hugepage/enabled": "always [madvise] never\n",
		"sys/devices/system/node/node0/cpulist":      "0-3\n",
		"sys/devices/system/node/node1/cpulist":      "4-7\n",
		"sys/devices/system/node/possible":           "0-1\n",
	}
	cpuinfo := ""
	for n := range 8 {
		cpu := "sys/devices/system/cpu/cpu" + strconv.Itoa(n) + "/"
		pair := strconv.Itoa(n/2*2) + "-" + strconv.Itoa(n/2*2+1)
		files[cpu+"topology/physical_package_id"] = strconv.Itoa(n/4) + "\n"
		files[cpu+"topology/core_cpus_list"] = strconv.Itoa(n) + "\n"
		files[cpu+"cpufreq/scaling_governor"] = "performance\n"
		files[cpu+"cpufreq/cpuinfo_max_freq"] = "3700000\n"
		files[cpu+"cache/index0/level"], files[cpu+"cache/index0/size"] = "1\n", "32K\n"
		files[cpu+"cache/index0/shared_cpu_list"] = strconv.Itoa(n) + "\n"
		files[cpu+"cache/index3/level"], files[cpu+"cache/index3/size"] = "3\n", "32768K\n"
		files[cpu+"cache/index3/shared_cpu_list"] = pair + "\n"
		cpuinfo += "processor\t: " + strconv.Itoa(n) + "\nvendor_id\t: AuthenticAMD\nmodel\t\t: 17\n" +
			"model name\t: AMD EPYC 9354   Processor\nphysical id\t: " + strconv.Itoa(n/4) + "\ncpu MHz\t\t: 1500.0\n" +
			"flags\t\t: fpu avx2 sse\n\n"
	}
	files["proc/cpuinfo"] = cpuinfo
	return files
}

const platform = runtime.GOOS + "/" + runtime.GOARCH

func TestThisIsDescribed(t *testing.T) {
	m := This(t.Context())
	if m.Threads < 1 || !strings.HasSuffix(m.OS, "("+platform+")") || m.MemoryBytes <= 0 || m.Cores < 1 || m.CPU == "" {
		t.Errorf("got %+v", m)
	}
	if m.CPU != Processor() || !strings.HasPrefix(m.Identity(), m.Hostname+": "+m.CPU) {
		t.Errorf("the processor is %q, and that of the machine %q", Processor(), m.Identity())
	}
}

func machineOf(t *testing.T, files map[string]string) Machine {
	t.Helper()
	proc, sys, etc := mount(t, files)
	return describe(t.Context(), proc, sys, etc)
}

func TestMachineHasTheFactsOfItsFiles(t *testing.T) {
	for _, c := range []struct {
		files map[string]string
		want  Machine
	}{
		{nil, Machine{OS: platform}},
		{twoSockets(), Machine{
			CPU: "AMD EPYC 9354 Processor", Sockets: 2, Cores: 8, CacheBytes: 4 * 32 * (1 << 20), ClockMHz: 3700,
			Governor: "performance", NUMANodes: 2, MemoryBytes: 24 << 30, HugePages: "madvise",
			OS: "debian 12.9 (" + platform + ")",
		}},
	} {
		m := machineOf(t, c.files)
		c.want.Kernel = m.Kernel // asked of the machine that runs the test
		must.Equal(t, m, c.want, "machine")
	}
}

// Some drivers choose the clock themselves, and powersave is their usual governor.
func TestMachineWithSeveralGovernors(t *testing.T) {
	files := twoSockets()
	for n, driver := range []string{"acpi-cpufreq", "intel_pstate", "amd-pstate-epp"} {
		cpufreq := "sys/devices/system/cpu/cpu" + strconv.Itoa(n) + "/cpufreq/"
		files[cpufreq+"scaling_governor"] = "powersave\n"
		files[cpufreq+"scaling_driver"] = driver + "\n"
	}
	files["sys/devices/system/cpu/cpu2/cpufreq/energy_performance_preference"] = "balance_performance\n"
	maps.DeleteFunc(files, func(name, _ string) bool { return strings.HasSuffix(name, "cpuinfo_max_freq") })
	want := "performance, powersave, powersave (balance_performance), powersave (intel_pstate)"
	if m := machineOf(t, files); m.Governor != want || m.ClockMHz != 1500 {
		t.Errorf("want %q and the clock of cpuinfo, 1500, got %q and %g", want, m.Governor, m.ClockMHz)
	}
}

func TestMachineUnderHypervisor(t *testing.T) {
	const vendor, product = "sys/class/dmi/id/sys_vendor", "sys/class/dmi/id/product_name"
	for name, c := range map[string]struct {
		flag  string
		files map[string]string
		want  string
	}{
		"bare":        {"avx2", map[string]string{vendor: "Dell Inc.\n"}, ""},
		"flag":        {"hypervisor", nil, "hypervisor flag set"},
		"a maker too": {"hypervisor", map[string]string{vendor: "QEMU\n", product: "PC\n"}, "hypervisor flag set (QEMU, PC)"},
		"a type too":  {"hypervisor", map[string]string{"sys/hypervisor/type": "xen\n"}, "hypervisor xen"},
	} {
		files := twoSockets()
		files["proc/cpuinfo"] = strings.ReplaceAll(files["proc/cpuinfo"], "avx2", c.flag)
		maps.Copy(files, c.files)
		must.Equal(t, machineOf(t, files).Virtual, c.want, name)
	}
}

func TestMachineWithArmProcessor(t *testing.T) {
	for part, want := range map[string]string{"0xfff": "ARM 0xfff", "0xd0c": "Neoverse-N1"} {
		text := "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: " + part + "\n\n"
		m := machineOf(t, map[string]string{"proc/cpuinfo": text})
		if m.CPU != want || m.Sockets != 0 {
			t.Errorf("part %s: got %q, want %q", part, m.CPU, want)
		}
	}
}

func TestLastLevelCacheSkipsMalformedFiles(t *testing.T) {
	const dir = "sys/devices/system/cpu/cpu0/cache/"
	_, sys, _ := mount(t, map[string]string{
		dir + "index0/level": "1", dir + "index0/size": "48K", dir + "index0/type": "Data",
		dir + "index1/level": "1", dir + "index1/size": "64K", dir + "index1/type": "Instruction",
		dir + "index2/level": "two", dir + "index2/size": "1024K",
		dir + "index3/level": "3", dir + "index3/size": "much",
	})
	must.Equal(t, tree(sys).lastLevelCache(), 48<<10, "the 48 KiB that are understood")
}

func TestGPUsOnThePCIBus(t *testing.T) {
	m := machineOf(t, map[string]string{
		"sys/devices/system/cpu/smt/control":      "off\n",
		"sys/bus/pci/devices/0000:18:00.0/class":  "0x030200\n",
		"sys/bus/pci/devices/0000:18:00.0/vendor": "0x10de\n",
		"sys/bus/pci/devices/0000:18:00.0/device": "0x2335\n",
		"sys/bus/pci/devices/0000:02:00.0/class":  "0x030000\n", // a management controller
		"sys/bus/pci/devices/0000:02:00.0/vendor": "0x1a03\n",
		"sys/bus/pci/devices/0000:03:00.0/class":  "0x030000\n",
		"sys/bus/pci/devices/0000:03:00.0/vendor": "0x1002\n",
		"sys/bus/pci/devices/0000:03:00.0/device": "0x73bf\n",
		"sys/bus/pci/devices/0000:04:00.0/class":  "0x020000\n", // a network card
		"sys/bus/pci/devices/0000:04:00.0/vendor": "0x10de\n",
		"proc/driver/nvidia/version": "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.65.06  Release\n" +
			"GCC version:  gcc version 12.2.0\n",
		"proc/driver/nvidia/gpus/0000:18:00.0/information": "Model: \t\t NVIDIA H200\nIRQ:   \t\t 0\n" +
			"GPU UUID: \t GPU-01234567-89ab\nBus Location: \t 0000:18:00.0\n",
	})
	if diff := cmp.Diff([]GPU{
		{PCI: "1002:73bf", Address: "0000:03:00.0"},
		{Name: "NVIDIA H200", PCI: "10de:2335", Address: "0000:18:00.0", Driver: "NVIDIA 580.65.06"},
	}, m.GPUs); diff != "" {
		t.Errorf("GPUs (-want +got):\n%s", diff)
	}
	must.Equal(t, m.SMT, "off", "SMT")
}

// The peak is at least what the process has held at once, and that of its children is added only on demand.
func TestPeakMemoryOfThisProcess(t *testing.T) {
	held := make([]byte, 64<<20)
	for i := 0; i < len(held); i += 4096 {
		held[i] = 1
	}
	process := PeakMemory(os.Getpid(), false)
	runtime.KeepAlive(held)
	child := exec.Command("sleep", "60")
	must.Do(child.Start())
	defer child.Wait()
	defer child.Process.Kill()
	if together := PeakMemory(os.Getpid(), true); process < 64<<20 || together <= process {
		t.Errorf("%d bytes after touching 64 MiB, %d with a child", process, together)
	}
	must.Equal(t, PeakMemory(1<<30, true), 0, "a process that is not there")
}

package harness

import (
	"reflect"
	"strconv"
	"strings"
	"testing"
)

// twoSockets are the files of a server with two processors of four cores, two of which share a last-level cache.
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
		files[cpu+"cache/index3/level"], files[cpu+"cache/index3/size"] = "3\n", "32M\n"
		files[cpu+"cache/index3/shared_cpu_list"] = pair + "\n"
		cpuinfo += "processor\t: " + strconv.Itoa(n) + "\nvendor_id\t: AuthenticAMD\nmodel\t\t: 17\n" +
			"model name\t: AMD EPYC 9354   Processor\nphysical id\t: " + strconv.Itoa(n/4) + "\ncpu MHz\t\t: 1500.0\nflags\t\t: fpu avx2 sse\n\n"
	}
	files["proc/cpuinfo"] = cpuinfo
	return files
}

func machineOf(t *testing.T, files map[string]string) Machine {
	t.Helper()
	proc, sys, etc := tree(t, files)
	m := Machine{OS: "linux/any"}
	m.askUnder(t.Context(), proc, sys, etc)
	return m
}

func TestMachineWithTwoSockets(t *testing.T) {
	m := machineOf(t, twoSockets())
	want := Machine{
		Kernel: m.Kernel, // asked of the machine that runs the test
		CPU:    "AMD EPYC 9354 Processor", Sockets: 2, Cores: 8, CacheBytes: 4 * 32 * mebibyte, ClockMHz: 3700,
		Clocks:   Clocks{MaxMHz: 3700, CurrentMHz: 1500},
		Governor: "performance", NUMANodes: 2, NUMA: []NUMANode{{ID: 0, CPUs: "0-3"}, {ID: 1, CPUs: "4-7"}}, HugePages: "madvise",
		OS: "debian 12.9 (linux/any)",
	}
	if !reflect.DeepEqual(m, want) {
		t.Errorf("want %+v\n got %+v", want, m)
	}
}

func TestMachineThatTellsNothingHasNothingInItsRecord(t *testing.T) {
	m := machineOf(t, nil)
	want := Machine{Kernel: m.Kernel, OS: "linux/any"}
	if !reflect.DeepEqual(m, want) {
		t.Errorf("want nothing but what the kernel tells, got %+v", m)
	}
}

func TestMachineWithGovernorsThatDiffer(t *testing.T) {
	files := twoSockets()
	files["sys/devices/system/cpu/cpu3/cpufreq/scaling_governor"] = "powersave\n"
	if m := machineOf(t, files); m.Governor != "performance, powersave" {
		t.Errorf("want both governors, got %q", m.Governor)
	}
}

func TestMachineWithoutClockLimitGivesThePresentClock(t *testing.T) {
	files := twoSockets()
	for name := range files {
		if strings.HasSuffix(name, "cpuinfo_max_freq") {
			delete(files, name)
		}
	}
	if m := machineOf(t, files); m.ClockMHz != 1500 {
		t.Errorf("want the clock of cpuinfo, 1500, got %g", m.ClockMHz)
	}
}

func TestMachineBelowAHypervisor(t *testing.T) {
	flagged := func(more map[string]string) map[string]string {
		files := twoSockets()
		files["proc/cpuinfo"] = strings.ReplaceAll(files["proc/cpuinfo"], "avx2", "hypervisor")
		for name, text := range more {
			files[name] = text
		}
		return files
	}
	cases := map[string]struct {
		files map[string]string
		want  string
	}{
		"bare":               {twoSockets(), ""},
		"bare with DMI":      {map[string]string{"sys/class/dmi/id/sys_vendor": "Dell Inc.\n"}, ""},
		"flag alone":         {flagged(nil), "hypervisor flag set"},
		"flag and a product": {flagged(map[string]string{"sys/class/dmi/id/sys_vendor": "QEMU\n", "sys/class/dmi/id/product_name": "Standard PC\n"}), "hypervisor flag set (QEMU, Standard PC)"},
		"flag and a type":    {flagged(map[string]string{"sys/hypervisor/type": "xen\n"}), "hypervisor xen"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			files := c.files
			if files["proc/cpuinfo"] == "" {
				files["proc/cpuinfo"] = twoSockets()["proc/cpuinfo"]
			}
			if m := machineOf(t, files); m.Virtual != c.want {
				t.Errorf("want %q, got %q", c.want, m.Virtual)
			}
		})
	}
}

func TestMachineWithAnArmProcessorOfUnknownModel(t *testing.T) {
	m := machineOf(t, map[string]string{"proc/cpuinfo": "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xfff\n\n"})
	if m.CPU != "Arm implementer 0x41 part 0xfff" || m.Sockets != 0 {
		t.Errorf("want maker and number, got %q", m.CPU)
	}
}

func TestLastLevelCacheOfFilesThatMakeNoSense(t *testing.T) {
	const dir = "sys/devices/system/cpu/cpu0/cache/"
	_, sys, _ := tree(t, map[string]string{
		dir + "index0/level": "1", dir + "index0/size": "48K", dir + "index0/type": "Data",
		dir + "index1/level": "1", dir + "index1/size": "64K", dir + "index1/type": "Instruction",
		dir + "index2/level": "two", dir + "index2/size": "1M",
		dir + "index3/level": "3", dir + "index3/size": "much",
	})
	if n := sysfs(sys).lastLevelCache(); n != 48<<10 {
		t.Errorf("want the 48 KiB that are understood, got %d", n)
	}
}

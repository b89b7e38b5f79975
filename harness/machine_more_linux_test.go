package harness

import (
	"encoding/binary"
	"reflect"
	"strings"
	"testing"
)

// server are the files of a machine that tells everything: two nodes, clocks, memory modules, GPUs.
func server() map[string]string {
	files := twoSockets()
	for n, mhz := range []string{"2000000", "2500000", "3000000", "2500000", "2000000", "2500000", "3000000", "2500000"} {
		cpu := "sys/devices/system/cpu/cpu" + string(rune('0'+n)) + "/cpufreq/"
		files[cpu+"scaling_cur_freq"], files[cpu+"cpuinfo_min_freq"], files[cpu+"base_frequency"] = mhz, "400000", "2250000"
		files[cpu+"scaling_driver"] = "amd-pstate-epp\n"
	}
	for name, text := range map[string]string{
		"sys/devices/system/cpu/cpufreq/boost":             "1\n",
		"sys/devices/system/cpu/smt/control":               "off\n",
		"proc/sys/kernel/numa_balancing":                   "1\n",
		"sys/devices/system/node/node0/meminfo":            "Node 0 MemTotal:       1024 kB\nNode 0 MemFree:        1000 kB\n",
		"sys/devices/system/node/node0/distance":           "10 21\n",
		"sys/devices/system/node/node1/meminfo":            "Node 1 MemTotal:       2048 kB\n",
		"sys/devices/system/node/node1/distance":           "21 10\n",
		"sys/firmware/dmi/entries/17-0/raw":                memoryDevice(0x22, 0x7fff, 64<<10, 4800),
		"sys/firmware/dmi/entries/17-1/raw":                memoryDevice(0x22, 0x7fff, 64<<10, 4800),
		"sys/firmware/dmi/entries/17-2/raw":                memoryDevice(0x22, 0, 0, 0), // an empty slot
		"sys/firmware/dmi/entries/17-3/raw":                memoryDevice(0x1a, 16<<10, 0, 3200),
		"sys/bus/pci/devices/0000:18:00.0/class":           "0x030200\n",
		"sys/bus/pci/devices/0000:18:00.0/vendor":          "0x10de\n",
		"sys/bus/pci/devices/0000:18:00.0/device":          "0x2335\n",
		"sys/bus/pci/devices/0000:02:00.0/class":           "0x030000\n", // a management controller
		"sys/bus/pci/devices/0000:02:00.0/vendor":          "0x1a03\n",
		"sys/bus/pci/devices/0000:03:00.0/class":           "0x030000\n",
		"sys/bus/pci/devices/0000:03:00.0/vendor":          "0x1002\n",
		"sys/bus/pci/devices/0000:03:00.0/device":          "0x73bf\n",
		"sys/bus/pci/devices/0000:04:00.0/class":           "0x020000\n", // a network card
		"sys/bus/pci/devices/0000:04:00.0/vendor":          "0x10de\n",
		"proc/driver/nvidia/version":                       "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.65.06  Release Build  (root@x)\nGCC version:  gcc version 12.2.0\n",
		"proc/driver/nvidia/gpus/0000:18:00.0/information": "Model: \t\t NVIDIA H200\nIRQ:   \t\t 0\nGPU UUID: \t GPU-01234567-89ab\nBus Location: \t 0000:18:00.0\n",
	} {
		files[name] = text
	}
	files["proc/cpuinfo"] = strings.ReplaceAll(files["proc/cpuinfo"], "flags\t", "microcode\t: 0xa10113e\nflags\t")
	return files
}

// memoryDevice is an SMBIOS structure of type 17.
func memoryDevice(kind byte, size uint16, extendedMiB uint32, speed uint16) string {
	raw := make([]byte, 0x54)
	raw[0], raw[1], raw[0x12] = 17, 0x54, kind
	binary.LittleEndian.PutUint16(raw[0x0c:], size)
	binary.LittleEndian.PutUint32(raw[0x1c:], extendedMiB)
	binary.LittleEndian.PutUint16(raw[0x20:], speed)
	return string(raw)
}

func TestMachineThatTellsEverything(t *testing.T) {
	m := machineOf(t, server())
	for what, c := range map[string]struct{ got, want any }{
		"clocks":    {m.Clocks, Clocks{MinMHz: 400, BaseMHz: 2250, MaxMHz: 3700, CurrentMHz: 2500, Turbo: "on", Driver: "amd-pstate-epp"}},
		"SMT":       {m.SMT, "off"},
		"microcode": {m.Microcode, "0xa10113e"},
		"NUMA": {m.NUMA, []NUMANode{
			{ID: 0, CPUs: "0-3", MemoryBytes: 1 << 20, Distances: []int{10, 21}}, {ID: 1, CPUs: "4-7", MemoryBytes: 2 << 20, Distances: []int{21, 10}},
		}},
		"balancing": {m.Balancing, "on"},
		"modules": {m.Modules, []MemoryModules{
			{Count: 1, Bytes: 16 << 30, Kind: "DDR4", MegaTransfer: 3200}, {Count: 2, Bytes: 64 << 30, Kind: "DDR5", MegaTransfer: 4800},
		}},
		"GPUs": {m.GPUs, []GPU{
			{PCI: "1002:73bf", Address: "0000:03:00.0"},
			{Name: "NVIDIA H200", PCI: "10de:2335", Address: "0000:18:00.0", UUID: "GPU-01234567-89ab", Driver: "NVIDIA 580.65.06"},
		}},
	} {
		if !reflect.DeepEqual(c.got, c.want) {
			t.Errorf("%s: got %+v, want %+v", what, c.got, c.want)
		}
	}
}

func TestTheSchemaTakesAMachineThatTellsEverything(t *testing.T) {
	s, err := Create(t.TempDir(), NewManifest([]string{"teps"}, somePlan(), someSoftware, machineOf(t, server())))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if n := checkFolder(t, compiled(t), s.Dir()); n != 2 {
		t.Errorf("%d values were validated, want run.json and the session's line", n)
	}
}

func TestTurboThatIsOffOrNotTold(t *testing.T) {
	for name, c := range map[string]struct{ file, text, want string }{
		"intel on":   {"sys/devices/system/cpu/intel_pstate/no_turbo", "0\n", "on"},
		"intel off":  {"sys/devices/system/cpu/intel_pstate/no_turbo", "1\n", "off"},
		"amd off":    {"sys/devices/system/cpu/cpufreq/boost", "0\n", "off"},
		"not told":   {"sys/devices/system/cpu/online", "0-7\n", ""},
		"not a flag": {"sys/devices/system/cpu/cpufreq/boost", "?\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			if m := machineOf(t, map[string]string{c.file: c.text}); m.Clocks.Turbo != c.want {
				t.Errorf("got %q, want %q", m.Clocks.Turbo, c.want)
			}
		})
	}
}

func TestMemoryModulesThatMakeNoSense(t *testing.T) {
	m := machineOf(t, map[string]string{
		"sys/firmware/dmi/entries/17-0/raw": "short",
		"sys/firmware/dmi/entries/17-1/raw": memoryDevice(0x02, 0xffff, 0, 0xffff),     // a size that is not known
		"sys/firmware/dmi/entries/17-2/raw": memoryDevice(0x02, 0x8000|512, 0, 0xffff), // 512 KiB of an unknown kind
	})
	if want := []MemoryModules{{Count: 1, Bytes: 512 << 10}}; !reflect.DeepEqual(m.Modules, want) {
		t.Errorf("got %+v, want %+v", m.Modules, want)
	}
}

package harness

import (
	"cmp"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// GPU is a graphics processor or accelerator that the system shows, whether an engine uses it or not; what an engine uses
// stands in its description.
type GPU struct {
	Name    string `json:"name,omitempty"` // as its driver tells; empty without one
	PCI     string `json:"pci"`            // vendor:device, the numbers of the PCI ID repository: 10de:2335
	Address string `json:"address"`        // on the PCI bus: 0000:18:00.0
	UUID    string `json:"uuid,omitempty"` // as its driver tells
	Driver  string `json:"driver,omitempty"`
}

// gpus lists devices of the PCI classes 3D controller, display controller and processing accelerator, and VGA controllers
// of the makers of GPUs (a server's management controller is a VGA controller too). No library of a driver is needed.
func (s sysfs) gpus(proc string) (all []GPU) {
	for _, dir := range s.files("bus/pci/devices/*") {
		class := s.line(filepath.Join(dir, "class"))
		vendor := strings.TrimPrefix(s.line(filepath.Join(dir, "vendor")), "0x")
		device := strings.TrimPrefix(s.line(filepath.Join(dir, "device")), "0x")
		vga := strings.HasPrefix(class, "0x0300") && slices.Contains([]string{"10de", "1002", "8086"}, vendor)
		other := strings.HasPrefix(class, "0x0302") || strings.HasPrefix(class, "0x0380") || strings.HasPrefix(class, "0x1200")
		if vga || other {
			all = append(all, GPU{PCI: vendor + ":" + device, Address: filepath.Base(dir)})
		}
	}
	folder := filepath.Join(proc, "driver/nvidia")
	driver := nvidiaDriver(filepath.Join(folder, "version"))
	for i := range all {
		g := &all[i]
		if facts := nvidiaFacts(filepath.Join(folder, "gpus", g.Address, "information")); facts != nil {
			g.Name, g.UUID, g.Driver = facts["Model"], facts["GPU UUID"], driver
		}
	}
	slices.SortFunc(all, func(a, b GPU) int { return cmp.Compare(a.Address, b.Address) })
	return all
}

// nvidiaDriver finds the version in "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.65.06  ...".
func nvidiaDriver(file string) string {
	text, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	return "NVIDIA " + regexp.MustCompile(`\b\d+\.\d+(\.\d+)?\b`).FindString(string(text))
}

// nvidiaFacts reads "Name: value" lines.
func nvidiaFacts(file string) map[string]string {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil
	}
	facts := map[string]string{}
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(line, ":")
		facts[strings.TrimSpace(name)] = strings.TrimSpace(value)
	}
	return facts
}

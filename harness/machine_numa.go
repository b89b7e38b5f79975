package harness

import (
	"bytes"
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// NUMANode is a part of the memory and the processors that are close to it.
type NUMANode struct {
	ID          int    `json:"id"`
	CPUs        string `json:"cpus,omitempty"` // list of processors: 0-31,64-95
	MemoryBytes int64  `json:"memory_bytes,omitempty"`
	Distances   []int  `json:"distances,omitempty"` // to every node, in their order, as the firmware states them; 10 is the own
}

// numa lists the nodes (Documentation/ABI/stable/sysfs-devices-node).
func (s sysfs) numa() (nodes []NUMANode) {
	for _, dir := range s.files("devices/system/node/node[0-9]*") {
		id, err := strconv.Atoi(strings.TrimPrefix(filepath.Base(dir), "node"))
		if err != nil {
			continue
		}
		node := NUMANode{ID: id, CPUs: s.line(filepath.Join(dir, "cpulist"))}
		for line := range strings.Lines(s.line(filepath.Join(dir, "meminfo"))) {
			fields := strings.Fields(line) // Node 0 MemTotal: 18704596 kB
			if len(fields) == 5 && fields[2] == "MemTotal:" {
				kibibytes, _ := strconv.ParseInt(fields[3], 10, 64)
				node.MemoryBytes = kibibytes << 10
			}
		}
		for _, text := range strings.Fields(s.line(filepath.Join(dir, "distance"))) {
			if distance, err := strconv.Atoi(text); err == nil {
				node.Distances = append(node.Distances, distance)
			}
		}
		nodes = append(nodes, node)
	}
	slices.SortFunc(nodes, func(a, b NUMANode) int { return cmp.Compare(a.ID, b.ID) })
	return nodes
}

// balancing says whether the kernel moves pages between nodes while a program runs: on, off, or empty.
func balancing(proc string) string {
	text, err := os.ReadFile(filepath.Join(proc, "sys/kernel/numa_balancing"))
	switch {
	case err != nil:
		return ""
	case string(bytes.TrimSpace(text)) == "0":
		return "off"
	}
	return "on"
}

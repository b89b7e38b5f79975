package harness

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// processor is the first block of /proc/cpuinfo, by field.
type processor map[string]string

func readProcessor(proc string) processor {
	text, err := os.ReadFile(filepath.Join(proc, "cpuinfo"))
	if err != nil {
		return nil
	}
	fields := processor{}
	for line := range strings.Lines(string(text)) {
		name, value, found := strings.Cut(line, ":")
		if !found {
			break // an empty line ends the block
		}
		fields[strings.TrimSpace(name)] = strings.Join(strings.Fields(value), " ")
	}
	return fields
}

// name is what its maker calls the processor. Arm systems tell numbers only.
func (p processor) name() string {
	for _, field := range []string{"model name", "cpu model", "cpu", "uarch"} { // x86 and Arm, MIPS, POWER, RISC-V
		if p[field] != "" {
			return p[field]
		}
	}
	if p["CPU implementer"] != "" && p["CPU part"] != "" {
		return fmt.Sprintf("Arm implementer %s part %s", p["CPU implementer"], p["CPU part"])
	}
	return ""
}

// clock is the present frequency in MHz; 0: not told.
func (p processor) clock() float64 {
	for _, field := range []string{"cpu MHz", "clock"} {
		if mhz, err := strconv.ParseFloat(strings.TrimSuffix(p[field], "MHz"), 64); err == nil && mhz > 0 {
			return mhz
		}
	}
	return 0
}

func (p processor) flagged(flag string) bool {
	return slices.Contains(strings.Fields(p["flags"]), flag)
}

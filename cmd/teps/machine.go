package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tepsbench/teps/harness"
	"github.com/tepsbench/teps/power"
)

func machineCommand() *cobra.Command {
	var asJSON bool
	var meters []string
	c := &cobra.Command{
		Use:   "machine",
		Short: "Show this machine as a record does, and its power meters",
		Long: `machine shows processor, memory, system and build as they stand in every record, and
how much memory a run may take. What cannot be found out here is left out. It reads
every power meter for a second, and says of each source that gives none why.

` + power.Grammar,
		Example: `  teps machine
  teps machine --json
  teps machine --meter auto --meter declared:wall=350
  teps machine --meter command:wall=./meter.sh             does my meter work?`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			listing, err := listMeters(c.Context(), meters)
			if err != nil {
				return err
			}
			m := harness.ThisMachine(c.Context())
			w := c.OutOrStdout()
			available, source, err := harness.AvailableMemory(c.Context())
			if asJSON {
				encoder := json.NewEncoder(w)
				encoder.SetIndent("", "  ")
				return errors.Join(encoder.Encode(struct {
					Machine   harness.Machine  `json:"machine"`
					Software  harness.Software `json:"software"`
					Available int64            `json:"available_memory_bytes,omitempty"`
					Power     powerListing     `json:"power"`
				}{m, harness.ThisSoftware(), available, listing}), listing.missing())
			}
			p := newPrinter(w)
			line := func(name, format string, missing bool, args ...any) {
				if missing {
					p.printf("%-20s not known here\n", name)
				} else {
					p.printf("%-20s %s\n", name, fmt.Sprintf(format, args...))
				}
			}
			line("processor", "%s", m.CPU == "", m.CPU)
			line("sockets", "%d", m.Sockets == 0, m.Sockets)
			line("cores", "%d", m.Cores == 0, m.Cores)
			line("threads for teps", "%d", m.Threads == 0, m.Threads)
			line("last-level cache", "%.1f MiB", m.CacheBytes == 0, float64(m.CacheBytes)/(1<<20))
			line("clock", "%.0f MHz", m.ClockMHz == 0, m.ClockMHz)
			line("clocks", "%s", m.Clocks == harness.Clocks{}, describeClocks(m.Clocks))
			line("threads of a core", "%s", m.SMT == "", m.SMT)
			line("governor", "%s", m.Governor == "", m.Governor)
			line("NUMA nodes", "%d", m.NUMANodes == 0, m.NUMANodes)
			for _, gpu := range m.GPUs {
				line("GPU", "%s", false, strings.TrimSpace(fmt.Sprintf("%s PCI %s at %s %s", gpu.Name, gpu.PCI, gpu.Address, gpu.Driver)))
			}
			line("memory", "%.1f GiB", m.MemoryBytes == 0, float64(m.MemoryBytes)/(1<<30))
			line("available memory", "%.1f GiB (%s)", err != nil, float64(available)/(1<<30), source)
			line("huge pages", "%s", m.HugePages == "", m.HugePages)
			line("system", "%s", m.OS == "", m.OS)
			line("kernel", "%s", m.Kernel == "", m.Kernel)
			line("virtual machine", "%s", m.Virtual == "", m.Virtual)
			line("teps", "%s", false, harness.ThisSoftware())
			return errors.Join(p.err, listing.print(w), listing.missing())
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	c.Flags().StringArrayVar(&meters, "meter", nil, "a power meter, as SOURCE[:SCOPE][=VALUE] (repeatable; default: auto)")
	return c
}

// describeClocks says what is known of the frequencies.
func describeClocks(c harness.Clocks) string {
	var parts []string
	for _, clock := range []struct {
		what string
		mhz  float64
	}{{"now", c.CurrentMHz}, {"from", c.MinMHz}, {"base", c.BaseMHz}, {"up to", c.MaxMHz}} {
		if clock.mhz > 0 {
			parts = append(parts, fmt.Sprintf("%s %.0f MHz", clock.what, clock.mhz))
		}
	}
	if c.Turbo != "" {
		parts = append(parts, "turbo "+c.Turbo)
	}
	if c.Driver != "" {
		parts = append(parts, c.Driver)
	}
	return strings.Join(parts, ", ")
}

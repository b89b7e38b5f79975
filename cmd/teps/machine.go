package main

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/tepsbench/teps/harness"
)

func machineCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "machine",
		Short: "Show what a record says about this machine",
		Long: `machine shows processor, memory, system and build as they stand in every record, and
how much memory a run may take. What cannot be found out here is left out.`,
		Example: `  teps machine
  teps machine --json`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			m := harness.ThisMachine(c.Context())
			w := c.OutOrStdout()
			available, source, err := harness.AvailableMemory(c.Context())
			if asJSON {
				encoder := json.NewEncoder(w)
				encoder.SetIndent("", "  ")
				return encoder.Encode(struct {
					Machine   harness.Machine  `json:"machine"`
					Software  harness.Software `json:"software"`
					Available int64            `json:"available_memory_bytes,omitempty"`
				}{m, harness.ThisSoftware(), available})
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
			line("governor", "%s", m.Governor == "", m.Governor)
			line("NUMA nodes", "%d", m.NUMANodes == 0, m.NUMANodes)
			line("memory", "%.1f GiB", m.MemoryBytes == 0, float64(m.MemoryBytes)/(1<<30))
			line("available memory", "%.1f GiB (%s)", err != nil, float64(available)/(1<<30), source)
			line("huge pages", "%s", m.HugePages == "", m.HugePages)
			line("system", "%s", m.OS == "", m.OS)
			line("kernel", "%s", m.Kernel == "", m.Kernel)
			line("virtual machine", "%s", m.Virtual == "", m.Virtual)
			line("teps", "%s", false, harness.ThisSoftware())
			line("power", "%s", false, "no meter is read by this version; records say so")
			return p.err
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

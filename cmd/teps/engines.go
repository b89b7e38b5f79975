package main

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/cobra"

	"github.com/tepsbench/teps/harness"
	"github.com/tepsbench/teps/plugins"
)

func enginesCommand() *cobra.Command {
	var (
		asJSON  bool
		verbose bool
	)
	c := &cobra.Command{
		Use:   "engines [PATH...]",
		Short: "List the engines, what they run on and every option",
		Long: `engines starts each built-in engine, and each program given as PATH, asks it what it
is and shows what --set ENGINE.OPTION=VALUE takes.`,
		Example: `  teps engines
  teps engines ./teps-engine-mine
  teps engines --json`,
		RunE: func(c *cobra.Command, args []string) error {
			return listEngines(c, append(builtinNames(), args...), asJSON, verbose)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	c.Flags().BoolVarP(&verbose, "verbose", "v", false, "show what engines log")
	return c
}

// engineListing is one engine as `teps engines` found it.
type engineListing struct {
	Engine      harness.EngineSpec   `json:"engine"`
	Description *plugins.Description `json:"description,omitempty"`
	Failure     string               `json:"failure,omitempty"`
}

func listEngines(c *cobra.Command, names []string, asJSON, verbose bool) error {
	host, err := newProcesses(newLog(verbose))
	if err != nil {
		return err
	}
	defer host.Close()
	var all []engineListing
	failed := false
	for _, name := range names {
		spec, err := parseEngine(name)
		if err != nil {
			return err
		}
		listing := engineListing{Engine: spec}
		if d, err := harness.Describe(c.Context(), host, spec); err != nil {
			listing.Failure, failed = err.Error(), true
		} else {
			listing.Description = &d
		}
		all = append(all, listing)
	}
	w := c.OutOrStdout()
	if asJSON {
		encoder := json.NewEncoder(w)
		encoder.SetIndent("", "  ")
		err = encoder.Encode(all)
	} else {
		err = printEngines(w, all)
	}
	if err == nil && failed {
		return errReported
	}
	return err
}

func printEngines(w io.Writer, all []engineListing) error {
	for i, e := range all {
		if i > 0 {
			fmt.Fprintln(w)
		}
		if e.Description == nil {
			fmt.Fprintf(w, "%s: %s\n", e.Engine.Name, e.Failure)
			continue
		}
		d := e.Description
		fmt.Fprintf(w, "%s %s: %s\n", e.Engine.Name, d.Version, d.Summary)
		if d.Unavailable != "" {
			fmt.Fprintf(w, "  not available here: %s\n", d.Unavailable)
		}
		for _, device := range d.Devices {
			fmt.Fprintf(w, "  on %s\n", describeDevice(device))
		}
		if len(d.Options) == 0 {
			fmt.Fprintln(w, "  no options")
			continue
		}
		t := table.NewWriter()
		t.SetStyle(table.StyleLight)
		t.Style().Format.Header = text.FormatDefault
		t.Style().Options.DrawBorder = false
		t.AppendHeader(table.Row{"option", "default", "takes", "meaning"})
		t.SetColumnConfigs([]table.ColumnConfig{
			{Number: 3, WidthMax: 24, WidthMaxEnforcer: text.WrapSoft},
			{Number: 4, WidthMax: 50, WidthMaxEnforcer: text.WrapSoft},
		})
		for _, o := range d.Options {
			t.AppendRow(table.Row{e.Engine.Name + "." + o.Name, o.Default, o.Takes(), o.Meaning})
		}
		if _, err := fmt.Fprintln(w, t.Render()); err != nil {
			return err
		}
	}
	return nil
}

func describeDevice(d plugins.Device) string {
	s := d.Name
	if s == "" {
		s = d.Kind
	}
	if d.Units > 0 {
		s += fmt.Sprintf(", %d units", d.Units)
	}
	if d.MemoryBytes > 0 {
		s += fmt.Sprintf(", %.1f GiB", float64(d.MemoryBytes)/(1<<30))
	}
	for _, fact := range d.Details {
		s += fmt.Sprintf(", %s %s", fact.Name, fact.Value)
	}
	return s
}

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/cobra"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/harness"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/plugins/find"
	"github.com/tepsbench/teps/plugins/rpc"
)

func enginesCommand() *cobra.Command {
	var (
		asJSON  bool
		verbose bool
	)
	c := &cobra.Command{
		Use:   "engines [PATH...]",
		Short: "List the engines, where they are, what they need and every option",
		Long: `engines starts each engine that it finds, and each program or library given as PATH,
asks it what it is and shows what --set ENGINE.OPTION=VALUE takes.

An engine NAME is found as teps-engine-NAME (a program) or teps-engine-NAME.so (a
library) in the folders of ` + find.Variable + `, in the user's folder teps/engines and
beside teps. An engine that the trust list does not allow is listed and not started
(teps trust --help).`,
		Example: `  teps engines
  teps engines ./teps-engine-mine ./libmine.so
  TEPS_ENGINE_PATH=/opt/engines teps engines
  teps engines --json`,
		RunE: func(c *cobra.Command, args []string) error {
			return listEngines(c, args, asJSON, verbose)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	c.Flags().BoolVarP(&verbose, "verbose", "v", false, "show what engines log")
	return c
}

// engineListing is one engine as `teps engines` found it.
type engineListing struct {
	Engine      harness.EngineSpec   `json:"engine"`
	Found       string               `json:"found"`               // where: built in, by its path, beside teps, ...
	SHA256      string               `json:"sha256,omitempty"`    // of an outside engine's file
	Trusted     string               `json:"trusted,omitempty"`   // the SHA-256 in the trust list, if it is in it
	Hidden      string               `json:"hidden_by,omitempty"` // what --engine NAME means instead
	Description *plugins.Description `json:"description,omitempty"`
	Failure     string               `json:"failure,omitempty"`

	unstarted bool // on purpose, which is no failure of the command
}

// findListings lists what there is to list, without starting anything.
func findListings(paths []string) ([]engineListing, error) {
	var all []engineListing
	for _, name := range builtinNames() {
		all = append(all, engineListing{Engine: harness.EngineSpec{Name: name, Builtin: name}, Found: "built in"})
	}
	for _, e := range find.Engines(enginePlaces()) {
		listing := engineListing{Engine: harness.EngineSpec{Name: e.Name, Path: e.Path}, Found: e.Place.What, Hidden: e.Hidden}
		if builtin(e.Name) != nil {
			listing.Hidden = "the built-in engine"
		}
		listing.identify(e.Place.Listed)
		all = append(all, listing)
	}
	for _, path := range paths {
		spec, err := parseEngine(path)
		if err != nil {
			return nil, err
		}
		listing := engineListing{Engine: spec, Found: "by its path"}
		if spec.Path != "" {
			listing.identify(false)
		}
		all = append(all, listing)
	}
	return all, nil
}

// identify compares an outside engine's file with the trust list. must says that it must be in it.
func (l *engineListing) identify(must bool) {
	sum, err := rpc.Checksum(l.Engine.Path)
	if err == nil {
		l.SHA256 = sum
		l.Trusted, err = trustedSum(l.Engine.Path)
	}
	switch {
	case err != nil:
		l.Failure = err.Error()
	case l.Trusted != "" && l.Trusted != sum:
		l.Failure, l.unstarted = "not started: it has changed since it was trusted; if the change is yours: teps trust "+l.Engine.Path, true
	case l.Trusted == "" && must:
		l.Failure, l.unstarted = "not started: it is not in the trust list; if you know it: teps trust "+l.Engine.Path, true
	}
}

func listEngines(c *cobra.Command, paths []string, asJSON, verbose bool) error {
	host, err := newProcesses(newLog(verbose))
	if err != nil {
		return err
	}
	defer host.Close()
	all, err := findListings(paths)
	if err != nil {
		return err
	}
	failed := false
	for i := range all {
		l := &all[i]
		if l.Failure == "" {
			if d, err := harness.Describe(c.Context(), host, l.Engine); err != nil {
				l.Failure = err.Error()
			} else {
				l.Description = &d
			}
		}
		failed = failed || l.Failure != "" && !l.unstarted
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
	p := newPrinter(w)
	for i, l := range all {
		if i > 0 {
			p.printf("\n")
		}
		d := l.Description
		if d == nil {
			p.printf("%s: %s\n", l.Engine.Name, l.Failure)
		} else {
			p.printf("%s %s: %s\n", l.Engine.Name, d.Version, d.Summary)
		}
		printPlace(p, l)
		if d == nil {
			continue
		}
		if d.Unavailable != "" {
			p.printf("  not available here: %s\n", d.Unavailable)
		}
		for _, device := range d.Devices {
			p.printf("  on %s\n", describeDevice(device))
		}
		p.printf("  needs %s\n", describeNeeds(d.Memory))
		printOptions(p, l.Engine.Name, d.Options)
	}
	return p.err
}

// printPlace says where an engine lies and which file it is.
func printPlace(p *printer, l engineListing) {
	if l.Engine.Path == "" {
		p.printf("  %s\n", l.Found)
		return
	}
	p.printf("  %s: %s\n", l.Found, l.Engine.Path)
	if l.SHA256 != "" {
		trusted := ""
		if l.Trusted == l.SHA256 {
			trusted = ", trusted"
		}
		p.printf("  SHA-256 %s%s\n", l.SHA256, trusted)
	}
	if l.Hidden != "" {
		p.printf("  only by its path: --engine %s means %s\n", l.Engine.Name, l.Hidden)
	}
}

// describeNeeds is the memory formula of an engine, and what it comes to.
func describeNeeds(m plugins.Memory) string {
	const scale = 20
	recipe := graph.Kronecker{Scale: scale, EdgeFactor: harness.OfficialEdgeFactor}
	var parts []string
	if m.Fixed > 0 {
		parts = append(parts, fmt.Sprintf("%.3g MiB", float64(m.Fixed)/(1<<20)))
	}
	if m.PerVertex > 0 {
		parts = append(parts, fmt.Sprintf("%.3g bytes a vertex", m.PerVertex))
	}
	if m.PerTuple > 0 {
		parts = append(parts, fmt.Sprintf("%.3g bytes a tuple", m.PerTuple))
	}
	if len(parts) == 0 {
		return "memory that it does not state"
	}
	return fmt.Sprintf("%s: %.3g MiB at scale %d", strings.Join(parts, ", "), float64(harness.EstimateMemory(recipe, m).Engine)/(1<<20), scale)
}

func printOptions(p *printer, engine string, options []plugins.Option) {
	if len(options) == 0 {
		p.printf("  no options\n")
		return
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
	for _, o := range options {
		t.AppendRow(table.Row{engine + "." + o.Name, o.Default, o.Takes(), o.Meaning})
	}
	p.printf("%s\n", t.Render())
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

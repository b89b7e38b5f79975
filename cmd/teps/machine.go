// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tepsbench/teps/internal/units"
	"github.com/tepsbench/teps/machine"
	"github.com/tepsbench/teps/power"
	"github.com/tepsbench/teps/power/meters"
	"github.com/tepsbench/teps/record"
	"github.com/tepsbench/teps/reports"
	"github.com/tepsbench/teps/reports/text"
)

func machineCommand() *cobra.Command {
	var specifications []string
	c := &cobra.Command{
		Use:   "machine",
		Short: "Show this machine as a record describes it, and its power meters",
		Long: `machine shows the processor, memory, system and build as in a record, and the
memory available to a run. It reads every power meter for a second, and explains
why the other sources have none.

` + meters.Help(meters.Sources()),
		Example: `  teps machine
  teps machine --meter command:wall=./meter.sh    does my meter work?`,
		Args: exactArgs(0, "no arguments"),
		RunE: func(c *cobra.Command, _ []string) error {
			finishOnSignal(c)
			readings, absent, err := readMeters(c.Context(), specifications)
			if err != nil {
				return err
			}
			m := describeMachine(c.Context(), newProgress(c.ErrOrStderr(), false))
			w, result := c.OutOrStdout(), reports.Result{Result: record.Result{Manifest: record.Manifest{Machine: m}}}
			printFacts(w, "", result.Facts()[0])
			if available, source, err := machine.AvailableMemory(c.Context()); err == nil {
				printFact(w, "available memory", fmt.Sprintf("%s (%s)", units.Bytes(available), source))
			}
			printFact(w, "teps", record.ThisSoftware().String())
			return printMeters(w, readings, absent)
		},
	}
	c.Flags().StringArrayVar(&specifications, "meter", nil, "power meter: SOURCE[:SCOPE][=VALUE] (repeatable)")
	return c
}

// describeMachine describes this machine, and warns if it is busy.
func describeMachine(ctx context.Context, p *progress) machine.Machine {
	m := machine.This(ctx)
	m.Load = machine.MeasureLoad(ctx)
	for _, warning := range m.Warnings() {
		p.Note(warning)
	}
	return m
}

// printFact prints a name and its value.
func printFact(w io.Writer, name, value string) {
	fmt.Fprintf(w, "%-20s %s\n", printable(name), wrapped(w, value, 21))
}

// printFacts prints a table of names and values, with an indent before the names.
func printFacts(w io.Writer, indent string, facts reports.Table) {
	for _, fact := range facts.Rows {
		printFact(w, indent+fact[0].Text, fact[1].Text)
	}
}

// wrapped wraps a text at the width of a terminal and indents all lines but the first.
func wrapped(w io.Writer, value string, indent int) string {
	value = printable(value)
	if columns := terminalWidth(w); columns > indent {
		value = text.Wrap(value, columns-indent, strings.Repeat(" ", indent))
	}
	return value
}

// readMeters finds meters and reads them for a second.
func readMeters(ctx context.Context, specifications []string) ([]power.Series, []power.Absence, error) {
	found, absent, err := meters.Find(ctx, meters.Config{Specs: specifications})
	if err != nil {
		return nil, nil, usage("--meter: %w", err)
	}
	recorder := power.Record(ctx, found)
	if len(found) > 0 {
		second, cancel := context.WithTimeout(ctx, time.Second)
		<-second.Done()
		cancel()
	}
	readings := recorder.Stop()
	return readings, absent, cmp.Or(power.Here(found).Close(), ctx.Err())
}

// printMeters prints meters with their readings, and the sources without a meter. It returns an error for a requested
// meter that is missing.
func printMeters(w io.Writer, readings []power.Series, absent []power.Absence) (err error) {
	t, about := reports.NewTable("meter|covers|kind|shows|#every|#now", ""), reports.NewTable("meter|what", "")
	for _, s := range readings {
		m, now, every := s.Info, units.Missing, units.Missing
		what := m.Detail
		if m.Error > 0 {
			what += fmt.Sprintf("; stated error %.4g %%", 100*m.Error)
		}
		if len(s.Faults) > 0 {
			what += "; " + s.Faults[0].Text
		}
		if watts := s.Mean(); watts > 0 {
			now = fmt.Sprintf("%.4g W", watts)
		}
		if period := cmp.Or(m.Period, s.Period.Round(time.Millisecond)); period > 0 { // stated or observed
			every = period.String()
		}
		t.Add(m.Name, string(m.Scope), string(m.Method), string(m.Quantity), every, now)
		about.Add(m.Name, what)
	}
	if len(readings) == 0 {
		printFact(w, "power meters", "none")
	} else {
		fmt.Fprintf(w, "\npower meters\n")
		_ = text.Columns(w, t, terminalWidth(w)) // w keeps its error
		fmt.Fprintln(w)
		printFacts(w, "  ", about)
	}
	heading := "\nno meter from\n"
	for _, a := range absent {
		if a.Asked && err == nil {
			err = fmt.Errorf("no power meter %s: %s", a.Source, a.Reason)
			continue // the error is printed too
		}
		fmt.Fprint(w, heading)
		heading = ""
		printFact(w, "  "+a.Source, a.Reason)
	}
	return err
}

package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/tepsbench/teps/harness"
	"github.com/tepsbench/teps/power"
)

// tryTime is how long meters are read to show what they show: some updates of most.
const tryTime = time.Second

// meterListing is one meter as `teps machine` found it.
type meterListing struct {
	power.Info
	Watts float64 `json:"watts_now,omitempty"`
	Fault string  `json:"fault,omitempty"` // the first thing that went wrong while it was tried
}

// powerListing is what a machine has to measure power with, and why it has no more.
type powerListing struct {
	Meters []meterListing  `json:"meters"`
	Absent []power.Absence `json:"absent_meters"`
}

// listMeters finds meters and reads them for a moment.
func listMeters(ctx context.Context, specifications []string) (powerListing, error) {
	meters, absent, err := power.Find(ctx, power.Config{Meters: specifications})
	if err != nil {
		if ctx.Err() != nil {
			return powerListing{}, ctx.Err()
		}
		return powerListing{}, harness.Usage("--meter: %w", err)
	}
	listing := powerListing{Meters: []meterListing{}, Absent: absent}
	if len(meters) > 0 {
		recorder := power.Record(ctx, meters, power.DefaultInterval)
		select {
		case <-ctx.Done():
		case <-time.After(tryTime):
		}
		for _, series := range recorder.Stop() {
			m := meterListing{Info: series.Info}
			for _, w := range series.Watts() {
				m.Watts += w.Value / float64(len(series.Watts()))
			}
			if len(series.Faults) > 0 {
				m.Fault = series.Faults[0].Text
			}
			listing.Meters = append(listing.Meters, m)
		}
	}
	if err := power.Close(meters); err != nil {
		return listing, fmt.Errorf("power meters: %w", err)
	}
	return listing, ctx.Err()
}

// missing is the error for a meter that was asked for and is not there.
func (l powerListing) missing() error {
	for _, a := range l.Absent {
		if a.Asked {
			return fmt.Errorf("the meter %s was asked for and is not there: %s", a.Source, a.Reason)
		}
	}
	return nil
}

// print shows meters as a table, and a line for each that is not there.
func (l powerListing) print(w io.Writer) error {
	p := newPrinter(w)
	if len(l.Meters) == 0 {
		p.printf("\npower meters         none\n")
	} else {
		t := table.NewWriter()
		t.SetStyle(table.StyleLight)
		t.Style().Options = table.OptionsNoBordersAndSeparators
		t.Style().Format.Header = text.FormatDefault
		t.AppendHeader(table.Row{"meter", "covers", "kind", "shows", "every", "now", "what"})
		t.SetColumnConfigs([]table.ColumnConfig{{Number: 5, Align: text.AlignRight}, {Number: 6, Align: text.AlignRight}})
		for _, m := range l.Meters {
			every, now, what := "", "", m.Detail
			if m.Period > 0 {
				every = m.Period.String()
			}
			if m.Watts > 0 {
				now = fmt.Sprintf("%.4g W", m.Watts)
			}
			if m.Error > 0 {
				what += fmt.Sprintf("; error stated as %.4g %%", 100*m.Error)
			}
			if m.Within != "" {
				what += "; a part of " + m.Within
			}
			if m.Fault != "" {
				what += "; " + m.Fault
			}
			t.AppendRow(table.Row{m.Name, m.Scope, m.Method, m.Quantity, every, now, what})
		}
		p.printf("\npower meters\n%s\n", t.Render())
	}
	for i, a := range l.Absent {
		if i == 0 {
			p.printf("\nnot there\n")
		}
		p.printf("  %-18s %s\n", a.Source, a.Reason)
	}
	return p.err
}

package reports

import (
	"encoding/csv"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tepsbench/teps/harness"
)

// csvColumns are the columns of CSV, in order, each with what fills it. A row is a search; what belongs to its run, its
// engine and its input is repeated in every row, so that rows of many files can be put together, grouped and filtered
// without another table (Wickham, "Tidy Data", 2014). docs/records.md explains the columns.
var csvColumns = []struct {
	name  string
	value func(harness.Result, harness.Run, harness.RootRecord) string
}{
	{"run", func(r harness.Result, _ harness.Run, _ harness.RootRecord) string { return r.ID }},
	{"started", func(r harness.Result, _ harness.Run, _ harness.RootRecord) string {
		return r.Started.Format(time.RFC3339)
	}},
	{"sealed", func(r harness.Result, _ harness.Run, _ harness.RootRecord) string {
		return strconv.FormatBool(r.Sealed())
	}},
	{"host", func(r harness.Result, _ harness.Run, _ harness.RootRecord) string { return r.Machine.Hostname }},
	{"processor", func(r harness.Result, _ harness.Run, _ harness.RootRecord) string { return r.Machine.CPU }},
	{"threads", func(r harness.Result, _ harness.Run, _ harness.RootRecord) string {
		return whole(int64(r.Machine.Threads))
	}},
	{"teps_version", func(r harness.Result, _ harness.Run, _ harness.RootRecord) string { return r.Software.Version }},
	{"commit", func(r harness.Result, _ harness.Run, _ harness.RootRecord) string { return r.Software.Commit }},
	{"engine", func(_ harness.Result, run harness.Run, _ harness.RootRecord) string { return run.Engine.Name }},
	{"engine_name", func(_ harness.Result, run harness.Run, _ harness.RootRecord) string { return described(run, false) }},
	{"engine_version", func(_ harness.Result, run harness.Run, _ harness.RootRecord) string { return described(run, true) }},
	{"options", func(_ harness.Result, run harness.Run, _ harness.RootRecord) string { return csvOptions(run.Options) }},
	{"scale", func(_ harness.Result, run harness.Run, _ harness.RootRecord) string { return strconv.Itoa(run.Scale) }},
	{"edgefactor", func(r harness.Result, _ harness.Run, _ harness.RootRecord) string {
		return strconv.Itoa(r.Plan.EdgeFactor)
	}},
	{"seed1", func(r harness.Result, _ harness.Run, _ harness.RootRecord) string {
		return strconv.FormatUint(r.Plan.Seed1, 10)
	}},
	{"seed2", func(r harness.Result, _ harness.Run, _ harness.RootRecord) string {
		return strconv.FormatUint(r.Plan.Seed2, 10)
	}},
	{"construct_s", func(_ harness.Result, run harness.Run, _ harness.RootRecord) string {
		if run.Construction == nil {
			return ""
		}
		return seconds(run.Construction.Elapsed.Seconds())
	}},
	{"construct_wall_s", func(_ harness.Result, run harness.Run, _ harness.RootRecord) string {
		return seconds(run.ConstructWall)
	}},
	{"state", func(_ harness.Result, run harness.Run, _ harness.RootRecord) string { return string(run.State) }},
	{"compliant", func(_ harness.Result, run harness.Run, _ harness.RootRecord) string {
		return strconv.FormatBool(compliant(run))
	}},
	{"index", func(_ harness.Result, _ harness.Run, root harness.RootRecord) string { return strconv.Itoa(root.Index) }},
	{"root", func(_ harness.Result, _ harness.Run, root harness.RootRecord) string {
		return strconv.FormatInt(int64(root.Root), 10)
	}},
	{"time_s", func(_ harness.Result, _ harness.Run, root harness.RootRecord) string { return seconds(root.Time) }},
	{"wall_s", func(_ harness.Result, _ harness.Run, root harness.RootRecord) string { return seconds(root.Wall) }},
	{"nedge", func(_ harness.Result, _ harness.Run, root harness.RootRecord) string { return ifKnown(root.NEdge) }},
	{"m", func(_ harness.Result, _ harness.Run, root harness.RootRecord) string { return ifKnown(root.M) }},
	{"teps", func(_ harness.Result, _ harness.Run, root harness.RootRecord) string {
		if teps, known := rate(root); known && !root.Broken() {
			return strconv.FormatFloat(teps, 'g', -1, 64)
		}
		return ""
	}},
	{"reached", func(_ harness.Result, _ harness.Run, root harness.RootRecord) string { return ifKnown(root.Reached) }},
	{"depth", func(_ harness.Result, _ harness.Run, root harness.RootRecord) string { return ifKnown(root.Depth) }},
	{"validated", func(_ harness.Result, _ harness.Run, root harness.RootRecord) string {
		return strconv.FormatBool(root.Validated)
	}},
	{"broken_rule", func(_ harness.Result, _ harness.Run, root harness.RootRecord) string { return whole(int64(root.Rule)) }},
	{"validation_s", func(_ harness.Result, _ harness.Run, root harness.RootRecord) string {
		if !root.Validated {
			return ""
		}
		return seconds(root.Validation)
	}},
}

// CSV writes a row for every search of all results, after a row with the names of the columns (RFC 4180, with newlines
// alone). Times are seconds, rates tuples a second; what was not measured is empty. Nothing is rounded. The error is that of
// w.
func CSV(w io.Writer, all ...harness.Result) error {
	c := csv.NewWriter(w)
	row := make([]string, len(csvColumns))
	for i, column := range csvColumns {
		row[i] = column.name
	}
	failure := c.Write(row)
	for _, r := range all {
		for _, run := range r.Runs {
			for _, root := range run.Roots {
				for i, column := range csvColumns {
					row[i] = column.value(r, run, root)
				}
				if failure == nil {
					failure = c.Write(row)
				}
			}
		}
	}
	c.Flush()
	if failure == nil {
		failure = c.Error()
	}
	if failure != nil {
		return fmt.Errorf("reports: write CSV: %w", failure)
	}
	return nil
}

// described is the engine's own name or version.
func described(run harness.Run, version bool) string {
	switch {
	case run.Description == nil:
		return ""
	case version:
		return run.Description.Version
	}
	return run.Description.Name
}

// csvOptions are the options in effect as one text: alpha=15;threads=2.
func csvOptions(options map[string]string) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(options)) {
		parts = append(parts, name+"="+options[name])
	}
	return strings.Join(parts, ";")
}

// seconds is empty for a time that nobody took.
func seconds(x float64) string {
	if x <= 0 || !finite(x) {
		return ""
	}
	return strconv.FormatFloat(x, 'g', -1, 64)
}

// whole is empty for a number whose zero means that it is not known.
func whole(n int64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatInt(n, 10)
}

func ifKnown[N int | int64](n *N) string {
	if n == nil {
		return ""
	}
	return strconv.FormatInt(int64(*n), 10)
}

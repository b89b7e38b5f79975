// SPDX-License-Identifier: Apache-2.0

package text

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/record"
	"github.com/tepsbench/teps/reports"
)

// fields are the columns of CSV in order, each with its name and its value for one search. Every row repeats its run,
// engine and input (Wickham, "Tidy Data", 2014). docs/records.md explains the columns.
func fields(r reports.Result, run reports.Summary, root record.RootRecord) [][2]string {
	var engine plugins.Description
	if run.Description != nil {
		engine = *run.Description
	}
	var options []string
	for _, name := range slices.Sorted(maps.Keys(run.Options)) {
		options = append(options, name+"="+run.Options[name])
	}
	construct, rate, validation := "", "", ""
	if run.Construction != nil {
		construct = seconds(run.Construction.Elapsed.Seconds())
	}
	if teps, known := root.TEPS(); known && !root.Broken() {
		rate = exact(teps)
	}
	if root.Validated {
		validation = seconds(root.Validation)
	}
	waited, stolen, switches, faults := "", "", "", ""
	if i := root.Interference; i != nil {
		waited, stolen, switches, faults = exact(i.Waited), exact(i.Stolen), known(&i.Switches), known(&i.Faults)
	}
	return [][2]string{
		{"run", r.ID}, {"started", r.Started.Format(time.RFC3339)}, {"checksummed", strconv.FormatBool(r.Checksummed())},
		{"host", r.Machine.Hostname}, {"processor", r.Machine.CPU}, {"threads", nonZero(r.Machine.Threads)},
		{"teps_version", r.Software.Version}, {"commit", r.Software.Commit},
		{"engine", run.Engine.Name}, {"engine_name", engine.Name}, {"engine_version", engine.Version},
		{"options", strings.Join(options, ";")}, {"scale", nonZero(run.Scale)},
		{"graph", run.Source}, {"edgefactor", strconv.Itoa(r.Plan.EdgeFactor)},
		{"seed1", strconv.FormatUint(r.Plan.Seed1, 10)}, {"seed2", strconv.FormatUint(r.Plan.Seed2, 10)},
		{"construct_s", construct}, {"state", string(run.State)}, {"compliant", strconv.FormatBool(run.Compliant())},
		{"index", strconv.Itoa(root.Index)}, {"root", strconv.FormatInt(int64(root.Root), 10)},
		{"time_s", seconds(root.Time)}, {"wall_s", seconds(root.Wall)},
		{"nedge", known(root.NEdge)}, {"m", known(root.M)}, {"teps", rate},
		{"reached", known(root.Reached)}, {"depth", known(root.Depth)},
		{"validated", strconv.FormatBool(root.Validated)}, {"broken_rule", nonZero(root.Rule)},
		{"validation_s", validation}, {"waited_s", waited}, {"stolen_s", stolen}, {"switches", switches},
		{"page_faults", faults}, {"kernel", run.Kernel.String()},
	}
}

// CSV writes a row for every search, after a row with the names of the columns (RFC 4180, with LF as the end of a
// line). Times are seconds, rates tuples a second. A value that was not measured is empty. Nothing is rounded.
func CSV(w io.Writer, r reports.Report) error {
	c := csv.NewWriter(w) // keeps its first error
	write := func(fields [][2]string, part int) {
		var row []string
		for _, field := range fields {
			row = append(row, noFormula(printable(field[part])))
		}
		_ = c.Write(row)
	}
	write(fields(reports.Result{}, reports.Summary{}, record.RootRecord{}), 0)
	for _, result := range r.Results {
		for _, run := range result.Runs {
			for _, root := range run.Roots {
				write(fields(result, run, root), 1)
			}
		}
	}
	c.Flush()
	if err := c.Error(); err != nil {
		return fmt.Errorf("text: write CSV: %w", err)
	}
	return nil
}

// printable replaces control characters (terminal escapes, line breaks), invisible and direction-changing characters
// and broken UTF-8 by spaces.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r == utf8.RuneError || !unicode.IsGraphic(r) {
			return ' '
		}
		return r
	}, s)
}

// noFormula puts an apostrophe before a text that a spreadsheet would run as a formula (OWASP, "CSV Injection").
func noFormula(s string) string {
	if begin := strings.TrimLeft(s, " "); begin != "" && strings.ContainsRune("=+-@", rune(begin[0])) {
		return "'" + s
	}
	return s
}

func exact(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// seconds is empty for a time that was not measured.
func seconds(x float64) string {
	if x > 0 {
		return exact(x)
	}
	return ""
}

// nonZero is empty for a number whose zero means that it is not known.
func nonZero(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

func known[N int | int64](n *N) string {
	if n == nil {
		return ""
	}
	return strconv.FormatInt(int64(*n), 10)
}

// Bench writes all results in the Go benchmark format (golang.org/design/14313-benchmark-format), for benchstat and
// similar programs: up to three benchmarks for each engine and graph.
//
//	BenchmarkSearch     one line a root: time of the search (ns/op) and its rate (TEPS)
//	BenchmarkConstruct  kernel 1
//	BenchmarkGraph500   one line a run: the harmonic mean over all roots, the number that Graph500 ranks by; only of
//	                    runs that have an official text
//
// Engine and graph are parts of the names (/engine=cpu/scale=18, /engine=cpu/graph=path:1000), escaped, for benchstat
// -row and -col. The machine and the input are configuration lines. benchstat compares searches without regard to
// roots, so its test is weaker than that of teps compare. Runs with wrong searches, and searches without a count of
// tuples, are left out.
func Bench(w io.Writer, r reports.Report) error {
	var b bytes.Buffer
	b.WriteString("Unit TEPS better=higher\nUnit harmonic-mean-TEPS better=higher\n")
	for _, r := range r.Results {
		_, system, _ := strings.Cut(r.Software.Compiler, " ") // go1.26.1 linux/amd64
		goos, goarch, _ := strings.Cut(system, "/")
		for _, line := range [][2]string{
			{"\ngoos", goos}, {"goarch", goarch}, {"pkg", "github.com/tepsbench/teps"}, {"cpu", r.Machine.CPU},
			{"machine", r.Machine.Hostname}, {"threads", nonZero(r.Machine.Threads)},
			{"edgefactor", strconv.Itoa(r.Plan.EdgeFactor)}, {"seeds", fmt.Sprintf("%d,%d", r.Plan.Seed1, r.Plan.Seed2)},
		} {
			// An empty value removes a key that an earlier result of the same text may have set.
			fmt.Fprintln(&b, strings.TrimRight(line[0]+": "+strings.Trim(reports.Sentence(line[1]), reports.Missing), " "))
		}
		for _, run := range r.Runs {
			if run.Rates() != nil {
				benchRun(&b, run)
			}
		}
	}
	return flush(w, &b, "Go benchmarks")
}

func benchRun(b *bytes.Buffer, run reports.Summary) {
	on := fmt.Sprintf("scale=%d", run.Scale)
	if run.Source != "" {
		on = "graph=" + url.PathEscape(run.Source)
	}
	if run.Kernel != record.BFS {
		on += "/kernel=" + run.Kernel.String()
	}
	name := fmt.Sprintf("/engine=%s/%s", url.PathEscape(run.Engine.Name), on)
	for _, root := range run.Roots {
		if teps, known := root.TEPS(); known && !root.Broken() {
			fmt.Fprintf(b, "BenchmarkSearch%s 1 %s ns/op %s TEPS\n", name, exact(root.Time*1e9), exact(teps))
		}
	}
	if run.Construction != nil {
		fmt.Fprintf(b, "BenchmarkConstruct%s 1 %s ns/op\n", name, exact(float64(run.Construction.Elapsed)))
	}
	if run.Unofficial() == "" && notOfficial(run) == "" {
		fmt.Fprintf(b, "BenchmarkGraph500%s %d %s harmonic-mean-TEPS\n", name, run.Statistics.NBFS,
			exact(run.Statistics.TEPS.Mean))
	}
}

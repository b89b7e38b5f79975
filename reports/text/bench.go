// SPDX-License-Identifier: Apache-2.0

package text

import (
	"bytes"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"strings"

	"github.com/tepsbench/teps/reports"
)

// Bench writes all results in the Go benchmark format (golang.org/design/14313-benchmark-format), for benchstat and
// similar programs: up to three benchmarks for each engine and graph.
//
//	BenchmarkSearch     one line a root: time of the search (ns/op) and its rate (TEPS)
//	BenchmarkConstruct  kernel 1
//	BenchmarkGraph500   one line a run: the harmonic mean over all roots, the number that Graph500 ranks by; only of
//	                    runs that have an official text
//
// Engine and graph are parts of the names (/engine=cpu/scale=18, /engine=cpu/graph=path:1000), for benchstat -row and
// -col. Characters that cannot stand in a part are escaped, so different engines have different names. The machine and
// the input are configuration lines. benchstat summarizes searches by their median and compares them without regard to
// roots, so its numbers are not Graph500's, and its test is weaker than that of teps compare. Runs with wrong searches,
// and searches without a count of tuples, are left out.
func Bench(w io.Writer, r reports.Report) error {
	var b bytes.Buffer
	b.WriteString("Unit TEPS better=higher\nUnit harmonic-mean-TEPS better=higher\n")
	for _, result := range r.Results {
		benchResult(&b, result)
	}
	return flush(w, &b, "Go benchmarks")
}

func benchResult(b *bytes.Buffer, r reports.Result) {
	_, system, _ := strings.Cut(r.Software.Compiler, " ") // go1.26.1 linux/amd64
	goos, goarch, _ := strings.Cut(system, "/")
	b.WriteByte('\n')
	for _, line := range [][2]string{
		{"goos", goos}, {"goarch", goarch}, {"pkg", "github.com/tepsbench/teps"}, {"cpu", r.Machine.CPU},
		{"machine", r.Machine.Hostname}, {"threads", nonZero(r.Machine.Threads)},
		{"edgefactor", strconv.Itoa(r.Plan.EdgeFactor)}, {"seeds", fmt.Sprintf("%d,%d", r.Plan.Seed1, r.Plan.Seed2)},
	} {
		// An empty value removes a key that an earlier result of the same text may have set.
		value := reports.Sentence(line[1])
		if value == reports.Missing {
			value = ""
		}
		fmt.Fprintf(b, "%s\n", strings.TrimSpace(line[0]+": "+value))
	}
	for _, run := range r.Runs {
		if run.Rates() != nil {
			benchRun(b, run)
		}
	}
}

func benchRun(b *bytes.Buffer, run reports.Summary) {
	on := fmt.Sprintf("scale=%d", run.Scale)
	if run.Source != "" {
		on = "graph=" + url.PathEscape(run.Source)
	}
	name := fmt.Sprintf("/engine=%s/%s", url.PathEscape(run.Engine.Name), on)
	for _, root := range run.Roots {
		if teps, known := reports.Rate(root); known && !root.Broken() {
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

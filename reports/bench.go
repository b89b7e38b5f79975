package reports

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tepsbench/teps/harness"
)

// Bench writes all results in the Go benchmark format (golang.org/design/14313-benchmark-format), for benchstat and its
// relatives: up to three benchmarks for each engine and scale.
//
//	BenchmarkSearch     one line a root: time of the search (ns/op) and its rate (TEPS)
//	BenchmarkConstruct  kernel 1
//	BenchmarkGraph500   one line a run: the harmonic mean over all roots, the number that Graph500 ranks by; only of runs
//	                    that have an official text, so of none that failed or was interrupted
//
// Engine and scale are parts of the names (/engine=cpu/scale=18), so that benchstat -row and -col can use them; what cannot stand in a part
// is written as in an address (a/b is a%2Fb), so that different engines have different names. The machine
// and the input are configuration lines. benchstat summarises searches by their median and compares them without regard to
// roots, so its numbers are not Graph500's, and its test sees less than teps compare. Runs with wrong searches, and searches
// without a count of tuples, are left out. The error is that of w.
func Bench(w io.Writer, all ...harness.Result) error {
	var b bytes.Buffer
	b.WriteString("Unit TEPS better=higher\nUnit harmonic-mean-TEPS better=higher\n")
	for _, r := range all {
		benchResult(&b, r)
	}
	if _, err := w.Write(b.Bytes()); err != nil {
		return fmt.Errorf("reports: write Go benchmarks: %w", err)
	}
	return nil
}

func benchResult(b *bytes.Buffer, r harness.Result) {
	_, system, _ := strings.Cut(r.Software.Compiler, " ") // go1.26.1 linux/amd64
	goos, goarch, _ := strings.Cut(system, "/")
	b.WriteByte('\n')
	for _, line := range [][2]string{
		{"goos", goos}, {"goarch", goarch}, {"pkg", "github.com/tepsbench/teps"}, {"cpu", r.Machine.CPU},
		{"machine", r.Machine.Hostname}, {"threads", positive(int64(r.Machine.Threads))},
		{"edgefactor", strconv.Itoa(r.Plan.EdgeFactor)}, {"seeds", fmt.Sprintf("%d,%d", r.Plan.Seed1, r.Plan.Seed2)},
	} {
		// An empty value takes a key away, which another result in the same text may have set.
		value := clean(line[1], sentenceRunes)
		if value == missing {
			value = ""
		}
		fmt.Fprintf(b, "%s\n", strings.TrimSpace(line[0]+": "+value))
	}
	for _, run := range r.Runs {
		if s := drawable(run); s != nil {
			benchRun(b, run, s)
		}
	}
}

func benchRun(b *bytes.Buffer, run harness.Run, s *harness.Statistics) {
	name := fmt.Sprintf("/engine=%s/scale=%d", nameInBenchmark(run.Engine.Name), run.Scale)
	number := func(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
	for _, root := range run.Roots {
		if teps, known := rate(root); known && !root.Broken() {
			fmt.Fprintf(b, "BenchmarkSearch%s 1 %s ns/op %s TEPS\n", name, number(root.Time*1e9), number(teps))
		}
	}
	if run.Construction != nil {
		fmt.Fprintf(b, "BenchmarkConstruct%s 1 %s ns/op\n", name, number(float64(run.Construction.Elapsed)))
	}
	if unofficial(run) == "" && judge(run).Grade == good {
		fmt.Fprintf(b, "BenchmarkGraph500%s %d %s harmonic-mean-TEPS\n", name, s.NBFS, number(s.TEPS.Mean))
	}
}

// nameInBenchmark writes a name so that it can be a part of the name of a benchmark: what is no letter, digit, mark or sign,
// the slash between parts, and the sign of the escape itself become the bytes of their UTF-8, each a per cent sign and two
// digits (RFC 3986, 2.1). Different names stay different.
func nameInBenchmark(name string) string {
	var b strings.Builder
	for i, r := range name {
		if n := utf8.RuneLen(r); r != utf8.RuneError && r != '/' && r != '%' && unicode.IsGraphic(r) && !unicode.IsSpace(r) {
			b.WriteString(name[i : i+n])
			continue
		}
		_, n := utf8.DecodeRuneInString(name[i:]) // 1 for a byte that is no UTF-8
		for _, c := range []byte(name[i : i+n]) {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

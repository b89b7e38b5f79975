// SPDX-License-Identifier: Apache-2.0

package cpu

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/graph/validate"
	"github.com/tepsbench/teps/internal/memory"
	"github.com/tepsbench/teps/internal/units"
)

// What a whole run does between two searches, one thing at a time, to see what it costs the next search:
//
//	nothing     searches back to back
//	pause       nothing runs: workers park, and processors sleep
//	spin        all processors are busy and touch no memory: workers park, and only other programs use the caches
//	reread      every processor reads the same 6 MB again and again: L2 caches hold other data
//	pages       as nothing, into a parent array on pages of 4 KiB
//	overwrite   other threads overwrite the parents, as the host does
//	tuples      other threads read all tuples, as validation does: caches and TLBs hold other data
//	validation  parents are validated and overwritten, on all processors
//
// pause, spin and reread last 50 ms, or as long as a name says: spin:5ms. Joined by a plus, they happen in that
// order. A whole run does validation+pause, with the host as another process.
type disturber struct {
	tuples    []graph.Edge
	validator *validate.Validator
	parent    []graph.Vertex
	large     []graph.Vertex // on huge pages
	small     []graph.Vertex
	last      graph.Vertex // root of the search that wrote parent
	sum       uint64       // keeps the compiler from dropping the reads of tuples
}

func newDisturber(b *testing.B, tuples []graph.Edge, vertices int) *disturber {
	d := &disturber{tuples: tuples, last: -1}
	arena := memory.New()
	b.Cleanup(arena.ReleaseAll)
	d.large = memory.Allocate[graph.Vertex](arena, "parents", vertices)
	if err := arena.Err(); err != nil {
		b.Fatal(err)
	}
	d.small = make([]graph.Vertex, len(d.large))
	d.parent = d.large
	var err error
	if d.validator, err = validate.New(tuples, int64(len(d.parent)), 0); err != nil {
		b.Fatal(err)
	}
	for _, parent := range [][]graph.Vertex{d.large, d.small} {
		d.validator.Overwrite(parent) // makes every page present
	}
	return d
}

func (d *disturber) disturb(b *testing.B, before string) {
	d.parent = d.large
	for what := range strings.SplitSeq(before, "+") {
		what, text, _ := strings.Cut(what, ":")
		duration, err := time.ParseDuration(cmp.Or(text, "50ms"))
		if err != nil {
			b.Fatal(err)
		}
		switch what {
		case "nothing":
		case "pages":
			d.parent = d.small
		case "pause":
			time.Sleep(duration)
		case "spin":
			d.busy(duration, 0)
		case "reread":
			d.busy(duration, 6<<20)
		case "overwrite":
			d.validator.Overwrite(d.parent)
		case "tuples":
			d.read()
		case "validation":
			if d.last >= 0 {
				if _, err := d.validator.Validate(context.Background(), d.last, d.parent); err != nil {
					b.Fatal(err)
				}
			}
			d.validator.Overwrite(d.parent)
		default:
			b.Fatalf("-cpu.before: unknown situation %q", what)
		}
	}
}

// read reads all tuples on all processors.
func (d *disturber) read() {
	sums := make([]uint64, 64)
	n := len(d.tuples) / len(sums)
	everywhere(len(sums), func(i int) {
		sums[i] = sum(d.tuples[i*n : (i+1)*n])
	})
	for _, sum := range sums {
		d.sum += sum
	}
}

// busy lets every processor read some of its tuples again and again.
func (d *disturber) busy(duration time.Duration, bytes int) {
	sums := make([]uint64, runtime.GOMAXPROCS(0))
	n := len(d.tuples) / len(sums)
	everywhere(len(sums), func(i int) {
		part := d.tuples[i*n:][:min(n, bytes/graph.EdgeBytes)]
		for start := time.Now(); time.Since(start) < duration; {
			sums[i] += sum(part)
		}
	})
	d.sum += sums[0]
}

func sum(tuples []graph.Edge) (sum uint64) {
	for _, t := range tuples {
		u, v := t.Ends()
		sum += uint64(u ^ v)
	}
	return sum
}

// everywhere calls task(0) ... task(n-1) at the same time.
func everywhere(n int, task func(i int)) {
	var workers sync.WaitGroup
	for i := range n {
		workers.Go(func() { task(i) })
	}
	workers.Wait()
}

// peer is another program that searches the same graph from the same roots. It gets the graph and the roots by
// -cpu.export in an earlier run. It searches from all roots for each line on its standard input, and answers with its
// harmonic mean in GTEPS on a line.
type peer struct {
	ask    io.Writer
	answer *bufio.Reader
	rates  []float64
}

// startPeer starts the program that -cpu.peer names, with its arguments, and waits for its first line, which says that
// it is ready. It returns nil if there is none.
func startPeer(b *testing.B) *peer {
	words := strings.Fields(*flagPeer)
	if len(words) == 0 {
		return nil
	}
	program := exec.Command(words[0], words[1:]...)
	program.Stderr = os.Stderr
	in, err := program.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := program.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := program.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		in.Close()
		_ = program.Wait()
	})
	p := &peer{ask: in, answer: bufio.NewReader(out)}
	ready, err := p.answer.ReadString('\n')
	if err != nil {
		b.Fatalf("%s: %v", *flagPeer, err)
	}
	fmt.Printf("%s: %s", *flagPeer, ready)
	return p
}

func (p *peer) pass(b *testing.B) {
	fmt.Fprintln(p.ask)
	var rate float64
	if _, err := fmt.Fscanln(p.answer, &rate); err != nil {
		b.Fatalf("%s: %v", *flagPeer, err)
	}
	p.rates = append(p.rates, rate)
}

func (p *peer) String() string {
	return fmt.Sprintf("%s: hmean of a pass: minimum %.3f median %.3f maximum %.3f GTEPS", *flagPeer,
		slices.Min(p.rates), units.Median(p.rates), slices.Max(p.rates))
}

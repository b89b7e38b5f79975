// SPDX-License-Identifier: Apache-2.0

package cpu

import (
	"bufio"
	"cmp"
	"context"
	"errors"
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

// What a whole run does between two searches, to see what it costs the next search:
//
//	nothing     searches back to back
//	pause       nothing runs: workers park, and processors sleep
//	spin        all processors are busy and touch no memory: workers park, and only other programs use the caches
//	validation  parents are validated and overwritten, on all processors
//
// pause and spin last 50 ms, or as long as a name says: spin:5ms. Joined by a plus, situations happen in that order. A
// whole run does validation+pause, with the host as another process.
type disturber struct {
	validator *validate.Validator
	parent    []graph.Vertex
	last      graph.Vertex // root of the search that wrote parent; -1: none
}

func newDisturber(b *testing.B, tuples []graph.Edge, vertices int) *disturber {
	arena := memory.New()
	b.Cleanup(arena.ReleaseAll)
	d := &disturber{parent: memory.Allocate[graph.Vertex](arena, "parents", vertices), last: -1}
	v, err := validate.New(tuples, int64(vertices), 0)
	if err := errors.Join(err, arena.Err()); err != nil {
		b.Fatal(err)
	}
	d.validator = v
	v.Overwrite(d.parent) // makes every page present
	return d
}

func (d *disturber) disturb(b *testing.B, before string) {
	for what := range strings.SplitSeq(before, "+") {
		what, text, _ := strings.Cut(what, ":")
		duration, err := time.ParseDuration(cmp.Or(text, "50ms"))
		switch what {
		case "nothing":
		case "pause":
			time.Sleep(duration)
		case "spin":
			var processors sync.WaitGroup
			for range runtime.GOMAXPROCS(0) {
				processors.Go(func() {
					for start := time.Now(); time.Since(start) < duration; {
					}
				})
			}
			processors.Wait()
		case "validation":
			if d.last >= 0 {
				_, err = d.validator.Validate(context.Background(), d.last, d.parent)
			}
			d.validator.Overwrite(d.parent)
		default:
			err = fmt.Errorf("-cpu.before: unknown situation %q", what)
		}
		if err != nil {
			b.Fatal(err)
		}
	}
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

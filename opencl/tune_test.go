// SPDX-License-Identifier: Apache-2.0

package opencl

import (
	"cmp"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/opencl/driver"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/plugins/enginetest"
)

var (
	flagTune = flag.String("opencl.tune", "", "measure graphs and variants of constants on the first GPU: "+
		"'kron:22,kron:24 group=128 perUnit=16 / group=64'")
	flagRoots = flag.Int("opencl.roots", 64, "roots of -opencl.tune")
)

// TestTune measures variants of the constants; it checks no result.
func TestTune(t *testing.T) {
	if *flagTune == "" {
		t.Skip("runs only with -opencl.tune")
	}
	graphs, list, _ := strings.Cut(*flagTune, " ")
	for _, name := range strings.Split(graphs, ",") {
		begin := time.Now()
		_, tuples := enginetest.Generated(t, name)
		fmt.Printf("== %s: generated in %.1f s\n", name, time.Since(begin).Seconds())
		for _, text := range strings.Split(list, "/") {
			measure(t, tuples, text)
		}
	}
}

// measure searches from random roots with a variant of the constants.
func measure(t *testing.T, tuples []graph.Edge, text string) {
	devices, err := driver.Devices()
	if err != nil {
		t.Fatal(err)
	}
	i, err := choose(devices, cmp.Or(os.Getenv("TEPS_DEVICE"), automatic))
	if err != nil {
		t.Fatal(err)
	}
	v := tuned(devices[i])
	given := map[string]string{}
	constants := map[string]*int{
		"group": &v.group, "perUnit": &v.perUnit, "turns": &v.turns,
		"alone": &v.alone, "queue": &v.queue, "piece": &v.piece, "oneGroup": &v.oneGroup,
		"reads": &v.reads, "scan": &v.scan, "sortGroup": &v.sortGroup, "sortUnit": &v.sortUnit, "batch": &v.batch,
	}
	for _, word := range strings.Fields(text) {
		name, value, _ := strings.Cut(word, "=")
		switch constant := constants[name]; {
		case constant != nil:
			n, err := strconv.Atoi(value)
			if err != nil {
				t.Fatal(err)
			}
			*constant = n
		case name == "compiler":
			v.compiler += " " + value
		default:
			given[name] = value
		}
	}
	set, err := plugins.Resolve(options(nil), given)
	if err != nil {
		t.Fatal(err)
	}
	s, built, err := construct(t.Context(), tuples, devices[i], set, v)
	if err != nil {
		t.Error(err)
		return
	}
	defer s.Close()
	random := rand.New(rand.NewPCG(1, 2))
	var roots []graph.Vertex
	for len(roots) < *flagRoots {
		u, v := tuples[random.IntN(len(tuples))].Ends()
		if u != v {
			roots = append(roots, u)
		}
	}
	type timing struct {
		time  time.Duration
		slots uint32
	}
	var all []timing
	inverse := 0.0
	for i := -4; i < len(roots); i++ {
		root := roots[max(i, 0)]
		begin := time.Now()
		if err := s.Traverse(t.Context(), root); err != nil {
			t.Fatal(err)
		}
		if d := time.Since(begin); i >= 0 {
			all = append(all, timing{d, s.result[slotsUsed]})
			inverse += d.Seconds() / float64(len(tuples))
		}
	}
	slices.SortFunc(all, func(a, b timing) int { return cmp.Compare(a.time, b.time) })
	last := all[len(all)-1]
	fmt.Printf("%-44s %7.1f GTEPS  min %7.1f  median %7.1f  max %7.1f us (%d slots)  batch %d  kernel 1 %.3f s, %d MB",
		text, float64(len(all))/inverse/1e9, us(all[0].time), us(all[len(all)/2].time), us(last.time), last.slots,
		len(s.first), built.Elapsed.Seconds(), built.Bytes>>20)
	for _, p := range built.Phases {
		fmt.Printf("  %s %.3f", p.Name, p.Elapsed.Seconds())
	}
	fmt.Println()
}

func us(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1000 }

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
		"'kron:22,kron:24 group=128 perUnit=16 / group=64', where trace is a variant that times each launch")
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
	trace := false
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
		case name == "trace":
			trace = true
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
		root  graph.Vertex
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
			all = append(all, timing{root, d, s.result[slotsUsed]})
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
	if strings.Contains(text, "verbose") {
		fmt.Println(s.program.Log)
	}
	if trace && !s.turns {
		for _, one := range []timing{all[len(all)/2], last} {
			fmt.Printf("root %d: %.1f us\n", one.root, us(one.time))
			showLaunches(t, s, one.root)
		}
	}
}

func us(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1000 }

// showLaunches searches from a root launch by launch.
func showLaunches(t *testing.T, s *search, root graph.Vertex) {
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	must(s.begin.Launch(s.groups))
	must(s.Wake())
	must(driver.Set(s.first[0], slotRoot, uint32(root)))
	for slot := range min(len(s.first), 20) {
		begin := time.Now()
		must(s.first[slot].Launch(s.groups))
		must(s.device.Finish())
		d := time.Since(begin)
		state := make([]uint32, stateWords)
		must(driver.Read(s.device, state, s.state, 0))
		at := (slot & 3) * 16
		st := append(append([]uint32{}, state[at:at+12]...), state[64+at:64+at+4]...)
		fmt.Printf("  %8.1f us  mode %s frontier %d edges %d pieces %d long %d unexplored %d | "+
			"found %d edges %d pieces %d long %d\n", us(d),
			[]string{"top-down", "bottom-up", "convert", "done", "over", "initial"}[st[0]], st[3], st[6], st[4], st[5], st[8],
			st[12], st[13], st[14], st[15])
	}
}

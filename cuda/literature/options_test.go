// SPDX-License-Identifier: Apache-2.0

package literature

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/internal/must"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/plugins/enginetest"
)

func TestOptionsOfOtherKernelsAreRefused(t *testing.T) {
	for _, o := range options() {
		if o.Name == "kernel" || o.Name == "device" {
			continue
		}
		value := "7"
		if o.Kind == plugins.Choice {
			value = o.Choices[1]
		}
		if _, err := plugins.Resolve(options(), map[string]string{o.Name: value}); !errors.Is(err, plugins.ErrOption) ||
			!strings.Contains(err.Error(), "needs kernel=") {
			t.Errorf("%s=%s: got %v, want the kernel that it needs", o.Name, value, err)
		}
	}
}

func TestOptionsWithoutEffectAreRefused(t *testing.T) {
	for want, set := range map[string]map[string]string{
		"tile=7 needs permute=on":         {"kernel": "habr", "permute": "off", "tile": "7"},
		"twophase=7 needs order=hybrid":   {"kernel": "merrill", "order": "two-phase", "twophase": "7"},
		"warpmin=7 needs gather=hybrid":   {"kernel": "merrill", "gather": "cta", "warpmin": "7"},
		"append=warp needs visit=atomic,": {"kernel": "bisson", "visit": "compact", "append": "warp"},
		"ranks=2 needs kernel=merrill|":   {"kernel": "romeo", "ranks": "2"},
		"output=distance needs ranks=0":   {"kernel": "merrill", "ranks": "2", "output": "distance"},
		"append=warp needs ranks=0":       {"kernel": "bisson", "ranks": "2", "append": "warp"},
		"alpha=7 needs direction=auto":    {"kernel": "romeo", "direction": "topdown", "alpha": "7"},
	} {
		_, err := plugins.Resolve(options(), set)
		if !errors.Is(err, plugins.ErrOption) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: got %v, want %s", set, err, want)
		}
	}
}

func TestWidthOfLevels(t *testing.T) {
	for levels, want := range map[string][2]uint64{"u8": {1, 254}, "u16": {2, 65534}, "u32": {4, 1<<32 - 2}} {
		bytes, largest := widthOf(levels)
		if got := [2]uint64{bytes, largest}; got != want {
			t.Errorf("%s: got %v, want %v bytes and largest level", levels, got, want)
		}
	}
}

// The rule is given what kernels count, and takes the oracle's levels of a Kronecker graph top-down, bottom-up and
// top-down again, as in the thesis, table 3.1.
func TestSwitchOverTheOraclesLevels(t *testing.T) {
	source, tuples := enginetest.Generated(t, "kron:14")
	rows := must.Get(graph.NewCSR(tuples, source.Vertices()))
	root, _ := tuples[0].Ends()
	_, levels := must.Get2(rows.Search(root))
	var vertices, edges []int64
	unexplored := int64(len(rows.Targets))
	for v, l := range levels {
		if l < 0 {
			continue
		}
		for int64(len(vertices)) <= l {
			vertices, edges = append(vertices, 0), append(edges, 0)
		}
		degree := int64(len(rows.Neighbors(graph.Vertex(v))))
		vertices[l]++
		edges[l] += degree
		if l > 0 {
			unexplored -= degree
		}
	}
	rule := switchRule{Switch: graph.Switch{Alpha: 14, Beta: 24}}
	rule.start(source.Vertices(), int64(len(rows.Targets)))
	var directions []graph.Direction
	for l := range vertices {
		directions = append(directions, rule.state.Direction)
		if rule.state.Frontier != vertices[l] {
			t.Errorf("level %d: got a frontier of %d vertices, want %d", l, rule.state.Frontier, vertices[l])
		}
		if l+1 < len(vertices) {
			rule.found(vertices[l+1], edges[l+1])
		}
	}
	if rule.state.UnexploredEdges != unexplored {
		t.Errorf("got %d unexplored edges, want %d", rule.state.UnexploredEdges, unexplored)
	}
	want := []graph.Direction{graph.TopDown, graph.BottomUp, graph.TopDown}
	if got := slices.Compact(directions); !slices.Equal(got, want) {
		t.Errorf("got the directions %v, want top-down, bottom-up and top-down again", directions)
	}
}

func TestGatherAndCull(t *testing.T) {
	const never = math.MaxUint64
	for gather, want := range map[string][2]uint64{
		"hybrid": {128, 32}, "scan": {never, never}, "warp": {never, 1}, "cta": {1, never},
	} {
		cta, warp := gatherMinima(resolve(t, map[string]string{"kernel": "merrill", "gather": gather}))
		if got := [2]uint64{cta, warp}; got != want {
			t.Errorf("gather=%s: got %v, want blocks and warps from %v entries on", gather, got, want)
		}
	}
	for cull, want := range map[string]uint64{"none": 0, "warp": 1, "history": 0, "both": 1} {
		set := resolve(t, map[string]string{"kernel": "merrill", "cull": cull})
		if got := bit(set, "cull", "warp", "both"); got != want {
			t.Errorf("cull=%s: got %d for tables of warps, want %d", cull, got, want)
		}
	}
}

func resolve(t *testing.T, chosen map[string]string) plugins.Settings {
	t.Helper()
	set := must.Get(plugins.Resolve(options(), chosen))
	return set
}

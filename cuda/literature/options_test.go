// SPDX-License-Identifier: Apache-2.0

package literature

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/plugins/enginetest"
)

func TestConfigure(t *testing.T) {
	defaults := configuration{kernel: "quadratic", levels: "u8", readOnly: true, permute: true, tileBits: 20, ldg: true,
		rule: graph.Switch{Alpha: 14, Beta: 24}, order: "hybrid", twoPhase: 65536, gather: "hybrid", ctaMin: 128, warpMin: 32,
		cull: "both", edges: 4,
		queueShare: 1, local: true, global: true, renumber: true, aligned: 40, child: 1}
	habr, romeo, merrill, bisson := defaults, defaults, defaults, defaults
	habr.kernel, habr.device, habr.levels, habr.readOnly = "habr", 2, "u16", false
	habr.tileBits, habr.last = 7, true
	romeo.kernel, romeo.ldg, romeo.rule = "romeo", false, graph.Switch{Alpha: 1, Beta: 2}
	merrill.kernel, merrill.order, merrill.gather = "merrill", "two-phase", "scan"
	merrill.cull, merrill.distance = "none", true
	bisson.kernel, bisson.edges, bisson.appendByWarp, bisson.searchByWarp = "bisson", 16, true, true
	hybrid, compact, plain := defaults, defaults, defaults
	hybrid.kernel, hybrid.twoPhase, hybrid.ctaMin, hybrid.warpMin = "merrill", 5, 1000, 2
	compact.kernel, compact.compact = "bisson", true
	plain.kernel, plain.permute = "habr", false
	kolganov := defaults
	kolganov.kernel, kolganov.local, kolganov.global, kolganov.renumber = "kolganov", false, false, false
	kolganov.aligned, kolganov.child, kolganov.host, kolganov.rule.Steps = 100, 512, true, graph.OnlyBottomUp
	kolganov.duplicates = true
	for name, test := range map[string]struct {
		set  map[string]string
		want configuration
	}{
		"defaults": {nil, defaults},
		"habr": {map[string]string{"kernel": "habr", "levels": "u16", "readonly": "off", "tile": "7",
			"parents": "last", "device": "2"}, habr},
		"romeo": {map[string]string{"kernel": "romeo", "visited": "plain", "alpha": "1", "beta": "2"}, romeo},
		"merrill": {map[string]string{"kernel": "merrill", "order": "two-phase", "gather": "scan",
			"cull": "none", "output": "distance"}, merrill},
		"bisson":  {map[string]string{"kernel": "bisson", "edges": "16", "append": "warp", "search": "warp"}, bisson},
		"hybrid":  {map[string]string{"kernel": "merrill", "twophase": "5", "ctamin": "1000", "warpmin": "2"}, hybrid},
		"compact": {map[string]string{"kernel": "bisson", "visit": "compact"}, compact},
		"kolganov": {map[string]string{"kernel": "kolganov", "local": "off", "global": "off", "renumber": "off",
			"aligned": "100", "child": "512", "lists": "host", "direction": "bottomup",
			"claim": "off"}, kolganov},
		"no tiles": {map[string]string{"kernel": "habr", "permute": "off"}, plain},
	} {
		set, err := plugins.Resolve(options(), test.set)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(test.want, configure(set), cmp.AllowUnexported(configuration{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

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
		c := configuration{levels: levels}
		if got := [2]uint64{uint64(c.levelBytes()), c.maxLevel()}; got != want {
			t.Errorf("%s: got %v, want %v bytes and largest level", levels, got, want)
		}
	}
}

// The rule is given what kernels count, and takes the oracle's levels of a Kronecker graph top-down, bottom-up and
// top-down again, as in the thesis, table 3.1.
func TestSwitchOverTheOraclesLevels(t *testing.T) {
	source, tuples := enginetest.Generated(t, "kron:14")
	rows, err := graph.NewCSR(tuples, source.Vertices())
	if err != nil {
		t.Fatal(err)
	}
	root, _ := tuples[0].Ends()
	_, levels, err := rows.Search(root)
	if err != nil {
		t.Fatal(err)
	}
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
		"hybrid": {700, 20}, "scan": {never, never}, "warp": {never, 1}, "cta": {1, never},
	} {
		cta, warp := configuration{gather: gather, ctaMin: 700, warpMin: 20}.gatherMinima()
		if got := [2]uint64{cta, warp}; got != want {
			t.Errorf("gather=%s: got %v, want blocks and warps from %v entries on", gather, got, want)
		}
	}
	for cull, want := range map[string][2]uint64{"none": {0, 0}, "warp": {1, 0}, "history": {0, 1}, "both": {1, 1}} {
		warp, history := configuration{cull: cull}.cullFlags()
		if got := [2]uint64{warp, history}; got != want {
			t.Errorf("cull=%s: got the tables %v, want %v", cull, got, want)
		}
	}
}

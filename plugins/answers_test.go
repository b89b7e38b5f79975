package plugins_test

import (
	"math"
	"strings"
	"testing"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
)

func TestImpossibleDescriptionsAreRefused(t *testing.T) {
	valid := plugins.Description{Name: "mine", Options: []plugins.Option{{Name: "n", Kind: plugins.Int}}}
	if err := valid.Check(); err != nil {
		t.Error(err)
	}
	for want, change := range map[string]func(*plugins.Description){
		"name is \"a/b\"":    func(d *plugins.Description) { d.Name = "a/b" },
		"at most 128 bytes":  func(d *plugins.Description) { d.Name = strings.Repeat("x", 129) },
		"text in UTF-8":      func(d *plugins.Description) { d.Summary = "\xff" },
		"control characters": func(d *plugins.Description) { d.Version = "1\n2" },
		"at most 256":        func(d *plugins.Description) { d.Devices = make([]plugins.Device, 257) },
		"per_vertex is +Inf": func(d *plugins.Description) { d.Memory.PerVertex = math.Inf(1) },
		"fixed is -1":        func(d *plugins.Description) { d.Memory.Fixed = -1 },
		"options[0].name":    func(d *plugins.Description) { d.Options = []plugins.Option{{Name: "A", Kind: plugins.Int}} },
		"options[0].kind":    func(d *plugins.Description) { d.Options = []plugins.Option{{Name: "a", Kind: "date"}} },
		"options[0].min is 2": func(d *plugins.Description) {
			d.Options = []plugins.Option{{Name: "a", Kind: plugins.Int, Min: plugins.Bound(2), Max: plugins.Bound(1)}}
		},
		"want a number": func(d *plugins.Description) {
			d.Options = []plugins.Option{{Name: "a", Kind: plugins.Int, Min: plugins.Bound(math.NaN())}}
		},
	} {
		d := valid
		if change(&d); d.Check() == nil || !strings.Contains(d.Check().Error(), want) {
			t.Errorf("got %v, want %q", d.Check(), want)
		}
	}
}

func TestImpossibleConstructionsAndTraversalsAreRefused(t *testing.T) {
	parent := make([]graph.Vertex, 100)
	for i := range parent[2:] {
		parent[2+i] = graph.Unreached
	}
	levels := func(n int, level plugins.Level) plugins.Traversal {
		all := make([]plugins.Level, n)
		for i := range all {
			all[i] = level
		}
		return plugins.Traversal{Levels: all}
	}
	for want, err := range map[string]error{
		"parent_bits or vertex_bits is 65": plugins.Construction{Claims: plugins.Claims{VertexBits: 65}}.Check(),
		"bytes is -1":                      plugins.Construction{Bytes: -1}.Check(),
		"ranks has 4097 elements":          plugins.Traversal{Ranks: make([]plugins.Rank, 4097)}.Check(parent),
		"direction":                        levels(1, plugins.Level{Direction: 7}).Check(parent),
		"sum of the frontiers is 102":      levels(2, plugins.Level{Frontier: 51}).Check(parent),
		"at most 3, because 2":             levels(65, plugins.Level{}).Check(parent),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	for _, err := range []error{
		plugins.Construction{}.Check(), plugins.Traversal{}.Check(nil), levels(3, plugins.Level{Frontier: 1}).Check(parent),
	} {
		if err != nil {
			t.Error(err)
		}
	}
}

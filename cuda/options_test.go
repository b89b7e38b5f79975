// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
)

func TestConfigure(t *testing.T) {
	rule := graph.Switch{Alpha: 30, Beta: 16384}
	for name, test := range map[string]struct {
		set  map[string]string
		want configuration
	}{
		"defaults": {nil, configuration{
			devices: []int{0}, rows: 1, aligned: 100, rule: rule, lists: "auto", adjacency: "auto",
			patience: 10 * time.Second,
		}},
		"all": {map[string]string{
			"topdown": "dynamic", "bottomup": "csr", "levels": "stepped", "memory": "1.5", "device": "2",
			"hubs": "7", "lists": "host", "adjacency": "csr", "alpha": "1", "beta": "2", "transfer": "staged",
			"messages": "bitmaps",
		}, configuration{
			devices: []int{2}, rows: 1, messages: 2, staged: true, dynamic: true, stepped: true,
			rule: graph.Switch{Alpha: 1, Beta: 2}, hubs: 7,
			memory: 3 << 29, lists: "host", adjacency: "csr", patience: 10 * time.Second,
		}},
		"aligned": {map[string]string{"aligned": "40"}, configuration{
			devices: []int{0}, rows: 1, aligned: 40, rule: rule, lists: "auto", adjacency: "auto",
			patience: 10 * time.Second,
		}},
	} {
		set, err := plugins.Resolve(options(), test.set)
		if err != nil {
			t.Fatal(err)
		}
		got, err := configure(set)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(test.want, got, cmp.AllowUnexported(configuration{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestOptionGPUsNamesDevices(t *testing.T) {
	for _, test := range []struct {
		gpus  string
		first int
		want  []int
	}{{"1", 0, []int{0}}, {"1", 3, []int{3}}, {"2", 0, []int{0, 1}}, {"3", 1, []int{1, 2, 3}},
		{"0,0", 2, []int{0, 0}}, {"3,1", 0, []int{3, 1}}} {
		got, err := devices(test.gpus, test.first)
		if diff := cmp.Diff(test.want, got); diff != "" || err != nil {
			t.Errorf("gpus=%s, device=%d: %v (-want +got):\n%s", test.gpus, test.first, err, diff)
		}
	}
	for _, gpus := range []string{"", "0", "17", "-1", "two", "0,", ",", "0,1024", strings.Repeat("0,", maxRanks) + "0"} {
		if got, err := devices(gpus, 0); !errors.Is(err, plugins.ErrOption) {
			t.Errorf("gpus=%q: got %v and %v, want ErrOption", gpus, got, err)
		}
	}
}

func TestPartitionMakesAGrid(t *testing.T) {
	for _, test := range []struct {
		partition        string
		rows, gpus, want int // rows
	}{
		{"1d-dest", 0, 4, 4}, {"1d-source", 0, 4, 1}, {"2d", 0, 1, 1}, {"2d", 0, 2, 2}, {"2d", 0, 4, 2}, {"2d", 0, 6, 3},
		{"2d", 0, 7, 7}, {"2d", 0, 16, 4}, {"2d", 1, 4, 1}, {"2d", 4, 4, 4},
	} {
		got, err := gridRows(test.partition, test.rows, test.gpus)
		if got != test.want || err != nil {
			t.Errorf("%+v: got %d rows, %v", test, got, err)
		}
	}
	for _, rows := range []int{3, 8} {
		if got, err := gridRows("2d", rows, 4); !errors.Is(err, plugins.ErrOption) {
			t.Errorf("rows=%d of 4 GPUs: got %d, %v, want ErrOption", rows, got, err)
		}
	}
}

func TestHubCountStaysInBounds(t *testing.T) {
	for _, test := range []struct{ set, vertices, want int64 }{
		{0, 0, 0}, {0, 10, 10}, {0, 1000, 64}, {0, 64 * 320, 320}, {0, 1 << 40, 1 << 18}, {5, 3, 3}, {5, 100, 5},
	} {
		if got := (configuration{hubs: int(test.set)}).hubCount(test.vertices); got != test.want {
			t.Errorf("hubs=%d, %d vertices: got %d, want %d", test.set, test.vertices, got, test.want)
		}
	}
}

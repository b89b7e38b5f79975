// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tepsbench/teps/internal/must"
	"github.com/tepsbench/teps/plugins"
)

func TestConfigure(t *testing.T) {
	for _, test := range []struct {
		set     map[string]string
		devices []int
		rows    int
		memory  int64
		err     error
	}{
		{nil, []int{0}, 1, 0, nil},
		{map[string]string{"device": "2", "memory": "1.5"}, []int{2}, 1, 3 << 29, nil},
		{map[string]string{"ranks": "4", "device": "0,0", "partition": "2d"}, []int{0, 0}, 2, 0, nil},
		{map[string]string{"ranks": "6", "device": "3,1", "partition": "2d", "transfer": "nccl"}, []int{3, 1}, 3, 0, nil},
		{map[string]string{"ranks": "2", "messages": "bitmaps", "transfer": "staged"}, []int{0}, 2, 0, nil},
		{map[string]string{"ranks": "2", "messages": "bitmaps", "transfer": "staged", "partition": "1d-source"}, []int{0}, 1,
			0, plugins.ErrOption},
		{map[string]string{"device": "0,1"}, []int{0, 1}, 0, 0, plugins.ErrOption},
		{map[string]string{"device": "two"}, nil, 0, 0, plugins.ErrOption},
	} {
		set := must.Get(plugins.Resolve(options(), test.set))
		c, err := configure(set)
		if !slices.Equal(c.devices, test.devices) || c.rows != test.rows || c.memory() != test.memory ||
			!errors.Is(err, test.err) {
			t.Errorf("%v: got devices %v in %d rows, %d bytes and %v", test.set, c.devices, c.rows, c.memory(), err)
		}
	}
}

func TestOptionsOfOneGPUAreRefusedOnSeveral(t *testing.T) {
	for _, set := range []map[string]string{
		{"ranks": "2", "topdown": "dynamic"}, {"ranks": "1", "adjacency": "packed"},
		{"ranks": "4", "partition": "2d", "rows": "3"}, {"ranks": "2", "rows": "2"},
	} {
		if _, err := plugins.Resolve(options(), set); !errors.Is(err, plugins.ErrOption) {
			t.Errorf("%v: got %v, want ErrOption", set, err)
		}
	}
}

func TestProcessesTakeGPUsInTurn(t *testing.T) {
	for device, want := range map[string][]int{"0": {0, 1, 2}, "2": {2, 3, 4}, "3,1": {3, 1, 3}, "0,0": {0, 0, 0}} {
		all := must.Get(devices(device))
		for place := range want {
			if got := (configuration{devices: all}).process(place).devices; !slices.Equal(got, want[place:place+1]) {
				t.Errorf("device=%s, place %d: got %v, want %v", device, place, got, want[place])
			}
		}
	}
	for _, device := range []string{"", "-1", "two", "0,", ",", "0,1024", strings.Repeat("0,", maxRanks) + "0"} {
		if got, err := devices(device); !errors.Is(err, plugins.ErrOption) {
			t.Errorf("device=%q: got %v and %v, want ErrOption", device, got, err)
		}
	}
}

func TestPartitionMakesAGrid(t *testing.T) {
	for _, test := range []struct {
		partition         string
		rows, ranks, want int // rows
	}{
		{"1d-dest", 0, 4, 4}, {"1d-source", 0, 4, 1}, {"2d", 0, 1, 1}, {"2d", 0, 2, 2}, {"2d", 0, 4, 2}, {"2d", 0, 6, 3},
		{"2d", 0, 7, 7}, {"2d", 0, 16, 4}, {"2d", 1, 4, 1}, {"2d", 4, 4, 4},
	} {
		if got := gridRows(test.partition, test.rows, test.ranks); got != test.want {
			t.Errorf("%+v: got %d rows", test, got)
		}
	}
}

func TestHubCountStaysInBounds(t *testing.T) {
	for _, test := range []struct{ set, vertices, want int64 }{
		{0, 0, 0}, {0, 10, 10}, {0, 1000, 64}, {0, 64 * 320, 320}, {0, 1 << 40, 1 << 18}, {5, 3, 3}, {5, 100, 5},
	} {
		set := must.Get(plugins.Resolve(options(), map[string]string{"hubs": strconv.FormatInt(test.set, 10)}))
		if got := (configuration{Settings: set}).hubCount(test.vertices); got != test.want {
			t.Errorf("hubs=%d, %d vertices: got %d, want %d", test.set, test.vertices, got, test.want)
		}
	}
}

// SPDX-License-Identifier: Apache-2.0

package team

import (
	"errors"
	"strings"
	"testing"

	"github.com/tepsbench/teps/internal/must"
	"github.com/tepsbench/teps/plugins"
)

func TestProcessesTakeGPUsInTurn(t *testing.T) {
	for device, want := range map[string][]int{"0": {0, 1, 2}, "2": {2, 3, 4}, "3,1": {3, 1, 3}, "0,0": {0, 0, 0}} {
		all := must.Get(devices(device))
		for place := range want {
			if got := (Grid{Devices: all}).Device(place); got != want[place] {
				t.Errorf("device=%s, place %d: got %v, want %v", device, place, got, want[place])
			}
		}
	}
	for _, device := range []string{"", "-1", "two", "0,", ",", "0,1024", strings.Repeat("0,", MaxRanks) + "0"} {
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

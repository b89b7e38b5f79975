// SPDX-License-Identifier: Apache-2.0

package opencl

import (
	"context"
	"strings"
	"testing"

	"github.com/tepsbench/teps/opencl/driver"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/plugins/enginetest"
)

func TestConformance(t *testing.T) {
	enginetest.Test(t, func(context.Context) (plugins.Engine, error) { return New(), nil })
}

// Every constant at a value that small graphs reach: several pieces a list, full queues, long lists, many batches. And
// those of GPUs, which no machine of the tests has.
func TestVariantsOfConstants(t *testing.T) {
	needsDriver(t)
	small := tuning{group: 8, alone: 8, perUnit: 3, queue: 8, piece: 1, oneGroup: 0, reads: 1, scan: 4, sortGroup: 8,
		sortUnit: 2, batch: 1}
	for _, c := range []struct {
		name      string
		constants tuning
		options   map[string]string
		prefix    string
	}{
		{"small", small, nil, "graph/kronecker"},
		{"small top-down", small, map[string]string{"direction": "topdown"}, "graph/kronecker"},
		{"gpu", tuned(driver.Device{Kind: "gpu"}), nil, "graph/"},
	} {
		t.Run(c.name, func(t *testing.T) { conform(t, c.constants, c.options, c.prefix) })
	}
}

// conform runs the cases with small graphs whose names begin with a prefix.
func conform(t *testing.T, v tuning, options map[string]string, prefix string) {
	t.Helper()
	open := func(context.Context) (plugins.Engine, error) { return plugins.New(describe, variant(v)), nil }
	for _, c := range enginetest.Cases() {
		large := c.Name == "graph/kronecker-15"
		if large || !strings.HasPrefix(c.Name, prefix) {
			continue
		}
		if o := c.Run(t.Context(), open, options, enginetest.Limit); o.Err != nil {
			t.Errorf("%v\nThe case: %s", o.Err, c.About)
		} else if o.Skipped != "" {
			t.Skip(o.Skipped)
		}
	}
}

// variant is kernel 1 with other constants than those of the device.
func variant(v tuning) plugins.Build {
	return func(ctx context.Context, in plugins.Input, set plugins.Settings) (plugins.Built, error) {
		devices, err := driver.Devices()
		if err != nil {
			return plugins.Built{}, err
		}
		i, err := choose(devices, set.Text("device"))
		if err != nil {
			return plugins.Built{}, err
		}
		v.compiler += " " + tuned(devices[i]).compiler
		_, built, err := construct(ctx, in.Tuples, devices[i], set, v)
		return built, err
	}
}

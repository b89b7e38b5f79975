// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/tepsbench/teps/harness"
	"github.com/tepsbench/teps/opencl"
	"github.com/tepsbench/teps/plugins"
)

// defaultEngines are the engines of `teps run` without --engine: cpu, and distributed in two dimensions and in one.
func defaultEngines() []string {
	return []string{
		"cpu", "distributed-2d=distributed:partition=2d", "distributed-1d-dest=distributed:partition=1d-dest",
	}
}

// defaults are the engines of a run without --engine: those of defaultEngines, cuda if it is next to teps and can run
// here, and opencl for the first GPU that cuda does not run on. leftOut names the others and says why.
func (c catalog) defaults(ctx context.Context, host harness.Host) (chosen []string, leftOut string) {
	why := map[string]string{"mpi": "for several hosts", "serial": "the baseline", "literature": "published searches",
		"cuda": "not built: docs/cuda.md"}
	chosen = defaultEngines()
	known := c.known()
	available := func(name string) (devices []plugins.Device) {
		if i := slices.IndexFunc(known, func(engine choice) bool { return engine.Name == name }); i >= 0 {
			d, err := harness.Available(ctx, host, known[i].EngineSpec)
			if why[name] = ""; err != nil {
				why[name] = err.Error()
			}
			devices = d.Devices
		}
		return devices
	}
	gpus := available("cuda")
	if why["cuda"] == "" {
		chosen = append(chosen, "cuda")
	}
	if i := otherGPU(available("opencl"), gpus); i >= 0 && why["opencl"] == "" {
		chosen = append(chosen, fmt.Sprintf("opencl:device=%d", i))
	} else {
		why["opencl"] = cmp.Or(why["opencl"], "no GPU for it")
	}
	measured := map[string]bool{"cpu": true, "distributed": true, "cuda": why["cuda"] == "", "opencl": why["opencl"] == ""}
	var others []string
	for _, name := range append([]string{"cuda"}, each(known, func(engine choice) string { return engine.Name })...) {
		if !measured[name] {
			others = append(others, fmt.Sprintf("%s (%s)", name, cmp.Or(why[name], "name it with --engine")))
			measured[name] = true // cuda may be there twice
		}
	}
	return chosen, "engines left out: " + strings.Join(others, ", ")
}

// otherGPU returns the number of the first device that is a usable GPU and none of the given ones, or -1.
func otherGPU(devices, given []plugins.Device) int {
	fact := func(d plugins.Device, name string) string {
		for _, f := range d.Details {
			if f.Name == name {
				return f.Value
			}
		}
		return ""
	}
	return slices.IndexFunc(devices, func(d plugins.Device) bool {
		uuid := fact(d, plugins.DeviceUUID)
		same := func(other plugins.Device) bool {
			return other.Name == d.Name || uuid != "" && uuid == fact(other, plugins.DeviceUUID)
		}
		return d.Kind == "gpu" && fact(d, opencl.Problem) == "" && !slices.ContainsFunc(given, same)
	})
}

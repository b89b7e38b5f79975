// SPDX-License-Identifier: Apache-2.0

//go:build cuda

package cuda

import (
	"context"
	"flag"
	"fmt"
	"strings"
	"testing"

	"github.com/tepsbench/teps/cuda/driver"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/plugins/enginetest"
)

var (
	flagGPU     = flag.Bool("gpu", false, "fail instead of skipping tests if the machine has no GPU")
	flagGPUs    = flag.String("gpus", "0,0", "the GPUs of tests of several GPUs, as option gpus takes them")
	flagProduct = flag.Bool("cuda.product", false, "run the conformance suite over every combination of variants")
)

// needGPU skips a test if the machine has no GPU, or fails it with -gpu.
func needGPU(tb testing.TB) {
	tb.Helper()
	switch why := driver.Missing(); {
	case why == "":
	case *flagGPU:
		tb.Fatal(why)
	default:
		tb.Skip(why)
	}
}

// variants returns sets of options: those in which every variant occurs, or all combinations.
func variants() (sets []map[string]string) {
	if !*flagProduct {
		return []map[string]string{
			nil,
			{"topdown": "dynamic", "bottomup": "csr", "lists": "host", "hubs": "3"},
			{"levels": "stepped", "alpha": "0", "aligned": "40"},
			{"alpha": "1e9", "beta": "1e9", "hubs": "2", "memory": "0.88"},
			{"direction": "bottomup"},
			{"adjacency": "packed"},
			{"adjacency": "packed", "direction": "topdown", "levels": "stepped"},
			{"adjacency": "packed", "topdown": "dynamic", "bottomup": "csr", "hubs": "3"},
			{"gpus": *flagGPUs},
			{"gpus": *flagGPUs, "transfer": "staged"},
			{"gpus": "0,0,0", "direction": "topdown"},
			{"gpus": *flagGPUs, "partition": "1d-source"},
			{"gpus": *flagGPUs, "partition": "1d-source", "transfer": "staged"},
			{"gpus": "0,0,0,0", "partition": "2d"},
			{"gpus": "0,0,0", "partition": "1d-source", "direction": "topdown", "messages": "lists"},
			{"gpus": *flagGPUs, "partition": "1d-source", "transfer": "staged", "messages": "bitmaps"},
		}
	}
	for _, topDown := range []string{"scan", "dynamic"} {
		for _, bottomUp := range []string{"aligned", "csr"} {
			for _, lists := range []string{"device", "host"} {
				for _, levels := range []string{"fused", "stepped"} {
					for _, alpha := range []string{"0", "30", "1e9"} {
						sets = append(sets, map[string]string{"topdown": topDown, "bottomup": bottomUp, "lists": lists,
							"levels": levels, "alpha": alpha})
					}
				}
			}
		}
	}
	return sets
}

func TestConformance(t *testing.T) {
	needGPU(t)
	open := func(context.Context) (plugins.Engine, error) { return New(), nil }
	for _, set := range variants() {
		t.Run(strings.ReplaceAll(fmt.Sprint(set), " ", ","), func(t *testing.T) { enginetest.Test(t, open, set) })
	}
}

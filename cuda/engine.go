// SPDX-License-Identifier: Apache-2.0

// Package cuda is the engine for NVIDIA GPUs, one or several, of one host or several: the hybrid breadth-first search
// of A. S. Kolganov ("The fastest and most energy-efficient breadth-first search on single-node parallel
// architectures", Bulletin of the South Ural State University, 2018), section 3.2, adapted to current GPUs.
//
// Files:
//
//	bfs.go                the search on the host: launches, levels, output
//	kernels/search.cu     the search on the device: the loop over levels, and both steps
//	kernels/sparse.cuh    the top-down step of small frontiers, as in roads and meshes
//	kernels/topdown.cuh   parts of the top-down step; kernels/dynamic.cu: the same step by dynamic parallelism
//	kernels/bottomup.cuh  parts of the bottom-up step
//	kernels/output.cuh    parents in original labels
//	kernels/levels.cuh    the work between two levels; kernels/search.cuh: its structures
//	kernels/block.cuh     barriers, shared memory and counters of a block
//	kernels/graph.cuh     the graph and the numbering of its vertices
//	kernels/neighbors.cuh neighbor lists, plain and packed
//	kernels/exchange.cuh  messages of several GPUs; kernels/fold.cuh: additions for 1D by source and 2D;
//	                      exchange.go: the same search on the host
//	team                  several processes under MPI, a GPU each, and how their GPUs reach each other; carrier.go:
//	                      messages of GPUs that cannot reach the others' memory
//	sssp.go               kernel 3 on the host, on one GPU; kernels/paths/sssp.cu: on the device; construct_paths.go and
//	                      kernels/paths/weigh.cu, core.cuh: its part of kernel 1; paths.cuh: its graph
//	kernels/tuning.cuh    every constant that was chosen by measuring
//	construct*.go         kernel 1, step by step; kernels/order.cu, lists.cu, packed.cu, derived.cu, sort.cu and
//	                      (several GPUs) edges.cu, several.cu run on the device
//	plan.go               limits and memory: arithmetic that needs no GPU
//
// Without the build tag cuda the engine only describes itself, as unavailable. build.sh builds the rest.
package cuda

import (
	"github.com/tepsbench/teps/cuda/team"
	"github.com/tepsbench/teps/plugins"
)

// New returns the engine.
func New() plugins.Engine {
	return team.NewEngine(plugins.Description{
		Name:    "cuda",
		Version: "1.6", // changes with the method and with the meaning of options
		Summary: "Direction-optimizing search on NVIDIA GPUs: edge-balanced or dynamic-parallel top-down, " +
			"aligned bottom-up, one launch a search; shortest paths on one of them.",
		Options:     options(),
		Memory:      plugins.Memory{Fixed: 2 << 30}, // driver and staging buffers, with the graph on the device
		Limits:      limits(),
		MakesTuples: true, TakesDeviceTuples: true,
		ShortestPaths: true,
	}, build)
}

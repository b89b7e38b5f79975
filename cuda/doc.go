// Package cuda is the engine for one NVIDIA GPU: the hybrid search of A. S. Kolganov ("The fastest and most energy-efficient
// breadth-first search on single-node parallel architectures", Bulletin of the South Ural State University, 2018), section 3.2, made
// for today's chips.
//
// Where to read what:
//
//	bfs.go                  the search as the host sees it, and what it holds
//	kernels/search.cu       the search on the device: levels, and what holds between them
//	kernels/topdown.cuh     top-down by prefix sums and search; kernels/dynamic.cu: by dynamic parallelism
//	kernels/bottomup.cuh    bottom-up over aligned blocks
//	kernels/claim.cuh       whole groups of vertices found by one look
//	kernels/block.cuh       what the threads of a block share and count; kernels/barrier.cuh: how they wait
//	kernels/output.cuh      the parents in original labels
//	kernels/graph.cuh       the graph's arrays and the order of its vertices; kernels/order.cu and lists.cu make them
//	kernels/tuning.cuh      every constant that was chosen by measuring
//	construct*.go           kernel 1, phase by phase
//	layout.go               what fits where: plain arithmetic, tested without a GPU
//
// Without the build tag cuda the package has an engine that says what is missing. build.sh builds the rest.
package cuda

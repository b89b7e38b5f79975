// SPDX-License-Identifier: Apache-2.0

// Data of all kernels of the literature: rows (CSR) or a list of edges in the labels of the tuples, parents of 64 bits,
// and counters of a level. Kernel 1 makes the rows with the kernels of ../../kernels.
#pragma once
#include "../../kernels/warp.cuh"

// Counters of a level; base.go reads them after it.
struct Counters {
  u64 vertices;  // each kernel says which
  u64 edges;
  u64 examined;  // adjacency entries that were read
};

// add adds the sums over the threads of a block to the counters. All threads of the block call it, once.
__device__ inline void add(Counters* counters, u32 vertices, u64 edges, u64 examined) {
  __shared__ Counters sum;
  if (threadIdx.x == 0) sum = {0, 0, 0};
  __syncthreads();
  u64 all = warpSum(u64(vertices));
  edges = warpSum(edges);
  examined = warpSum(examined);
  if (lane() == 0 && (all | edges | examined) != 0) {
    atomicAdd(&sum.vertices, all);
    atomicAdd(&sum.edges, edges);
    atomicAdd(&sum.examined, examined);
  }
  __syncthreads();
  if (threadIdx.x == 0 && (sum.vertices | sum.edges | sum.examined) != 0) {
    atomicAdd(&counters->vertices, sum.vertices);
    atomicAdd(&counters->edges, sum.edges);
    atomicAdd(&counters->examined, sum.examined);
  }
}

// binned returns the place of a thread's value in a bin, and adds those of a warp to the tails of bins. All lanes of a
// warp call it.
__device__ inline u64 binned(u64* tails, u32 bin, bool mine) {
  u32 peers = __match_any_sync(~0u, mine ? bin : NONE), first = __ffs(peers) - 1;
  u64 at = 0;
  if (mine && lane() == first) at = atomicAdd(&tails[bin], u64(__popc(peers)));
  return __shfl_sync(~0u, at, first) + __popc(peers & ((1u << lane()) - 1));
}

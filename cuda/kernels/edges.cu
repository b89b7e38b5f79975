// SPDX-License-Identifier: Apache-2.0

// Kernel 1 on several GPUs: from tuples to the GPUs that they belong to.
//
// Every tuple makes two edges, one in each direction: source label << 32 | target label. An edge belongs to the GPU in the
// row of its target's owner and the column of its source's owner. On a grid of one column, that is its target's owner. The
// host moves them (../team/link.go).
#include "append.cuh"

namespace {

constexpr int PER_THREAD = 4; // at a time

// gpuOf returns the GPU that an edge belongs to.
__device__ u32 gpuOf(u32 source, u32 target, u32 ranks, u32 columns) {
  return target % ranks / columns * columns + source % ranks % columns;
}

}  // namespace

// count_edges adds the number of edges of each GPU to counts.
extern "C" __global__ void count_edges(const u64* pairs, u64 n, u64 ranks, u64 columns, u64* counts) {
  u64 stride = u64(gridDim.x) * blockDim.x;
  u32 p = u32(ranks), c = u32(columns);
  for (u64 r = 0; r < ranks; r++) {
    u64 mine = 0;
    for (u64 i = u64(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += stride) {
      u32 u = u32(pairs[i] >> 32), v = u32(pairs[i]);
      if (u != v) mine += (gpuOf(u, v, p, c) == r) + (gpuOf(v, u, p, c) == r);
    }
    mine = warpSum(mine);
    if (lane() == 0 && mine != 0) atomicAdd(&counts[r], mine);
  }
}

// select_edges writes the edges of a GPU to out, in any order, and adds their number to *written.
extern "C" __global__ void __launch_bounds__(THREADS)
select_edges(const u64* pairs, u64 n, u64 gpu, u64 ranks, u64 columns, u64* out, u64* written) {
  u64 stride = u64(gridDim.x) * THREADS * PER_THREAD;
  u32 p = u32(ranks), c = u32(columns);
  for (u64 begin = u64(blockIdx.x) * THREADS * PER_THREAD; begin < n; begin += stride) {
    u64 mine[2 * PER_THREAD];
#pragma unroll
    for (int i = 0; i < PER_THREAD; i++) {
      u64 at = begin + i * THREADS + threadIdx.x;
      mine[2 * i] = mine[2 * i + 1] = ~u64(0);
      if (at >= n) continue;
      u32 u = u32(pairs[at] >> 32), v = u32(pairs[at]);
      if (u == v) continue;
      if (gpuOf(u, v, p, c) == gpu) mine[2 * i] = u64(u) << 32 | v;
      if (gpuOf(v, u, p, c) == gpu) mine[2 * i + 1] = u64(v) << 32 | u;
    }
    append(mine, out, written);
  }
}

// SPDX-License-Identifier: Apache-2.0

#pragma once
#include "graph.cuh"

// placeOf adds the counts of a block's threads to *written, and returns where those of this thread begin.
__device__ inline u64 placeOf(u32 count, u64* written) {
  __shared__ u32 sums[THREADS / 32];
  __shared__ u64 base;
  u32 until = sumUntil(count);
  if (lane() == 31) sums[threadIdx.x / 32] = until;
  __syncthreads();
  u32 all = 0, before = 0;
  for (u32 w = 0; w < THREADS / 32; w++) {
    if (w == threadIdx.x / 32) before = all;
    all += sums[w];
  }
  if (threadIdx.x == 0) base = atomicAdd(written, u64(all));
  __syncthreads();
  u64 at = base + before + until - count;
  __syncthreads();
  return at;
}

// append appends the values of a block that are not ~0 to out, in any order, and adds their number to *written.
template <int N>
__device__ inline void append(const u64 (&mine)[N], u64* out, u64* written) {
  u32 count = 0;
#pragma unroll
  for (int i = 0; i < N; i++) count += mine[i] != ~u64(0);
  u64 at = placeOf(count, written);
#pragma unroll
  for (int i = 0; i < N; i++) {
    if (mine[i] != ~u64(0)) out[at++] = mine[i];
  }
}

// SPDX-License-Identifier: Apache-2.0

// Types, and helpers for warps.
#pragma once
#include <cstdint>

using u32 = uint32_t;
using u64 = unsigned long long;
using i64 = long long;

constexpr u32 NONE = 0xffffffffu;  // not a vertex, not a label

__device__ inline u32 lane() { return threadIdx.x & 31; }

// globalTime returns nanoseconds since some moment.
__device__ inline u64 globalTime() {
  u64 t;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
  return t;
}

// warpSum returns the sum over the lanes of a warp, in lane 0.
__device__ inline u32 warpSum(u32 x) {
#if __CUDA_ARCH__ >= 800
  return __reduce_add_sync(~0u, x);
#else
  for (int d = 16; d > 0; d /= 2) x += __shfl_down_sync(~0u, x, d);
  return x;
#endif
}

// warpMin returns the minimum over the lanes of a warp.
__device__ inline u32 warpMin(u32 x) {
#if __CUDA_ARCH__ >= 800
  return __reduce_min_sync(~0u, x);
#else
  for (int d = 16; d > 0; d /= 2) x = min(x, __shfl_xor_sync(~0u, x, d));
  return x;
#endif
}

// warpOr returns the bits that are set in a lane of a warp.
__device__ inline u32 warpOr(u32 x) {
  for (int d = 16; d > 0; d /= 2) x |= __shfl_xor_sync(~0u, x, d);
  return x;
}

// warpSum returns the sum over the lanes of a warp, in lane 0.
__device__ inline u64 warpSum(u64 x) {
  for (int d = 16; d > 0; d /= 2) x += __shfl_down_sync(~0u, x, d);
  return x;
}

// sumSince returns the sum over this lane and as many before it as `back` says: different numbers make segments.
__device__ inline u32 sumSince(u32 back, u32 x) {
  for (u32 d = 1; d < 32; d *= 2) {
    u32 other = __shfl_up_sync(~0u, x, d);
    if (d <= back) x += other;
  }
  return x;
}

// sumUntil returns the sum over the lanes of a warp up to and including this one.
template <class T>
__device__ inline T sumUntil(T x) {
  for (int d = 1; d < 32; d *= 2) {
    T other = __shfl_up_sync(~0u, x, d);
    if (lane() >= d) x += other;
  }
  return x;
}

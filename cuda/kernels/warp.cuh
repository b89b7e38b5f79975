// Types, and helpers for warps.
#pragma once
#include <cstdint>

using u32 = uint32_t;
using u64 = unsigned long long;
using i64 = long long;

__device__ inline u32 lane() { return threadIdx.x & 31; }

// warpSum returns the sum over the lanes of a warp, in lane 0.
__device__ inline u32 warpSum(u32 x) {
#if __CUDA_ARCH__ >= 800
  return __reduce_add_sync(~0u, x);
#else
  for (int d = 16; d > 0; d /= 2) x += __shfl_down_sync(~0u, x, d);
  return x;
#endif
}

// warpSum returns the sum over the lanes of a warp, in lane 0.
__device__ inline u64 warpSum(u64 x) {
  for (int d = 16; d > 0; d /= 2) x += __shfl_down_sync(~0u, x, d);
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

// SPDX-License-Identifier: Apache-2.0

// A least-significant-digit radix sort of 64-bit keys, 8 bits a pass: count, prefix sums, scatter.
//
// It is stable: a block owns consecutive tiles of keys in both kernels, so keys with equal digits keep their order
// across blocks; and inside a tile, warps own consecutive keys and a lane's rank is the number of equal digits in
// lower lanes.
#pragma once
#include "tuning.cuh"
#include "warp.cuh"

namespace {

constexpr int DIGITS = 256;
constexpr int WARPS = THREADS / 32;
constexpr int TILE = THREADS * SORT_KEYS;
static_assert(THREADS == DIGITS, "each thread handles one digit");

__device__ u32 digitOf(u64 key, u64 shift) { return u32(key >> shift) & (DIGITS - 1); }

// firstKey returns the first key of a block. Tiles are divided among the blocks as evenly as possible.
__device__ u64 firstKey(u64 block, u64 n) {
  u64 tiles = (n + TILE - 1) / TILE;
  u64 at = (tiles * block / gridDim.x) * TILE;
  return at < n ? at : n;
}

}  // namespace

// scatter moves every key to its place, and with VALUES the value of every key likewise. place has the exclusive prefix
// sums of the counts of sort_count.
template <bool VALUES>
__device__ void scatter(const u64* in, u64* out, const u64* values, u64* valuesOut, u64 n, u64 shift,
                        const u64* place) {
  __shared__ u64 tile[TILE];
  __shared__ u32 counts[WARPS][DIGITS];
  __shared__ u32 start[DIGITS];
  __shared__ u32 sums[WARPS];
  u64 base = place[u64(threadIdx.x) * gridDim.x + blockIdx.x];  // where the next key of this thread's digit goes
  __shared__ u64 into[DIGITS];
  u32 warp = threadIdx.x / 32;
  u64 end = firstKey(blockIdx.x + 1, n);
  for (u64 begin = firstKey(blockIdx.x, n); begin < end; begin += TILE) {
    u32 here = end - begin < TILE ? u32(end - begin) : TILE;
    for (int w = 0; w < WARPS; w++) counts[w][threadIdx.x] = 0;
    __syncthreads();

    u64 key[SORT_KEYS], moved[SORT_KEYS];
    u32 rank[SORT_KEYS]; // among the keys of a warp with the same digit, then in the tile
#pragma unroll
    for (int r = 0; r < SORT_KEYS; r++) {
      u32 i = warp * 32 * SORT_KEYS + r * 32 + lane();
      key[r] = i < here ? in[begin + i] : ~u64(0);
      u32 digit = i < here ? digitOf(key[r], shift) : DIGITS - 1; // keys beyond the end sort behind all others
      u32 peers = __match_any_sync(~0u, digit);
      u32 before = counts[warp][digit];
      __syncwarp();
      rank[r] = before + __popc(peers & ((1u << lane()) - 1));
      if (lane() == __ffs(peers) - 1) counts[warp][digit] = before + __popc(peers);
      __syncwarp();
    }
    __syncthreads();

    u32 total = 0; // of this thread's digit
    for (int w = 0; w < WARPS; w++) {
      u32 c = counts[w][threadIdx.x];
      counts[w][threadIdx.x] = total;
      total += c;
    }
    u32 until = sumUntil(total);
    if (lane() == 31) sums[warp] = until;
    __syncthreads();
    for (u32 w = 0; w < warp; w++) until += sums[w];
    start[threadIdx.x] = until - total;
    into[threadIdx.x] = base - (until - total);
    base += total;
    __syncthreads();

#pragma unroll
    for (int r = 0; r < SORT_KEYS; r++) {
      u32 i = warp * 32 * SORT_KEYS + r * 32 + lane();
      u32 digit = i < here ? digitOf(key[r], shift) : DIGITS - 1;
      rank[r] += start[digit] + counts[warp][digit];
      tile[rank[r]] = key[r];
    }
    __syncthreads();
#pragma unroll
    for (int r = 0; r < SORT_KEYS; r++) {
      u32 i = r * THREADS + threadIdx.x;
      if (i >= here) break;
      u64 k = tile[i];
      moved[r] = into[digitOf(k, shift)] + i;
      out[moved[r]] = k;
    }
    __syncthreads();
    if constexpr (VALUES) {
#pragma unroll
      for (int r = 0; r < SORT_KEYS; r++) {
        u32 i = warp * 32 * SORT_KEYS + r * 32 + lane();
        if (i < here) tile[rank[r]] = values[begin + i];
      }
      __syncthreads();
#pragma unroll
      for (int r = 0; r < SORT_KEYS; r++) {
        u32 i = r * THREADS + threadIdx.x;
        if (i < here) valuesOut[moved[r]] = tile[i];
      }
      __syncthreads();
    }
  }
}

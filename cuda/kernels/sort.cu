// SPDX-License-Identifier: Apache-2.0

// A least-significant-digit radix sort of 64-bit keys, 8 bits a pass: count, prefix sums, scatter.
//
// It is stable: a block owns consecutive tiles of keys in both kernels, so keys with equal digits keep their order
// across blocks; and inside a tile, warps own consecutive keys and a lane's rank is the number of equal digits in
// lower lanes.
#include "graph.cuh"

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

// sort_count counts the digits of every block into place[digit*gridDim.x + block].
extern "C" __global__ void __launch_bounds__(THREADS) sort_count(const u64* keys, u64 n, u64 shift, u64* place) {
  __shared__ u32 count[DIGITS];
  count[threadIdx.x] = 0;
  __syncthreads();
  u64 end = firstKey(blockIdx.x + 1, n);
  for (u64 i = firstKey(blockIdx.x, n) + threadIdx.x; i < end; i += THREADS) {
    atomicAdd(&count[digitOf(keys[i], shift)], 1u);
  }
  __syncthreads();
  place[u64(threadIdx.x) * gridDim.x + blockIdx.x] = count[threadIdx.x];
}

// sort_scatter moves every key to its place. place has the exclusive prefix sums of the counts of sort_count.
extern "C" __global__ void __launch_bounds__(THREADS)
sort_scatter(const u64* in, u64* out, u64 n, u64 shift, const u64* place) {
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

    u64 key[SORT_KEYS];
    u32 rank[SORT_KEYS];
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
      tile[start[digit] + counts[warp][digit] + rank[r]] = key[r];
    }
    __syncthreads();
    for (u32 i = threadIdx.x; i < here; i += THREADS) {
      u64 k = tile[i];
      out[into[digitOf(k, shift)] + i] = k;
    }
    __syncthreads();
  }
}

// prefix_sums replaces n numbers by their exclusive prefix sums, and writes their total. It runs as one block.
extern "C" __global__ void __launch_bounds__(SUM_THREADS) prefix_sums(u64* numbers, u64 n, u64* total) {
  __shared__ u64 sums[32];
  constexpr int NUMBERS_PER_THREAD = 8;
  u64 carry = 0;
  for (u64 begin = 0; begin < n; begin += SUM_THREADS * NUMBERS_PER_THREAD) {
    u64 x[NUMBERS_PER_THREAD], mine = 0;
    for (int i = 0; i < NUMBERS_PER_THREAD; i++) {
      u64 at = begin + threadIdx.x * NUMBERS_PER_THREAD + i;
      x[i] = at < n ? numbers[at] : 0;
      mine += x[i];
    }
    u64 until = sumUntil(mine);
    __syncthreads();
    if (lane() == 31) sums[threadIdx.x / 32] = until;
    __syncthreads();
    u64 all = 0;
    for (u32 w = 0; w < 32; w++) {
      if (w == threadIdx.x / 32) until += all;
      all += sums[w];
    }
    u64 sum = carry + until - mine;
    for (int i = 0; i < NUMBERS_PER_THREAD; i++) {
      u64 at = begin + threadIdx.x * NUMBERS_PER_THREAD + i;
      if (at < n) numbers[at] = sum;
      sum += x[i];
    }
    carry += all;
  }
  if (threadIdx.x == 0) *total = carry;
}

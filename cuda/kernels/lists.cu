// SPDX-License-Identifier: Apache-2.0

// Kernel 1, third part: from tuples with numbered ends to neighbor lists. Every tuple except self-loops gives two
// keys source<<bits | target. Sorted, the keys are the lists in ascending order, with duplicates next to each other.
// If the keys of the whole graph do not fit, the host builds the lists of one range of sources after the other.
#include "append.cuh"

namespace {
constexpr int TUPLES_PER_THREAD = 4; // at a time
}

// range_entries counts the list entries, duplicates included, of each range of `width` vertices.
extern "C" __global__ void range_entries(const u32* label, const u32* degree, u64 searched, u64 width, u64* entries) {
  __shared__ u64 sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  u64 from = u64(blockIdx.x) * width, to = from + width < searched ? from + width : searched;
  u64 mine = 0;
  for (u64 v = from + threadIdx.x; v < to; v += blockDim.x) mine += degree[label[v]];
  mine = warpSum(mine);
  if (lane() == 0) atomicAdd(&sum, mine);
  __syncthreads();
  if (threadIdx.x == 0) entries[blockIdx.x] = sum;
}

// list_keys writes the keys whose sources lie in [from, to), packed into fromTo, in any order, and adds their number
// to *written. Without vertex, vertices are labels.
extern "C" __global__ void __launch_bounds__(THREADS)
list_keys(const u64* pairs, u64 n, const u32* vertex, u64 searched, u64 fromTo, u64 bits, u64* keys, u64* written) {
  u32 from = u32(fromTo >> 32), to = u32(fromTo);
  u64 stride = u64(gridDim.x) * THREADS * TUPLES_PER_THREAD;
  for (u64 begin = u64(blockIdx.x) * THREADS * TUPLES_PER_THREAD; begin < n; begin += stride) {
    u64 mine[2 * TUPLES_PER_THREAD];
#pragma unroll
    for (int i = 0; i < TUPLES_PER_THREAD; i++) {
      u64 at = begin + i * THREADS + threadIdx.x;
      mine[2 * i] = mine[2 * i + 1] = ~u64(0);
      if (at >= n) continue;
      u32 u = u32(pairs[at] >> 32), v = u32(pairs[at]);
      if (vertex != nullptr) u = vertex[u], v = vertex[v];
      if (u == v || u >= searched || v >= searched) continue; // self-loops, and leaves, which are in no list
      if (u >= from && u < to) mine[2 * i] = u64(u - from) << bits | v;
      if (v >= from && v < to) mine[2 * i + 1] = u64(v - from) << bits | u;
    }
    append(mine, keys, written);
  }
}

// count_unique counts, for every block, the keys that differ from their predecessor.
extern "C" __global__ void __launch_bounds__(THREADS) count_unique(const u64* keys, u64 n, u64* counts) {
  __shared__ u64 sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  u64 share = (n + gridDim.x - 1) / gridDim.x, from = blockIdx.x * share, to = from + share < n ? from + share : n;
  u64 mine = 0;
  for (u64 i = from + threadIdx.x; i < to; i += THREADS) mine += i == 0 || keys[i] != keys[i - 1];
  mine = warpSum(mine);
  if (lane() == 0 && mine != 0) atomicAdd(&sum, mine);
  __syncthreads();
  if (threadIdx.x == 0) counts[blockIdx.x] = sum;
}

// write_lists appends the targets of unique keys to the `base` entries of earlier ranges, and writes where the list
// of each source begins: offset[s] for sources from the first of the range to the last one with an entry. before has
// the exclusive prefix sums of the counts of count_unique.
extern "C" __global__ void __launch_bounds__(THREADS)
write_lists(const u64* keys, u64 n, u64 bits, u64 from, u64 base, const u64* before, u32* target, u64* offset) {
  __shared__ u32 sums[THREADS / 32];
  u64 share = (n + gridDim.x - 1) / gridDim.x, begin = blockIdx.x * share, end = begin + share < n ? begin + share : n;
  u64 at = base + before[blockIdx.x];
  u64 mask = (u64(1) << bits) - 1;
  for (; begin < end; begin += THREADS) {
    u64 i = begin + threadIdx.x;
    u64 key = i < end ? keys[i] : 0, previous = i < end && i > 0 ? keys[i - 1] : 0;
    bool unique = i < end && (i == 0 || key != previous);
    u32 votes = __ballot_sync(~0u, unique);
    if (lane() == 0) sums[threadIdx.x / 32] = __popc(votes);
    __syncthreads();
    u32 all = 0, preceding = 0;
    for (u32 w = 0; w < THREADS / 32; w++) {
      if (w == threadIdx.x / 32) preceding = all;
      all += sums[w];
    }
    if (unique) {
      u64 place = at + preceding + __popc(votes & ((1u << lane()) - 1));
      target[place] = u32(key & mask);
      u64 source = key >> bits, first = i == 0 ? 0 : (previous >> bits) + 1;
      for (u64 s = first; s <= source; s++) offset[from + s] = place;
    }
    at += all;
    __syncthreads();
  }
}

// end_lists writes the offsets of the sources after the last one with an entry, up to and including `to`.
extern "C" __global__ void end_lists(const u64* keys, u64 n, u64 bits, u64 from, u64 to, u64 end, u64* offset) {
  u64 first = from + (n > 0 ? (keys[n - 1] >> bits) + 1 : 0);
  u64 stride = u64(gridDim.x) * blockDim.x;
  for (u64 s = first + u64(blockIdx.x) * blockDim.x + threadIdx.x; s <= to; s += stride) offset[s] = end;
}

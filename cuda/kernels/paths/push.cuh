// SPDX-License-Identifier: Apache-2.0

// Rounds of push (sssp.cu).
#pragma once
#include "step.cuh"

namespace {

// ownerOf returns the place in the queue of the vertex that an entry of the round belongs to. The lanes of a warp share
// the search, in steps of a factor of 32.
__device__ u32 ownerOf(const u64* queue, u32 queued, u32 entry) {
  u32 low = 0, high = queued; // low begins at entry or before, high after it
  while (high - low > 1) {
    u32 stride = (high - low + 31) / 32, probe = low + lane() * stride;
    u32 fits = __ballot_sync(~0u, probe < high && u32(__ldcg(queue + probe) >> 32) <= entry);
    u32 last = 31 - __clz(fits); // lane 0 always fits
    low += last * stride;
    high = low + stride < high ? low + stride : high;
  }
  return low;
}

// pushRound pushes the distances of the queued vertices. Those that are not near are queued again, in LISTS. Every warp
// takes the same number of entries, and goes through them in rows of 32, perhaps of several vertices. It is one of the
// blocks, or the only one.
template <bool LISTS>
__device__ void pushRound(const Paths& p, Search& s, Shared& shared, u32 block, u32 blocks, u32 queued, u32 entries,
                          float near) {
  u32 warps = blocks * WARPS, warp = threadIdx.x / 32 * blocks + block; // spreads few entries over the blocks
  u32 piece = (entries / warps + 32) & ~31u;
  u64 begin = u64(warp) * piece;
  if (begin >= entries) return;
  u32 first = u32(begin), end = begin + piece < entries ? first + piece : entries;
  const u64* queue = p.queue[s.step & 1];
  u32 stamp = 2 * (s.step + 1);
  u32 at = ownerOf(queue, queued, first);
  for (; first < end; first += 32) {
    u32 x = first + lane(), border = at + 1 + lane() < queued ? u32(__ldcg(queue + at + 1 + lane()) >> 32) : entries;
    u32 skip = 0; // borders at or before x
    for (int d = 16; d > 0; d /= 2) {
      u32 probe = __shfl_sync(~0u, border, skip + d - 1);
      if (probe <= x) skip += d;
    }
    u32 following = __shfl_sync(~0u, border, skip);
    bool wanted = false;
    u32 item = 0, length = 0;
    if (x < end) {
      u64 entry = __ldcg(queue + at + skip);
      u32 from = u32(entry) & VERTEX, kind = u32(entry) & ~VERTEX, k = x - u32(entry >> 32);
      bool inCore = !LISTS && kind == CORE;
      float distance = distanceOf(__ldcg(p.state + from));
      u32 list = inCore ? p.coreHead[from].at : p.head[from].at;
      if (LISTS && distance > near) {
        wanted = k == 0, item = u32(entry), length = following - u32(entry >> 32);
        if (wanted) s.near = min(s.near, __float_as_uint(distance));
      } else {
        Entry e = (inCore ? p.core : p.entry)[u64(list) + k];
        u64 state = __ldcg(p.state + e.neighbor);
        CoreHead head{}, next{};
        if (!LISTS) head = p.coreHead[e.neighbor], next = p.coreHead[e.neighbor + 1];
        float further = distance + e.weight;
        s.examined++;
        bool fits = LISTS || kind == WHOLE || __fmul_rn(distance, SLACK) + e.bound < s.below;
        if (!LISTS) fits = fits && !(further > s.center + head.radius + p.margin); // false for the NaN of no core
        if (fits && lower(p, e.neighbor, state, further, from) && (LISTS || further < s.below)) {
          u32 pushes = LISTS ? WHOLE : e.neighbor < p.hubs || inCore ? CORE : PREFIX;
          length = pushes == CORE ? next.at - head.at : lengthOf(p, e.neighbor);
          wanted = length != 0, item = e.neighbor | pushes;
          if (wanted) s.near = min(s.near, __float_as_uint(further));
        }
      }
      // A vertex is queued once, or twice if it first pushes the core only.
      u32 own = stamp + ((item & ~VERTEX) != CORE);
      if (wanted) wanted = atomicMax(p.stamp + (item & VERTEX), own) < own;
    }
    enqueue(p, s, shared, wanted, item, length);
    at += __popc(__ballot_sync(~0u, border <= first + 32));
  }
}

// setBounds sets T, which falls with the distance of vertex 0.
__device__ void setBounds(const Paths& p, Search& s) {
  s.center = __uint_as_float(INFINITE);
  s.below = __ldcg(&p.search->below);
  if (p.reach == 0 || s.nearest >= p.safe) return;
  s.center = distanceOf(__ldcg(p.state));
  s.below = fminf(s.below, s.center + p.around);
}

// push runs rounds until the queue is empty, or the launch has as many steps as it can record: then it returns false.
// The first block runs rounds with few entries, while the others wait.
template <bool LISTS>
__device__ bool push(const Paths& p, Search& s, Shared& shared) {
  for (bool alone = false;;) {
    const StepCounters* now = countersOf(p, s.step);
    u64 packed = __ldcg(&now->queued);
    u32 queued = u32(packed >> 32), entries = u32(packed);
    if (!LISTS) setBounds(p, s);
    bool full = s.recorded >= PATH_STEPS - 16;
    bool few = entries <= ONE_BLOCK_ENTRIES && queued != 0 && !full;
    if (few && !alone) {
      syncGrid(p, s); // all have read the counters
      alone = blockIdx.x == 0;
    }
    if (few && !alone || !few && alone) {
      if (alone && threadIdx.x == 0) p.search->step = s.step, p.search->recorded = s.recorded;
      syncGrid(p, s);
      s.step = __ldcg(&p.search->step), s.recorded = __ldcg(&p.search->recorded);
      alone = false;
      continue;
    }
    beginStep(p, s);
    if (queued == 0) return true;
    if (full) return false;
    float near = alone ? __uint_as_float(INFINITE) : __uint_as_float(__ldcg(&now->nearest)) + p.listWidth;
    pushRound<LISTS>(p, s, shared, alone ? 0 : blockIdx.x, alone ? 1 : gridDim.x, queued, entries, near);
    endBlock(p, s, shared);
    if (alone) __syncthreads();
    else syncGrid(p, s);
    endStep(p, s, false, queued);
  }
}

}  // namespace

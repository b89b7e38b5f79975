// SPDX-License-Identifier: Apache-2.0

// What the steps of a search for shortest paths share: states of vertices, barriers, counters, the queue.
#pragma once
#include "paths.cuh"

namespace {

// The state of a vertex is one word, so that a distance and its parent change together.
constexpr u64 FINAL = u64(1) << 63;  // the distance, 31 bits from bit 32 on, is right
constexpr u32 INFINITE = 0x7f800000; // distance of an unreached vertex, as bits
constexpr u64 UNREACHED = u64(INFINITE) << 32 | NONE;

// What a queued vertex pushes: its list in the core; its whole list up to T; its whole list.
constexpr u32 CORE = 0, PREFIX = 1u << 30, WHOLE = 1u << 31, VERTEX = PREFIX - 1;

enum Phase : u32 { PUSH, PULL, LISTS, OUTPUT };

constexpr int WARPS = PATH_THREADS / 32;
constexpr u32 START_QUEUE = 2048; // entries
constexpr u32 START_STEPS = 256;

struct Shared {
  union {
    struct {
      u32 vertex[START_QUEUE], distance[START_QUEUE];
      u64 least[WARPS];
      u32 length;
    } start;
    u32 active[WARPS][WARP_ACTIVE];
  };
  u64 queue[BLOCK_QUEUE];         // of the block for the next round, as in Paths
  u64 queued;                     // vertices in it << 32 | their entries
  u64 base;                       // where they begin in the queue of all blocks, likewise
  u32 examined, nearest, changed; // of the block in this step
};

// Search is what a thread knows of the search.
struct Search {
  u32 step, recorded, barriers;
  float nearest, low; // t0, and rounded down
  float below;        // T
  float center;       // distance of vertex 0
  u64 since;
  u32 examined = 0, near = INFINITE, changed = INFINITE; // of the thread in this step, as in StepCounters
};

__device__ float distanceOf(u64 state) { return __uint_as_float(u32(state >> 32) & ~0x80000000u); }

__device__ u64 stateOf(float distance, u32 parent) { return u64(__float_as_uint(distance)) << 32 | parent; }

__device__ u32 lengthOf(const Paths& p, u32 v) { return p.head[v + 1].at - p.head[v].at; }

__device__ u32 coreLengthOf(const Paths& p, u32 v) { return p.coreHead[v + 1].at - p.coreHead[v].at; }

// countersOf returns the counters that the step before fills for a step.
__device__ StepCounters* countersOf(const Paths& p, u32 step) { return &p.search->counters[step % 3]; }

// syncGrid waits for all blocks. The first block adds the rest that flips the highest bit, so the counter is never
// reset.
__device__ void syncGrid(const Paths& p, Search& s) {
  s.barriers++;
  __syncthreads();
  if (threadIdx.x == 0) {
    u32 mine = blockIdx.x == 0 ? 0x80000000u - (gridDim.x - 1) : 1u, before, now;
    u32* arrived = &p.search->arrived;
    asm volatile("atom.add.release.gpu.u32 %0, [%1], %2;" : "=r"(before) : "l"(arrived), "r"(mine) : "memory");
    do {
      asm volatile("ld.relaxed.gpu.u32 %0, [%1];" : "=r"(now) : "l"(arrived) : "memory");
    } while (((before ^ now) & 0x80000000u) == 0);
    asm volatile("fence.acq_rel.gpu;" ::: "memory");
  }
  __syncthreads();
}

// endBlock adds what the block has counted and queued. All its threads call it.
__device__ void endBlock(const Paths& p, Search& s, Shared& shared) {
  u32 examined = warpSum(s.examined), near = warpMin(s.near), changed = warpMin(s.changed);
  if (lane() == 0 && examined != 0) atomicAdd(&shared.examined, examined);
  if (lane() == 0 && near != INFINITE) atomicMin(&shared.nearest, near);
  if (lane() == 0 && changed != INFINITE) atomicMin(&shared.changed, changed);
  s.examined = 0, s.near = s.changed = INFINITE;
  __syncthreads();
  StepCounters* next = countersOf(p, s.step + 1);
  u64 queued = shared.queued;
  if (threadIdx.x == 0) {
    if (queued != 0) shared.base = atomicAdd(&next->queued, queued);
    if (shared.examined != 0) atomicAdd(&next->examined, u64(shared.examined));
    if (shared.nearest != INFINITE) atomicMin(&next->nearest, shared.nearest);
    if (shared.changed != INFINITE) atomicMin(&next->changed, shared.changed);
    shared.examined = 0, shared.nearest = shared.changed = INFINITE;
  }
  if (queued == 0) return;
  __syncthreads();
  u64* into = p.queue[(s.step + 1) & 1] + u32(shared.base >> 32);
  for (u32 i = threadIdx.x; i < u32(queued >> 32); i += PATH_THREADS) into[i] = shared.queue[i] + (shared.base << 32);
  if (threadIdx.x == 0) shared.queued = 0;
}

// endStep records the step, which all blocks have finished, or the only one that runs.
__device__ void endStep(const Paths& p, Search& s, bool pull, u64 frontier) {
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    u64 now = globalTime();
    p.search->steps[s.recorded] = PathStep{pull, frontier, __ldcg(&countersOf(p, s.step + 1)->examined), now - s.since};
    s.since = now;
  }
  s.recorded++, s.step++;
}

// endTogether ends a step of all blocks.
__device__ void endTogether(const Paths& p, Search& s, Shared& shared, bool pull, u64 frontier) {
  endBlock(p, s, shared);
  syncGrid(p, s);
  endStep(p, s, pull, frontier);
}

// beginStep empties the counters that this step's successor fills for its own: nobody reads them any longer.
__device__ void beginStep(const Paths& p, const Search& s) {
  if (blockIdx.x == 0 && threadIdx.x == 0) *countersOf(p, s.step + 2) = StepCounters{0, 0, INFINITE, 0, INFINITE};
}

// enqueue adds the items of a warp, vertices with what they push, to the next round: to the queue of the block, or to
// that of all blocks if it is full. All lanes call it.
__device__ void enqueue(const Paths& p, const Search& s, Shared& shared, bool wanted, u32 item, u32 length) {
  u32 lanes = __ballot_sync(~0u, wanted);
  if (lanes == 0) return;
  u32 until = sumUntil(wanted ? length : 0);
  u64 base = 0;
  u32 inBlock = 0;
  if (lane() == 31) {
    u64 add = u64(__popc(lanes)) << 32 | until, found = *(volatile u64*)&shared.queued;
    do {
      base = found;
      inBlock = u32(base >> 32) + __popc(lanes) <= BLOCK_QUEUE;
      if (inBlock) found = atomicCAS(&shared.queued, base, base + add);
    } while (found != base);
    if (!inBlock) base = atomicAdd(&countersOf(p, s.step + 1)->queued, add);
  }
  base = __shfl_sync(~0u, base, 31);
  inBlock = __shfl_sync(~0u, inBlock, 31);
  if (!wanted) return;
  u64* queue = inBlock ? shared.queue : p.queue[(s.step + 1) & 1];
  queue[u32(base >> 32) + __popc(lanes & ((1u << lane()) - 1))] = u64(u32(base) + until - length) << 32 | item;
}

// lower gives v, which had a state before, a distance and a parent, if the distance is smaller.
__device__ bool lower(const Paths& p, u32 v, u64 old, float distance, u32 parent) {
  while (distance < distanceOf(old)) {
    u64 found = atomicCAS(p.state + v, old, stateOf(distance, parent));
    if (found == old) return true;
    old = found;
  }
  return false;
}

}  // namespace

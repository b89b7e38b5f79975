// SPDX-License-Identifier: Apache-2.0

// The threads of a block of the search: their barriers, their shared memory, and their counters.
//
// A block has SEARCH_THREADS threads that search, followed by COPY_THREADS threads that copy the output template at
// the same time. The two never wait for each other in a barrier of the whole block, so each has a named barrier.
#pragma once
#include "search.cuh"

constexpr int SEARCH_BARRIER = 1, COPY_BARRIER = 2;

// syncSearch waits for all searching threads of the block.
__device__ inline void syncSearch() {
  asm volatile("bar.sync %0, %1;" ::"n"(SEARCH_BARRIER), "n"(SEARCH_THREADS) : "memory");
}

// syncCopy waits for all copying threads of the block.
__device__ inline void syncCopy() {
  asm volatile("bar.sync %0, %1;" ::"n"(COPY_BARRIER), "n"(COPY_THREADS) : "memory");
}

// anySearch waits for all searching threads of the block, and reports whether the predicate is true for one of them.
__device__ inline bool anySearch(bool predicate) {
  u32 any;
  asm volatile(
      "{\n\t.reg .pred p, q;\n\tsetp.ne.u32 p, %1, 0;\n\tbar.red.or.pred q, %2, %3, p;\n\tselp.u32 %0, 1, 0, q;\n\t}"
      : "=r"(any)
      : "r"(u32(predicate)), "n"(SEARCH_BARRIER), "n"(SEARCH_THREADS)
      : "memory");
  return any != 0;
}

// fence orders the reads and writes before it of this thread, and of the threads it has met at a barrier, against those
// after it, for the whole device.
__device__ inline void fence() { asm volatile("fence.acq_rel.gpu;" ::: "memory"); }

// syncGrid waits for the searching threads of all blocks, and lets one thread of each block call then before the
// others continue. The first block adds the rest that flips the highest bit, so the counter is never reset.
template <class Then>
__device__ inline void syncGrid(const Then& then) {
  syncSearch();
  if (threadIdx.x == 0) {
    u32 mine = blockIdx.x == 0 ? 0x80000000u - (gridDim.x - 1) : 1u, before, now;
    asm volatile("atom.add.release.gpu.u32 %0, [%1], %2;" : "=r"(before) : "l"(&arrived), "r"(mine) : "memory");
    do {
      asm volatile("ld.relaxed.gpu.u32 %0, [%1];" : "=r"(now) : "l"(&arrived) : "memory");
    } while (((before ^ now) & 0x80000000u) == 0);
    fence();
    then();
  }
  syncSearch();
}

__device__ inline void syncGrid() {
  syncGrid([] {});
}

// load reads the counters of a level, bypassing the first-level cache.
__device__ inline Counters load(const Counters* c) {
  return Counters{__ldcg(&c->found),  __ldcg(&c->edges),  __ldcg(&c->hubs),        __ldcg(&c->examined),
                  __ldcg(&c->leaves), __ldcg(&c->queued), __ldcg(&c->corrections), __ldcg(&c->longLists)};
}

// PendingWord is a word with unvisited vertices whose lists have to be scanned bottom-up.
struct PendingWord {
  u64 block;      // where its aligned block begins
  u32 rows;       // of the block, perhaps with LONGER
  u32 word;
  u32 unvisited;  // the vertices
  u32 found;      // those of the same word that were found through their hubs
};

// OneBlock is the memory of the single block that runs sparse levels (sparse.cuh). Three counters are used in turn.
struct OneBlock {
  struct {
    u32 found, edgesLow, edgesHigh, longLists, hubs, leaves;  // as in Counters; edges = edgesHigh << 16 + edgesLow
  } counters[3];
  u32 frontier[2][ONE_BLOCK_EDGES];  // of this level and the next, in turn
};

// Shared is the shared memory of a block of the search.
struct Shared {
  union {
    PendingWord pending[PENDING_WORDS];  // bottom-up
    OneBlock oneBlock;
    u64 found[SPARSE_FOUND];     // vertex << 32 | parent, from a sparse frontier
  };
  u32 founds;                    // in found and beyond it; 0 between two steps
  u32 words, taken;              // pending words, and how many of them the warps have taken
  u64 sums[32];                  // top-down: prefix sums over the warps
  u64 base;
  Counters counters;             // of the block; 0 between two steps
  LevelState level;
  u64 corrections[SEARCH_THREADS / 32][CORRECTIONS_PER_WARP];
#if SEVERAL
  u64 sends[SEARCH_THREADS / 32][CORRECTIONS_PER_WARP];
  u32 moved[2][MAX_RANKS];       // this block's part of state.moved
#endif
  u64 barriers;                  // of all GPUs that this launch has passed
  u64 written;                   // this block's corrections that its threads have written out or are writing
  u64 part[2], size[2];          // of those, the part that the searching [0] and the copying [1] threads are writing
  alignas(16) u32 cached[];      // bottom-up: frontier bits of the first vertices, as many as fit
};

// Tally has the counters of a thread in a level.
struct Tally {
  u64 edges = 0;
  u32 found = 0, hubs = 0, examined = 0, leaves = 0, longLists = 0;

  // addFound counts own vertex v as found.
  __device__ void addFound(u32 v) {
    found++;
    if (v < graph.ownHubs) hubs++, edges += graph.hubDegree[v];
  }

  // addFoundWord counts the vertices in an own word as found.
  __device__ void addFoundWord(u64 w, u32 bits) {
    found += __popc(bits);
    if (w * 32 < graph.ownHubs) {
      for (; bits != 0; bits &= bits - 1) {
        u32 v = u32(w * 32) + __ffs(bits) - 1;
        if (v < graph.ownHubs) hubs++, edges += graph.hubDegree[v];
      }
    }
  }

  // addLeaves counts the own leaves of the hubs among the frontier's vertices in a word.
  __device__ void addLeaves(u64 w, u32 bits) {
    for (; bits != 0; bits &= bits - 1) {
      u32 v = u32(w * 32) + __ffs(bits) - 1;
      if (v < graph.hubs) leaves += graph.leafBegin[v + 1] - graph.leafBegin[v];
    }
  }
};

// addToBlock adds the tallies of a warp, and how many corrections it has added, to the counters of its block.
__device__ inline void addToBlock(Shared& shared, const Tally& t, u32 corrections) {
  Counters& c = shared.counters;
  u64 mine[6] = {t.found, t.edges, t.hubs, t.examined, t.leaves, t.longLists};
  u64* into[6] = {&c.found, &c.edges, &c.hubs, &c.examined, &c.leaves, &c.longLists};
#pragma unroll
  for (int i = 0; i < 6; i++) {
    if (!__any_sync(~0u, mine[i] != 0)) continue;
    u64 sum = warpSum(mine[i]);
    if (lane() == 0) atomicAdd(into[i], sum);
  }
  if (lane() == 0 && corrections != 0) atomicAdd(&c.corrections, u64(corrections));
}

// addToLevel adds the counters of a block to those of the level. One thread calls it.
__device__ inline void addToLevel(Shared& shared, Counters* level) {
  Counters& c = shared.counters;
  if (c.found != 0) atomicAdd(&level->found, c.found);
  if (c.edges != 0) atomicAdd(&level->edges, c.edges);
  if (c.hubs != 0) atomicAdd(&level->hubs, c.hubs);
  if (c.examined != 0) atomicAdd(&level->examined, c.examined);
  if (c.leaves != 0) atomicAdd(&level->leaves, c.leaves);
  if (c.corrections != 0) atomicAdd(&level->corrections, c.corrections);
  if (c.longLists != 0) atomicAdd(&level->longLists, c.longLists);
  c = Counters{};
}

// addToCounters adds the tallies of a block, and how many corrections each warp has added, to the level's counters.
// All searching threads of the block call it.
__device__ inline void addToCounters(Shared& shared, Counters* level, const Tally& t, u32 corrections) {
  addToBlock(shared, t, corrections);
  syncSearch();
  if (threadIdx.x == 0) addToLevel(shared, level);
}

// What the threads of a block of the search share, and what they count.
#pragma once
#include "barrier.cuh"

// Left is a word of which vertices are left over to be scanned.
struct Left {
  u64 at;       // its aligned block
  u32 rows;     // of the block, perhaps with LONGER
  u32 word;
  u32 rest;     // the vertices
  u32 claimed;  // those found by a claim
};

// Shared is the shared memory of a block of the search.
struct Shared {
  Left left[CLAIM_STEP * SEARCH_THREADS];  // bottom-up: words with vertices that are not claimed
  u32 words, taken;              // how many there are, and how many the warps have taken
  u64 sums[32];                  // top-down: of the warps, for prefix sums
  u64 base;
  Counters counters;             // of the block
  Progress progress;
  u64 finds[SEARCH_THREADS / 32][FINDS_BUFFER];
  u64 written;                   // of the finds whose parents this block writes, those taken by its threads
  u64 part[2], size[2];          // of them, what the searching and the copying threads write now
  u32 near[];                    // bottom-up: frontier bits of the first vertices, as many as there is room for
};

// Tally is what a thread counts in a level.
struct Tally {
  u64 edges = 0;
  u32 found = 0, hubs = 0, looked = 0, leaves = 0;

  // find counts v as found.
  __device__ void find(u32 v) {
    found++;
    if (v < graph.hubs) hubs++, edges += graph.linked[v];
  }

  // findWord counts the vertices in a word as found.
  __device__ void findWord(u64 w, u32 bits) {
    found += __popc(bits);
    if (w * 32 < graph.hubs) {
      for (; bits != 0; bits &= bits - 1) {
        u32 v = u32(w * 32) + __ffs(bits) - 1;
        if (v < graph.hubs) hubs++, edges += graph.linked[v];
      }
    }
  }

  // expandWord counts the leaves of the hubs among the frontier's vertices in a word.
  __device__ void expandWord(u64 w, u32 bits) {
    for (; bits != 0; bits &= bits - 1) {
      u32 v = u32(w * 32) + __ffs(bits) - 1;
      if (v < graph.hubs) leaves += graph.leafAt[v + 1] - graph.leafAt[v];
    }
  }
};

// report adds the tallies of a block, and how many finds each warp has added, to the level's counters. All searching threads of the
// block call it.
__device__ inline void report(Shared& shared, Counters* counters, const Tally& t, u32 finds) {
  syncSearch();
  if (threadIdx.x == 0) shared.counters = Counters{};
  syncSearch();
  u64 sums[5] = {warpSum(t.found), warpSum(t.edges), warpSum(t.hubs), warpSum(t.looked), warpSum(t.leaves)};
  if (lane() == 0) {
    u64* into[5] = {&shared.counters.found, &shared.counters.edges, &shared.counters.hubs, &shared.counters.looked,
                    &shared.counters.leaves};
    for (int i = 0; i < 5; i++) {
      if (sums[i] != 0) atomicAdd(into[i], sums[i]);
    }
    if (finds != 0) atomicAdd(&shared.counters.finds, u64(finds));
  }
  syncSearch();
  if (threadIdx.x == 0) {
    const Counters& c = shared.counters;
    if (c.found != 0) atomicAdd(&counters->found, c.found);
    if (c.edges != 0) atomicAdd(&counters->edges, c.edges);
    if (c.hubs != 0) atomicAdd(&counters->hubs, c.hubs);
    if (c.looked != 0) atomicAdd(&counters->looked, c.looked);
    if (c.leaves != 0) atomicAdd(&counters->leaves, c.leaves);
    if (c.finds != 0) atomicAdd(&counters->finds, c.finds);
  }
}

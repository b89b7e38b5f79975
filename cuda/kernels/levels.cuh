// SPDX-License-Identifier: Apache-2.0

// The work before the first level of a search and between two levels.
#pragma once
#include "exchange.cuh"

extern __device__ LevelRecord levels[LEVELS];  // of this launch

// fewEdges reports whether a frontier has so few edges that following them costs less than reading every word of a
// bitmap, or that a single block can follow them.
__device__ inline bool fewEdges(const LevelState& level) {
  return level.frontierEdges <= graph.words || level.frontierEdges <= ONE_BLOCK_EDGES;
}

// doubled reports whether the frontier is at least twice as large as the previous one.
__device__ inline bool doubled(const LevelState& level) { return level.frontier >= 2 * level.previous; }

// staysSparse reports whether a frontier may be sparse although it has many edges: it has not doubled, so no bottom-up
// step, which needs a bitmap, is near.
__device__ inline bool staysSparse(const LevelState& level) {
  return !SEVERAL && !doubled(level) && level.frontierEdges <= SPARSE_EDGES * graph.words;
}

// isSparse reports whether the next step should follow a sparse frontier, rather than make it dense. Vertices found from
// a sparse frontier go to their owners as lists.
__device__ inline bool isSparse(const LevelState& level, const SearchParams& params) {
  return !level.bottomUp && level.longLists == 0 && (fewEdges(level) || staysSparse(level)) &&
         (graph.columns == 1 || params.messages != BITMAPS);
}

// nextBottomUp is graph.Switch.Next (graph/direction.go) on the device, with one condition more (fewEdges): a frontier
// with few edges stays top-down however many edges are unexplored. Otherwise the searches of deep graphs would change
// direction repeatedly before their end.
__device__ inline bool nextBottomUp(const LevelState& level, const SearchParams& params) {
  if (params.steps != AUTO) return params.steps == ONLY_BOTTOM_UP;
  if (!level.bottomUp) {
    return doubled(level) && params.alpha > 0 && !fewEdges(level) &&
           float(level.frontierEdges) * params.alpha > float(level.unexplored);
  }
  bool shrinking = level.frontier < level.previous;
  return !(shrinking && float(level.frontier) * params.beta < float(graph.allSearched));
}

// firstLevel returns the state of a search whose frontier is vertex v. rootLeaf: the root is a leaf of v, and its
// level is over.
__device__ inline LevelState firstLevel(u32 v, bool rootLeaf, const SearchParams& params) {
  LevelState level{};
  level.bottomUp = params.steps == ONLY_BOTTOM_UP;
  level.unexplored = graph.entries;
  level.rootLeaf = rootLeaf;
  level.recorded = rootLeaf;
  if (v == NONE) { // an isolated root is a level without edges
    level.frontierLeaves = 1;
    return level;
  }
  level.frontier = 1;
  level.corrections = !SEVERAL; // on several GPUs, finishRoot writes the root's parent
  level.frontierEdges = SEVERAL ? graph.averageDegree : lengthOf(v); // only its owner knows it
  level.longLists = SEVERAL ? v < graph.hubs : level.frontierEdges > SPARSE_LENGTH;
  level.frontierHubs = v < graph.hubs;
  level.sparse = !params.hostTopDown && isSparse(level, params);
  return level;
}

// beginSearch makes all vertices unvisited except the root, or its hub if it is a leaf, which is the frontier and the
// first correction.
__device__ inline void beginSearch(const SearchParams& params, Shared& shared) {
  u32 root = vertexAt(params.root);
  bool leaf = root != NONE && (SEVERAL ? (root & LEAF) != 0 : root >= graph.searched);
  u32 v = !leaf ? root : SEVERAL ? root & ~LEAF : hubOf(root);
  LevelState level = firstLevel(v, leaf, params);
  u64 stride = u64(gridDim.x) * SEARCH_THREADS;
  for (u64 w = u64(blockIdx.x) * SEARCH_THREADS + threadIdx.x; w < graph.frontierWords; w += stride) {
    u32 mine = v / 32 == w ? 1u << (v & 31) : 0; // NONE is in no word: there are fewer vertices
    u64 own = ownWord(w);
    if (own != NONE) graph.unvisited[own] = own * 32 < graph.searched ? lowBits(graph.searched - own * 32) & ~mine : 0;
    graph.frontier[0][w] = level.sparse ? 0 : mine;
    graph.frontier[1][w] = graph.frontier[2][w] = 0;
    if (SEVERAL && w >= graph.words && w < graph.columns * graph.words) graph.unvisited[w] = ~0u;
    if (SEVERAL && w * 32 < graph.hubs) graph.hubReached[w] = 0;
  }
  if (threadIdx.x == 0) {
    shared.level = level;
    if (blockIdx.x == 0) {
      for (int i = 0; i < 3; i++) state.counters[i] = Counters{};
      if (leaf) levels[0] = LevelRecord{level.bottomUp, 1, 0, 0};
      if (v != NONE && !SEVERAL) graph.corrections[0] = u64(v) << 32 | root;
      params.status->hostStep = params.status->queued = 0;
      state.stable = state.corrections = level.corrections;
      state.lost = 0;
      for (int r = 0; r < MAX_RANKS; r++) {
        for (int k = 0; k < 2; k++) state.sent[k][r] = state.moved[k][r] = 0;
      }
      fence();
      *(volatile u64*)&state.search = params.copies; // the copying threads may read state now
    }
  }
#if SEVERAL
  if (blockIdx.x == 0 && threadIdx.x == 0 && v != NONE) *listOf(graph.rank, 0, 0) = v;
  syncAll(params, shared, &state.counters[0], After::Nothing, [&](const Counters&) {
    shared.level.received[0] = level.frontier;
    shared.level.record = {};
    shared.level.phase = SCAN;
    shared.level.start = shared.level.since = globalTime();
  });
#else
  syncGrid([&] { shared.level.start = globalTime(); });
#endif
}

// advance records the level that is over and turns level into the next one, whose frontier is sparse or dense. One
// thread of every block calls it, or one thread of the first block, if only that one runs.
__device__ inline void advance(LevelState& level, const Counters& counted, bool sparse, const SearchParams& params) {
  u64 now = globalTime();
  u64 examined = counted.examined;
  bool counts = level.bottomUp || (SEVERAL && level.sparse); // the entries
  if (!counts) examined = level.sparse ? level.frontierEdges : queueEdges(counted.queued);
  if (blockIdx.x == 0) {
    LevelRecord record{};
    enter(level, SCAN, now);
#if SEVERAL
    record = level.record;
    level.record = {};
#endif
    record.bottomUp = level.bottomUp;
    record.frontier = level.frontier + level.frontierLeaves;
    record.examined = examined;
    record.nanoseconds = now - level.start;
    levels[level.recorded] = record;
  }
  level.recorded++;
  level.start = now;
  level.reached += level.frontier;
  level.previous = level.frontier;
  level.sparse = sparse;
  level.first = level.corrections;
  level.corrections += counted.corrections;
  level.frontier = counted.found;
  level.frontierHubs = counted.hubs;
  level.longLists = counted.longLists;
  level.frontierLeaves = counted.leaves - (counted.leaves > 0 ? level.rootLeaf : 0);
  if (counted.leaves > 0) level.rootLeaf = 0;
  u64 explored = level.bottomUp ? level.frontierEdges : examined;
  level.unexplored -= explored < level.unexplored ? explored : level.unexplored;
  level.frontierEdges = counted.edges + (sparse ? 0 : (counted.found - counted.hubs) * graph.averageDegree);
  level.bottomUp = nextBottomUp(level, params);
  level.number++;
  level.followed = 0;
  level.done = level.frontier + level.frontierLeaves == 0;
}

// announce lets the copying threads write the corrections of the levels that are over. The last searching thread of
// the first block does it, because the fence would delay a thread that others wait for.
__device__ inline void announce(const LevelState& level, const SearchParams& params) {
  if (blockIdx.x != 0 || threadIdx.x != SEARCH_THREADS - 1) return;
  fence();
  *(volatile u64*)&state.stable = level.corrections; // not state.corrections, to which other blocks may already add
}

// finishLevel waits for all blocks and advances to the next level. If the frontier is empty, the level has only
// leaves, which have no edges to follow, and no block has counted anything.
__device__ inline void finishLevel(Shared& shared, bool sparse, const SearchParams& params) {
  LevelState& level = shared.level;
  if (level.frontier != 0) {
    Counters* counters = &state.counters[level.number % 3];
    auto then = [&](const Counters& counted) {
      if (blockIdx.x == 0) state.counters[(level.number + 2) % 3] = Counters{}; // last read before the last barrier
      advance(level, counted, sparse, params);
    };
#if SEVERAL
    if (sparse) syncAll(params, shared, counters, After::SparseFrontier, then);
    else exchangeFrontier(params, shared, graph.frontier[(level.number + 1) % 3], counters, then);
#else
    syncGrid([&] { then(load(counters)); });
#endif
  } else {
    syncSearch();
    if (threadIdx.x == 0) advance(level, Counters{}, sparse, params);
    syncSearch();
  }
  announce(level, params);
}

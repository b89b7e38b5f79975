// What happens before the first level of a search and between two levels.
#pragma once
#include "block.cuh"

extern __device__ LevelRecord levels[LEVELS];

// nextBottomUp is the direction switch of Beamer, Asanovic and Patterson; graph/direction.go explains it.
__device__ inline bool nextBottomUp(const LevelState& level, const SearchParams& params) {
  if (!level.bottomUp) {
    return level.frontier > level.previous && params.alpha > 0 &&
           float(level.frontierEdges) * params.alpha > float(level.unexplored);
  }
  bool shrinking = level.frontier < level.previous;
  return !(shrinking && float(level.frontier) * params.beta < float(graph.searched));
}

// firstLevel returns the state of a search whose frontier is vertex v. rootLeaf: the root is a leaf of v, and its
// level is over.
__device__ inline LevelState firstLevel(u32 v, bool rootLeaf) {
  LevelState level{};
  level.unexplored = graph.entries;
  level.rootLeaf = rootLeaf;
  if (v == NONE) { // an isolated root is a level of its own without edges
    level.frontierLeaves = 1;
    return level;
  }
  level.frontier = 1;
  level.frontierEdges = topDownEdges(v);
  level.frontierHubs = v < graph.hubs;
  level.queue = v < graph.hubs ? 0 : QUEUED; // beginSearch makes the queue of a vertex without a group
  return level;
}

// beginSearch makes all vertices unvisited, and makes the root, or its hub if it is a leaf, the frontier. It returns
// how many levels are over: 1 if the root is a leaf.
__device__ inline u64 beginSearch(const SearchParams& params, Shared& shared) {
  u64 stride = u64(gridDim.x) * SEARCH_THREADS;
  for (u64 w = u64(blockIdx.x) * SEARCH_THREADS + threadIdx.x; w < graph.words; w += stride) {
    u64 rest = graph.searched - w * 32;
    graph.unvisited[w] = rest >= 32 ? ~0u : (1u << rest) - 1;
    for (int i = 0; i < 3; i++) graph.frontier[i][w] = 0;
  }
  u32 vertex = params.root < graph.labels ? graph.vertex[params.root] : NONE, v = vertex;
  bool leaf = v != NONE && v >= graph.searched;
  if (threadIdx.x == 0) {
    if (leaf) v = hubOf(v);
    shared.level = firstLevel(v, leaf);
    if (blockIdx.x == 0) {
      for (int i = 0; i < 3; i++) state.counters[i] = Counters{};
      if (shared.level.queue) state.counters[0].queued = (u64(1) << QUEUE_SHIFT) + shared.level.frontierEdges;
      if (leaf) {
        levels[0] = LevelRecord{0, 1, 0, 0};
        graph.corrections[0] = u64(v) << 32 | vertex;
      }
      params.status->hostStep = params.status->queued = 0;
      state.stable = state.corrections = leaf;
      fence();
      *(volatile u64*)&state.search = params.copies; // the copying threads may read state now
    }
  }
  syncGrid([&] {
    if (blockIdx.x != 0 || v == NONE) return;
    graph.unvisited[v >> 5] &= ~(1u << (v & 31));
    graph.frontier[0][v >> 5] |= 1u << (v & 31);
    graph.queue[0] = v;
    graph.edgesBefore[0] = 0;
  });
  syncGrid([&] { shared.level.start = globalTime(); });
  return leaf;
}

// load reads the counters of a level, bypassing the first-level cache.
__device__ inline Counters load(const Counters* c) {
  return Counters{__ldcg(&c->found), __ldcg(&c->edges),  __ldcg(&c->hubs), __ldcg(&c->examined),
                  __ldcg(&c->leaves), __ldcg(&c->queued), __ldcg(&c->corrections)};
}

// advance records the level that is over and turns level into the next one. One thread of every block calls it.
__device__ inline void advance(LevelState& level, const Counters& counted, const SearchParams& params,
                               LevelRecord* record) {
  u64 now = globalTime();
  u64 examined = counted.examined + (level.bottomUp ? 0 : counted.queued & QUEUE_EDGES);
  if (blockIdx.x == 0) {
    *record = LevelRecord{level.bottomUp, level.frontier + level.frontierLeaves, examined, now - level.start};
    // These counters were last read before the last barrier. Without a frontier there was none, but no level follows
    // either.
    if (level.frontier != 0) state.counters[(level.number + 2) % 3] = Counters{};
    fence();
    // Not state.corrections: other blocks may already add to it in the next level.
    *(volatile u64*)&state.stable = state.stable + counted.corrections;
  }
  level.start = now;
  level.reached += level.frontier;
  level.previous = level.frontier;
  level.frontier = counted.found;
  level.frontierHubs = counted.hubs;
  level.frontierLeaves = counted.leaves - (counted.leaves > 0 ? level.rootLeaf : 0);
  if (counted.leaves > 0) level.rootLeaf = 0;
  level.unexplored -= level.frontierEdges < level.unexplored ? level.frontierEdges : level.unexplored;
  level.frontierEdges = counted.edges + (counted.found - counted.hubs) * graph.averageDegree;
  level.bottomUp = nextBottomUp(level, params);
  level.number++;
  level.queue = 0;
  level.done = level.frontier + level.frontierLeaves == 0;
}

// finishLevel waits for all blocks and advances to the next level. If the frontier is empty, the level has only
// leaves, which have no edges to follow, and no block has counted anything.
__device__ inline void finishLevel(Shared& shared, const SearchParams& params, LevelRecord* record) {
  if (shared.level.frontier != 0) {
    syncGrid([&] { advance(shared.level, load(&state.counters[shared.level.number % 3]), params, record); });
    return;
  }
  syncSearch();
  if (threadIdx.x == 0) advance(shared.level, Counters{}, params, record);
  syncSearch();
}

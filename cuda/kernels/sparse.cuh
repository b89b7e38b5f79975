// SPDX-License-Identifier: Apache-2.0

// Steps of a sparse frontier: no work that is proportional to the graph, and as few waits as possible. Deep graphs,
// roads and meshes, have thousands of levels with small frontiers, which take nearly all the time.
//
// A lane takes a vertex, or a few lanes if there are more of them than vertices, which balances well because long lists
// are excluded, and longer ones are shared by a warp (Merrill, Garland, Grimshaw, "Scalable GPU Graph Traversal", PPoPP
// 2012, section 5). The bit of a neighbor is cleared without being read before, and the length of its list is read at the
// same time: one wait for memory instead of three, one after the other. The next level finds the offset of the list in a
// cache, and the list too, which is prefetched. Bits are read first only for a frontier with many edges, because several
// of its vertices reach each neighbor, and all atomic operations on a word take turns.
//
// Up to ONE_BLOCK_EDGES edges, only the first block runs, level after level, with barriers of one block and its frontier
// in shared memory. The other blocks wait until the frontier is larger or the search is over.
#pragma once
#include "fold.cuh"

// shortLength returns the length of v's list from the lower halves of its offsets: lists are shorter than 2^32.
__device__ inline u32 shortLength(u32 v) {
  if (PACKED) return u32(lengthOf(v));
  const u32* offset = reinterpret_cast<const u32*>(graph.offset);
  return offset[2 * u64(v) + 2] - offset[2 * u64(v)];
}

// prefetch brings a list to the second-level cache for the next level, without waiting for it.
__device__ inline void prefetch(u32 v, u32 length) {
  const u32* list = neighborsOf(v).words;
  asm volatile("prefetch.global.L2 [%0];" ::"l"(list));
  asm volatile("prefetch.global.L2 [%0];" ::"l"(list + (PACKED ? length / 2 : length - 1)));
}

// SparseOutput makes the vertices that a warp finds the next sparse frontier. store(n, t, parent) puts vertex t at
// place n, and *store.found counts them.
template <class Store>
struct SparseOutput {
  Store store;
  Tally& tally;

  // add adds those of t for which found is not 0, with the lengths of their lists and their parent. All lanes of the
  // warp call it.
  template <int N>
  __device__ void add(const u32 (&t)[N], const u32 (&found)[N], u32 parent, const u32 (&length)[N]) {
    u32 lanes[N], all = 0;
#pragma unroll
    for (int i = 0; i < N; i++) all += __popc(lanes[i] = __ballot_sync(~0u, found[i] != 0));
    if (all == 0) return;
    u32 at = 0;
    if (lane() == 0) at = atomicAdd(store.found, all);
    at = __shfl_sync(~0u, at, 0);
#pragma unroll
    for (int i = 0; i < N; i++) {
      if (found[i]) {
        store(at + __popc(lanes[i] & lowBits(lane())), t[i], parent);
        tally.edges += length[i];
        tally.longLists += length[i] > SPARSE_LENGTH;
        tally.hubs += t[i] < graph.ownHubs;
        if (!SEVERAL) prefetch(t[i], length[i]);
      }
      at += __popc(lanes[i]);
    }
  }

  template <int N>
  __device__ void add(const u32 (&t)[N], const u32 (&found)[N], u32 parent) {
    u32 length[N];
#pragma unroll
    for (int i = 0; i < N; i++) length[i] = found[i] ? shortLength(t[i]) : 0;
    add(t, found, parent, length);
  }
};

// addFrontier makes a vertex, with its parent, correction number `at` and part of the next sparse frontier.
__device__ inline void addFrontier(const LevelState& level, u64 at, u64 pair) {
  graph.corrections[at] = pair;
  if (SEVERAL) pushVertex(level.number + 1, at - level.corrections, vertexOf(u32(pair >> 32)));
}

// forFrontier calls f with the length of a sparse frontier and a function that returns each of its vertices; on several
// GPUs these are the vertices that each of them has sent. Hubs from other columns have no edges here.
template <class F>
__device__ inline void forFrontier(const LevelState& level, const F& f) {
#if SEVERAL
  u32 n = 0;
  for (u32 r = 0; r < graph.ranks; r++) n += u32(level.received[r]);
  f(n, [&](u32 i) {
    u32 r = 0;
    for (; i >= level.received[r]; r++) i -= u32(level.received[r]);
    return __ldcv(listOf(graph.rank, level.number, r) + i);
  });
#else
  f(u32(level.frontier), [&](u32 i) { return u32(__ldcg(graph.corrections + level.first + i) >> 32); });
#endif
}

// StoreInBlock collects the vertices that a block finds. append adds them to the corrections.
struct StoreInBlock {
  Shared& shared;
  u32* found;

  __device__ explicit StoreInBlock(Shared& shared) : shared(shared), found(&shared.founds) {}

  __device__ void operator()(u32 n, u32 v, u32 parent) {
    u64 pair = u64(v) << 32 | parent;
    if (n < SPARSE_FOUND) shared.found[n] = pair;
    else addFrontier(shared.level, atomicAdd(&state.corrections, u64(1)), pair);
  }
};

// append adds the vertices that a block has found to the corrections, where they are part of the next frontier, and its
// tallies to the level's counters. All searching threads of the block call it.
__device__ inline void append(Shared& shared, Counters* level, const Tally& tally) {
  addToBlock(shared, tally, 0);
  syncSearch();
  u32 n = shared.founds < SPARSE_FOUND ? shared.founds : SPARSE_FOUND;
  if (threadIdx.x == 0) {
    if (n != 0) shared.base = atomicAdd(&state.corrections, u64(n));
    shared.counters.found = shared.counters.corrections = shared.founds;
    addToLevel(shared, level);
  }
  syncSearch();
  for (u32 i = threadIdx.x; i < n; i += SEARCH_THREADS) addFrontier(shared.level, shared.base + i, shared.found[i]);
  if (threadIdx.x == 0) shared.founds = 0;
}

// clearBits follows N edges, from a vertex of the frontier to t[i] unless that is NONE. look: only where the bit is set,
// which takes another wait, and saves many atomic operations where most neighbors are visited. All lanes of the warp
// call it.
template <int N, class Output>
__device__ inline void clearBits(const u32 (&t)[N], u32 from, bool look, Output& output) {
  u32 bits[N], found[N], length[N], own = SEVERAL ? 32 * u32(graph.words) : NONE; // other GPUs of the row know their lists
#pragma unroll
  for (int i = 0; i < N; i++) bits[i] = t[i] == NONE ? 0 : look ? graph.unvisited[t[i] >> 5] : ~0u;
#pragma unroll
  for (int i = 0; i < N; i++) {
    u32 mask = 1u << (t[i] & 31);
    found[i] = (bits[i] & mask) != 0 ? atomicAnd(graph.unvisited + (t[i] >> 5), ~mask) : 0;
  }
#pragma unroll
  for (int i = 0; i < N; i++) length[i] = t[i] < own ? shortLength(t[i]) : 0;
#pragma unroll
  for (int i = 0; i < N; i++) found[i] = found[i] >> (t[i] & 31) & 1;
  output.add(t, found, from, length);
}

// sharing returns the binary logarithm of the number of lanes that share a list if a block has n of them: as many as are
// busy if lists have the average length, and as a block has.
__device__ inline u32 sharing(u32 n) {
  int useful = 32 - __clz((u32(graph.averageDegree) - 1) / SPARSE_EDGES_PER_LANE);
  int room = __clz(n - 1) - 23; // n << room is at most 512
  static_assert(SEARCH_THREADS >= 512, "a block has as many threads");
  int bits = useful < room ? useful : room;
  return bits < 0 ? 0 : bits < 5 ? bits : 5;
}

// followLists follows the lists of vertex(begin) ... vertex(end-1): a lane follows one, or with SHARED some lanes together,
// and a warp one that is long for them, which it soon is if the block has few. All searching threads of the block call it.
template <bool SHARED, class Vertex, class Output>
__device__ inline void followLists(u32 begin, u32 end, bool look, const Vertex& vertex, Output& output) {
  constexpr int N = SPARSE_EDGES_PER_LANE;
  constexpr bool SHARE = SHARED && !PACKED; // a single lane decodes a packed list
  u32 bits = SHARE ? sharing(end - begin) : 0, share = lane() & lowBits(bits);
  u32 limit = (SHARE && end - begin <= SEARCH_THREADS / 32 ? N : WARP_LENGTH) << bits;
  for (u32 i = begin + (threadIdx.x >> bits); i < end + (lane() >> bits); i += SEARCH_THREADS >> bits) {
    u32 v = i < end ? vertex(i) : NONE;
    List mine;
    if (v != NONE) {
      mine = neighborsBySource(v);
      if (share == 0 && v < graph.hubs) output.tally.leaves += graph.leafBegin[v + 1] - graph.leafBegin[v];
      if (SEVERAL && share == 0) output.tally.examined += mine.length;
      if (SEVERAL && share == 0 && v < graph.hubs) atomicOr(graph.hubReached + v / 32, 1u << (v & 31));
    }
    bool isLong = mine.length > limit;
    for (u32 lanes = __ballot_sync(~0u, isLong && share == 0); lanes != 0; lanes &= lanes - 1) {
      int owner = __ffs(lanes) - 1;
      u32 from = __shfl_sync(~0u, v, owner);
      u64 words = __shfl_sync(~0u, reinterpret_cast<u64>(mine.words), owner);
      List list(reinterpret_cast<const u32*>(words), __shfl_sync(~0u, mine.length, owner));
      for (u32 k = 0; k < list.length; k += 32 * N) {
        u32 t[N];
#pragma unroll
        for (int j = 0; j < N; j++) t[j] = list.row(k + 32 * j);
        clearBits(t, from, look, output);
      }
    }
    if (isLong) mine.length = 0;
    for (Cursor cursor(mine, share, 1 << bits); __any_sync(~0u, cursor.at < mine.length);) {
      u32 t[N];
#pragma unroll
      for (int j = 0; j < N; j++) t[j] = cursor.next();
      clearBits(t, v, look, output);
    }
  }
}

// sparseStep follows the edges of a sparse frontier. Every block takes the same number of vertices.
__device__ inline void sparseStep(const SearchParams& params, Shared& shared, Counters* counters) {
  Tally tally;
  SparseOutput<StoreInBlock> output{StoreInBlock(shared), tally};
  withRow(params, shared, counters, output, [&](auto& output) {
    forFrontier(shared.level, [&](u32 frontier, auto vertex) {
      u32 share = (frontier + gridDim.x - 1) / gridDim.x, begin = blockIdx.x * share;
      u32 end = begin + share < frontier ? begin + share : frontier;
      followLists<true>(begin, end, shared.level.frontierEdges > graph.words, vertex, output);
    });
  });
  append(shared, counters, tally);
}

// StoreAlone is for the single running block. It stores the next frontier in shared memory, and the corrections.
struct StoreAlone {
  u32* found;
  u32* next;
  u64* corrections;

  __device__ void operator()(u32 n, u32 v, u32 parent) {
    next[n] = v;
    corrections[n] = u64(v) << 32 | parent;
  }
};

// runAlone runs levels in the first block, until the frontier has more than ONE_BLOCK_EDGES edges or is empty, or the
// launch has run enough levels. A level cannot find more vertices than it has edges, so every frontier fits into shared
// memory. The last searching thread, whose warp is idle if the frontier is small, counts and records a level during the
// next one. The last frontier is made dense here if it has to be.
template <bool SHARED>
__device__ inline void runAlone(const SearchParams& params, Shared& shared) {
  OneBlock& block = shared.oneBlock;
  LevelState& level = shared.level;
  bool recorder = threadIdx.x == SEARCH_THREADS - 1;
  u32 frontier = u32(level.frontier);
  u64 corrections = level.corrections, left = params.maxLevels - level.recorded;
  for (u32 i = threadIdx.x; i < frontier; i += SEARCH_THREADS) {
    block.frontier[0][i] = u32(__ldcg(graph.corrections + level.first + i) >> 32);
  }
  if (threadIdx.x < 3) block.counters[threadIdx.x] = {};
  syncSearch();
  auto record = [&](u32 step) {
    auto& c = block.counters[step % 3];
    Counters counted{c.found, (u64(c.edgesHigh) << 16) + c.edgesLow, c.hubs, 0, c.leaves, 0, c.found, c.longLists};
    advance(level, counted, true, params);
  };
  u32 step = 0;
  for (;; step++) {
    auto& c = block.counters[step % 3];
    if (recorder) {
      if (step > 0) record(step - 1);
      block.counters[(step + 1) % 3] = {};
    }
    Tally tally;
    SparseOutput<StoreAlone> output{
        {&c.found, block.frontier[(step + 1) % 2], graph.corrections + corrections}, tally};
    followLists<SHARED>(0, frontier, false, [&](u32 i) { return block.frontier[step % 2][i]; }, output);
    if (__any_sync(~0u, (tally.edges | tally.leaves) != 0)) { // vertices that were found have edges to their parents
      u32 mine[] = {u32(tally.edges) & 0xffff, u32(tally.edges >> 16), tally.longLists, tally.hubs, tally.leaves};
      u32* into[] = {&c.edgesLow, &c.edgesHigh, &c.longLists, &c.hubs, &c.leaves};
#pragma unroll
      for (int i = 0; i < 5; i++) {
        if (!__any_sync(~0u, mine[i] != 0)) continue;
        u32 sum = warpSum(mine[i]);
        if (lane() == 0) atomicAdd(into[i], sum);
      }
    }
    syncSearch();
    frontier = c.found;
    corrections += frontier;
    if (frontier == 0 || c.longLists != 0 || c.edgesHigh != 0 || c.edgesLow > ONE_BLOCK_EDGES || step + 1 == left) {
      if (recorder) record(step);
      break;
    }
  }
  syncSearch();
  bool sparse = isSparse(level, params);
  for (u32 i = threadIdx.x; !sparse && i < frontier; i += SEARCH_THREADS) {
    u32 v = block.frontier[(step + 1) % 2][i];
    atomicOr(graph.frontier[level.number % 3] + (v >> 5), 1u << (v & 31));
  }
  if (threadIdx.x == 0) {
    for (int i = 0; i < 3; i++) state.counters[i] = Counters{};
    state.level = level;
    state.level.sparse = sparse;
    state.corrections = corrections;
  }
}

// sparseLevelsAlone lets the first block run levels, and the others wait for it.
__device__ inline void sparseLevelsAlone(const SearchParams& params, Shared& shared) {
  if (blockIdx.x == 0) {
    if (graph.averageDegree > SPARSE_EDGES_PER_LANE) runAlone<true>(params, shared);
    else runAlone<false>(params, shared); // roads: every instruction of such a level counts
  }
  syncGrid([&] {
    const u64* from = reinterpret_cast<const u64*>(&state.level);
    u64* into = reinterpret_cast<u64*>(&shared.level);
#pragma unroll
    for (int i = 0; i < sizeof(LevelState) / 8; i++) into[i] = __ldcg(from + i);
  });
  announce(shared.level, params);
}

// makeDense turns a sparse frontier into a bitmap, and waits for all blocks. A bottom-up step gets the whole bitmap.
__device__ inline void makeDense(const SearchParams& params, Shared& shared, const Step& step) {
  LevelState& level = shared.level;
  u64 stride = u64(gridDim.x) * SEARCH_THREADS;
  forFrontier(level, [&](u32 frontier, auto vertex) {
    for (u64 i = u64(blockIdx.x) * SEARCH_THREADS + threadIdx.x; i < frontier; i += stride) {
      u32 v = vertex(u32(i));
      atomicOr(step.frontier + (v >> 5), 1u << (v & 31));
    }
  });
  syncGrid([&] { level.sparse = 0; });
#if SEVERAL
  if (level.bottomUp) completeFrontier(params, shared, step.frontier, step.counters);
#endif
}

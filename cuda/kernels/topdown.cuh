// SPDX-License-Identifier: Apache-2.0

// Parts of the top-down step: the queue of a frontier, and following its edges.
#pragma once
#include "output.cuh"

// visitSharedWords finds the unvisited vertices of a frontier hub's group in the first and the last word of the
// group, if the group shares these words with other vertices. It may run at the same time as follow.
__device__ inline void visitSharedWords(u32 hub, u32* next, Tally& tally) {
  u64 from = graph.groupBegin[hub], to = graph.groupBegin[hub + 1];
  if (from == to) return;
  for (u64 w = from / 32; w <= (to - 1) / 32; w = w < (to - 1) / 32 ? (to - 1) / 32 : w + 1) {
    if (w * 32 >= from && w * 32 + 32 <= to) continue; // not shared
    u32 mask = lowBits(to - w * 32) & (from > w * 32 ? ~lowBits(from - w * 32) : ~0u);
    u32 mine = graph.unvisited[w] & mask;
    if (mine != 0) mine &= atomicAnd(graph.unvisited + w, ~mine);
    if (mine == 0) continue;
    atomicOr(next + wordOf(w), mine);
    tally.addFoundWord(w, mine);
  }
}

// DenseOutput makes the vertices that a warp finds bits of the next frontier.
template <class Corrections>
struct DenseOutput {
  u32* next;
  Tally& tally;
  Corrections& corrections;

  // add adds those of t, own vertices, for which found is not 0, with their parent. All lanes of the warp call it.
  template <int N>
  __device__ void add(const u32 (&t)[N], const u32 (&found)[N], u32 parent) {
#pragma unroll
    for (int i = 0; i < N; i++) {
      if (found[i]) {
        atomicOr(next + wordOf(t[i] >> 5), 1u << (t[i] & 31));
        tally.addFound(t[i]);
      }
      corrections.add(found[i] != 0, t[i], parent);
    }
  }
};

// follow follows N edges of a vertex of the frontier, to t[i] unless NONE. All bits are read before the first is
// used; a stale bit costs one attempt, no more. Of the threads that reach the same vertex, the one that clears its
// bit has found it. All lanes of the warp call it.
template <int N, class Output>
__device__ inline void follow(const u32 (&t)[N], u32 from, Output& output) {
  u32 unvisited[N];
#pragma unroll
  for (int i = 0; i < N; i++) unvisited[i] = t[i] != NONE ? graph.unvisited[t[i] >> 5] : 0;
#pragma unroll
  for (int i = 0; i < N; i++) {
    u32 mask = 1u << (t[i] & 31);
    unvisited[i] &= mask;
    if (unvisited[i]) unvisited[i] &= atomicAnd(graph.unvisited + (t[i] >> 5), ~mask);
  }
  output.add(t, unvisited, from);
}

// enqueue adds the vertices in a thread's word w of the frontier to the queue, except those without edges. Blocks add
// theirs in any order: a single atomic addition gives a block its place in the queue and in the prefix sums, so both
// ascend together. groups: hubs find their groups without edges. All searching threads of the block call it.
__device__ inline void enqueue(Shared& shared, const Step& step, u64 w, u32 bits, bool groups, Tally& tally) {
  u64 mine = 0; // as Counters::queued
  for (u32 rest = bits; rest != 0; rest &= rest - 1) {
    u32 v = u32(w * 32) + __ffs(rest) - 1;
    u64 n = groups ? topDownEdges(v) : lengthOf(v);
    if (n != 0) mine += queueUnit() + n;
    else if (groups && v < graph.hubs) visitSharedWords(v, step.next, tally); // it will not be in the queue
  }
  u64 until = sumUntil(mine);
  syncSearch();
  if (lane() == 31) shared.sums[threadIdx.x / 32] = until;
  syncSearch();
  if (threadIdx.x < 32) {
    u64 sum = threadIdx.x < SEARCH_THREADS / 32 ? shared.sums[threadIdx.x] : 0, total = sumUntil(sum);
    shared.sums[threadIdx.x] = total - sum;
    if (threadIdx.x == 31) shared.base = total != 0 ? atomicAdd(&step.counters->queued, total) : 0;
  }
  syncSearch();
  u64 at = shared.base + shared.sums[threadIdx.x / 32] + until - mine;
  for (u32 rest = bits; rest != 0; rest &= rest - 1) {
    u32 v = u32(w * 32) + __ffs(rest) - 1;
    u64 n = groups ? topDownEdges(v) : lengthOf(v);
    if (n == 0) continue;
    graph.queue[at >> graph.queueShift] = v;
    graph.edgesBefore[at >> graph.queueShift] = queueEdges(at);
    at += queueUnit() + n;
  }
}

// queueFrontier turns the frontier into a queue. groups: it also finds the unvisited vertices of the words whose 32
// vertices all belong to the group of one hub in the frontier; otherwise it clears the frontier, because the next one
// may be sparse.
__device__ inline void queueFrontier(Shared& shared, const Step& step, bool groups) {
  Tally tally;
  u64 threads = u64(gridDim.x) * SEARCH_THREADS;
  for (u64 begin = u64(blockIdx.x) * SEARCH_THREADS; begin < graph.frontierWords; begin += threads * WORDS_PER_THREAD) {
    u32 bits[WORDS_PER_THREAD], unvisited[WORDS_PER_THREAD];
    bool some = false;
#pragma unroll
    for (int i = 0; i < WORDS_PER_THREAD; i++) {
      u64 w = begin + i * threads + threadIdx.x;
      bits[i] = w < graph.frontierWords ? step.frontier[w] : 0;
      u64 own = ownWord(w);
      unvisited[i] = w < graph.frontierWords && groups && own != NONE ? graph.unvisited[own] : 0;
      some |= bits[i] != 0;
    }
#pragma unroll
    for (int i = 0; i < WORDS_PER_THREAD; i++) {
      u64 w = begin + i * threads + threadIdx.x, own = ownWord(w);
      if (w >= graph.frontierWords) break;
      step.cleared[w] = 0;
      if (!groups && bits[i] != 0) step.frontier[w] = 0;
      if (unvisited[i] == 0 || !grouped(own)) continue;
      u32 hub = graph.wordHub[own];
      if (hub == NONE || !bit(step.frontier, hub)) continue;
      graph.unvisited[own] = 0;
      step.next[w] = unvisited[i];
      tally.addFoundWord(own, unvisited[i]);
    }
    if (!anySearch(some)) continue;
#pragma unroll
    for (int i = 0; i < WORDS_PER_THREAD; i++) {
      u64 w = begin + i * threads + threadIdx.x;
      if (w * 32 < graph.hubs) {
        tally.addLeaves(w, bits[i]);
        if (SEVERAL) graph.hubReached[w] |= bits[i];
      }
      if (anySearch(bits[i] != 0)) enqueue(shared, step, w, bits[i], groups, tally);
    }
  }
  addToCounters(shared, step.counters, tally, 0);
}

// ownerOf returns the place in the queue of the vertex that edge number `edge` of the queue belongs to. The lanes of
// a warp share the search, in steps of a factor of 32.
__device__ inline u64 ownerOf(u64 edge, u64 queued) {
  u64 low = 0, high = queued; // edgesBefore[low] <= edge, and edgesBefore[high] > edge
  while (high - low > 1) {
    u64 step = (high - low + 31) / 32;
    u64 probe = low + u64(lane()) * step;
    u32 fits = __ballot_sync(~0u, probe < high && graph.edgesBefore[probe] <= edge);
    u64 last = 31 - __clz(fits); // lane 0 always fits
    low += last * step;
    high = low + step < high ? low + step : high;
  }
  return low;
}

// followEdges follows edges edge ... end-1 of the queue's `edges`, EDGES_PER_LANE rows of 32 at a time. A row of packed
// lists begins with a chunk, so the first one of a warp may have edges before `edge`. All lanes of a warp call it.
template <class Output>
__device__ inline void followEdges(u64 edge, u64 end, u64 queued, u64 edges, Output& output) {
  u64 at = ownerOf(edge, queued); // in the queue
  while (edge < end) {
    u64 following = at + 1 < queued ? graph.edgesBefore[at + 1] : edges;
    u64 before = graph.edgesBefore[at], first = PACKED ? edge - (edge - before) % 32 : edge; // of the row
    u64 rows = ((following < end ? following : end) - first) / 32;
    if (PACKED && rows == 0 && following - first >= 32) rows = 1; // a chunk with edges behind `end`
    if (rows > 0) { // rows of one list
      if (rows > EDGES_PER_LANE) rows = EDGES_PER_LANE;
      u32 from = graph.queue[at], k = u32(first - before), t[EDGES_PER_LANE];
      List list = neighborsBySource(from);
#pragma unroll
      for (int i = 0; i < EDGES_PER_LANE; i++) {
        t[i] = i < rows ? list.fullRow(k + 32 * i) : NONE;
        if (PACKED && (first + 32 * i + lane() < edge || first + 32 * i + lane() >= end)) t[i] = NONE;
      }
      follow(t, from, output);
      edge = first + 32 * rows;
      at += edge == following;
      continue;
    }
    // a row across several lists, of 32 at most, since each has an edge
    u64 x = first + lane();
    u64 border = at + 1 + lane() < queued ? graph.edgesBefore[at + 1 + lane()] : edges;
    u32 skip = 0; // borders at or before x
    for (int d = 16; d > 0; d /= 2) {
      u64 probe = __shfl_sync(~0u, border, skip + d - 1);
      if (probe <= x) skip += d;
    }
    u32 from = 0, t[1] = {NONE}, k = 0;
    if (x < end) {
      from = graph.queue[at + skip];
      k = u32(x - graph.edgesBefore[at + skip]);
      List list = neighborsBySource(from);
      t[0] = PACKED ? list.difference(k) : list.words[k];
    }
    if (PACKED) {
      t[0] = sumSince(k % 32, t[0]);
      if (x < edge || x >= end) t[0] = NONE;
    }
    follow(t, from, output);
    edge = first + 32;
    at += __popc(__ballot_sync(~0u, border <= edge));
  }
}

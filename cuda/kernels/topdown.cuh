// The top-down steps of the fused search.
#pragma once
#include "claim.cuh"
#include "graph.cuh"

// relax looks at N links from a vertex of the frontier, to t[i] unless NONE. All looks come before the first answer is used; one that
// is out of date costs an attempt, no more. Of threads that find the same vertex the one that clears its bit has found it. All lanes of
// the warp call it.
template <int N, class Finds>
__device__ inline void relax(const u32 (&t)[N], u32 from, u32* next, Tally& tally, Finds& finds) {
  u32 unvisited[N];
#pragma unroll
  for (int i = 0; i < N; i++) unvisited[i] = t[i] != NONE ? graph.unvisited[t[i] >> 5] : 0;
#pragma unroll
  for (int i = 0; i < N; i++) {
    u32 mask = 1u << (t[i] & 31);
    unvisited[i] &= mask;
    if (unvisited[i]) unvisited[i] &= atomicAnd(graph.unvisited + (t[i] >> 5), ~mask);
  }
#pragma unroll
  for (int i = 0; i < N; i++) {
    bool found = unvisited[i] != 0;
    if (found) {
      atomicOr(next + (t[i] >> 5), 1u << (t[i] & 31));
      tally.find(t[i]);
    }
    finds.add(found, t[i], from);
  }
}

// enqueue adds the vertices in a thread's word w of the frontier to the queue, those without links excepted. Blocks add theirs in any
// order: one atomic addition gives a block its place in the queue and in the prefix sums at once, so both ascend together. All
// searching threads of the block call it.
__device__ inline void enqueue(Shared& shared, Counters* counters, u64 w, u32 bits, u32* next, Tally& tally) {
  u64 mine = 0; // vertices << QUEUE_SHIFT | links
  for (u32 rest = bits; rest != 0; rest &= rest - 1) {
    u32 v = u32(w * 32) + __ffs(rest) - 1;
    u64 n = links(v);
    if (n != 0) mine += (u64(1) << QUEUE_SHIFT) + n;
    else if (v < graph.hubs) claimBorders(v, next, tally); // it will not be in the queue
  }
  u64 until = mine; // inclusive prefix sum
  for (int d = 1; d < 32; d *= 2) {
    u64 other = __shfl_up_sync(~0u, until, d);
    if (lane() >= d) until += other;
  }
  syncSearch();
  if (lane() == 31) shared.sums[threadIdx.x / 32] = until;
  syncSearch();
  if (threadIdx.x < 32) {
    u64 sum = threadIdx.x < SEARCH_THREADS / 32 ? shared.sums[threadIdx.x] : 0, total = sum;
    for (int d = 1; d < 32; d *= 2) {
      u64 other = __shfl_up_sync(~0u, total, d);
      if (lane() >= d) total += other;
    }
    shared.sums[threadIdx.x] = total - sum;
    if (threadIdx.x == 31) shared.base = total != 0 ? atomicAdd(&counters->queued, total) : 0;
  }
  syncSearch();
  u64 at = shared.base + shared.sums[threadIdx.x / 32] + until - mine;
  for (u32 rest = bits; rest != 0; rest &= rest - 1) {
    u32 v = u32(w * 32) + __ffs(rest) - 1;
    u64 n = links(v);
    if (n == 0) continue;
    graph.queue[at >> QUEUE_SHIFT] = v;
    graph.before[at >> QUEUE_SHIFT] = at & QUEUE_EDGES;
    at += (u64(1) << QUEUE_SHIFT) + n;
  }
}

// claimAndList lets hubs, if there are any in the frontier, find the words that are theirs alone, and makes a queue of the frontier.
__device__ inline void claimAndList(Shared& shared, Counters* counters, bool hubs, const u32* frontier, u32* next, u32* spare) {
  Tally tally;
  u64 threads = u64(gridDim.x) * SEARCH_THREADS;
  for (u64 begin = u64(blockIdx.x) * SEARCH_THREADS; begin < graph.words; begin += threads * CLAIM_STEP) {
    u32 bits[CLAIM_STEP], unvisited[CLAIM_STEP];
    bool some = false;
#pragma unroll
    for (int i = 0; i < CLAIM_STEP; i++) {
      u64 w = begin + i * threads + threadIdx.x;
      bits[i] = w < graph.words ? frontier[w] : 0;
      unvisited[i] = w < graph.words && hubs ? graph.unvisited[w] : 0;
      some |= bits[i] != 0;
    }
#pragma unroll
    for (int i = 0; i < CLAIM_STEP; i++) {
      u64 w = begin + i * threads + threadIdx.x;
      if (w >= graph.words) break;
      spare[w] = 0;
      if (unvisited[i] == 0 || !grouped(w)) continue;
      u32 hub = graph.wordHub[w];
      if (hub == NONE || !bit(frontier, hub)) continue;
      graph.unvisited[w] = 0;
      next[w] = unvisited[i];
      tally.findWord(w, unvisited[i]);
    }
    if (!anySearch(some)) continue;
#pragma unroll
    for (int i = 0; i < CLAIM_STEP; i++) {
      u64 w = begin + i * threads + threadIdx.x;
      if (w * 32 < graph.hubs) tally.expandWord(w, bits[i]);
      if (anySearch(bits[i] != 0)) enqueue(shared, counters, w, bits[i], next, tally);
    }
  }
  report(shared, counters, tally, 0);
}

// owner returns the last index of the queue whose vertex has no more than edge links before it. A warp searches together, in
// steps of a factor of 32.
__device__ inline u64 owner(u64 queued, u64 edge) {
  u64 low = 0, high = queued; // before[low] <= edge, and before[high] > edge
  while (high - low > 1) {
    u64 step = (high - low + 31) / 32;
    u64 probe = low + u64(lane()) * step;
    u32 fits = __ballot_sync(~0u, probe < high && graph.before[probe] <= edge);
    u64 last = 31 - __clz(fits); // lane 0 always fits
    low += last * step;
    high = low + step < high ? low + step : high;
  }
  return low;
}

// expandLinks looks at the links edge ... end-1 of the queue's `edges`, EXPAND_STEP rows of 32 at a time. A warp calls it.
__device__ inline void expandLinks(u64 edge, u64 end, u64 queued, u64 edges, u32* next, Tally& tally, BufferedFinds& finds) {
  u64 at = owner(queued, edge); // in the queue: whose link edge is
  while (edge < end) {
    u64 following = at + 1 < queued ? graph.before[at + 1] : edges;
    u64 rows = ((following < end ? following : end) - edge) / 32;
    if (rows > 0) { // rows of one list
      if (rows > EXPAND_STEP) rows = EXPAND_STEP;
      u32 from = graph.queue[at], t[EXPAND_STEP];
      const u32* list = graph.target + graph.offset[from] + (edge - graph.before[at]) + lane();
#pragma unroll
      for (int i = 0; i < EXPAND_STEP; i++) t[i] = i < rows ? list[32 * i] : NONE;
      relax(t, from, next, tally, finds);
      edge += 32 * rows;
      at += edge == following;
      continue;
    }
    // a row over several lists: each has a link at least, so it is over no more than 32
    u64 x = edge + lane();
    u64 border = at + 1 + lane() < queued ? graph.before[at + 1 + lane()] : edges;
    u32 skip = 0; // borders at or before x
    for (int d = 16; d > 0; d /= 2) {
      u64 probe = __shfl_sync(~0u, border, skip + d - 1);
      if (probe <= x) skip += d;
    }
    u32 from = 0, t[1] = {NONE};
    if (x < end) {
      from = graph.queue[at + skip];
      t[0] = graph.target[graph.offset[from] + (x - graph.before[at + skip])];
    }
    relax(t, from, next, tally, finds);
    edge += 32;
    at += __popc(__ballot_sync(~0u, border <= edge));
  }
}

// expand finds the rest of the groups of the queue's hubs, and looks at every link of the queue. The links of a large level are dealt to
// the warps in several pieces each, since links of hubs find more than others.
__device__ inline void expand(Shared& shared, Counters* counters, u32* next) {
  Tally tally;
  BufferedFinds finds(shared.finds[threadIdx.x / 32]);
  u64 packed = __ldcg(&counters->queued);
  u64 queued = packed >> QUEUE_SHIFT, edges = packed & QUEUE_EDGES;
  for (u64 i = u64(threadIdx.x) * gridDim.x + blockIdx.x; i < queued; i += u64(gridDim.x) * SEARCH_THREADS) {
    if (graph.queue[i] < graph.hubs) claimBorders(graph.queue[i], next, tally);
  }
  u64 warps = u64(gridDim.x) * (SEARCH_THREADS / 32);
  u64 warp = u64(threadIdx.x / 32) * gridDim.x + blockIdx.x; // few edges are spread over the multiprocessors
  u64 piece = (edges + warps * EXPAND_PIECES - 1) / (warps * EXPAND_PIECES);
  piece = (piece + LEAST_EDGES - 1) / LEAST_EDGES * LEAST_EDGES;
  for (u64 edge = warp * piece; edge < edges; edge += warps * piece) {
    expandLinks(edge, edge + piece < edges ? edge + piece : edges, queued, edges, next, tally, finds);
  }
  finds.flush();
  report(shared, counters, tally, finds.added);
}

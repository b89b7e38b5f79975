// SPDX-License-Identifier: Apache-2.0

// The fold of a grid of GPUs with several columns: 1D by source, which is one row (Merrill, Garland, Grimshaw, "Scalable
// GPU Graph Traversal", PPoPP 2012, section 7, and Mastrostefano, Bernaschi, "Efficient breadth first search on multi-GPU
// systems", JPDC 2013: vertices belong to GPUs by modulo), and 2D (Bisson, Bernaschi, Mastrostefano, "Parallel Distributed
// Breadth First Search on the Kepler Architecture", IEEE TPDS 2016, section 3).
//
// A top-down level of a grid is
//
//   scan      a GPU follows the edges from the frontier of its column to the vertices of its row. It keeps own ones, and
//             sends the others to their owners, each once a search:
//               lists     8 bytes to the inbox of the owner, with the parent, while it is found
//               bitmaps   all vertices found in this search, a bit for each vertex of the owner, after the scan
//   barrier   of all GPUs
//   update    owners keep those that were not visited; after a bitmap, they read the parents of these from the sender
//   expand    own words of the next frontier to the other GPUs of the column (exchange.cuh)
//   barrier   of all GPUs
//
// A sparse frontier needs no barrier before it is sent, as on a grid of one column; vertices found from it go to their
// owners as lists. Bottom-up levels are those of a grid of one column: they find own vertices only, and need the whole
// frontier. So there is another expand before the first of them.
#pragma once
#include "levels.cuh"
#include "topdown.cuh"

// SendAlongRow writes vertices to the inboxes of their owners. It is not inlined, because a step that fetches many
// instructions for the first time waits for memory.
struct SendAlongRow {
  __device__ __noinline__ void operator()(const u64* buffer, u32 used) {
    u32 block = u32(32 * graph.words), columns = u32(graph.columns), column = u32(graph.rank) % columns;
#pragma unroll 1
    for (u32 i = lane(); i < used + lane(); i += 32) {
      u64 pair = i < used ? buffer[i] : 0;
      u32 ahead = u32(pair >> 32) / block; // columns
#pragma unroll 1
      for (u32 c = 1; c < columns; c++) {
        u32 lanes = __ballot_sync(~0u, ahead == c);
        if (lanes == 0) continue;
        u64 owner = graph.rank - column + (column + c) % columns, at = 0;
        if (lane() == 0) at = atomicAdd(&state.sent[FOLDED][owner], u64(__popc(lanes)));
        at = __shfl_sync(~0u, at, 0) + __popc(lanes & lowBits(lane()));
        if (ahead == c) exchange.inbox[owner][column * block + at] = pair - (u64(c * block) << 32);
      }
    }
  }
};

// sendsBitmaps reports whether the top-down step of a level sends bitmaps: with adaptive messages if its frontier has
// many edges.
__device__ inline bool sendsBitmaps(const SearchParams& params, const LevelState& level) {
  return params.messages == BITMAPS || (params.messages == ADAPTIVE && level.frontierEdges > BITMAP_EDGES * graph.words);
}

// RowOutput keeps own vertices that a warp finds, and sends the others to their owners, or keeps their parents.
template <class Own>
struct RowOutput {
  Own& own;
  Buffered<SendAlongRow>& sends;
  bool bitmaps;
  Tally& tally;

  template <int N, class... Length>
  __device__ void add(const u32 (&t)[N], const u32 (&found)[N], u32 parent, const Length&... length) {
    u32 kept[N];
#pragma unroll
    for (int i = 0; i < N; i++) {
      kept[i] = t[i] < 32 * graph.words ? found[i] : 0;
      bool other = found[i] != kept[i];
      if (!bitmaps) sends.add(other, t[i], parent);
      else if (other) exchange.found[graph.rank][t[i] - 32 * graph.words] = parent;
    }
    own.add(t, kept, parent, length...);
  }
};

#if SEVERAL
// sendBitmaps sends every other GPU of the row those of its vertices that this one has found.
__device__ inline void sendBitmaps(Shared& shared) {
  u64 stride = u64(gridDim.x) * SEARCH_THREADS, column = graph.rank % graph.columns, row = graph.rank - column;
#pragma unroll 1
  for (u64 c = 1; c < graph.columns; c++) {
    u64 owner = row + (column + c) % graph.columns;
    u32* bitmap = reinterpret_cast<u32*>(exchange.inbox[owner] + column * 32 * graph.words);
    for (u64 w = u64(blockIdx.x) * SEARCH_THREADS + threadIdx.x; w < graph.words; w += stride) {
      bitmap[w] = ~__ldcg(graph.unvisited + c * graph.words + w);
    }
    if (blockIdx.x == 0 && threadIdx.x == 0) shared.moved[FOLDED][owner] = 4 * graph.words;
  }
}

// update adds own vertices that the other GPUs of the row have found to output.
template <class Output>
__device__ inline void update(Shared& shared, bool bitmaps, Output& output) {
  u64 stride = u64(gridDim.x) * SEARCH_THREADS, begin = u64(blockIdx.x) * SEARCH_THREADS + threadIdx.x;
  u64 column = graph.rank % graph.columns, row = graph.rank - column;
#pragma unroll 1
  for (u64 c = 1; c < graph.columns; c++) { // the sender is c columns behind
    u64 from = (column + graph.columns - c) % graph.columns;
    const u64* inbox = exchange.inbox[graph.rank] + from * 32 * graph.words;
    u64 n = bitmaps ? graph.words : shared.level.received[row + from];
#pragma unroll 1
    for (u64 i = begin; i < n + lane(); i += stride) {
      if (!bitmaps) {
        u64 pair = i < n ? __ldcv(inbox + i) : ~u64(0);
        u32 t[1] = {u32(pair >> 32)};
        follow(t, u32(pair), output);
        continue;
      }
      const u32* parents = exchange.found[row + from] + (c - 1) * 32 * graph.words;
      u32 bits = i < n ? __ldcv(reinterpret_cast<const u32*>(inbox) + i) & graph.unvisited[i] : 0;
      for (; __any_sync(~0u, bits != 0); bits &= bits - 1) {
        u32 t[1] = {bits != 0 ? u32(i * 32) + __ffs(bits) - 1 : NONE};
        countMoved(shared, FOLDED, row + from, t[0] != NONE);
        follow(t, t[0] != NONE ? __ldcv(parents + t[0]) : 0, output);
      }
    }
  }
}
#endif

// withRow lets a top-down step add the vertices that it finds to output. On a grid with several columns, it sends vertices
// of other GPUs there, and waits until all GPUs have done so.
template <class Output, class FollowEdges>
__device__ inline void withRow(const SearchParams& params, Shared& shared, const Counters* counters, Output& output,
                               const FollowEdges& followEdges) {
#if SEVERAL
  if (graph.columns > 1) {
    bool bitmaps = sendsBitmaps(params, shared.level);
    Buffered<SendAlongRow> sends(shared.sends[threadIdx.x / 32]);
    RowOutput<Output> along{output, sends, bitmaps, output.tally};
    followEdges(along);
    sends.flush();
    if (bitmaps) {
      syncGrid();
      enter(shared, FOLD);
      sendBitmaps(shared);
    }
    syncAll(params, shared, counters, After::Fold, [](const Counters&) {});
    enter(shared, UPDATE);
    update(shared, bitmaps, output);
    return;
  }
#endif
  followEdges(output);
}

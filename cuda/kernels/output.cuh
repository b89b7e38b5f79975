// Output: the parent array in original labels, 64 bits a parent, inside the clock.
//
// Kernel 1 prepares the template, every label's first neighbour, as part of the graph. A search copies it, which is pure
// streaming, and then writes the parents of vertices that were found through another neighbour and clears those that were not
// reached. So every entry is confirmed or replaced by each search, and nothing of one search is used in another.
#pragma once
#include "block.cuh"

// copyTemplate fills parent[0 ... length): parent[l] = output[l], widened; Unreached (-1) where isolated or beyond the labels. The
// copying threads of all blocks call it. A thread moves two parents at a time, so that a warp writes 512 bytes in a row, and reads
// COPY_STEP times before it writes. Nothing of it is read again soon, so it goes past the caches.
__device__ inline void copyTemplate(i64* parent, u64 length) {
  u64 at = u64(blockIdx.x) * COPY_THREADS + threadIdx.x - SEARCH_THREADS, stride = u64(gridDim.x) * COPY_THREADS;
  u64 pairs = (graph.labels < length ? graph.labels : length) / 2;
  const uint2* from = reinterpret_cast<const uint2*>(graph.output);
  longlong2* into = reinterpret_cast<longlong2*>(parent);
  for (u64 i = at; i < pairs; i += stride * COPY_STEP) {
    uint2 t[COPY_STEP];
#pragma unroll
    for (int k = 0; k < COPY_STEP; k++) {
      if (i + k * stride < pairs) t[k] = __ldcs(from + i + k * stride);
    }
#pragma unroll
    for (int k = 0; k < COPY_STEP; k++) {
      if (i + k * stride >= pairs) break;
      __stcs(into + i + k * stride, make_longlong2(t[k].x == NONE ? -1 : i64(t[k].x), t[k].y == NONE ? -1 : i64(t[k].y)));
    }
  }
  for (u64 l = 2 * pairs + at; l < length; l += stride) {
    u32 t = l < graph.labels ? graph.output[l] : NONE;
    parent[l] = t == NONE ? -1 : i64(t);
  }
}

// takePart takes a part of the list of finds, as far as it is stable. It returns the length, 0 where nothing is left. The parts are
// dealt to the blocks in turn, so that no two blocks ask for the same one: the searching and the copying threads of a block do.
__device__ inline u64 takePart(Shared& shared, u64& at) {
  for (;;) {
    u64 taken = *(volatile u64*)&shared.written, stable = *(volatile u64*)&state.stable;
    at = (taken / OUTPUT_PART * gridDim.x + blockIdx.x) * OUTPUT_PART + taken % OUTPUT_PART;
    if (at >= stable) return 0;
    u64 n = OUTPUT_PART - taken % OUTPUT_PART;
    if (stable - at < n) n = stable - at;
    if (atomicCAS(&shared.written, taken, taken + n) == taken) return n;
  }
}

// writePart writes the parents of finds at ... at+n-1, FINDS_STEP a thread at a time. `thread` is one of `threads`.
__device__ inline void writePart(i64* parent, u64 at, u64 n, u32 thread, u32 threads) {
  for (u64 i = thread; i < n; i += threads * FINDS_STEP) {
    u64 find[FINDS_STEP];
    u32 label[FINDS_STEP], from[FINDS_STEP];
#pragma unroll
    for (int k = 0; k < FINDS_STEP; k++) {
      if (i + k * threads < n) find[k] = __ldcg(graph.finds + at + i + k * threads);
    }
#pragma unroll
    for (int k = 0; k < FINDS_STEP; k++) {
      if (i + k * threads >= n) break;
      label[k] = graph.original[find[k] >> 32];
      from[k] = graph.original[u32(find[k])];
    }
#pragma unroll
    for (int k = 0; k < FINDS_STEP; k++) {
      if (i + k * threads < n) parent[label[k]] = i64(from[k]);
    }
  }
}

// follow writes the parents of finds while the search goes on, as soon as the template has been copied. Where the search is over it
// writes all that are left; where it pauses, the next launch will. The copying threads call it.
__device__ inline void follow(i64* parent, u64 launch, u64 copies, Shared& shared) {
  bool first = threadIdx.x == SEARCH_THREADS;
  for (;;) {
    if (first) {
      u64 at = 0, n = 0;
      for (;;) {
        bool ended = *(volatile u64*)&state.ended == launch, pauses = false;
        if (ended) {
          fence();
          pauses = *(volatile u64*)&state.progress.done == 0;
        }
        if (!pauses && *(volatile u64*)&copied >= copies) n = takePart(shared, at);
        if (n != 0 || ended) break;
        __nanosleep(200);
      }
      fence();
      if (n == 0) graph.written[blockIdx.x] = shared.written;
      shared.part[1] = at, shared.size[1] = n;
    }
    syncCopy();
    u64 at = shared.part[1], n = shared.size[1];
    if (n == 0) return;
    writePart(parent, at, n, threadIdx.x - SEARCH_THREADS, COPY_THREADS);
    syncCopy();
  }
}

// correct writes the rest of what the template does not have: the finds that are left, Unreached where a vertex was lost, and the
// root. The searching threads of all blocks call it, after the copy.
__device__ inline void correct(i64* parent, u64 root, Shared& shared) {
  if (blockIdx.x == 0 && threadIdx.x == 0) parent[root] = i64(root);
  u64 stride = u64(gridDim.x) * SEARCH_THREADS;
  for (u64 w = u64(blockIdx.x) * SEARCH_THREADS + threadIdx.x; w < graph.words; w += stride) {
    for (u32 lost = graph.unvisited[w]; lost != 0; lost &= lost - 1) {
      u64 v = w * 32 + __ffs(lost) - 1;
      parent[graph.original[v]] = -1;
      if (v >= graph.hubs) continue;
      for (u32 leaf = graph.leafAt[v]; leaf < graph.leafAt[v + 1]; leaf++) parent[graph.original[leaf]] = -1;
    }
  }
  for (;;) {
    if (threadIdx.x == 0) {
      u64 at = 0;
      shared.size[0] = takePart(shared, at);
      shared.part[0] = at;
    }
    syncSearch();
    u64 at = shared.part[0], n = shared.size[0];
    if (n == 0) return;
    writePart(parent, at, n, threadIdx.x, SEARCH_THREADS);
    syncSearch();
  }
}

// SPDX-License-Identifier: Apache-2.0

// Output: the parent array in original labels, 64 bits a parent, inside the clock.
//
// Kernel 1 prepares the template, every label's first neighbor, as part of the graph. A search copies it, which
// streams through memory, and then corrects it: it writes the parents of vertices that were found through another
// neighbor and clears those of vertices that were not reached. So each search confirms or replaces every entry, and
// carries nothing over from another search.
//
// Corrections are vertices whose parent is not the template's, in a list that grows level by level. Writing their
// parents at once, 8 bytes at a random address, would cost memory a read and a write of a whole sector in the middle
// of the search; the list is written in rows, and the copying threads write the parents while the search continues.
#pragma once
#include "block.cuh"

// Buffered collects vertices that a warp finds, with their parents, in shared memory, and writes them when the buffer is
// full. All lanes of the warp call its functions.
template <class Write>
struct Buffered {
  u64* buffer;  // [CORRECTIONS_PER_WARP] of this warp
  u32 used = 0;
  u32 added = 0; // to the list

  __device__ explicit Buffered(u64* buffer) : buffer(buffer) {}

  __device__ void add(bool wanted, u32 v, u32 parent) {
    u32 lanes = __ballot_sync(~0u, wanted);
    if (lanes == 0) return;
    if (used + __popc(lanes) > CORRECTIONS_PER_WARP) flush();
    if (wanted) buffer[used + __popc(lanes & ((1u << lane()) - 1))] = u64(v) << 32 | parent;
    used += __popc(lanes);
  }

  __device__ void flush() {
    __syncwarp();
    Write()(buffer, used);
    __syncwarp();
    added += used;
    used = 0;
  }
};

// WriteCorrections adds vertices to the list of corrections.
struct WriteCorrections {
  __device__ void operator()(const u64* buffer, u32 used) {
    u64 at = 0;
    if (lane() == 0 && used != 0) at = atomicAdd(&state.corrections, u64(used));
    at = __shfl_sync(~0u, at, 0);
    for (u32 i = lane(); i < used; i += 32) graph.corrections[at + i] = buffer[i];
  }
};
using BufferedCorrections = Buffered<WriteCorrections>;

// DirectCorrections adds the corrections of a warp to the list at once.
struct DirectCorrections {
  u32 added = 0;

  __device__ void add(bool wanted, u32 v, u32 parent) {
    u32 lanes = __ballot_sync(~0u, wanted);
    if (lanes == 0) return;
    u64 at = 0;
    if (lane() == 0) at = atomicAdd(&state.corrections, u64(__popc(lanes)));
    at = __shfl_sync(~0u, at, 0);
    if (wanted) graph.corrections[at + __popc(lanes & ((1u << lane()) - 1))] = u64(v) << 32 | parent;
    added += __popc(lanes);
  }
};

__device__ inline i64 widen(u32 parent) { return parent == NONE ? -1 : i64(parent); }

// copyTemplate fills parent[0 ... length) with the template, widened to 64 bits; Unreached (-1) where isolated or
// beyond the labels. The copying threads of all blocks call it. A thread moves two parents at a time, so that a warp
// writes 512 consecutive bytes, and reads COPY_PAIRS times before it writes. None of it is read again soon, so it
// bypasses the caches.
__device__ inline void copyTemplate(i64* parent, u64 length) {
  u64 at = u64(blockIdx.x) * COPY_THREADS + threadIdx.x - SEARCH_THREADS, stride = u64(gridDim.x) * COPY_THREADS;
  u64 pairs = (graph.labels < length ? graph.labels : length) / 2;
  const uint2* from = reinterpret_cast<const uint2*>(graph.outputTemplate);
  longlong2* into = reinterpret_cast<longlong2*>(parent);
  for (u64 i = at; i < pairs; i += stride * COPY_PAIRS) {
    uint2 t[COPY_PAIRS];
#pragma unroll
    for (int k = 0; k < COPY_PAIRS; k++) {
      if (i + k * stride < pairs) t[k] = __ldcs(from + i + k * stride);
    }
#pragma unroll
    for (int k = 0; k < COPY_PAIRS; k++) {
      if (i + k * stride >= pairs) break;
      __stcs(into + i + k * stride, make_longlong2(widen(t[k].x), widen(t[k].y)));
    }
  }
  for (u64 l = 2 * pairs + at; l < length; l += stride) {
    u32 t = l < graph.labels ? graph.outputTemplate[l] : NONE;
    parent[l] = widen(t);
  }
}

// takePart takes a part of the stable corrections. It returns its length, 0 if nothing is left for this block. The
// parts are assigned to the blocks in turn, so that only the searching and the copying threads of one block compete
// for a part.
__device__ inline u64 takePart(Shared& shared, u64& at) {
  for (;;) {
    u64 taken = *(volatile u64*)&shared.written, stable = *(volatile u64*)&state.stable;
    at = (taken / CORRECTIONS_PER_PART * gridDim.x + blockIdx.x) * CORRECTIONS_PER_PART + taken % CORRECTIONS_PER_PART;
    if (at >= stable) return 0;
    u64 n = CORRECTIONS_PER_PART - taken % CORRECTIONS_PER_PART;
    if (stable - at < n) n = stable - at;
    if (atomicCAS(&shared.written, taken, taken + n) == taken) return n;
  }
}

// writePart writes the parents of corrections at ... at+n-1, CORRECTIONS_PER_THREAD of a thread at a time. The caller
// is number `thread` of `threads`.
__device__ inline void writePart(i64* parent, u64 at, u64 n, u32 thread, u32 threads) {
  for (u64 i = thread; i < n; i += threads * CORRECTIONS_PER_THREAD) {
    u64 correction[CORRECTIONS_PER_THREAD];
    u32 label[CORRECTIONS_PER_THREAD], from[CORRECTIONS_PER_THREAD];
#pragma unroll
    for (int k = 0; k < CORRECTIONS_PER_THREAD; k++) {
      if (i + k * threads < n) correction[k] = __ldcg(graph.corrections + at + i + k * threads);
    }
#pragma unroll
    for (int k = 0; k < CORRECTIONS_PER_THREAD; k++) {
      if (i + k * threads >= n) break;
      label[k] = graph.place[correction[k] >> 32];
      from[k] = graph.label[u32(correction[k])];
    }
#pragma unroll
    for (int k = 0; k < CORRECTIONS_PER_THREAD; k++) {
      if (i + k * threads < n) parent[label[k]] = i64(from[k]);
    }
  }
}

// writeDuringSearch writes the parents of stable corrections while the search continues, once the template has been
// copied. When the search is over it writes all that remain; when it pauses, the next launch does. The copying threads
// call it.
__device__ inline void writeDuringSearch(i64* parent, u64 launch, u64 copies, Shared& shared) {
  bool first = threadIdx.x == SEARCH_THREADS;
  for (;;) {
    if (first) {
      u64 at = 0, n = 0;
      for (;;) {
        bool ended = *(volatile u64*)&state.ended == launch, paused = false;
        if (ended) {
          fence();
          paused = *(volatile u64*)&state.level.done == 0;
        }
        if (!paused && *(volatile u64*)&copied >= copies) n = takePart(shared, at);
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

// writeRoot makes the root its own parent. On several GPUs the root's vertex, which is the root's hub if the root is a
// leaf, has no correction: its owner writes its parent here.
__device__ inline void writeRoot(i64* parent, u64 root) {
  if (!SEVERAL) {
    parent[root] = i64(root);
    return;
  }
  u32 v = vertexAt(root);
  if (v != NONE && (v & LEAF) != 0) {
    u32 hub = v & ~LEAF;
    u64 w = ownWord(hub / 32);
    if (w != NONE) parent[graph.place[w * 32 + hub % 32]] = i64(root);
  }
  if (root % graph.ranks == graph.rank) parent[root / graph.ranks] = i64(root);
}

// clearLeaves writes Unreached for the own leaves of a hub.
__device__ inline void clearLeaves(i64* parent, u32 hub) {
  for (u32 leaf = graph.leafBegin[hub]; leaf < graph.leafBegin[hub + 1]; leaf++) parent[graph.place[leaf]] = -1;
}

// writeAfterSearch completes the parents: it writes the root, Unreached for the vertices that were not reached, and the
// remaining corrections. The searching threads of all blocks call it, after the copy.
__device__ inline void writeAfterSearch(i64* parent, u64 root, Shared& shared) {
  if (blockIdx.x == 0 && threadIdx.x == 0) writeRoot(parent, root);
  u64 stride = u64(gridDim.x) * SEARCH_THREADS;
  for (u64 w = u64(blockIdx.x) * SEARCH_THREADS + threadIdx.x; w < graph.words; w += stride) {
    for (u32 unreached = graph.unvisited[w]; unreached != 0; unreached &= unreached - 1) {
      u64 v = w * 32 + __ffs(unreached) - 1;
      parent[graph.place[v]] = -1;
      if (!SEVERAL && v < graph.hubs) clearLeaves(parent, u32(v));
    }
  }
  for (u64 h = u64(blockIdx.x) * SEARCH_THREADS + threadIdx.x; SEVERAL && h < graph.hubs; h += stride) {
    if (!(graph.hubReached[h / 32] >> (h & 31) & 1)) clearLeaves(parent, u32(h));
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

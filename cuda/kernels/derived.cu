// SPDX-License-Identifier: Apache-2.0

// Kernel 1, last part: the arrays that are derived from the lists: first neighbors, hubs of words, edges of hubs,
// the aligned blocks and the output template. These kernels read graph, which has the lists by now, and write to
// their arguments.
#include "neighbors.cuh"

// first_neighbors writes the first entry of each list, or the vertex itself if its list is empty.
extern "C" __global__ void first_neighbors(u32* first) {
  u64 stride = u64(gridDim.x) * blockDim.x;
  for (u64 v = u64(blockIdx.x) * blockDim.x + threadIdx.x; v < graph.searched; v += stride) {
    List list = neighborsOf(u32(v));
    first[v] = list.length != 0 ? list[0] : vertexOf(u32(v));
  }
}

// word_hubs writes the common first neighbor of the 32 grouped vertices of each word, or NONE if they differ. One
// warp per word.
extern "C" __global__ void word_hubs(u32* wordHub) {
  u64 warps = u64(gridDim.x) * (blockDim.x / 32);
  for (u64 w = (u64(blockIdx.x) * blockDim.x + threadIdx.x) / 32; w < graph.words; w += warps) {
    u64 v = w * 32 + lane();
    u32 mine = v < graph.searched ? graph.firstNeighbor[v] : NONE;
    bool one = __all_sync(~0u, mine == __shfl_sync(~0u, mine, 0));
    if (lane() == 0) wordHub[w] = one && grouped(w) ? mine : NONE;
  }
}

// hub_edges writes how many entries of each hub's list come before its group, which is the end of the list, or of the
// whole list on a grid of several columns. One thread per hub.
extern "C" __global__ void hub_edges(u32* edges) {
  u64 h = u64(blockIdx.x) * blockDim.x + threadIdx.x;
  if (h >= graph.hubs) return;
  List list = neighborsBySource(u32(h));
  u32 low = 0, high = list.length;
  if (graph.columns > 1) low = high;
  while (low < high) {
    u32 middle = low + (high - low) / 2;
    if (list[middle] < graph.groupBegin[h]) low = middle + 1; else high = middle;
  }
  edges[h] = low;
}

// aligned_rows chooses how many rows the block of each word has: as many as at least ALIGNED_LANES of its lists need,
// and at most `limit`. It writes the size of the block, in rows of one vertex, to size, and marks a block with
// LONGER if a list of the word continues behind it. One warp per word.
extern "C" __global__ void aligned_rows(u64 words, u64 limit, u32* rows, u64* size) {
  u64 warps = u64(gridDim.x) * (blockDim.x / 32);
  for (u64 w = (u64(blockIdx.x) * blockDim.x + threadIdx.x) / 32; w < words; w += warps) {
    u64 v = w * 32 + lane(), skip = grouped(w);
    u64 length = v < graph.searched ? lengthIn(graph.offset, u32(v)) : 0;
    u64 quads = length > skip ? (length - skip + 3) / 4 : 0;
    u32 n = u32(quads < limit ? quads : limit);
    u32 asLong = 0; // lists with at least as many rows as this one
    for (int i = 0; i < 32; i++) asLong += __shfl_sync(~0u, n, i) >= n;
    u32 kept = asLong >= ALIGNED_LANES ? n : 0;
    for (int d = 16; d > 0; d /= 2) kept = max(kept, __shfl_xor_sync(~0u, kept, d));
    bool longer = __any_sync(~0u, quads > kept);
    if (lane() == 0) rows[w] = kept | (longer ? LONGER : 0), size[w] = u64(kept) * 32;
  }
}

// aligned_fill fills the blocks. One warp per word, row by row.
extern "C" __global__ void aligned_fill(u64 words, const u32* rows, const u64* begin, uint4* aligned) {
  u64 warps = u64(gridDim.x) * (blockDim.x / 32);
  for (u64 w = (u64(blockIdx.x) * blockDim.x + threadIdx.x) / 32; w < words; w += warps) {
    u64 v = w * 32 + lane();
    Cursor cursor(v < graph.searched ? neighborsOf(u32(v)) : List(), grouped(w));
    u32 n = rows[w] & ~LONGER;
    for (u32 k = 0; k < n; k++) {
      u32 t[4];
      for (u32 i = 0; i < 4; i++) t[i] = cursor.next();
      aligned[begin[w] + 32 * k + lane()] = make_uint4(t[0], t[1], t[2], t[3]);
    }
  }
}

// output_template writes the label of the first neighbor of each label; NONE where isolated.
extern "C" __global__ void output_template(u32* out) {
  u64 stride = u64(gridDim.x) * blockDim.x;
  for (u64 l = u64(blockIdx.x) * blockDim.x + threadIdx.x; l < graph.labels; l += stride) {
    u32 v = graph.vertex[l];
    if (v == NONE) {
      out[l] = NONE;
      continue;
    }
    out[l] = graph.label[v < graph.searched ? graph.firstNeighbor[v] : hubOf(v)];
  }
}

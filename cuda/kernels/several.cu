// SPDX-License-Identifier: Apache-2.0

// Kernel 1 on several GPUs: its kernels besides those of one GPU. graph.cuh has the numbering.
//
// edges.cu brings edges to their GPUs, which also exchange sections of Graph::vertex; the host copies them
// (construct_several.go).
#include "append.cuh"

namespace {

constexpr int PER_THREAD = 4; // at a time
constexpr u32 MAX_RANGES = 4096; // maxRanges of plan.go

// rowNumberOf returns the row number of a vertex of the row.
__device__ u32 rowNumberOf(u32 v) {
  u32 w = v / 32, chunk = w / CHUNK_WORDS, ranks = u32(graph.ranks), columns = u32(graph.columns);
  u32 ahead = (chunk % ranks % columns + columns - u32(graph.rank) % columns) % columns;
  return (ahead * u32(graph.words) + chunk / ranks * CHUNK_WORDS + w % CHUNK_WORDS) * 32 + v % 32;
}

// Key is an edge as an entry of a list.
struct Key {
  u32 source, target;
};

// keyOf returns the entry of an edge in the lists of own vertices, which are the targets of its edges, or in the lists by
// source; {NONE, NONE} if an end is a leaf, which is in no list.
__device__ Key keyOf(u64 edge, bool bySource) {
  u32 from = vertexAt(edge >> 32), to = vertexAt(u32(edge));
  if (from >= LEAF || to >= LEAF) return Key{NONE, NONE};
  if (bySource) return Key{from, rowNumberOf(to)};
  return Key{u32(ownWord(to / 32)) * 32 + to % 32, from};
}

}  // namespace

// count_entries counts the edges to every own place, with duplicates.
extern "C" __global__ void count_entries(const u64* edges, u64 n, u64 ranks, u32* degree) {
  u64 stride = u64(gridDim.x) * blockDim.x;
  for (u64 i = u64(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += stride) {
    atomicAdd(&degree[u32(edges[i]) / u32(ranks)], 1u);
  }
}

// number_hubs turns the local numbers of the own section of Graph::vertex into vertices of hubs; the others become `hubs`.
extern "C" __global__ void number_hubs(const u32* local, u32* section) {
  u64 stride = u64(gridDim.x) * blockDim.x;
  for (u64 l = u64(blockIdx.x) * blockDim.x + threadIdx.x; l < graph.labels; l += stride) {
    u32 v = local[l];
    section[l] = v == NONE ? NONE : v < graph.ownHubs ? vertexOf(v) : u32(graph.hubs);
  }
}

// smallest_hubs finds the first hub among the neighbors of every own vertex. smallest must be filled with NONE.
extern "C" __global__ void smallest_hubs(const u64* edges, u64 n, const u32* local, u32* smallest) {
  u64 stride = u64(gridDim.x) * blockDim.x;
  for (u64 i = u64(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += stride) {
    u32 u = local[u32(edges[i]) / u32(graph.ranks)], v = vertexAt(edges[i] >> 32);
    if (v < smallest[u]) atomicMin(&smallest[u], v);
  }
}

// number_all turns local numbers into the own section of Graph::vertex.
extern "C" __global__ void number_all(const u32* local, u32* section) {
  u64 stride = u64(gridDim.x) * blockDim.x;
  for (u64 l = u64(blockIdx.x) * blockDim.x + threadIdx.x; l < graph.labels; l += stride) {
    u32 v = local[l];
    section[l] = v == NONE ? NONE : v < graph.searched ? vertexOf(v) : LEAF | hubOf(v);
  }
}

// label_all writes the labels of all vertices.
extern "C" __global__ void label_all(u32* label) {
  u64 stride = u64(gridDim.x) * blockDim.x;
  for (u64 l = u64(blockIdx.x) * blockDim.x + threadIdx.x; l < graph.allLabels; l += stride) {
    u32 v = vertexAt(l);
    if (v < LEAF) label[v] = u32(l);
  }
}

// count_ranges counts the entries, duplicates included, of each of at most MAX_RANGES ranges of `width` sources.
extern "C" __global__ void count_ranges(const u64* edges, u64 n, u64 bySource, u64 width, u64* counts) {
  __shared__ u32 sums[MAX_RANGES];
  for (u32 i = threadIdx.x; i < MAX_RANGES; i += blockDim.x) sums[i] = 0;
  __syncthreads();
  u64 stride = u64(gridDim.x) * blockDim.x;
  for (u64 i = u64(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += stride) {
    Key key = keyOf(edges[i], bySource);
    if (key.source != NONE) atomicAdd(&sums[key.source / width], 1u);
  }
  __syncthreads();
  for (u32 i = threadIdx.x; i < MAX_RANGES; i += blockDim.x) {
    if (sums[i] != 0) atomicAdd(&counts[i], u64(sums[i]));
  }
}

// entry_keys is list_keys for edges.
extern "C" __global__ void __launch_bounds__(THREADS)
entry_keys(const u64* edges, u64 n, u64 bySource, u64 fromTo, u64 bits, u64* keys, u64* written) {
  u32 from = u32(fromTo >> 32), to = u32(fromTo);
  u64 stride = u64(gridDim.x) * THREADS * PER_THREAD;
  for (u64 begin = u64(blockIdx.x) * THREADS * PER_THREAD; begin < n; begin += stride) {
    u64 mine[PER_THREAD];
#pragma unroll
    for (int i = 0; i < PER_THREAD; i++) {
      u64 at = begin + i * THREADS + threadIdx.x;
      mine[i] = ~u64(0);
      if (at >= n) continue;
      Key key = keyOf(edges[at], bySource);
      if (key.source >= from && key.source < to) mine[i] = u64(key.source - from) << bits | key.target;
    }
    append(mine, keys, written);
  }
}

// own_template writes the label of the first neighbor of each own label; NONE where isolated.
extern "C" __global__ void own_template(u32* out) {
  u64 stride = u64(gridDim.x) * blockDim.x;
  for (u64 l = u64(blockIdx.x) * blockDim.x + threadIdx.x; l < graph.labels; l += stride) {
    u32 v = graph.vertex[graph.rank * graph.labels + l];
    if (v == NONE) out[l] = NONE;
    else if (v & LEAF) out[l] = graph.label[v & ~LEAF];
    else out[l] = graph.label[graph.firstNeighbor[u32(ownWord(v / 32)) * 32 + v % 32]];
  }
}

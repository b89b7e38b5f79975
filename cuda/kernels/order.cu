// SPDX-License-Identifier: Apache-2.0

// Kernel 1, first and second part: from tuples to the numbers of the vertices (graph.cuh). sort.cu has the sort
// between them.
#include "graph.cuh"

// unpack_tuples turns tuples (12 bytes: low half of u, low half of v, high parts) into pairs u<<32 | v. bounds[0]
// becomes the largest label, and bounds[1] becomes 1 if a label has more than 32 bits.
extern "C" __global__ void unpack_tuples(const u32* tuples, u64 n, u64* pairs, u64* bounds) {
  u64 stride = u64(gridDim.x) * blockDim.x;
  u32 largest = 0, high = 0;
  for (u64 i = u64(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += stride) {
    u32 u = tuples[3 * i], v = tuples[3 * i + 1];
    high |= tuples[3 * i + 2];
    largest = max(largest, max(u, v));
    pairs[i] = u64(u) << 32 | v;
  }
  for (int d = 16; d > 0; d /= 2) {
    largest = max(largest, __shfl_xor_sync(~0u, largest, d));
    high |= __shfl_xor_sync(~0u, high, d);
  }
  if (lane() == 0) {
    atomicMax(&bounds[0], u64(largest));
    if (high != 0) atomicOr(&bounds[1], u64(1));
  }
}

// count_degrees counts the tuples at every label, with duplicates but without self-loops.
extern "C" __global__ void count_degrees(const u64* pairs, u64 n, u32* degree) {
  u64 stride = u64(gridDim.x) * blockDim.x;
  for (u64 i = u64(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += stride) {
    u32 u = u32(pairs[i] >> 32), v = u32(pairs[i]);
    if (u == v) continue;
    atomicAdd(&degree[u], 1u);
    atomicAdd(&degree[v], 1u);
  }
}

// max_degree writes the largest degree to result[0] and the number of labels that are not isolated to result[1].
extern "C" __global__ void max_degree(const u32* degree, u64 labels, u64* result) {
  u64 stride = u64(gridDim.x) * blockDim.x;
  u64 largest = 0, used = 0;
  for (u64 l = u64(blockIdx.x) * blockDim.x + threadIdx.x; l < labels; l += stride) {
    if (degree[l] > largest) largest = degree[l];
    used += degree[l] != 0;
  }
  for (int d = 16; d > 0; d /= 2) {
    u64 other = __shfl_down_sync(~0u, largest, d);
    if (other > largest) largest = other;
  }
  used = warpSum(used);
  if (lane() == 0) atomicMax(&result[0], largest), atomicAdd(&result[1], used);
}

// degree_keys writes keys whose upper halves sort labels by descending degree.
extern "C" __global__ void degree_keys(const u32* degree, u64 labels, u64 largest, u64* keys) {
  u64 stride = u64(gridDim.x) * blockDim.x;
  for (u64 l = u64(blockIdx.x) * blockDim.x + threadIdx.x; l < labels; l += stride) {
    keys[l] = (largest - degree[l]) << 32 | l;
  }
}

// number_vertices numbers the labels in the lower halves of keys by their positions. vertex must be filled with NONE,
// which other labels keep.
extern "C" __global__ void number_vertices(const u64* keys, u64 vertices, u32* label, u32* vertex) {
  u64 stride = u64(gridDim.x) * blockDim.x;
  for (u64 v = u64(blockIdx.x) * blockDim.x + threadIdx.x; v < vertices; v += stride) {
    label[v] = u32(keys[v]);
    vertex[label[v]] = u32(v);
  }
}

// smallest_neighbors finds the neighbor with the smallest number of every vertex. smallest must be filled with
// NONE.
extern "C" __global__ void smallest_neighbors(const u64* pairs, u64 n, const u32* vertex, u32* smallest) {
  u64 stride = u64(gridDim.x) * blockDim.x;
  for (u64 i = u64(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += stride) {
    u32 u = vertex[u32(pairs[i] >> 32)], v = vertex[u32(pairs[i])];
    if (u == v) continue; // self-loops, including those of isolated labels
    if (v < smallest[u]) atomicMin(&smallest[u], v);
    if (u < smallest[v]) atomicMin(&smallest[v], u);
  }
}

// group_keys writes keys whose upper halves sort vertices, which are in descending order of degree, into hubs (0),
// groups (1 + hub), ungrouped vertices (1 + hubs) and leaves (2 + hubs + hub). The first ownHubs vertices are hubs.
extern "C" __global__ void group_keys(const u32* labels, const u32* degree, const u32* smallest, u64 vertices,
                                      u64 ownHubs, u64 hubs, u64* keys) {
  u64 stride = u64(gridDim.x) * blockDim.x;
  for (u64 v = u64(blockIdx.x) * blockDim.x + threadIdx.x; v < vertices; v += stride) {
    u32 label = labels[v];
    u64 group = 0;
    if (v >= ownHubs) {
      if (smallest[v] >= hubs) group = 1 + hubs;
      else if (degree[label] == 1) group = 2 + hubs + smallest[v];
      else group = 1 + smallest[v];
    }
    keys[v] = group << 32 | label;
  }
}

// group_begins writes where each group begins: begin[g] for g = 0 ... groups, the last being the number of vertices.
extern "C" __global__ void group_begins(const u64* keys, u64 vertices, u64 groups, u32* begin) {
  u64 stride = u64(gridDim.x) * blockDim.x;
  for (u64 v = u64(blockIdx.x) * blockDim.x + threadIdx.x; v <= vertices; v += stride) {
    u64 group = v < vertices ? keys[v] >> 32 : groups;
    u64 before = v > 0 ? (keys[v - 1] >> 32) + 1 : 0;
    for (u64 g = before; g <= group; g++) begin[g] = u32(v);
  }
}

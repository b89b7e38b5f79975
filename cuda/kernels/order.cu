// Kernel 1, first half: from tuples to numbers. graph.cuh says which vertex gets which number, and sort.cu sorts.
#include "graph.cuh"

// narrow unpacks tuples (12 bytes: low half of u, low half of v, high parts) into pairs u<<32 | v, and finds the largest label
// and whether one has more than 32 bits. bounds[0]: largest label; bounds[1]: not 0 if too wide.
extern "C" __global__ void narrow(const u32* tuples, u64 n, u64* pairs, u64* bounds) {
  u64 stride = u64(gridDim.x) * blockDim.x;
  u32 largest = 0, wide = 0;
  for (u64 i = u64(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += stride) {
    u32 u = tuples[3 * i], v = tuples[3 * i + 1];
    wide |= tuples[3 * i + 2];
    largest = max(largest, max(u, v));
    pairs[i] = u64(u) << 32 | v;
  }
  for (int d = 16; d > 0; d /= 2) {
    largest = max(largest, __shfl_xor_sync(~0u, largest, d));
    wide |= __shfl_xor_sync(~0u, wide, d);
  }
  if (lane() == 0) {
    atomicMax(&bounds[0], u64(largest));
    if (wide != 0) atomicOr(&bounds[1], u64(1));
  }
}

// count_degrees counts the ends of tuples at every label, duplicates included and self-loops not.
extern "C" __global__ void count_degrees(const u64* pairs, u64 n, u32* degree) {
  u64 stride = u64(gridDim.x) * blockDim.x;
  for (u64 i = u64(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += stride) {
    u32 u = u32(pairs[i] >> 32), v = u32(pairs[i]);
    if (u == v) continue;
    atomicAdd(&degree[u], 1u);
    atomicAdd(&degree[v], 1u);
  }
}

// largest_degree finds the largest degree and counts the labels that are not isolated: found[0], found[1].
extern "C" __global__ void largest_degree(const u32* degree, u64 labels, u64* found) {
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
  if (lane() == 0) atomicMax(&found[0], largest), atomicAdd(&found[1], used);
}

// degree_keys makes keys whose upper halves sort labels by descending degree.
extern "C" __global__ void degree_keys(const u32* degree, u64 labels, u64 largest, u64* keys) {
  u64 stride = u64(gridDim.x) * blockDim.x;
  for (u64 l = u64(blockIdx.x) * blockDim.x + threadIdx.x; l < labels; l += stride) {
    keys[l] = (largest - degree[l]) << 32 | l;
  }
}

// number gives the labels in the lower halves of keys their place there as number, and all others NONE.
// vertex must be filled with NONE.
extern "C" __global__ void number(const u64* keys, u64 vertices, u32* original, u32* vertex) {
  u64 stride = u64(gridDim.x) * blockDim.x;
  for (u64 v = u64(blockIdx.x) * blockDim.x + threadIdx.x; v < vertices; v += stride) {
    u32 label = u32(keys[v]);
    original[v] = label;
    vertex[label] = u32(v);
  }
}

// nearest finds the smallest neighbour of every vertex. near must be filled with NONE.
extern "C" __global__ void nearest(const u64* pairs, u64 n, const u32* vertex, u32* near) {
  u64 stride = u64(gridDim.x) * blockDim.x;
  for (u64 i = u64(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += stride) {
    u32 u = vertex[u32(pairs[i] >> 32)], v = vertex[u32(pairs[i])];
    if (u == v) continue; // all self-loops, also those of isolated labels
    if (v < near[u]) atomicMin(&near[u], v);
    if (u < near[v]) atomicMin(&near[v], u);
  }
}

// group_keys makes keys whose upper halves sort vertices, which are by descending degree, into hubs (0), groups (1 + hub),
// strays (1 + hubs) and leaves (2 + hubs + hub).
extern "C" __global__ void group_keys(const u32* original, const u32* degree, const u32* near, u64 vertices, u64 hubs,
                                      u64* keys) {
  u64 stride = u64(gridDim.x) * blockDim.x;
  for (u64 v = u64(blockIdx.x) * blockDim.x + threadIdx.x; v < vertices; v += stride) {
    u32 label = original[v];
    u64 group = 0;
    if (v >= hubs) {
      if (near[v] >= hubs) group = 1 + hubs;
      else if (degree[label] == 1) group = 2 + hubs + near[v];
      else group = 1 + near[v];
    }
    keys[v] = group << 32 | label;
  }
}

// group_borders writes where each group begins: border[g] for g = 0 ... groups, the last being the number of vertices.
extern "C" __global__ void group_borders(const u64* keys, u64 vertices, u64 groups, u32* border) {
  u64 stride = u64(gridDim.x) * blockDim.x;
  for (u64 v = u64(blockIdx.x) * blockDim.x + threadIdx.x; v <= vertices; v += stride) {
    u64 group = v < vertices ? keys[v] >> 32 : groups;
    u64 before = v > 0 ? (keys[v - 1] >> 32) + 1 : 0;
    for (u64 g = before; g <= group; g++) border[g] = u32(v);
  }
}

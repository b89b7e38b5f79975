// SPDX-License-Identifier: Apache-2.0

#include "base.cuh"

// wake does nothing. The host launches it and waits for it before the clock of a search starts, because device and
// driver respond slowly after they were idle.
extern "C" __global__ void wake() {}

// Several GPUs: the row of a source has its number in the column of GPUs, and entries are the numbers of targets in the row
// of GPUs. On a grid of R rows and C columns GPU r is in row r / C and column r % C, and owns the labels l with
// l % (R * C) = r, each at place l / (R * C). Label l is number l / C of its column, and place * C + l % C of its row. What a
// GPU discovers goes to bins, one for each GPU of its row: place << 32 | predecessor.

// grid_keys turns edges (../../kernels/edges.cu) into keys of rows.
extern "C" __global__ void grid_keys(u64* edges, u64 n, u64 ranks, u64 columns, u64 bits) {
  u64 i = u64(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= n) return;
  u32 u = u32(edges[i] >> 32), v = u32(edges[i]), p = u32(ranks), c = u32(columns);
  edges[i] = u64(u / c) << bits | (v / p * c + v % c);
}

// Frontiers, counted after the clock for searches that do not count them: a vertex finds how far it is from the root by
// pointer jumping over its parents. depth[v] is ancestor << 32 | distance to it, and may be read at any time.

// depth_begin makes the parent the ancestor, and ~0 of a vertex that was not reached.
extern "C" __global__ void depth_begin(const i64* parent, u64 n, u64* depth) {
  u64 v = u64(blockIdx.x) * blockDim.x + threadIdx.x;
  if (v < n) depth[v] = parent[v] < 0 ? ~u64(0) : u64(parent[v]) << 32 | (u64(parent[v]) != v);
}

// depth_jump makes the ancestor's ancestor the ancestor. counters->vertices: how many are not at the root yet.
extern "C" __global__ void __launch_bounds__(256) depth_jump(volatile u64* depth, u64 n, u64 root, Counters* counters) {
  u64 v = u64(blockIdx.x) * blockDim.x + threadIdx.x;
  bool more = false;
  if (v < n && depth[v] != ~u64(0)) {
    u64 mine = depth[v];
    if (mine >> 32 != root) {
      u64 next = depth[mine >> 32];
      mine = (next >> 32 << 32) | u32(u32(mine) + u32(next));
      depth[v] = mine;
      more = mine >> 32 != root;
    }
  }
  add(counters, more, 0, 0);
}

// depth_count counts the vertices of each level below length.
extern "C" __global__ void depth_count(const u64* depth, u64 n, u64 length, u64* frontier) {
  u64 v = u64(blockIdx.x) * blockDim.x + threadIdx.x;
  u32 level = v < n && depth[v] != ~u64(0) && u32(depth[v]) < length ? u32(depth[v]) : NONE;
  u32 peers = __match_any_sync(~0u, level);
  if (level != NONE && lane() == __ffs(peers) - 1) atomicAdd(&frontier[level], u64(__popc(peers)));
}

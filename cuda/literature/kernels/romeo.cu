// SPDX-License-Identifier: Apache-2.0

// kernel=romeo: one warp for each word of a bitmap of the frontier.
//
// A chapter of a thesis about Graph500 on the cluster ROMEO (K20Xm), section 3.4.4 "GPU optimization": algorithm 3,
// "Exploration kernel based on CSR", and its counterpart on CSC for bottom-up steps, after Merrill's gathering by warps
// and Beamer's switch of directions (section 3.4.3). The names are those of the algorithm.
//
// visited is read through the texture path in the thesis. CUDA 12 has no texture references any more, and since Kepler
// __ldg takes the same path through the cache (visited=ldg).
#include "base.cuh"

namespace {

constexpr u32 NWARP = 8; // warps of a block

__device__ inline bool bit(const u32* words, u32 v, u64 readOnly) {
  const u32* at = words + v / 32;
  return (readOnly ? __ldg(at) : *at) >> (v & 31) & 1;
}

}  // namespace

// romeo_csr is algorithm 3. The listing indexes comm[warp][0] three times; 0, 1 and 2 are meant: the lane that has won,
// and the range of its list.
//
// Benign races: all lanes with a list write their number to comm, and the last one wins. visited may be older than the
// last atomicOr of this launch; the result of atomicOr says which lane was first, and only that one writes a parent.
//
// counters: vertices that were found, and their edges.
extern "C" __global__ void __launch_bounds__(NWARP * 32)
romeo_csr(const u64* C, const u32* R, u64 words, const u32* in_queue, u32* out_queue, u32* visited, u64 readOnly,
          u64* parent, Counters* counters) {
  __shared__ volatile u64 comm[NWARP][3];
  __shared__ volatile u32 shared_vertex[NWARP];
  u32 warp_id = threadIdx.x / 32, lane_id = lane(), found = 0;
  u64 edges = 0, examined = 0;
  u64 pos_word = u64(blockIdx.x) * NWARP + warp_id;
  u32 word = pos_word < words ? in_queue[pos_word] : 0;
  if (word != 0) { // otherwise the warp is free
    u64 range[3] = {0, 0, 0};
    u32 id_sommet = 0;
    if (word >> lane_id & 1) {
      id_sommet = u32(pos_word * 32) + lane_id;
      range[0] = C[id_sommet];
      range[1] = C[id_sommet + 1];
      range[2] = range[1] - range[0];
    }
    while (__any_sync(~0u, range[2] != 0)) {
      if (range[2]) comm[warp_id][0] = lane_id;
      __syncwarp();
      if (range[2] && comm[warp_id][0] == lane_id) {
        comm[warp_id][1] = range[0];
        comm[warp_id][2] = range[1];
        range[2] = 0;
        shared_vertex[warp_id] = id_sommet;
      }
      __syncwarp();
      u64 r_gather = comm[warp_id][1] + lane_id, r_gather_end = comm[warp_id][2];
      u32 u = shared_vertex[warp_id];
      while (r_gather < r_gather_end) {
        u32 voisin = R[r_gather];
        examined++;
        if (!bit(visited, voisin, readOnly)) {
          u32 mask = 1u << (voisin & 31);
          if (!(atomicOr(&visited[voisin / 32], mask) & mask)) {
            atomicOr(&out_queue[voisin / 32], mask);
            parent[voisin] = u;
            found++;
            edges += C[voisin + 1] - C[voisin];
          }
        }
        r_gather += 32;
      }
      __syncwarp();
    }
  }
  add(counters, found, edges, examined);
}

// romeo_csc is "the same approach but starting from the visited queue": a warp for each word of visited, a lane for
// each vertex that is not in it, until its first neighbor in in_queue. A graph of undirected edges has the same rows
// and columns. Nothing else writes to the words of the warp.
//
// counters: vertices that were found, and their edges.
extern "C" __global__ void __launch_bounds__(NWARP * 32)
romeo_csc(const u64* C, const u32* R, u64 n, const u32* in_queue, u32* out_queue, u32* visited, u64 readOnly,
          u64* parent, Counters* counters) {
  u32 lane_id = lane();
  u64 pos_word = u64(blockIdx.x) * NWARP + threadIdx.x / 32, id_sommet = pos_word * 32 + lane_id;
  u64 edges = 0, examined = 0;
  bool found = false;
  u32 word = pos_word * 32 < n ? visited[pos_word] : ~0u;
  if (word != ~0u) {
    if (!(word >> lane_id & 1) && id_sommet < n) {
      u64 begin = C[id_sommet], end = C[id_sommet + 1];
      for (u64 r_gather = begin; r_gather < end && !found; r_gather++) {
        u32 voisin = R[r_gather];
        examined++;
        if (bit(in_queue, voisin, readOnly)) {
          parent[id_sommet] = voisin;
          found = true;
          edges = end - begin;
        }
      }
    }
    u32 all = __ballot_sync(~0u, found);
    if (lane_id == 0 && all != 0) {
      visited[pos_word] = word | all;
      out_queue[pos_word] = all;
    }
  }
  add(counters, found, edges, examined);
}

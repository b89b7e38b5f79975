// SPDX-License-Identifier: Apache-2.0

// kernel=habr: one thread for each edge and level, without any queue.
//
// An article on Habr about breadth-first search on a GTX Titan (2014), section "The implementation of the algorithm on
// the GPU": the Ford-Bellman kernel of the author's article on shortest paths, without weights. The names are those of
// its listing.
//
// The list has each undirected edge once, as the tuples do, and a thread tests both ends. Optimizations of the article:
//
//   levels of one byte        levels=u8; the others are for graphs with more levels
//   const __restrict          readonly=on: levels are read through the read-only path, and written through the other
//                             pointer to the same memory, levels_NR
//   permutation               permute=on: kernel 1 sorts the edges by tiles of `tile` vertices at both ends
//   packing                   if labels have at most 16 bits, an edge is one word
#include "base.cuh"

namespace {

// The ends of edge k.
__device__ inline void edge(const void* edges, u64 packed, u64 k, u32& st, u32& en) {
  if (packed) {
    u32 e = static_cast<const u32*>(edges)[k];
    st = e >> 16, en = e & 0xffff;
  } else {
    u64 e = static_cast<const u64*>(edges)[k];
    st = u32(e >> 32), en = u32(e);
  }
}

// step is the listing. parent is null if parents are written in one last pass.
//
// Benign races: a level read through the read-only path may be older than the last write of this launch. Then the same
// level is written again, with another parent of the level above.
template <typename Level, bool READ_ONLY>
__device__ void step(const void* edges, u64 packed, u64 maxV, const Level* __restrict__ levels, Level* levels_NR,
                     u32 iter, u64* parent, u32* modif) {
  u64 k = u64(blockIdx.x) * blockDim.x + threadIdx.x;
  if (k < maxV) {
    u32 en, st;
    edge(edges, packed, k, st, en);
    auto level = [&](u32 v) -> u32 { return READ_ONLY ? __ldg(levels + v) : levels_NR[v]; };
    if (level(st) == iter) {
      if (level(en) > iter) {
        levels_NR[en] = Level(iter + 1);
        if (parent != nullptr) parent[en] = st;
        modif[0] = iter;
      }
    } else if (level(en) == iter) {
      if (level(st) > iter) {
        levels_NR[st] = Level(iter + 1);
        if (parent != nullptr) parent[st] = en;
        modif[0] = iter;
      }
    }
  }
}

// parents writes a parent for every vertex but the root: parents=last.
template <typename Level>
__device__ void parents(const void* edges, u64 packed, u64 maxV, const Level* levels, u64* parent) {
  u64 k = u64(blockIdx.x) * blockDim.x + threadIdx.x;
  if (k >= maxV) return;
  u32 en, st;
  edge(edges, packed, k, st, en);
  u64 a = levels[st], b = levels[en];
  if (a + 1 == b) parent[en] = st;
  if (b + 1 == a) parent[st] = en;
}

}  // namespace

#define HABR(name, Level)                                                                                              \
  extern "C" __global__ void __launch_bounds__(256)                                                                    \
  habr_##name(const void* edges, u64 packed, u64 maxV, Level* levels, u64 iter, u64* parent, u32* modif) {             \
    step<Level, false>(edges, packed, maxV, levels, levels, u32(iter), parent, modif);                                 \
  }                                                                                                                    \
  extern "C" __global__ void __launch_bounds__(256)                                                                    \
  habr_readonly_##name(const void* edges, u64 packed, u64 maxV, Level* levels, u64 iter, u64* parent, u32* modif) {    \
    step<Level, true>(edges, packed, maxV, levels, levels, u32(iter), parent, modif);                                  \
  }                                                                                                                    \
  extern "C" __global__ void __launch_bounds__(256)                                                                    \
  habr_parents_##name(const void* edges, u64 packed, u64 maxV, const Level* levels, u64* parent) {                     \
    parents<Level>(edges, packed, maxV, levels, parent);                                                               \
  }

HABR(u8, uint8_t)
HABR(u16, uint16_t)
HABR(u32, uint32_t)

// habr_pack packs the ends of each edge into one word.
extern "C" __global__ void habr_pack(const u64* edges, u64 maxV, u32* packed) {
  u64 k = u64(blockIdx.x) * blockDim.x + threadIdx.x;
  if (k < maxV) packed[k] = u32(edges[k] >> 32) << 16 | u32(edges[k] & 0xffff);
}

// The graph that kernel 1 builds and kernel 2 searches, and helpers for bitmaps and warps.
//
// Numbering (made by order.cu): every label that is not isolated gets a number, its vertex.
//
//   0 ............ hubs ............ ungrouped ............ searched ............ vertices
//   |    hubs       |    grouped        |     ungrouped        |       leaves         |
//
// Hubs are the vertices of largest degree, in descending order of degree (Kolganov 2018, section 2.2). Each of the
// other vertices with a hub as neighbour belongs to the group of its largest hub, and every group is a range of
// vertices. When a hub is in the frontier, all unvisited vertices of its group are found without reading their lists:
// one look at one bit decides for a word of 32 vertices. Ungrouped vertices have no hub as neighbour. A leaf has a
// single tuple, with a hub; leaves have no lists and are not searched, because the parent of a leaf is always its
// hub.
#pragma once
#include <cstdint>
#include "tuning.cuh"

using u32 = uint32_t;
using u64 = unsigned long long;
using i64 = long long;

constexpr u32 NONE = 0xffffffffu;  // not a vertex, not a label
constexpr u32 LONGER = 1u << 31;   // in alignedRows: a list of this word continues in CSR

// Graph mirrors type deviceGraph of mirror.go: fields of 8 bytes with the same names in the same order.
struct Graph {
  u64 labels;         // 1 + the largest label of the tuples
  u64 vertices;       // labels that are not isolated
  u64 searched;       // vertices with lists: all but leaves
  u64 ungrouped;      // the first ungrouped vertex
  u64 hubs;           // the number of hubs
  u64 words;          // words of 32 searched vertices
  u64 alignedWords;   // words whose neighbours lie in aligned blocks
  u64 entries;        // neighbours in all lists
  u64 averageDegree;  // entries of a vertex that is not a hub, on average
  const u64* offset;          // [searched+1] list of v is target[offset[v]] ... target[offset[v+1]-1], ascending
  const u32* target;          // [entries]
  const u64* alignedBegin;    // [alignedWords] where the block of a word begins
  const u32* alignedRows;     // [alignedWords] its rows, perhaps with LONGER
  const uint4* aligned;       // row k of a block: 4 neighbours of each of 32 consecutive vertices, padded with NONE
  const u32* firstNeighbour;  // [searched] first neighbour of each vertex; itself if its list is empty
  const u32* wordHub;         // [words] first neighbour of all 32 vertices of a word, NONE if they differ
  const u32* groupBegin;      // [hubs+1] the group of hub h is vertices groupBegin[h] ... groupBegin[h+1]-1
  const u32* hubEdges;        // [hubs] entries of a hub's list before its own group, which is the end of the list
  const u32* leafBegin;       // [hubs+1] leaves of hub h are vertices leafBegin[h] ... leafBegin[h+1]-1
  const u32* label;           // [vertices] label of each vertex
  const u32* vertex;          // [labels] vertex of each label, NONE where isolated
  const u32* outputTemplate;  // [labels] label of the first neighbour, NONE where isolated
  u32* unvisited;             // [words] bitmap
  u32* frontier[3];           // [words] bitmaps; level l reads frontier[l%3], fills (l+1)%3 and clears (l+2)%3
  u64* corrections;           // [searched] vertex << 32 | parent where the template may have another parent; the last
                              // ones are the frontier if it is sparse (search.cuh)
  u32* queue;                 // [searched] frontier of a top-down level: the vertices with edges to follow
  u64* edgesBefore;           // [searched] edges of the queue before each vertex
  u64* written;               // [blocks] corrections that each block had written out when the search was paused
};

extern __constant__ Graph graph;

__device__ inline u32 lane() { return threadIdx.x & 31; }

// lowBits returns a word with the n lowest bits set.
__device__ inline u32 lowBits(u64 n) { return n >= 32 ? ~0u : (1u << n) - 1; }

// bit reports whether v is in a bitmap that other multiprocessors write: the read bypasses the first-level cache.
__device__ inline bool bit(const u32* words, u32 v) { return __ldcg(words + (v >> 5)) >> (v & 31) & 1; }

// grouped reports whether all vertices of word w belong to groups.
__device__ inline bool grouped(u64 w) { return w * 32 >= graph.hubs && w * 32 + 32 <= graph.ungrouped; }

// lengthOf returns the length of v's list.
__device__ inline u64 lengthOf(u32 v) { return graph.offset[v + 1] - graph.offset[v]; }

// topDownEdges returns how many entries of v's list a top-down step follows: a hub's group is found without them.
__device__ inline u64 topDownEdges(u32 v) {
  return v < graph.hubs ? graph.hubEdges[v] : lengthOf(v);
}

// hubOf returns the hub of a leaf: the last one whose leaves begin at or before it.
__device__ inline u32 hubOf(u32 leaf) {
  u64 low = 0, high = graph.hubs;
  while (low + 1 < high) {
    u64 middle = (low + high) / 2;
    if (graph.leafBegin[middle] <= leaf) low = middle; else high = middle;
  }
  return u32(low);
}

// warpSum returns the sum over the lanes of a warp, in lane 0.
__device__ inline u32 warpSum(u32 x) {
#if __CUDA_ARCH__ >= 800
  return __reduce_add_sync(~0u, x);
#else
  for (int d = 16; d > 0; d /= 2) x += __shfl_down_sync(~0u, x, d);
  return x;
#endif
}

// warpSum returns the sum over the lanes of a warp, in lane 0.
__device__ inline u64 warpSum(u64 x) {
  for (int d = 16; d > 0; d /= 2) x += __shfl_down_sync(~0u, x, d);
  return x;
}

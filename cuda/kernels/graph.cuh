// SPDX-License-Identifier: Apache-2.0

// The graph that kernel 1 builds and kernel 2 searches, and helpers for bitmaps and warps.
//
// Numbering (made by order.cu): every label that is not isolated gets a number, its vertex.
//
//   0 ............ hubs ............ ungrouped ............ searched ............ vertices
//   |    hubs       |    grouped        |     ungrouped        |       leaves         |
//
// Hubs are the vertices of largest degree, in descending order of degree (Kolganov 2018, section 2.2). Each of the
// other vertices with a hub as neighbor belongs to the group of its largest hub, and every group is a range of
// vertices. When a hub is in the frontier, all unvisited vertices of its group are found without reading their lists:
// reading one bit decides for a word of 32 vertices. Ungrouped vertices have no hub as neighbor. A leaf has a
// single tuple, with a hub; leaves have no lists and are not searched, because the parent of a leaf is always its
// hub.
//
// Several GPUs: vertices belong to GPUs by label, label l to GPU l % ranks, its owner, where it has place l / ranks. Each
// GPU numbers its own vertices as above: these are local numbers, and the groups and leaves of all hubs are ranges of
// them. Chunks of CHUNK_WORDS words of local numbers, dealt out in turn, make the numbers that all GPUs share: the
// vertices (vertexOf). The first ones are the hubs of all GPUs. On one GPU local numbers, vertices and places are those
// of the label.
//
// A GPU has the lists of its own vertices for bottom-up steps. For top-down steps the GPUs form a grid, GPU r in row
// r / columns and column r % columns, and each has the edges, by source, from the vertices of its column to those of its
// row. Row numbers stand for the latter: first the local numbers of own vertices, then those of the next column's, and
// so on.
#pragma once
#include "tuning.cuh"
#include "warp.cuh"

// SEVERAL is set by build.sh: kernels of one GPU have no code for the exchange.
#ifndef SEVERAL
#define SEVERAL false
#endif

constexpr u32 LONGER = 1u << 31;   // in alignedRows: a list of this word continues in CSR
constexpr u32 LEAF = 1u << 31;     // in Graph::vertex, on several GPUs: a leaf, with the vertex of its hub

constexpr int MAX_RANKS = 16;      // GPUs that search a graph together
constexpr int CHUNK_WORDS = 8;     // words of consecutive vertices that have the same owner: a sector of memory

// Graph has fields of 8 bytes; generate.py makes type deviceGraph of it. On several GPUs, own means those of this GPU, by
// their local numbers.
struct Graph {
  u64 rank, ranks;    // this GPU, and the number of GPUs
  u64 columns;        // of the grid of GPUs; 1 without a grid
  u64 column;         // bit r: GPU r is in the column of this one
  u64 labels;         // own places; one GPU: 1 + the largest label of the tuples
  u64 vertices;       // own labels that are not isolated
  u64 searched;       // own vertices with lists: all but leaves
  u64 ungrouped;      // the first ungrouped own vertex
  u64 ownHubs;        // own hubs
  u64 hubs;           // the number of hubs of all GPUs; vertices below it that do not exist have no edges
  u64 words;          // words of 32 own searched vertices; the same on all GPUs
  u64 frontierWords;  // words of a frontier: those of all GPUs
  u64 alignedWords;   // own words whose neighbors lie in aligned blocks
  u64 allLabels;      // 1 + the largest label of the tuples
  u64 allSearched;    // vertices with lists, of all GPUs
  u64 entries;        // neighbors in all lists of all GPUs
  u64 averageDegree;  // entries of a vertex that is not a hub, on average over all GPUs
  u64 queueShift;     // bits that a number of entries takes in a counter of a queue
  const u64* offset;          // [searched+1] list of own v is target[offset[v]] ... target[offset[v+1]-1], ascending;
                              // packed lists: neighbors.cuh
  const u32* target;          // vertices
  const u64* sourceOffset;    // [32*frontierWords+1] the list of v for top-down steps; one GPU: offset
  const u32* sourceTarget;    // neighbors by their row numbers, ascending; one GPU: target
  const u64* alignedBegin;    // [alignedWords] where the block of a word begins
  const u32* alignedRows;     // [alignedWords] its rows, perhaps with LONGER
  const uint4* aligned;       // row k of a block: 4 neighbors of each of 32 consecutive vertices, padded with NONE
  const u32* firstNeighbor;  // [searched] first neighbor of each own vertex; itself if its list is empty
  const u32* wordHub;         // [words] first neighbor of all 32 vertices of a word, NONE if they differ
  const u32* groupBegin;      // [hubs+1] the own group of hub h is vertices groupBegin[h] ... groupBegin[h+1]-1
  const u32* hubEdges;        // [hubs] entries of a hub's list by source before its group, which is the end of the list;
                              // of the whole list if there are several columns
  const u32* hubDegree;       // [ownHubs] the sum of hubEdges over all GPUs, for own hubs
  const u32* leafBegin;       // [hubs+1] own leaves of hub h are vertices leafBegin[h] ... leafBegin[h+1]-1
  const u32* label;           // [vertices of all GPUs, leaves only on one GPU] label of each vertex
  const u32* place;           // [vertices] place of each own vertex, among the parents; one GPU: label
  const u32* vertex;          // [labels] vertex of each label, NONE where isolated; several GPUs: of each place of each
                              // GPU, with as many places for each as on this one
  const u32* outputTemplate;  // [labels] label of the first neighbor, NONE where isolated
  u32* hubReached;            // [hubs/32] several GPUs: bitmap of hubs that were in a frontier
  u32* unvisited;             // [words] bitmap of own vertices; with several columns of the whole row's, [columns*words],
                              // where a bit of another GPU's is set until this GPU has found the vertex
  u32* frontier[3];           // [frontierWords] bitmaps; level l reads frontier[l%3], fills (l+1)%3 and clears (l+2)%3
  u64* corrections;           // [searched] own vertex << 32 | parent where the template may have another parent; the last
                              // ones are the frontier if it is sparse (search.cuh)
  u32* queue;                 // [32*frontierWords] frontier of a top-down level: the vertices with edges to follow
  u64* edgesBefore;           // [32*frontierWords] edges of the queue before each vertex
  u64* written;               // [blocks] corrections that each block had written out when the search was paused
};

extern __constant__ Graph graph;

// wordOf returns the place in a frontier of own word w.
__device__ inline u64 wordOf(u64 w) {
  if (!SEVERAL) return w;
  return ((w / CHUNK_WORDS) * graph.ranks + graph.rank) * CHUNK_WORDS + w % CHUNK_WORDS;
}

// vertexOf returns the vertex of an own vertex's local number.
__device__ inline u32 vertexOf(u32 local) { return SEVERAL ? u32(wordOf(local / 32)) * 32 + local % 32 : local; }

// ownWord returns the own word that is word w of a frontier, NONE if it belongs to another GPU.
__device__ inline u64 ownWord(u64 w) {
  if (!SEVERAL) return w;
  u32 chunk = u32(w / CHUNK_WORDS), ranks = u32(graph.ranks);
  return chunk % ranks == graph.rank ? u64(chunk / ranks) * CHUNK_WORDS + w % CHUNK_WORDS : NONE;
}

// vertexAt returns Graph::vertex of a label.
__device__ inline u32 vertexAt(u64 label) {
  if (!SEVERAL) return label < graph.labels ? graph.vertex[label] : NONE;
  return label < graph.allLabels ? graph.vertex[label % graph.ranks * graph.labels + label / graph.ranks] : NONE;
}

// lowBits returns a word with the n lowest bits set.
__device__ inline u32 lowBits(u64 n) { return n >= 32 ? ~0u : (1u << n) - 1; }

// bit reports whether v is in a bitmap that other multiprocessors write: the read bypasses the first-level cache.
__device__ inline bool bit(const u32* words, u32 v) { return __ldcg(words + (v >> 5)) >> (v & 31) & 1; }

// grouped reports whether all vertices of own word w belong to groups.
__device__ inline bool grouped(u64 w) { return w * 32 >= graph.ownHubs && w * 32 + 32 <= graph.ungrouped; }

// hubOf returns the hub of an own leaf: the last one whose leaves begin at or before it.
__device__ inline u32 hubOf(u32 leaf) {
  u64 low = 0, high = graph.hubs;
  while (low + 1 < high) {
    u64 middle = (low + high) / 2;
    if (graph.leafBegin[middle] <= leaf) low = middle; else high = middle;
  }
  return u32(low);
}

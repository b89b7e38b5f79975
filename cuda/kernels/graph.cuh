// What all kernels share: the graph, the state of a search, and words of 32 vertices.
//
// Numbering (made by kernel 1, order.cu): every label that is not isolated has a number, its vertex.
//
//   0 ............ hubs ............ strays ............ searched ............ vertices
//   |    hubs       |    grouped      |     strays        |       leaves         |
//
// Hubs are the vertices of largest degree, by descending degree (Kolganov 2018, section 2.2). A grouped vertex belongs
// to the group of its largest hub, and groups lie one behind the other: a word of 32 vertices of one group is found by
// one look at one bit. Leaves have a single tuple, with a hub; no search looks at them. Strays have no hub for a neighbour.
#pragma once
#include <cstdint>
#include "tuning.cuh"

using u32 = uint32_t;
using u64 = unsigned long long;
using i64 = long long;

constexpr u32 NONE = 0xffffffffu;  // no vertex, no label
constexpr u32 LONGER = 1u << 31;   // in alignedRows: some list of this word goes on in CSR
constexpr int LEVELS = 256;        // levels that one launch of the search records

// Graph mirrors type deviceGraph of graph.go: fields of 8 bytes, same names, same order.
struct Graph {
  u64 labels;         // labels of the tuples are below this
  u64 vertices;       // labels that are not isolated
  u64 searched;       // vertices that a search looks at: all but leaves
  u64 strays;         // where strays begin
  u64 hubs;           // where hubs end
  u64 words;          // words of 32 searched vertices
  u64 alignedWords;   // words whose neighbours lie in aligned blocks
  u64 entries;        // neighbours in all lists
  u64 average;        // entries of a vertex that is no hub
  const u64* offset;        // [searched+1] list of v is target[offset[v]] ... target[offset[v+1]-1], ascending
  const u32* target;        // [entries]
  const u64* alignedAt;     // [alignedWords] where the block of a word begins
  const u32* alignedRows;   // [alignedWords] its rows, perhaps with LONGER
  const uint4* aligned;     // row k of a block: 4 neighbours of each of 32 consecutive vertices, NONE where there is none
  const u32* first;         // [searched] first neighbour of each vertex; itself if its list is empty
  const u32* wordHub;       // [words] first neighbour of all 32 vertices of a word, NONE if they differ
  const u32* groupAt;       // [hubs+1] the group of hub h is vertices groupAt[h] ... groupAt[h+1]-1
  const u32* linked;        // [hubs] entries of a hub's list before its own group, which is its end
  const u32* leafAt;        // [hubs+1] leaves of hub h are vertices leafAt[h] ... leafAt[h+1]-1
  const u32* original;      // [vertices] label of each vertex
  const u32* vertex;        // [labels] vertex of each label, NONE where isolated
  const u32* output;        // [labels] output template: label of the first neighbour, NONE where isolated
  u32* unvisited;           // [words] bits
  u32* frontier[3];         // [words] bits; level l expands frontier[l%3], fills frontier[(l+1)%3], clears frontier[(l+2)%3]
  u64* finds;               // [searched] vertex << 32 | parent of those visited whose parent the template may not have
  u32* queue;               // [searched] frontier of a top-down level: vertices with links
  u64* before;              // [searched] links of the queue before each vertex
  u64* written;             // [blocks] of the finds whose parents a block writes, those written when a search pauses
};

extern __constant__ Graph graph;

// Counters of one level. Three of them take turns, so that one can be cleared while the last one is still read.
struct Counters {
  u64 found;      // vertices found, leaves not counted
  u64 edges;      // entries of hubs among them that a top-down level would look at
  u64 hubs;       // hubs among them
  u64 looked;     // entries looked at
  u64 leaves;     // leaves of the hubs in the frontier
  u64 queued;     // vertices in the queue << QUEUE_SHIFT | their links
  u64 finds;      // added to the list of finds
};

constexpr int QUEUE_SHIFT = 34;
constexpr u64 QUEUE_EDGES = (u64(1) << QUEUE_SHIFT) - 1;

// Level is one line of the record; mirrors type deviceLevel of graph.go.
struct Level {
  u64 bottomUp;
  u64 frontier;
  u64 looked;
  u64 nanoseconds;
};

// Status is what host and device tell each other about a search. It lies in host memory that the device can write;
// mirrors type deviceStatus of graph.go.
struct Status {
  u64 done;       // the last frontier was empty
  u64 expand;     // the host is to launch the top-down step of this level
  u64 queued;     // vertices in the queue of that step
  u64 levels;     // in level[]
  u64 reached;    // vertices that are not leaves
  u64 finds;      // in graph.finds: parents that the template may not have
  u64 prepared;   // nanoseconds before the first level
  u64 waited;     // nanoseconds that the search waited for the copy of the template
  u64 corrected;  // nanoseconds of the correction that was left after the last level
  Level level[LEVELS];
};

// Progress is where a search is. Every block has it, and all come to the same.
struct Progress {
  u64 number;          // of the level
  u64 bottomUp;        // its direction
  u64 frontier;        // its vertices, leaves not counted
  u64 frontierLeaves;
  u64 frontierHubs;
  u64 previous;        // vertices of the level before
  u64 frontierEdges;
  u64 unexplored;
  u64 reached;
  u64 extra;           // 1: the root is a leaf, and is not to be found again
  u64 listed;          // LISTED: the queue of this level stands; EXPANDED: the host has launched its expansion
  u64 done;
  u64 began;           // time of the begin of the level
};

// State is what a search keeps on the device between two launches, and what its blocks share.
struct State {
  Counters counters[3];
  Progress progress;
  u64 search;               // `copies` of the search that this state is of
  u64 ended;                // the launch whose last level is over: nothing will be added in it. progress.done: nor in another one
  alignas(128) u64 finds;   // in graph.finds, of all levels; all blocks add to it, while their copying threads look at the rest
  alignas(128) u64 stable;  // of those, written and seen by all: what the level before had found
};

constexpr u64 LISTED = 1, EXPANDED = 2;    // Progress.listed
constexpr u64 FRESH = 1, HOST_EXPANDS = 2; // flags of the search

extern __device__ State state;

__device__ inline u32 lane() { return threadIdx.x & 31; }

// bit says whether v is in a bitmap that other multiprocessors write: the look goes past the first-level cache.
__device__ inline bool bit(const u32* words, u32 v) { return __ldcg(words + (v >> 5)) >> (v & 31) & 1; }

// links returns how many entries of v a top-down level looks at: a hub's group is found without them.
__device__ inline u64 links(u32 v) { return v < graph.hubs ? graph.linked[v] : graph.offset[v + 1] - graph.offset[v]; }

// globalTime returns nanoseconds since some moment.
__device__ inline u64 globalTime() {
  u64 t;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
  return t;
}

// warpSum returns the sum over the lanes of a warp, in lane 0.
__device__ inline u64 warpSum(u64 x) {
  for (int d = 16; d > 0; d /= 2) x += __shfl_down_sync(~0u, x, d);
  return x;
}

// grouped says whether all vertices of word w have a hub that groups them.
__device__ inline bool grouped(u64 w) { return w * 32 >= graph.hubs && w * 32 + 32 <= graph.strays; }

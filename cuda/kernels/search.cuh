// SPDX-License-Identifier: Apache-2.0

// Structures that the search shares with the host (SearchParams, Status, LevelRecord), and among its blocks and its
// launches (State).
#pragma once
#include "neighbors.cuh"

constexpr int LEVELS = 65536;  // levels that one launch of the search runs

// Phases of a level on several GPUs, named as in package distributed; ../team/phases.go has the same order.
constexpr int SCAN = 0;    // own lists are searched; vertices that are sent one by one leave during it
constexpr int FOLD = 1;    // bitmaps of discovered vertices go to their owners
constexpr int UPDATE = 2;  // owners add them to the next frontier
constexpr int EXPAND = 3;  // words of the next frontier go to the GPUs that need them
constexpr int REDUCE = 4;  // wait for the other GPUs
constexpr int PHASES = 5;
constexpr int FOLDED = 0, EXPANDED = 1;  // kinds of messages, by phase

// LevelRecord describes one level; generate.py makes type deviceLevel of it.
struct LevelRecord {
  u64 bottomUp;     // 1: bottom-up, 0: top-down
  u64 frontier;     // its vertices, leaves included
  u64 examined;     // entries of lists
  u64 nanoseconds;  // from barrier to barrier
  // Several GPUs:
  u64 phase[PHASES];     // nanoseconds of this GPU, from the last barrier to that of its last block
  u64 bytes[2];          // that this GPU has sent to others: [FOLDED] vertices to their owners, [EXPANDED] frontiers
  u64 messages[2];       // to each other one, all that it has sent before a barrier is one message
};

// Status is the report of a launch to the host, in pinned host memory; generate.py makes type deviceStatus of it.
struct Status {
  u64 done;         // 1: the last frontier was empty
  u64 lost;         // several GPUs: 1 + the GPU that did not answer this one, 0: none
  u64 hostStep;     // 1: the host must launch the top-down step of this level
  u64 queued;       // vertices in the queue of that step
  u64 levels;       // in level[]
  u64 reached;      // vertices, leaves not counted
  u64 corrections;  // in graph.corrections
  u64 setup;        // nanoseconds before the first level
  u64 copyWait;     // nanoseconds that the search waited for the copy of the template
  u64 correcting;   // nanoseconds spent on the corrections that remained after the last level
  LevelRecord level[LEVELS];
};

// SearchParams are the parameters of kernel search; generate.py makes type searchParams of it.
struct SearchParams {
  u64 root;            // label
  u32 newSearch;       // 1: start at root; 0: continue the paused search
  u32 hostTopDown;     // 1: pause before every top-down step, for the host to launch it (dynamic.cu)
  u64 maxLevels;       // of this launch, at most LEVELS
  u64 steps;           // AUTO, ONLY_TOP_DOWN or ONLY_BOTTOM_UP
  u64 messages;        // form of the messages in a grid of GPUs: ADAPTIVE, LISTS or BITMAPS
  float alpha, beta;   // thresholds of the direction switch
  Status* status;      // report to the host
  i64* parent;         // [length] result: parents in original labels
  u64 length;
  u64 minReached;      // if the search reaches fewer vertices, the kernels of output.cu write parent
  u64 copies;          // value of `copied` once every block has copied its share of the template for this search
  u64 launch;          // number of this launch, unique
  u64 cachedVertices;  // capacity of Shared::cached, in vertices
};

constexpr u64 ADAPTIVE = 0, LISTS = 1, BITMAPS = 2;             // SearchParams.messages
constexpr u64 AUTO = 0, ONLY_TOP_DOWN = 1, ONLY_BOTTOM_UP = 2;  // SearchParams.steps; graph.Steps

// Counters of one level. Three of them are used in turn, so that one can be cleared while the previous one is read.
struct Counters {
  u64 found;        // vertices found, leaves not counted
  u64 edges;        // top-down edges of the hubs among them; of all of them, if the next frontier is sparse
  u64 hubs;         // hubs among them
  u64 examined;     // entries examined bottom-up
  u64 leaves;       // leaves of the hubs in the frontier
  u64 queued;       // vertices in the queue << graph.queueShift | their edges
  u64 corrections;  // added to graph.corrections
  u64 longLists;    // vertices found whose lists are too long for a sparse frontier, if the next one is sparse
};

// queueUnit is one vertex in Counters::queued, and queueEdges returns the edges in it.
__device__ inline u64 queueUnit() { return u64(1) << graph.queueShift; }
__device__ inline u64 queueEdges(u64 queued) { return queued & (queueUnit() - 1); }

// LevelState is the progress of a search. Every block computes its copy from the same counters, so all copies are equal.
//
// A frontier is dense, a bitmap, or sparse, an array of vertices (the terms of Shun and Blelloch, "Ligra", PPoPP 2013).
// The array is the end of graph.corrections: a step from a sparse frontier adds all vertices of the next one there, with
// their parents.
struct LevelState {
  u64 number;
  u64 recorded;        // levels that this launch has recorded
  u64 sparse;          // 1: the frontier is corrections[first ... first+frontier), and no bitmap has a vertex
  u64 first;
  u64 corrections;     // in graph.corrections when the level began
  u64 bottomUp;        // direction
  u64 frontier;        // its vertices, leaves not counted
  u64 frontierLeaves;
  u64 frontierHubs;
  u64 previous;        // vertices of the previous level
  u64 frontierEdges;   // estimate; exact if the frontier is sparse
  u64 longLists;       // vertices of a sparse frontier with lists longer than SPARSE_LENGTH
  u64 unexplored;      // estimate of the edges of unvisited vertices
  u64 reached;
  u64 rootLeaf;        // 1: the root is a leaf, which must not be counted again with the leaves of its hub
  u64 followed;        // 1: the host has launched the top-down step of this level
  u64 done;
  u64 start;           // time
#if SEVERAL
  u64 received[MAX_RANKS];  // vertices of a sparse frontier that each GPU has sent to this one
  u64 phase, since;         // of the first block: the phase that it is in, and its begin
  LevelRecord record;       // of the first block
#endif
};

// Step has the arguments of the step of one level: its counters, and graph.frontier by role.
struct Step {
  Counters* counters;
  u32* frontier;
  u32* next;
  u32* cleared;  // the previous frontier, cleared for the level after this one
};

// State has the data that a search keeps on the device between two launches, and that its blocks share.
struct State {
  Counters counters[3];
  LevelState level;
  u64 search;                    // SearchParams.copies of the search that this state belongs to
  // Several GPUs (exchange.cuh):
  Counters sum;                  // of all GPUs
  u64 sent[2][MAX_RANKS];        // [FOLDED] vertices of each that this GPU has sent to it; [EXPANDED] hubs of a sparse
                                 // frontier that it has sent to GPUs of other columns
  u64 received[MAX_RANKS];       // vertices that each has sent to this one, or found itself
  u64 moved[2][MAX_RANKS];       // further bytes sent to each since the last barrier: [FOLDED] bitmaps, and parents that
                                 // were read; [EXPANDED] words of frontiers
  u64 bytes[2], messages[2];     // sent to all others before the last barrier, [FOLDED] and [EXPANDED]
  u64 ready;                     // time when the last block of this GPU came to it
  u64 lost;                      // 1 + the GPU that did not come to a barrier, 0: all came
  alignas(128) u64 met;          // number of the last barrier of all GPUs that is over
  u64 ended;                     // SearchParams.launch of the last launch that has finished its levels
  alignas(128) u64 corrections;  // in graph.corrections; all blocks add to it while copying threads poll the rest
  alignas(128) u64 stable;       // corrections that are complete and visible to all: those of the levels that are over
};

extern __device__ State state;
extern __device__ u32 arrived;  // blocks at the grid's barrier; the highest bit flips when all have arrived
extern __device__ u64 copied;   // blocks that have copied their share of the template, over all searches

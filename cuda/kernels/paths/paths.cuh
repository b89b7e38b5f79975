// SPDX-License-Identifier: Apache-2.0

// The graph of kernel 3, and what the search shares with the host and among its blocks.
//
// Numbering (made by weigh.cu): every label that is not isolated gets a number.
//
//   0 ............ hubs ......................................... vertices ................ numbered
//   |    hubs       |   classes of degrees, by label in each      |   leaves, by label         |
//
// Hubs have HUB_DEGREE tuples or more and come in descending order of degree. The degrees of a class differ by a factor
// of at most 4, and classes come in descending order too, so a vertex usually depends on earlier ones. In the order of
// their labels the vertices of a class, and leaves, are written together. A leaf has a single tuple, with a vertex that
// is not a leaf. It is in no list: its distance follows from that vertex.
//
// The relay weight of a neighbor u of v is the least weight of u's entries with vertices other than v, +Inf if there is
// none, and 0 if u is a hub. The bound of an entry (v, u) of weight w is w plus the relay weight, rounded down: a path
// that enters u from another vertex than v and goes on to v is at least so much longer than at the vertex before u.
// Lists are in ascending order of bounds. Each tuple has an entry in the lists of both ends, and self-loops have none.
#pragma once
#include "../tuning.cuh"
#include "../warp.cuh"

constexpr u32 HUB_DEGREE = 256;             // least degree of a hub, duplicates counted
constexpr u32 CLASSES = 4;                  // of the degrees below: 64 and more, 16, 4, less
constexpr int BOUND_BITS = 24;              // upper bits of a bound that order lists, and that it keeps
constexpr int PATH_STEPS = 4096;            // steps that one launch of the search runs

// SLACK rounds down: a sum of some numbers, rounded at each addition, times SLACK is at most their sum in another order,
// also if one more is added to both.
constexpr float SLACK = 1 - 1.0f / (1 << 21);

struct Entry {
  u32 neighbor;
  float weight, bound;
};

// Head has the place of a list, its first entry, and the bound of the second, +Inf if there is none. The first entry of
// an empty list leads to the vertex itself with weight +Inf.
struct alignas(16) Head {
  u32 at;
  u32 neighbor;
  float weight, next;
};

// CoreHead has the place of a list in the core, and the distance of the vertex from the landmark, vertex 0.
struct CoreHead {
  u32 at;
  float radius;
};

struct Leaf {
  u32 vertex;  // its only neighbor
  float weight;
};

// PathStep describes one step; generate.py makes type pathStep of it.
struct PathStep {
  u64 pull;         // 1: a pass of pull, 0: a round of push
  u64 frontier;     // vertices
  u64 examined;     // entries
  u64 nanoseconds;  // from barrier to barrier
};

// PathStatus is the report of a launch, in pinned host memory; generate.py makes type pathStatus of it.
struct PathStatus {
  u64 done;      // 1: distances and parents are written
  u64 steps;     // in step[]
  u64 barriers;  // of this search so far
  u64 begin;     // nanoseconds until the first step
  u64 output;    // nanoseconds after the last one
  PathStep step[PATH_STEPS];
};

// StepCounters are filled by one step for the next. Three of them are used in turn.
struct StepCounters {
  u64 queued;    // vertices of the next round << 32 | their entries
  u64 examined;  // entries
  u32 nearest;   // least distance of a queued vertex, as bits
  u32 active;    // vertices of the next pass
  u32 changed;   // least distance that a pass has changed, as bits
};

// PathState is the state of a search on the device, also between its launches.
struct PathState {
  StepCounters counters[3];
  u32 arrived;     // blocks at the barrier; the highest bit flips when all have arrived
  u32 phase;       // where the next launch goes on
  u32 step;        // number of the step
  u32 recorded;    // steps of this launch, where one block ran some of them
  u32 barriers;
  float nearest;   // t0: all vertices nearer than that are final when the rounds begin
  float below;     // at most that is T: hubs nearer than T are final when the passes begin
  PathStep steps[PATH_STEPS];
};

// Paths are the arrays and parameters of a search. It has fields of 8 bytes, or pairs of 4; generate.py makes type
// devicePaths of it.
struct Paths {
  u64 labels;            // 1 + the largest label of the tuples
  u64 numbered;          // labels that are not isolated
  u64 vertices;          // of these, all but leaves
  u64 hubs;
  const u32* vertex;     // [labels] number of each label, NONE where isolated
  const u32* label;      // [numbered] label of each number
  const Head* head;      // [vertices+1] of the list of each vertex; the last one has the number of entries
  const Entry* entry;    // lists
  const Leaf* leaf;      // [numbered-vertices]
  const CoreHead* coreHead; // [vertices+1] of each vertex; the last one has the number of entries
  const Entry* core;     // entries that can lie on a shortest path between hubs (weigh.cu)
  u64* state;            // [vertices] of a search (sssp.cu)
  u32* stamp;            // [vertices] last round for which a vertex was queued
  u64* queue[2];         // [2*vertices] of a round, by the parity of the step: entries before it << 32 | kind | vertex
  u32* active[2];        // [vertices] vertices of a pass
  PathState* search;
  PathStatus* status;
  i64* parent;           // [labels] result
  float* distance;       // [labels]
  u64 root;              // label
  u32 resume;            // 1: a launch before it has begun the search
  u32 stop;              // 1: without output
  float reach, safe;     // paths between hubs shorter than reach consist of entries of the core, if t0 is below safe
  float around, margin;  // T is at most the distance of vertex 0 plus around; margin is that of the core (core.cuh)
  float listWidth;       // of rounds over whole lists
  float unused;
};

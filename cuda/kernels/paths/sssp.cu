// SPDX-License-Identifier: Apache-2.0

// Kernel 3: shortest paths from one root, all steps in one cooperative launch. The distances are the unique ones of
// plugins.PathFinder, bit for bit. The same distances without any of this: graph.CSR.ShortestPaths.
//
// Result: p.distance[l] and p.parent[l] for every label l, +Inf and -1 where the root does not reach.
//
// Method: push to the hubs, pull with certificates, as in package cpu. Nearly every vertex of a Kronecker graph gets
// its distance from a vertex of large degree, over the first entry of its list. So the search settles the hubs, and
// then each other vertex looks at its list until no other entry can matter: little more than one entry a vertex,
// where delta-stepping (Meyer, Sanders, "Delta-stepping: a parallelizable shortest path algorithm", 2003) looks at
// every entry in both directions.
//
//   start    (start.cuh) one block runs Dijkstra's algorithm until the nearest vertex in the queue is a hub, or the
//            queue is long; that vertex is at distance t0
//   push     (push.cuh) label correcting in rounds, until all hubs below T are right. Hubs push the core, the entries
//            that can lie on a shortest path between hubs (core.cuh). T is t0 + p.reach at first, and falls to
//            p.around beyond vertex 0, the largest hub, where nearly all hubs are. The entries of a round are
//            assigned evenly to the warps. Distances longer than the way over vertex 0 are left out
//   pull     (pull.cuh) a first pass looks at the first entry of every vertex; further passes look at the lists of
//            those that are not final, in ascending order of bounds. A vertex is final if each entry looked at has a
//            final neighbor or a bound that is not less than its distance
//   lists    what a few passes have left, in deep graphs, is pushed over whole lists, from the vertices that the last
//            pass has changed. A graph without hubs is pushed over whole lists from the beginning. A round goes
//            through the vertices nearest to the root (near-far: Davidson, Baxter, Garland, Owens, "Work-efficient
//            parallel GPU methods for single-source shortest paths", IPDPS 2014)
//   output   in original labels
//
// Invariants:
//
//  1. A distance is always the sum of a real path, so it is never too small. If every vertex is at most its
//     neighbor's distance plus the weight, no distance is too large either.
//  2. After start, vertices below t0 are final and have pushed their whole lists.
//  3. A vertex u that is not a hub is reached from a final vertex below t0, and then has pushed its whole list
//     too, or over an edge from a vertex at t0 or more: a path that goes on from u to v costs at least t0 plus the
//     entry's bound.
//  4. After push, hubs below T are final. Hubs that are not final are at T or more. For a shortest path to a hub
//     consists of a part without hubs, whose vertices push their lists up to T, and of shortest paths between hubs.
//     Where paths are equally long, it does not matter along which one a vertex was reached.
//  5. After a pass that has looked at all vertices that are not final, a vertex that is wrong has a vertex before
//     it, on its shortest path, that is right and has changed in this pass. So it is at least as far as the nearest
//     vertex that has changed, and a pass without change is the last.
//  6. A parent is written with a strictly smaller distance, in one word. So parents form a tree, also over edges
//     of weight 0, or too light to change a sum: in a cycle all distances would be equal, and each vertex would have
//     got its distance after the one before it.
//
// Bounds are rounded down by SLACK, because they add weights in another order than a path does. Only push and start
// write vertices of others, by compare-and-swap. In pull a vertex is written by its own lanes while others read it: a
// benign race, because its state is one aligned word and every value it has had is the sum of a real path.
#include "pull.cuh"
#include "push.cuh"
#include "start.cuh"

namespace {

// output writes distances and parents in original labels, OUTPUT_LABELS of a thread at a time.
__device__ void output(const Paths& p) {
  u64 stride = u64(gridDim.x) * PATH_THREADS;
  for (u64 from = u64(blockIdx.x) * PATH_THREADS + threadIdx.x; from < p.labels; from += stride * OUTPUT_LABELS) {
    u32 v[OUTPUT_LABELS], parent[OUTPUT_LABELS];
    float distance[OUTPUT_LABELS];
#pragma unroll
    for (int i = 0; i < OUTPUT_LABELS; i++) {
      v[i] = from + i * stride < p.labels ? __ldcs(p.vertex + from + i * stride) : NONE;
    }
#pragma unroll
    for (int i = 0; i < OUTPUT_LABELS; i++) { // leaves
      distance[i] = 0;
      parent[i] = NONE;
      if (v[i] == NONE || v[i] < p.vertices) continue;
      Leaf leaf = p.leaf[v[i] - p.vertices];
      parent[i] = v[i] = leaf.vertex, distance[i] = leaf.weight;
    }
#pragma unroll
    for (int i = 0; i < OUTPUT_LABELS; i++) {
      u64 state = v[i] != NONE ? __ldcg(p.state + v[i]) : UNREACHED;
      distance[i] = distanceOf(state) + distance[i];
      if (u32(state >> 32) == INFINITE) parent[i] = NONE;
      else if (parent[i] == NONE) parent[i] = u32(state);
    }
#pragma unroll
    for (int i = 0; i < OUTPUT_LABELS; i++) {
      u64 l = from + i * stride;
      if (l >= p.labels) break;
      i64 label = parent[i] != NONE ? i64(p.label[parent[i]]) : -1;
      if (l == p.root) label = i64(l), distance[i] = 0;
      __stcs(p.parent + l, label);
      __stcs(p.distance + l, distance[i]);
    }
  }
}

// finishLaunch reports to the host and keeps what the next launch needs.
__device__ void finishLaunch(const Paths& p, const Search& s, Phase phase, u64 begin) {
  if (blockIdx.x != 0) return;
  __syncthreads();
  for (u32 i = threadIdx.x; i < s.recorded; i += PATH_THREADS) p.status->step[i] = p.search->steps[i];
  if (threadIdx.x != 0) return;
  p.search->phase = phase, p.search->step = s.step, p.search->barriers = s.barriers;
  p.status->done = phase == OUTPUT;
  p.status->steps = s.recorded;
  p.status->barriers = s.barriers;
  if (!p.resume) p.status->begin = begin;
  p.status->output = globalTime() - s.since;
}

}  // namespace

// Sizes in bytes that the host reads.
extern "C" {
__device__ u64 pathSizes[3] = {sizeof(Paths), sizeof(PathStatus), sizeof(PathState)};
}

extern "C" __global__ void __launch_bounds__(PATH_THREADS, 1) shortest_paths(const __grid_constant__ Paths p) {
  __shared__ Shared shared;
  Search s{};
  u64 began = s.since = globalTime();
  if (threadIdx.x == 0) shared.queued = shared.examined = 0, shared.nearest = shared.changed = INFINITE;
  __syncthreads();
  if (p.resume) {
    s.step = p.search->step, s.barriers = p.search->barriers;
  } else {
    begin(p, s);
    began = globalTime() - began;
    s.since += began;
    u32 popped = 0;
    beginStep(p, s);
    if (blockIdx.x == 0) start(p, s, shared, popped);
    endTogether(p, s, shared, false, popped);
  }
  s.nearest = __ldcg(&p.search->nearest), s.below = __ldcg(&p.search->below), s.low = __fmul_rn(s.nearest, SLACK);
  u32 phase = __ldcg(&p.search->phase);
  if (phase == PUSH) {
    if (!push<false>(p, s, shared)) return finishLaunch(p, s, PUSH, began);
    phase = pull(p, s, shared) ? LISTS : OUTPUT;
  }
  if (phase == LISTS && !push<true>(p, s, shared)) return finishLaunch(p, s, LISTS, began);
  if (!p.stop) output(p);
  finishLaunch(p, s, OUTPUT, began);
}

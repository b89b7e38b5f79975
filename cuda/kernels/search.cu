// The search: levels one after the other in a single cooperative launch, without a round trip to the host.
//
// Between two levels these hold, for every searched vertex:
//   frontier[number%3] has exactly those that the level before found;
//   unvisited has exactly those that no level has found;
//   finds has the visited ones whose parent is not the template's, with their parents, and some others; those before `stable`
//   may be written out.
//
// A level top-down (Merrill, Garland, Grimshaw 2012; balanced as in Bisson, Bernaschi, Mastrostefano 2016, section 3.2):
//   1. claim: hubs in the frontier find their groups, word by word; the frontier becomes a queue with prefix sums of links
//   2. expand: every warp takes the same number of links, in a few pieces, finds by search where each begins, and looks at their ends
// A level bottom-up (Beamer, Asanovic, Patterson 2012): claim, and every vertex left over scans its list (bottomup.cuh).
//
// The kernel can stop between levels and be launched again: when the record of levels is full, or to let the host launch
// another top-down step in the place of expand (dynamic.cu).
#include "barrier.cuh"
#include "bottomup.cuh"
#include "claim.cuh"
#include "graph.cuh"
#include "output.cuh"
#include "topdown.cuh"

__constant__ Graph graph;
__device__ State state;
__device__ u32 arrived;
__device__ u64 copied;
__device__ Level levels[LEVELS]; // of a launch
// Bytes of shared memory that a block needs, and that it wants for Shared.near: the host asks for both, and gives what there is.
extern "C" {
__device__ u64 shared_memory[2] = {sizeof(Shared), NEAR_VERTICES / 8};
}

namespace {

// Rule holds the options of the direction switch (graph/direction.go has the formula and its source).
struct Rule {
  float alpha, beta;
};

__device__ bool nextBottomUp(const Progress& p, const Rule& rule) {
  if (!p.bottomUp) {
    return p.frontier > p.previous && rule.alpha > 0 && float(p.frontierEdges) * rule.alpha > float(p.unexplored);
  }
  bool shrinking = p.frontier < p.previous;
  return !(shrinking && float(p.frontier) * rule.beta < float(graph.searched));
}

// hubOf returns the hub of a leaf.
__device__ u32 hubOf(u32 leaf) {
  u64 low = 0, high = graph.hubs;
  while (low + 1 < high) {
    u64 middle = (low + high) / 2;
    if (graph.leafAt[middle] <= leaf) low = middle; else high = middle;
  }
  return u32(low);
}

// beginAt returns the progress of a search from a root at vertex v. leaf: the root is a leaf of v, and has been expanded.
__device__ Progress beginAt(u32 v, bool leaf) {
  Progress p{};
  p.unexplored = graph.entries;
  p.extra = leaf;
  if (v == NONE) { // a level of its own that has nothing to expand
    p.frontierLeaves = 1;
    return p;
  }
  p.frontier = 1;
  p.frontierEdges = links(v);
  p.frontierHubs = v < graph.hubs;
  p.listed = v < graph.hubs ? 0 : LISTED; // the queue is made, and there is no group to claim
  return p;
}

// begin makes all vertices unvisited and the root, or its hub if it is a leaf, the frontier. It returns the levels that are over: of a
// leaf one.
__device__ u64 begin(u64 root, u64 copies, Shared& shared, Status* status) {
  u64 stride = u64(gridDim.x) * SEARCH_THREADS;
  for (u64 w = u64(blockIdx.x) * SEARCH_THREADS + threadIdx.x; w < graph.words; w += stride) {
    u64 rest = graph.searched - w * 32;
    graph.unvisited[w] = rest >= 32 ? ~0u : (1u << rest) - 1;
    for (int i = 0; i < 3; i++) graph.frontier[i][w] = 0;
  }
  u32 vertex = root < graph.labels ? graph.vertex[root] : NONE, v = vertex;
  bool leaf = v != NONE && v >= graph.searched;
  if (threadIdx.x == 0) {
    if (leaf) v = hubOf(v);
    shared.progress = beginAt(v, leaf);
    if (blockIdx.x == 0) {
      for (int i = 0; i < 3; i++) state.counters[i] = Counters{};
      if (shared.progress.listed) state.counters[0].queued = (u64(1) << QUEUE_SHIFT) + shared.progress.frontierEdges;
      if (leaf) {
        levels[0] = Level{0, 1, 0, 0};
        graph.finds[0] = u64(v) << 32 | vertex;
      }
      status->expand = status->queued = 0;
      state.stable = state.finds = leaf;
      fence();
      *(volatile u64*)&state.search = copies; // the copying threads may look
    }
  }
  syncGrid([&] {
    if (blockIdx.x != 0 || v == NONE) return;
    graph.unvisited[v >> 5] &= ~(1u << (v & 31));
    graph.frontier[0][v >> 5] |= 1u << (v & 31);
    graph.queue[0] = v;
    graph.before[0] = 0;
  });
  syncGrid([&] { shared.progress.began = globalTime(); });
  return leaf;
}

// load reads the counters of a level past the first-level cache.
__device__ Counters load(const Counters* c) {
  return Counters{__ldcg(&c->found), __ldcg(&c->edges),  __ldcg(&c->hubs), __ldcg(&c->looked),
                  __ldcg(&c->leaves), __ldcg(&c->queued), __ldcg(&c->finds)};
}

// finish records the level that is over and turns to the next one. One thread of every block calls it.
__device__ void finish(Progress& p, const Counters& level, const Rule& rule, Level* record) {
  u64 now = globalTime();
  u64 looked = level.looked + (p.bottomUp ? 0 : level.queued & QUEUE_EDGES);
  if (blockIdx.x == 0) {
    *record = Level{p.bottomUp, p.frontier + p.frontierLeaves, looked, now - p.began};
    // last read before the last barrier; without a frontier there was none, and there will be no further level
    if (p.frontier != 0) state.counters[(p.number + 2) % 3] = Counters{};
    fence();
    *(volatile u64*)&state.stable = state.stable + level.finds; // not up to state.finds: other blocks may be ahead, and add to it
  }
  p.began = now;
  p.reached += p.frontier;
  p.previous = p.frontier;
  p.frontier = level.found;
  p.frontierHubs = level.hubs;
  p.frontierLeaves = level.leaves - (level.leaves > 0 ? p.extra : 0);
  if (level.leaves > 0) p.extra = 0;
  p.unexplored -= p.frontierEdges < p.unexplored ? p.frontierEdges : p.unexplored;
  p.frontierEdges = level.edges + (level.found - level.hubs) * graph.average;
  p.bottomUp = nextBottomUp(p, rule);
  p.number++;
  p.listed = 0;
  p.done = p.frontier + p.frontierLeaves == 0;
}

// finishLevel waits for all blocks and finishes the level. Without a frontier, where leaves alone have nothing to expand, nobody has
// counted anything.
__device__ void finishLevel(Shared& shared, const Rule& rule, Level* record) {
  if (shared.progress.frontier != 0) {
    syncGrid([&] { finish(shared.progress, load(&state.counters[shared.progress.number % 3]), rule, record); });
    return;
  }
  syncSearch();
  if (threadIdx.x == 0) finish(shared.progress, Counters{}, rule, record);
  syncSearch();
}

}  // namespace

// search runs levels from root until the frontier is empty, the record is full, or most levels were run. Beside it the template is
// copied to parent[0 ... length), and when both are done, and at least `least` vertices were reached, the parents are corrected.
// flags: FRESH: a new search, else one goes on; HOST_EXPANDS: stop before the top-down step of a level and let the host launch it.
// launch: its number, which no other launch has. copies: what `copied` is when all blocks have copied. nearby: vertices whose
// frontier bits Shared.near has room for. rule: alpha in the lower half, beta in the upper one.
extern "C" __global__ void __launch_bounds__(SEARCH_THREADS + COPY_THREADS, 1)
search(u64 root, u64 flags, u64 most, u64 rule64, Status* status, i64* parent, u64 length, u64 least, u64 copies,
       u64 launch, u64 nearby) {
  extern __shared__ u64 sharedMemory[];
  Shared& shared = *reinterpret_cast<Shared*>(sharedMemory);
  bool fresh = flags & FRESH, hostExpands = flags & HOST_EXPANDS;
  if (threadIdx.x == 0) shared.written = fresh ? 0 : graph.written[blockIdx.x];
  __syncthreads();
  if (threadIdx.x >= SEARCH_THREADS) {
    if (fresh) {
      copyTemplate(parent, length);
      syncCopy();
      if (threadIdx.x == SEARCH_THREADS) {
        fence();
        atomicAdd(&copied, u64(1));
        while (*(volatile u64*)&state.search != copies) {
        }
        fence();
      }
    }
    follow(parent, launch, copies, shared);
    return;
  }
  Rule rule{__uint_as_float(u32(rule64)), __uint_as_float(u32(rule64 >> 32))};
  bool first = blockIdx.x == 0 && threadIdx.x == 0;
  Progress& progress = shared.progress;
  u64 written = 0;  // levels recorded by this launch
  if (fresh) {
    u64 start = globalTime();
    written = begin(root, copies, shared, status);
    if (first) status->prepared = progress.began - start;
  } else {
    if (first) status->expand = 0;
    if (threadIdx.x == 0) progress = state.progress; // block 0 may change it after the barrier
    syncGrid();
  }
  bool expands = false; // the host, now
  for (u64 i = 0; i < most && !progress.done && written < LEVELS && !expands; i++) {
    u64 number = progress.number, listed = progress.listed;
    Counters* counters = &state.counters[number % 3];
    u32* frontier = graph.frontier[number % 3];
    u32* next = graph.frontier[(number + 1) % 3];
    u32* spare = graph.frontier[(number + 2) % 3];
    if (progress.frontier == 0) { // leaves alone have nothing to expand
    } else if (progress.bottomUp) {
      contract(shared, counters, u32(nearby), frontier, next, spare);
    } else {
      if (listed == 0) {
        claimAndList(shared, counters, progress.frontierHubs != 0, frontier, next, spare);
        syncGrid();
      }
      expands = hostExpands && listed != EXPANDED;
      if (!hostExpands) expand(shared, counters, next);
    }
    if (expands) {
      if (first) status->expand = 1, status->queued = __ldcg(&counters->queued) >> QUEUE_SHIFT;
    } else {
      finishLevel(shared, rule, &levels[written]);
      written++;
    }
  }
  if (first) {
    state.progress = progress;
    if (expands) state.progress.listed = EXPANDED; // when this kernel runs again
    fence();
    *(volatile u64*)&state.ended = launch;
    status->done = progress.done;
    status->levels = written;
    status->reached = progress.reached;
    status->finds = __ldcg(&state.finds);
  }
  if (blockIdx.x == 0) {
    for (u64 l = threadIdx.x; l < written; l += SEARCH_THREADS) status->level[l] = levels[l];
  }
  if (!progress.done || progress.reached < least) return;
  if (threadIdx.x == 0) {
    while (*(volatile u64*)&copied < copies) {
    }
    fence();
  }
  syncSearch();
  u64 ready = globalTime();
  correct(parent, root, shared);
  if (first) status->waited = ready - progress.began, status->corrected = globalTime() - ready;
}

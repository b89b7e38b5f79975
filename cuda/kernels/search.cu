// The search: levels one after the other in a single cooperative launch, without a round trip to the host.
//
// Between two levels these hold, for every searched vertex:
//   frontier[number%3] has exactly those that the level before found;
//   unvisited has exactly those that no level has found;
//   finds has the visited ones whose parent is not the template's, with their parents; those before `stable` may be written out.
//
// A level top-down (Merrill, Garland, Grimshaw 2012; balanced as in Bisson, Bernaschi, Mastrostefano 2016, section 3.2):
//   1. claim: hubs in the frontier find their groups, word by word; the frontier becomes a queue with prefix sums of links
//   2. expand: every warp takes the same number of links, finds by search where they begin, and looks at their ends
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

namespace {

// Rule holds the options of the direction switch (graph/direction.go has the formula and its source).
struct Rule {
  float alpha, beta;
};

__device__ bool nextBottomUp(const State& s, const Rule& rule) {
  if (!s.bottomUp) {
    return s.frontier > s.previous && rule.alpha > 0 && float(s.frontierEdges) * rule.alpha > float(s.unexplored);
  }
  bool shrinking = s.frontier < s.previous;
  return !(shrinking && float(s.frontier) * rule.beta < float(graph.searched));
}

// begin makes all vertices unvisited and root the frontier.
__device__ void begin(u64 root, u64 copies, State& s, Status* status, u64& written) {
  u64 stride = u64(gridDim.x) * SEARCH_THREADS;
  for (u64 w = u64(blockIdx.x) * SEARCH_THREADS + threadIdx.x; w < graph.words; w += stride) {
    u64 rest = graph.searched - w * 32;
    graph.unvisited[w] = rest >= 32 ? ~0u : (1u << rest) - 1;
    for (int i = 0; i < 3; i++) graph.frontier[i][w] = 0;
  }
  u32 v = root < graph.labels ? graph.vertex[root] : NONE;
  bool leaf = v != NONE && v >= graph.searched;
  u32 leafNumber = v;
  if (leaf) { // it has been expanded already, and its hub is the frontier
    u64 low = 0, high = graph.hubs;
    while (low + 1 < high) {
      u64 middle = (low + high) / 2;
      if (graph.leafAt[middle] <= v) low = middle; else high = middle;
    }
    v = u32(low);
  }
  bool first = blockIdx.x == 0 && threadIdx.x == 0;
  if (first) {
    for (int i = 0; i < 3; i++) state.counters[i] = Counters{};
    status->expand = status->queued = 0;
    state.taken = state.stable = 0;
    state.finds = leaf;
    __threadfence();
    state.search = copies; // the copying threads may look
  }
  s = State{};
  s.frontier = 1;
  s.unexplored = graph.entries;
  s.extra = leaf;
  if (v == NONE) {
    s.frontierLeaves = 1, s.frontier = 0; // a level of its own that has nothing to expand
  } else {
    s.frontierEdges = links(v);
    s.frontierHubs = v < graph.hubs;
  }
  if (leaf && first) status->level[0] = Level{0, 1, 0, 0};
  written = leaf;
  syncGrid();
  if (first && v != NONE) {
    graph.unvisited[v >> 5] &= ~(1u << (v & 31));
    graph.frontier[0][v >> 5] |= 1u << (v & 31);
    if (leaf) graph.finds[0] = u64(v) << 32 | leafNumber;
    graph.queue[0] = v;
    graph.before[0] = 0;
  }
  if (v != NONE && v >= graph.hubs) { // the queue is made, and there is no group to claim
    s.listed = LISTED;
    if (first) state.counters[0].queued = (u64(1) << QUEUE_SHIFT) + s.frontierEdges;
  }
  syncGrid();
  s.began = globalTime();
}

// finishLevel reads what the level found, records it and turns to the next one. All threads come to the same State.
__device__ void finishLevel(State& s, const Rule& rule, Level* record) {
  const Counters* counted = &state.counters[s.number % 3];
  u64 found = __ldcg(&counted->found), hubs = __ldcg(&counted->hubs), now = globalTime();
  u64 leaves = __ldcg(&counted->leaves), looked = __ldcg(&counted->looked);
  if (!s.bottomUp) looked += __ldcg(&counted->queued) & QUEUE_EDGES;
  u64 edges = __ldcg(&counted->edges) + (found - hubs) * graph.average;
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    *record = Level{s.bottomUp, s.frontier + s.frontierLeaves, looked, now - s.began};
    state.counters[(s.number + 2) % 3] = Counters{}; // last read before the last barrier
    __threadfence();
    state.stable = __ldcg(&state.finds);
  }
  s.began = now;
  s.reached += s.frontier;
  s.previous = s.frontier;
  s.frontier = found;
  s.frontierHubs = hubs;
  s.frontierLeaves = leaves - (leaves > 0 ? s.extra : 0);
  if (leaves > 0) s.extra = 0;
  s.unexplored -= s.frontierEdges < s.unexplored ? s.frontierEdges : s.unexplored;
  s.frontierEdges = edges;
  s.bottomUp = nextBottomUp(s, rule);
  s.number++;
  s.listed = 0;
  s.done = s.frontier + s.frontierLeaves == 0;
}

}  // namespace

// search runs levels from root until the frontier is empty, the record is full, or most levels were run. Beside it the template is
// copied to parent[0 ... length), and when both are done, and at least `least` vertices were reached, the parents are corrected.
// flags: FRESH: a new search, else one goes on; HOST_EXPANDS: stop before the top-down step of a level and let the host launch it.
// launch: its number, which no other launch has. copies: what `copied` is when all blocks have copied. rule: alpha in the lower half, beta in the upper one.
extern "C" __global__ void __launch_bounds__(SEARCH_THREADS + COPY_THREADS, 1)
search(u64 root, u64 flags, u64 most, u64 rule64, Status* status, i64* parent, u64 length, u64 least, u64 copies,
       u64 launch) {
  __shared__ Shared shared;
  bool fresh = flags & FRESH, hostExpands = flags & HOST_EXPANDS;
  if (threadIdx.x >= SEARCH_THREADS) {
    if (fresh) {
      copyTemplate(parent, length);
      __threadfence();
      syncCopy();
      if (threadIdx.x == SEARCH_THREADS) {
        atomicAdd(&copied, u64(1));
        while (*(volatile u64*)&state.search != copies) {
        }
      }
    }
    follow(parent, launch, copies, &shared.part[1], &shared.size[1]);
    return;
  }
  Rule rule{__uint_as_float(u32(rule64)), __uint_as_float(u32(rule64 >> 32))};
  bool first = blockIdx.x == 0 && threadIdx.x == 0;
  State s;
  u64 written = 0;  // levels recorded by this launch
  if (fresh) {
    u64 start = globalTime();
    begin(root, copies, s, status, written);
    if (first) status->prepared = s.began - start;
  } else {
    s = state;
    if (first) status->expand = 0;
    syncGrid();
  }
  for (u64 i = 0; i < most && !s.done && written < LEVELS; i++) {
    Counters* counters = &state.counters[s.number % 3];
    u32* frontier = graph.frontier[s.number % 3];
    u32* next = graph.frontier[(s.number + 1) % 3];
    u32* spare = graph.frontier[(s.number + 2) % 3];
    if (s.frontier == 0) { // leaves alone have nothing to expand
    } else if (s.bottomUp) {
      contract(shared, counters, frontier, next, spare);
      syncGrid();
    } else {
      if (s.listed == 0) {
        claimAndList(shared, counters, s.frontierHubs != 0, frontier, next, spare);
        syncGrid();
        s.listed = LISTED;
      }
      if (s.listed == LISTED && hostExpands) {
        if (first) status->expand = 1, status->queued = __ldcg(&counters->queued) >> QUEUE_SHIFT;
        s.listed = EXPANDED; // when this kernel runs again
        break;
      }
      if (s.listed == LISTED) {
        expand(shared, counters, next);
        syncGrid();
      }
    }
    finishLevel(s, rule, &status->level[written]);
    written++;
  }
  if (first) {
    state.number = s.number, state.bottomUp = s.bottomUp, state.frontier = s.frontier, state.frontierLeaves = s.frontierLeaves;
    state.frontierHubs = s.frontierHubs, state.previous = s.previous, state.frontierEdges = s.frontierEdges;
    state.unexplored = s.unexplored, state.reached = s.reached, state.extra = s.extra, state.listed = s.listed;
    state.done = s.done, state.began = s.began;
    status->done = s.done;
    status->levels = written;
    status->reached = s.reached;
    status->finds = __ldcg(&state.finds);
    __threadfence();
    state.ended = launch;
  }
  if (!s.done || s.reached < least) return;
  if (threadIdx.x == 0) {
    while (*(volatile u64*)&copied < copies) {
    }
    __threadfence();
  }
  syncSearch();
  u64 ready = globalTime();
  correct(parent, root, &shared.part[0], &shared.size[0]);
  if (first) status->waited = ready - s.began, status->corrected = globalTime() - ready;
}

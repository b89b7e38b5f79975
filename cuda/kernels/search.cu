// SPDX-License-Identifier: Apache-2.0

// Kernel 2: a direction-optimizing breadth-first search, all levels in one cooperative launch, without a round trip
// to the host.
//
// Result: params.parent[l], for every label l, is the parent of l, l itself for the root, and -1 where the root does
// not reach, 64 bits each and in original labels; params.status has the record of the levels.
//
// Method: Beamer, Asanovic, Patterson, "Direction-Optimizing Breadth-First Search" (SC 2012), on one GPU as in
// Kolganov, "The fastest and most energy-efficient breadth-first search on single-node parallel architectures"
// (Bulletin of the South Ural State University, 2018), sections 2 and 3.2: vertices ordered by degree, neighbor
// lists aligned by warp. One block runs on each multiprocessor; blocks meet at a barrier of the whole grid.
//
// Data structures:
//   both directions   graph.unvisited and graph.frontier[3]: bitmaps; groups of vertices that share a hub (graph.cuh)
//   top-down          a queue of the frontier with prefix sums of edges: graph.queue, graph.edgesBefore (topdown.cuh);
//                     a frontier that has few edges or has not doubled is an array of vertices: the end of
//                     graph.corrections (sparse.cuh)
//   bottom-up         aligned blocks of neighbor lists; the first frontier bits in shared memory (bottomup.cuh)
//   parents           a template to copy, and a list of corrections to it: graph.corrections (output.cuh)
//
// Invariants between two levels, for every vertex that is not a leaf:
//   - it is in frontier[number%3], or in the array if the frontier is sparse, exactly if the previous level found it;
//   - it is in unvisited exactly if no level has found it;
//   - if it is visited and its parent is not the template's, it is in the corrections, with its parent; the first
//     state.stable corrections may be written to params.parent;
//   - if the frontier is sparse, no vertex is in frontier[].
// A leaf is reached when its hub is expanded, and has its parent, the hub, from the template.
//
// Several GPUs run this kernel on one graph, each for its own vertices (graph.cuh). exchange.cuh describes the messages
// between them.
//
// The kernel can pause between levels and be launched again: when it has run LEVELS levels, or to let the host launch
// another top-down step (dynamic.cu).
#include "bottomup.cuh"
#include "sparse.cuh"

__constant__ Graph graph;
__constant__ Exchange exchange;
__device__ State state;
__device__ u32 arrivedForAll;
__device__ u32 arrived;
__device__ u64 copied;
__device__ LevelRecord levels[LEVELS]; // of this launch

// Sizes in bytes that the host reads: shared memory that a block needs, and that it wants in addition for
// Shared::cached; the structures that both sides know.
extern "C" {
__device__ u64 sizes[6] = {sizeof(Shared), CACHED_VERTICES / 8, sizeof(Graph), sizeof(Status), sizeof(SearchParams),
                           sizeof(Exchange)};
}

namespace {

__device__ void searchLevels(const SearchParams& params, Shared& shared);
__device__ bool queueForHost(const SearchParams& params, Shared& shared, const Step& step);
__device__ bool topDownStep(const SearchParams& params, Shared& shared, const Step& step);
__device__ void bottomUpStep(const SearchParams& params, Shared& shared, const Step& step);
__device__ void finishLaunch(const SearchParams& params, Shared& shared, bool hostStep);
__device__ void copyAndCorrect(const SearchParams& params, Shared& shared);

}  // namespace

#if SEVERAL
// wake_all is wake for several GPUs and their links, which sleep after 50 ms: it writes to the lists of all others, whose
// contents no search reads, and lets the GPUs meet. An address selects one of the links between two GPUs, so it writes
// as much as wakes all of them. It is one block, and has the number of a launch of the search.
extern "C" __global__ void wake_all(u64 launch) {
  u64 list = 32 * graph.words, n = list < WAKE_WORDS ? list : WAKE_WORDS;
  for (u64 r = 0; r < graph.ranks; r++) {
    for (u64 i = threadIdx.x; i < n; i += blockDim.x) listOf(r, 0, graph.rank)[i] = 0;
  }
  __syncthreads();
  if (threadIdx.x < 32) meet(&state.counters[0], launch << 32 | 1, After::Nothing, 0);
}
#endif

extern "C" __global__ void __launch_bounds__(SEARCH_THREADS + COPY_THREADS, 1)
search(const __grid_constant__ SearchParams params) {
  extern __shared__ u64 sharedMemory[];
  Shared& shared = *reinterpret_cast<Shared*>(sharedMemory);
  if (threadIdx.x == 0) {
    shared.written = params.newSearch ? 0 : graph.written[blockIdx.x];
    shared.counters = Counters{};
    shared.founds = 0;
    shared.barriers = 0;
  }
#if SEVERAL
  if (threadIdx.x < 32) shared.moved[threadIdx.x / MAX_RANKS][threadIdx.x % MAX_RANKS] = 0;
#endif
  __syncthreads();
  if (threadIdx.x < SEARCH_THREADS) searchLevels(params, shared);
  else copyAndCorrect(params, shared);
}

namespace {

// searchLevels is the loop: it runs levels until the frontier is empty or params.maxLevels were run.
__device__ void searchLevels(const SearchParams& params, Shared& shared) {
  bool first = blockIdx.x == 0 && threadIdx.x == 0;
  LevelState& level = shared.level;
  if (params.newSearch) {
    u64 start = globalTime();
    beginSearch(params, shared);
    if (first) params.status->setup = level.start - start;
  } else {
    if (first) params.status->hostStep = 0;
    if (threadIdx.x == 0) level = state.level, level.recorded = 0; // block 0 may change it after the barrier
    syncGrid();
  }
  bool hostStep = false; // the host must launch the top-down step of this level
  while (!level.done && level.recorded < params.maxLevels && !hostStep) {
    u64 n = level.number;
    Step step{&state.counters[n % 3], graph.frontier[n % 3], graph.frontier[(n + 1) % 3], graph.frontier[(n + 2) % 3]};
    bool sparse = level.sparse && isSparse(level, params); // first of this frontier, then of the next
    if (level.sparse && !sparse) makeDense(params, shared, step);
    if (!SEVERAL && sparse && level.frontierEdges <= ONE_BLOCK_EDGES && level.frontier != 0) {
      sparseLevelsAlone(params, shared);
      continue;
    }
    if (level.frontier == 0) { // leaves have no edges to follow
    } else if (sparse) {
      sparseStep(params, shared, step.counters);
    } else if (level.bottomUp) {
      bottomUpStep(params, shared, step);
    } else if (params.hostTopDown) {
      hostStep = !queueForHost(params, shared, step);
    } else {
      sparse = topDownStep(params, shared, step);
    }
    if (!hostStep) finishLevel(shared, sparse, params);
  }
  finishLaunch(params, shared, hostStep);
}

// queueForHost turns the frontier into a queue, for the host to launch the top-down step (dynamic.cu). It reports
// whether the host has done so.
__device__ bool queueForHost(const SearchParams& params, Shared& shared, const Step& step) {
  if (shared.level.followed) return true;
  queueFrontier(shared, step, shared.level.frontierHubs != 0);
  syncGrid();
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    params.status->hostStep = 1;
    params.status->queued = __ldcg(&step.counters->queued) >> graph.queueShift;
  }
  return false;
}

// topDownStep follows the edges of a dense frontier (Merrill, Garland, Grimshaw, "Scalable GPU Graph Traversal", PPoPP
// 2012; edges assigned evenly to threads as in Bisson, Bernaschi, Mastrostefano, "Parallel Distributed Breadth First
// Search on the Kepler Architecture", IEEE TPDS 2016, section 3.2). It reports whether the next frontier is sparse,
// which it is after a frontier that has few edges or has not doubled.
//
//  1. The frontier becomes a queue with prefix sums of its edges, and its hubs find the words all of whose vertices
//     belong to their groups.
//  2. Its hubs find the rest of their groups. Every warp takes the same number of edges, finds by binary search where
//     they begin, and follows them. The edges of a large level are assigned in several pieces to a warp, since those
//     of hubs find more.
//
// Where the next frontier is sparse, and on a grid of several columns, hubs find their groups by edges like all other
// neighbors.
__device__ bool topDownStep(const SearchParams& params, Shared& shared, const Step& step) {
  bool grid = SEVERAL && graph.columns > 1;
  bool stays = staysSparse(shared.level);
  bool groups = !grid && !stays && shared.level.frontierHubs != 0 &&
                shared.level.frontierEdges * DENSE_SHARE > graph.words;
  queueFrontier(shared, step, groups);
  syncGrid();
  Tally tally;
  u64 packed = __ldcg(&step.counters->queued);
  u64 queued = packed >> graph.queueShift, edges = queueEdges(packed);
  if (groups) {
    for (u64 i = u64(threadIdx.x) * gridDim.x + blockIdx.x; i < queued; i += u64(gridDim.x) * SEARCH_THREADS) {
      if (graph.queue[i] < graph.hubs) visitSharedWords(graph.queue[i], step.next, tally);
    }
  }
  u64 warps = u64(gridDim.x) * (SEARCH_THREADS / 32);
  u64 warp = u64(threadIdx.x / 32) * gridDim.x + blockIdx.x; // spreads few edges over the multiprocessors
  u64 piece = (edges + warps * PIECES_PER_WARP - 1) / (warps * PIECES_PER_WARP);
  piece = (piece + MIN_EDGES - 1) / MIN_EDGES * MIN_EDGES;
  auto followAll = [&](auto& output) {
    for (u64 edge = warp * piece; edge < edges; edge += warps * piece) {
      followEdges(edge, edge + piece < edges ? edge + piece : edges, queued, edges, output);
    }
  };
  u64 few = SEVERAL ? shared.level.frontierEdges : edges; // the same decision on all GPUs
  if (!groups && (stays || few * DENSE_SHARE <= graph.words) && !(grid && params.messages == BITMAPS)) {
    SparseOutput<StoreInBlock> output{StoreInBlock(shared), tally};
    withRow(params, shared, step.counters, output, followAll);
    append(shared, step.counters, tally);
    return true;
  }
  BufferedCorrections corrections(shared.corrections[threadIdx.x / 32]);
  DenseOutput<BufferedCorrections> output{step.next, tally, corrections};
  withRow(params, shared, step.counters, output, followAll);
  corrections.flush();
  addToCounters(shared, step.counters, tally, corrections.added);
  return false;
}

// bottomUpStep finds a parent in the frontier for every unvisited vertex that has one (Beamer, Asanovic, Patterson
// 2012, section IV). First each thread takes words of 32 vertices and finds the vertices whose hub is in the frontier.
// Then the warps of the block share the remaining words with unvisited vertices, and scan their lists: after each round
// of words, or after several if few words remain, as in the last levels.
__device__ void bottomUpStep(const SearchParams& params, Shared& shared, const Step& step) {
  Tally tally;
  BufferedCorrections corrections(shared.corrections[threadIdx.x / 32]);
  u32 cachedVertices = u32(params.cachedVertices);
  u32 cachedQuads = cachedVertices / 128, quads = u32(graph.frontierWords + 3) / 4; // bitmaps are padded
#pragma unroll 3
  for (u32 i = threadIdx.x; i < (cachedQuads < quads ? cachedQuads : quads); i += SEARCH_THREADS) {
    reinterpret_cast<uint4*>(shared.cached)[i] = reinterpret_cast<const uint4*>(step.frontier)[i];
  }
  if (SEVERAL) passFrontier(step, tally);
  FrontierBits inFrontier{shared.cached, step.frontier, cachedVertices};
  u64 warps = u64(gridDim.x) * (SEARCH_THREADS / 32);
  u64 warp = u64(threadIdx.x / 32) * gridDim.x + blockIdx.x; // spreads similar words over the blocks
  u64 rounds = (graph.words + warps * 32 * WORDS_PER_THREAD - 1) / (warps * 32 * WORDS_PER_THREAD);
  constexpr int ROUND = WORDS_PER_THREAD * SEARCH_THREADS;
  static_assert(PENDING_WORDS >= ROUND, "the words of a round fit");
  bool scanned = true;
  for (u64 round = 0; round < rounds; round++) {
    syncSearch();
    if (scanned) {
      if (threadIdx.x == 0) shared.words = shared.taken = 0;
      syncSearch();
    }
    u32 bits[WORDS_PER_THREAD], unvisited[WORDS_PER_THREAD];
#pragma unroll
    for (int i = 0; i < WORDS_PER_THREAD; i++) {
      u64 w = ((round * WORDS_PER_THREAD + i) * warps + warp) * 32 + lane();
      bits[i] = w < graph.words && !SEVERAL ? step.frontier[w] : 0;
      unvisited[i] = w < graph.words ? graph.unvisited[w] : 0;
    }
#pragma unroll
    for (int i = 0; i < WORDS_PER_THREAD; i++) {
      u64 w = ((round * WORDS_PER_THREAD + i) * warps + warp) * 32 + lane();
      u32 rest = 0, found = 0;
      if (w < graph.words) {
        if (!SEVERAL) step.cleared[w] = 0;
        if (!SEVERAL && w * 32 < graph.hubs) tally.addLeaves(w, bits[i]);
        found = unvisited[i] != 0 && grouped(w) ? findThroughHubs(w, unvisited[i], inFrontier) : 0;
        if (found != 0) {
          graph.unvisited[w] = unvisited[i] & ~found;
          step.next[wordOf(w)] = found;
          tally.addFoundWord(w, found);
        }
        rest = unvisited[i] & ~found;
      }
      u32 lanes = __ballot_sync(~0u, rest != 0);
      u32 at = 0;
      if (lane() == 0 && lanes != 0) at = atomicAdd(&shared.words, u32(__popc(lanes)));
      at = __shfl_sync(~0u, at, 0) + __popc(lanes & lowBits(lane()));
      if (rest != 0) {
        bool aligned = w < graph.alignedWords;
        shared.pending[at] = PendingWord{aligned ? graph.alignedBegin[w] : 0, aligned ? graph.alignedRows[w] : LONGER,
                                         u32(w), rest, found};
      }
    }
    syncSearch();
    scanned = round + 1 == rounds || shared.words > PENDING_WORDS - ROUND;
    if (scanned) scanPending(shared, inFrontier, step.next, tally, corrections);
  }
  corrections.flush();
  addToCounters(shared, step.counters, tally, corrections.added);
}

// finishLaunch reports to the host, keeps the state for the next launch, and corrects the parents if the search is
// over.
__device__ void finishLaunch(const SearchParams& params, Shared& shared, bool hostStep) {
  bool first = blockIdx.x == 0 && threadIdx.x == 0;
  LevelState& level = shared.level;
  syncSearch(); // the last thread has announced the corrections
  if (first) {
    state.level = level;
    if (hostStep) state.level.followed = 1; // when this kernel runs again
    fence();
    *(volatile u64*)&state.ended = params.launch;
    params.status->done = level.done;
    params.status->levels = level.recorded;
    params.status->lost = state.lost;
    params.status->reached = level.reached;
    params.status->corrections = __ldcg(&state.corrections);
  }
  if (blockIdx.x == 0) {
    for (u64 l = threadIdx.x; l < level.recorded; l += SEARCH_THREADS) params.status->level[l] = levels[l];
  }
  if (!level.done || level.reached < params.minReached) return;
  if (threadIdx.x == 0) {
    while (*(volatile u64*)&copied < params.copies) {
    }
    fence();
  }
  syncSearch();
  u64 ready = globalTime();
  writeAfterSearch(params.parent, params.root, shared);
  if (first) params.status->copyWait = ready - level.start, params.status->correcting = globalTime() - ready;
}

// copyAndCorrect is the part of the copying threads: at the start of a search they copy the template, then they write
// the parents of corrections while the searching threads run the levels.
__device__ void copyAndCorrect(const SearchParams& params, Shared& shared) {
  if (params.newSearch) {
    copyTemplate(params.parent, params.length);
    syncCopy();
    if (threadIdx.x == SEARCH_THREADS) {
      fence();
      atomicAdd(&copied, u64(1));
      while (*(volatile u64*)&state.search != params.copies) {
      }
      fence();
    }
  }
  writeDuringSearch(params.parent, params.launch, params.copies, shared);
}

}  // namespace

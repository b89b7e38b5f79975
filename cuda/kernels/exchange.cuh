// The exchange of GPUs that search a graph together: 1D by destination with a replicated frontier (Buluc and Madduri,
// "Parallel Breadth-First Search on Distributed Memory Systems", SC 2011, section 3.1, with the frontier as a bitmap).
// This is the grid of one column (graph.cuh); fold.cuh has what the top-down steps of other grids do in addition.
//
// Every GPU expands the whole frontier, and finds own vertices only. So their parents never move, and a level moves
// this alone between two GPUs:
//
//   words of the next frontier   4 bytes for 32 own vertices: rows of 32 words without a vertex stay
//   or, if it is sparse          4 bytes for each vertex of it, sent while it is found
//   counters                     one Message
//
// A level is
//
//   own step of the level        it writes own words of the next frontier
//   barrier of this GPU          unless the next frontier is sparse
//   push                         own words to the same places of the bitmaps of all others
//   barrier of all GPUs          the last block of a GPU to arrive sends the counters to all others, and behind them,
//                                after the level's only fence for the whole system, a flag; it waits for the flags of the
//                                others, adds up the counters, and lets its GPU's blocks continue with the sums
//
// That fence covers what all blocks of the GPU have pushed, because they have met the last one before (causality order
// of PTX). A fence of every block would wait for its copying threads, too.
//
// All GPUs have the same sums, so all take the same direction and end after the same level.
//
// Staged: without peer access all of this lies in the host's memory, once, which all GPUs can read and write. There are
// two bitmaps, used in turn, and after the barrier each GPU copies the words of the others to its own frontier.
//
// A GPU waits for another one in meet alone, and not longer than Exchange.patience. Then all its blocks end the search.
#pragma once
#include "block.cuh"

// Message is what a GPU tells another at a barrier.
struct Message {
  u64 counter[8];  // Counters
  u64 sent;        // vertices of the other GPU that this one has written to its inbox
  u64 barrier;     // number of the barrier, written last
};

// Mailbox has the messages to one GPU. A GPU is never two barriers ahead of another, so two of each sender suffice.
struct Mailbox {
  Message from[MAX_RANKS][2];
};

// Exchange mirrors type deviceExchange of mirror.go.
struct Exchange {
  u64 staged;                 // 1: through the host
  u64 patience;               // nanoseconds that a GPU waits for another one
  u32* frontier[MAX_RANKS];   // the three bitmaps of each GPU, one behind the other; staged: two bitmaps in the host
  Mailbox* mailbox[MAX_RANKS];
  u64* inbox[MAX_RANKS];      // [columns][32*words] of each GPU, what the other ones in its row have found of its vertices:
                              // local number << 32 | parent, or a bitmap at the begin of each column; staged: in the host
  u32* found[MAX_RANKS];      // [columns-1][32*words] parents that each GPU has found of vertices of the others in its row,
                              // by row number, if it sends bitmaps; staged: in the host
  u32* list[MAX_RANKS];       // [2][ranks][32*words] sparse frontiers of each GPU, used in turn: what each GPU has found;
                              // staged: the same one for all
};

extern __constant__ Exchange exchange;
extern __device__ u32 arrivedForAll;  // blocks of this GPU at the barrier of all GPUs

// fenceAll is fence for all GPUs and the host.
__device__ inline void fenceAll() { asm volatile("fence.acq_rel.sys;" ::: "memory"); }

// loadFlag reads a flag, before whatever this thread reads next.
__device__ inline u64 loadFlag(const u64* flag) {
  u64 value;
  asm volatile("ld.acquire.sys.u64 %0, [%1];" : "=l"(value) : "l"(flag) : "memory");
  return value;
}

// meet tells all other GPUs the counters of a level and waits for theirs. It leaves their sums in state.sum, except that
// Counters.corrections are those of this GPU, and in state.found how many vertices each GPU has found. The sums are zeros,
// which end the search, if another GPU does not come. One thread calls it.
__device__ inline void meet(const Counters& mine, u64 barrier) {
  const u64* from = reinterpret_cast<const u64*>(&mine);
  for (u64 r = 0; r < graph.ranks; r++) {
    if (r == graph.rank) continue;
    volatile u64* into = exchange.mailbox[r]->from[graph.rank][barrier % 2].counter;
#pragma unroll
    for (int i = 0; i < 8; i++) into[i] = from[i];
    into[8] = __ldcg(&state.sent[r]);
  }
  fenceAll(); // this thread's counters, and what all blocks have pushed
  for (u64 r = 0; r < graph.ranks; r++) {
    if (r != graph.rank) *(volatile u64*)&exchange.mailbox[r]->from[graph.rank][barrier % 2].barrier = barrier;
  }
  Counters sum = mine;
  u64* into = reinterpret_cast<u64*>(&sum);
  u64 begin = globalTime();
  state.found[graph.rank] = mine.found;
  for (u64 r = 0; r < graph.ranks; r++) {
    if (r == graph.rank) continue;
    Message* message = &exchange.mailbox[graph.rank]->from[r][barrier % 2];
    for (u32 polls = 1; loadFlag(&message->barrier) != barrier; polls++) {
      if (polls % 1024 != 0 || globalTime() - begin < exchange.patience) continue;
      state.lost = 1 + r;
      state.sum = Counters{};
      return;
    }
#pragma unroll
    for (int i = 0; i < 8; i++) into[i] += *(volatile u64*)&message->counter[i];
    state.found[r] = *(volatile u64*)&message->counter[0];
    state.received[r] = *(volatile u64*)&message->sent;
  }
  sum.corrections = mine.corrections;
  state.sum = sum;
}
static_assert(offsetof(Counters, found) == 0 && sizeof(Counters) == 8 * 8 && offsetof(Message, sent) == 8 * 8,
              "meet knows Counters");

// syncAll waits for the searching threads of all blocks of all GPUs, and lets one thread of each block call then with
// the sums of the counters of all GPUs before the others continue.
template <class Then>
__device__ inline void syncAll(const SearchParams& params, Shared& shared, const Counters* counters, const Then& then) {
  syncSearch();
  if (threadIdx.x == 0) {
    u64 barrier = params.launch << 32 | ++shared.barriers, met;
    u32 before;
    asm volatile("atom.add.acq_rel.gpu.u32 %0, [%1], 1;" : "=r"(before) : "l"(&arrivedForAll) : "memory");
    if (before + 1 == gridDim.x) {
      *(volatile u32*)&arrivedForAll = 0;
      meet(load(counters), barrier);
      asm volatile("st.release.gpu.u64 [%0], %1;" ::"l"(&state.met), "l"(barrier) : "memory");
    }
    do {
      asm volatile("ld.acquire.gpu.u64 %0, [%1];" : "=l"(met) : "l"(&state.met) : "memory");
    } while (met != barrier);
#if SEVERAL
    for (u64 r = 0; r < graph.ranks; r++) shared.level.found[r] = __ldcg(&state.found[r]);
#endif
    then(load(&state.sum));
    if (__ldcg(&state.lost) != 0) shared.level.done = 1;
  }
  syncSearch();
}

// listOf returns what a GPU has of a level's sparse frontier that rank `finder` has found.
__device__ inline u32* listOf(u64 rank, u64 level, u64 finder) {
  return exchange.list[rank] + (level % 2 * graph.ranks + finder) * 32 * graph.words;
}

// pushVertex makes v, which this GPU has found, vertex i of its part of a level's sparse frontier on all GPUs.
__device__ inline void pushVertex(u64 level, u64 i, u32 v) {
  for (u64 r = 0; r < (exchange.staged ? 1 : graph.ranks); r++) listOf(r, level, graph.rank)[i] = v;
}

// needs reports whether GPU `rank` needs word w of a frontier that GPU `owner` owns: all of them before a bottom-up step,
// else those of its column, and the hubs, for their leaves.
__device__ inline bool needs(u64 rank, u64 owner, u64 w, bool bottomUp) {
  return bottomUp || graph.columns == 1 || u32(rank) % u32(graph.columns) == u32(owner) % u32(graph.columns) ||
         w * 32 < graph.hubs;
}

// push copies own words of a frontier to the other GPUs. A warp takes 32 words, in rows of EXCHANGE_ROWS.
__device__ inline void push(u32* frontier, u64 barrier, bool bottomUp) {
  u64 offset = frontier - graph.frontier[0];
  if (exchange.staged) offset = barrier % 2 * graph.frontierWords;
  u64 stride = u64(gridDim.x) * SEARCH_THREADS, at = u64(blockIdx.x) * SEARCH_THREADS + threadIdx.x;
  for (u64 begin = at; begin - lane() < graph.words; begin += stride * EXCHANGE_ROWS) {
    u32 bits[EXCHANGE_ROWS];
#pragma unroll
    for (int i = 0; i < EXCHANGE_ROWS; i++) {
      u64 w = begin + i * stride;
      bits[i] = w < graph.words ? __ldcg(frontier + wordOf(w)) : 0;
    }
#pragma unroll
    for (int i = 0; i < EXCHANGE_ROWS; i++) {
      u64 w = begin + i * stride;
      bool some = __any_sync(~0u, bits[i] != 0) || exchange.staged;
      if (!some || w >= graph.words) continue;
      if (exchange.staged) {
        exchange.frontier[0][offset + wordOf(w)] = bits[i];
        continue;
      }
      for (u64 r = 0; r < graph.ranks; r++) {
        if (r != graph.rank && needs(r, graph.rank, wordOf(w), bottomUp)) {
          exchange.frontier[r][offset + wordOf(w)] = bits[i];
        }
      }
    }
  }
}

// pull copies the words of the other GPUs from the host to a frontier.
__device__ inline void pull(u32* frontier, u64 barrier, bool bottomUp) {
  const u32* from = exchange.frontier[0] + barrier % 2 * graph.frontierWords;
  u64 stride = u64(gridDim.x) * SEARCH_THREADS;
  for (u64 w = u64(blockIdx.x) * SEARCH_THREADS + threadIdx.x; w < graph.frontierWords; w += stride) {
    u64 owner = u32(w / CHUNK_WORDS) % u32(graph.ranks);
    if (owner != graph.rank && needs(graph.rank, owner, w, bottomUp)) frontier[w] = __ldcv(from + w);
  }
}

// expand copies the next frontier to the GPUs that need it, and calls then as syncAll does.
template <class Then>
__device__ inline void expand(const SearchParams& params, Shared& shared, u32* next, const Counters* counters,
                              bool bottomUp, const Then& then) {
  syncGrid();
  u64 barrier = shared.barriers + 1;
  push(next, barrier, bottomUp);
  syncAll(params, shared, counters, then);
  if (!exchange.staged) return;
  pull(next, barrier, bottomUp);
  syncGrid();
}

// exchangeFrontier completes the next frontier on all GPUs, and calls then as syncAll does. After a top-down step it
// supposes that the next one is top-down, too.
template <class Then>
__device__ inline void exchangeFrontier(const SearchParams& params, Shared& shared, u32* next, const Counters* counters,
                                        const Then& then) {
  bool bottomUp = shared.level.bottomUp;
  expand(params, shared, next, counters, bottomUp, then);
  if (graph.columns > 1 && !bottomUp && shared.level.bottomUp && !shared.level.done) {
    expand(params, shared, next, counters, true, [](const Counters&) {});
  }
}

// passFrontier is the part of a bottom-up step that goes through the frontiers of all GPUs: it clears the next but one,
// and counts the leaves of the hubs in this one.
__device__ inline void passFrontier(const Step& step, Tally& tally) {
  u64 stride = u64(gridDim.x) * SEARCH_THREADS;
  for (u64 w = u64(blockIdx.x) * SEARCH_THREADS + threadIdx.x; w < graph.frontierWords; w += stride) {
    step.cleared[w] = 0;
    if (w * 32 >= graph.hubs) continue;
    u32 bits = step.frontier[w];
    tally.addLeaves(w, bits);
    graph.hubReached[w] |= bits;
  }
}

// SPDX-License-Identifier: Apache-2.0

// The exchange of GPUs that search one graph: 1D by destination with a replicated frontier (Buluc and Madduri,
// "Parallel Breadth-First Search on Distributed Memory Systems", SC 2011, section 3.1, with the frontier as a bitmap).
// This is the grid of one column (graph.cuh); fold.cuh has the additional work of top-down steps on other grids.
//
// Every GPU expands the whole frontier, and finds own vertices only. So their parents never move, and a level moves
// only this between two GPUs:
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
// That fence covers the words that all blocks of the GPU have pushed, because they have met the last one before
// (causality order of PTX). A fence of every block would wait for its copying threads, too.
//
// All GPUs have the same sums, so all take the same direction and end after the same level.
//
// Staged: GPUs of processes that share no memory have all of this in pinned memory of their own host. There are two
// bitmaps, used in turn, in which the words of each GPU are consecutive. At every barrier the host takes the messages of
// its GPU from there, exchanges them and the data with the other processes, and writes theirs (carrier.go). What is sent
// before the barrier and where it lies follows from the message. After the barrier each GPU copies the words of the
// others to its own frontier. With NCCL bitmaps and inboxes are in memory of the GPU.
//
// The record counts bytes and messages of frontiers and of vertices on the way to their owners, without the counters of
// a barrier.
//
// A GPU waits for another one only in meet, and not longer than Exchange.patience. Then all its blocks end the search.
#pragma once
#include "block.cuh"

// Message is the message of a GPU to another one at a barrier.
struct Message {
  u64 counter[8];  // Counters
  u64 sent;        // vertices that this GPU has written to the other one's inbox; after a sparse step, to its list
  u64 after, half; // what was sent, and which of two arrays that are used in turn it is in: for the host, if staged
  u64 barrier;     // number of the barrier, written last; ABANDONED: the other one will not come
};

constexpr u64 ABANDONED = ~u64(0);

// Mailbox has the messages to one GPU. A GPU is never two barriers ahead of another, so two of each sender suffice.
struct Mailbox {
  Message from[MAX_RANKS][2];
};

// Exchange: generate.py makes type deviceExchange of it.
struct Exchange {
  u64 staged;                 // 1: through the host
  u64 patience;               // nanoseconds that a GPU waits for another one
  u32* frontier[MAX_RANKS];   // the three bitmaps of each GPU, one behind the other; staged: [2][ranks][words] in the host
  Mailbox* mailbox[MAX_RANKS];
  u64* inbox[MAX_RANKS];      // [columns][32*words] of each GPU, its vertices that the other ones in its row have found:
                              // local number << 32 | parent, or a bitmap at the begin of each column; staged: in the host
  u32* found[MAX_RANKS];      // [columns-1][32*words] parents that each GPU has found of vertices of the others in its row,
                              // by row number, if it sends bitmaps; staged: there are none
  u32* list[MAX_RANKS];       // [2][ranks][32*words] sparse frontiers of each GPU, used in turn: vertices that each GPU has found;
                              // staged: one in the host
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

// After is the kind of data that the GPUs have sent each other before they meet; carrier.go has the same order.
enum class After { Nothing, Words, SparseFrontier, Fold };

// sharesColumn reports whether a GPU is in the column of this one, and so has edges from its vertices.
__device__ inline bool sharesColumn(u64 rank) {
  return graph.column >> rank & 1;
}

// countSent counts the data that this GPU has sent since the last barrier, `listed` vertices to the GPU of each lane one by
// one, and begins again. A warp calls it; each lane stands for a GPU.
__device__ inline void countSent(bool other, u64 listed, After after) {
#pragma unroll
  for (int k = 0; k < 2; k++) {
    u64 n = other ? __ldcg(&state.moved[k][lane()]) : 0;
    if (k == FOLDED && after == After::Fold) n += 8 * listed;
    if (k == EXPANDED && after == After::SparseFrontier) n += 4 * listed;
    u32 messages = __popc(__ballot_sync(~0u, n != 0));
    n = warpSum(n);
    if (lane() == 0) state.bytes[k] = n, state.messages[k] = messages;
    if (other) state.moved[k][lane()] = 0;
  }
}

// meet sends all other GPUs the counters of a level and waits for theirs. It leaves their sums in state.sum, except that
// Counters.corrections are those of this GPU, and in state.received how many vertices each GPU has sent to this one. The
// sums are zeros, which end the search, if another GPU does not come. A warp calls it; lane i stands for counter i and for
// GPU i. half is that of Message. It is not inlined, because code that is fetched for the first time waits for memory.
__device__ __noinline__ void meet(const Counters* counters, u64 barrier, After after, u64 half) {
  u64 begin = globalTime();
  bool other = lane() < graph.ranks && lane() != graph.rank;
  u64 found = __ldcg(&counters->found), mine = lane() < 8 ? __ldcg(reinterpret_cast<const u64*>(counters) + lane()) : 0;
  u64 listed = 0;
  if (other) {
    u64* sent = &state.sent[after == After::Fold ? FOLDED : EXPANDED][lane()];
    listed = __ldcg(sent);
    *sent = 0;
    if (after == After::SparseFrontier && (exchange.staged || sharesColumn(lane()))) listed = found;
  }
  for (u32 r = 0; r < graph.ranks; r++) {
    u64 sent = __shfl_sync(~0u, listed, r);
    volatile u64* into = reinterpret_cast<volatile u64*>(&exchange.mailbox[r]->from[graph.rank][barrier % 2]);
    u64 word = lane() < 8 ? mine : lane() == 8 ? sent : lane() == 9 ? u64(after) : half;
    if (r != graph.rank && lane() <= 10) into[lane()] = word;
  }
  __syncwarp();
  if (lane() == 0) {
    fenceAll(); // the counters of this GPU, and the words that all its blocks have pushed
    for (u32 r = 0; r < graph.ranks; r++) {
      if (r != graph.rank) *(volatile u64*)&exchange.mailbox[r]->from[graph.rank][barrier % 2].barrier = barrier;
    }
  }
  __syncwarp();
  countSent(other, listed, after);
  const Message(*from)[2] = exchange.mailbox[graph.rank]->from;
  bool lost = false;
  u64 flag = 0;
  for (u32 polls = 1; other && !lost && (flag = loadFlag(&from[lane()][barrier % 2].barrier)) != barrier; polls++) {
    lost = flag == ABANDONED || (polls % 1024 == 0 && globalTime() - begin > exchange.patience);
  }
  if (lost) state.lost = 1 + lane();
  lost = __any_sync(~0u, lost);
  u64 sum = mine;
#pragma unroll 4
  for (u32 r = 0; r < graph.ranks; r++) {
    u64 its = 0;
    if (r != graph.rank && lane() <= 8) its = reinterpret_cast<volatile const u64*>(&from[r][barrier % 2])[lane()];
    if (lane() != offsetof(Counters, corrections) / 8) sum += its;
    if (lane() == 8) state.received[r] = r != graph.rank ? its : found;
  }
  if (lane() < 8) reinterpret_cast<u64*>(&state.sum)[lane()] = lost ? 0 : sum;
  if (lane() == 0) state.ready = begin;
  __syncwarp();
}
static_assert(offsetof(Counters, found) == 0 && sizeof(Counters) == 8 * 8 && offsetof(Message, sent) == 8 * 8,
              "meet knows Counters");
static_assert(sizeof(Message) == 12 * 8 && offsetof(Message, half) == 10 * 8, "meet and plan.go know Message");

// enter ends a phase at a time and begins another one, which on one GPU does nothing. One thread of the first block
// calls it.
__device__ inline void enter(LevelState& level, int phase, u64 now) {
#if SEVERAL
  level.record.phase[level.phase] += now - level.since;
  level.since = now;
  level.phase = phase;
#endif
}

// enter is the same for any thread.
__device__ inline void enter(Shared& shared, int phase) {
  if (blockIdx.x == 0 && threadIdx.x == 0) enter(shared.level, phase, globalTime());
}

// syncAll waits for the searching threads of all blocks of all GPUs, and lets one thread of each block call then with
// the sums of the counters of all GPUs before the others continue.
template <class Then>
__device__ inline void syncAll(const SearchParams& params, Shared& shared, const Counters* counters, After after,
                               const Then& then) {
#if SEVERAL
  syncSearch();
  if (threadIdx.x < 32) {
    u32& moved = shared.moved[lane() / MAX_RANKS][lane() % MAX_RANKS];
    if (moved != 0) atomicAdd(&state.moved[lane() / MAX_RANKS][lane() % MAX_RANKS], u64(moved));
    moved = 0;
    __syncwarp();
    u64 barrier = params.launch << 32 | (shared.barriers + 1), met;
    u32 before = 0;
    if (lane() == 0) {
      asm volatile("atom.add.acq_rel.gpu.u32 %0, [%1], 1;" : "=r"(before) : "l"(&arrivedForAll) : "memory");
    }
    if (__shfl_sync(~0u, before, 0) + 1 == gridDim.x) {
      __syncwarp();
      if (lane() == 0) *(volatile u32*)&arrivedForAll = 0;
      // The next level's sparse frontier, or the words that this barrier follows.
      meet(counters, barrier, after, after == After::SparseFrontier ? (shared.level.number + 1) % 2 : barrier % 2);
      if (lane() == 0) asm volatile("st.release.gpu.u64 [%0], %1;" ::"l"(&state.met), "l"(barrier) : "memory");
    }
    if (lane() == 0) {
      do {
        asm volatile("ld.acquire.gpu.u64 %0, [%1];" : "=l"(met) : "l"(&state.met) : "memory");
      } while (met != barrier);
      shared.barriers++;
    }
    __syncwarp();
    if (lane() < MAX_RANKS) shared.level.received[lane()] = __ldcg(&state.received[lane()]);
    if (blockIdx.x == 0 && lane() < 2) {
      shared.level.record.bytes[lane()] += __ldcg(&state.bytes[lane()]);
      shared.level.record.messages[lane()] += __ldcg(&state.messages[lane()]);
    }
    if (lane() == 0) {
      if (blockIdx.x == 0) enter(shared.level, REDUCE, __ldcg(&state.ready));
      then(load(&state.sum));
      if (__ldcg(&state.lost) != 0) shared.level.done = 1;
    }
  }
  syncSearch();
#endif
}
static_assert(2 * MAX_RANKS == 32, "a lane for each counter of bytes, and for each GPU");

// listOf returns the vertices of a level's sparse frontier that rank `finder` has found, on a GPU.
__device__ inline u32* listOf(u64 rank, u64 level, u64 finder) {
  return exchange.list[rank] + (level % 2 * graph.ranks + finder) * 32 * graph.words;
}

// pushVertex makes v, which this GPU has found, vertex i of its part of a level's sparse frontier on the GPUs of its
// column. The others need hubs, for their leaves.
__device__ inline void pushVertex(u64 level, u64 i, u32 v) {
#pragma unroll 1
  for (u64 r = 0; r < (exchange.staged ? 1 : graph.ranks); r++) {
    if (exchange.staged || sharesColumn(r)) listOf(r, level, graph.rank)[i] = v;
    else if (v < graph.hubs) listOf(r, level, graph.rank)[atomicAdd(&state.sent[EXPANDED][r], u64(1))] = v;
  }
}

// needs reports whether GPU `rank` needs word w of the frontier of another one: all words before a bottom-up step, else
// those of its column, and the hubs, for their leaves. Either GPU may ask.
__device__ inline bool needs(u64 rank, u64 w, bool bottomUp) {
  return bottomUp || sharesColumn(rank) || w * 32 < graph.hubs;
}

// countMoved counts 4 bytes for each lane of a warp that sends them to another GPU.
__device__ inline void countMoved(Shared& shared, int what, u64 rank, bool moved) {
#if SEVERAL
  u32 lanes = __ballot_sync(~0u, moved);
  if (lane() == 0 && lanes != 0) atomicAdd(&shared.moved[what][rank], 4 * u32(__popc(lanes)));
#endif
}

// push copies own words of a frontier to the other GPUs. A warp takes 32 words, in rows of EXCHANGE_ROWS.
__device__ inline void push(Shared& shared, u32* frontier, u64 barrier, bool bottomUp) {
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
      if (!some) continue;
      if (exchange.staged && w < graph.words) exchange.frontier[0][offset + graph.rank * graph.words + w] = bits[i];
#pragma unroll 1
      for (u64 r = 0; r < graph.ranks; r++) {
        if (r == graph.rank) continue;
        bool needed = w < graph.words && needs(r, wordOf(w), bottomUp);
        if (needed && !exchange.staged) exchange.frontier[r][offset + wordOf(w)] = bits[i];
        countMoved(shared, EXPANDED, r, needed);
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
    u64 at = owner * graph.words + w / CHUNK_WORDS / graph.ranks * CHUNK_WORDS + w % CHUNK_WORDS;
    if (owner != graph.rank && needs(owner, w, bottomUp)) frontier[w] = __ldcv(from + at);
  }
}

// expand copies the next frontier to the GPUs that need it, and calls then as syncAll does.
template <class Then>
__device__ inline void expand(const SearchParams& params, Shared& shared, u32* next, const Counters* counters,
                              bool bottomUp, const Then& then) {
  syncGrid();
  enter(shared, EXPAND);
  u64 barrier = shared.barriers + 1;
  push(shared, next, barrier, bottomUp);
  syncAll(params, shared, counters, After::Words, then);
  if (!exchange.staged) return;
  enter(shared, EXPAND);
  pull(next, barrier, bottomUp);
  syncGrid();
  enter(shared, SCAN);
}

// completeFrontier gives all GPUs of a grid a whole dense frontier. They have the part of it that a top-down step needs.
__device__ inline void completeFrontier(const SearchParams& params, Shared& shared, u32* frontier,
                                        const Counters* counters) {
  if (graph.columns == 1) return;
  expand(params, shared, frontier, counters, true, [](const Counters&) {});
  enter(shared, SCAN);
}

// exchangeFrontier completes the next frontier on all GPUs, and calls then as syncAll does. After a top-down step it
// supposes that the next one is top-down, too.
template <class Then>
__device__ inline void exchangeFrontier(const SearchParams& params, Shared& shared, u32* next, const Counters* counters,
                                        const Then& then) {
  bool bottomUp = shared.level.bottomUp;
  expand(params, shared, next, counters, bottomUp, then);
  if (!bottomUp && shared.level.bottomUp && !shared.level.done) completeFrontier(params, shared, next, counters);
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

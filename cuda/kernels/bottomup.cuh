// The bottom-up step of the fused search.
//
// Lists are ascending and hubs are the first vertices, so a scan ends early where it can end at all (Kolganov 2018, section
// 2.1), and most frontier bits that are looked at lie in shared memory. The lists of 32 consecutive vertices lie in an aligned block,
// row by row, so that the lanes of a warp read neighbouring words (section 3.2, figure 4). A row has four entries of each vertex, one
// read of 16 bytes: where most vertices have been found, the few lanes that still look use half of every 32 bytes that memory
// delivers, and an eighth with single entries. A block has the rows in which enough lanes have an entry; the rest of a list, and lists
// without a block, are read from CSR, lane by lane. A block begins behind what a claim has looked at.
#pragma once
#include "claim.cuh"
#include "graph.cuh"

struct FrontierBits {
  const u32* near;
  const u32* all;
  __device__ bool operator()(u32 v) const { return v < NEAR_VERTICES ? near[v >> 5] >> (v & 31) & 1 : bit(all, v); }
};

// scan looks for a parent among list[0 ... n) and returns it, or NONE.
__device__ inline u32 scan(const u32* list, u64 n, const FrontierBits& inFrontier, u64& looked) {
  for (u64 k = 0; k < n; k += SCAN_STEP) {
    u32 t[SCAN_STEP];
#pragma unroll
    for (int i = 0; i < SCAN_STEP; i++) t[i] = k + i < n ? list[k + i] : NONE;
#pragma unroll
    for (int i = 0; i < SCAN_STEP; i++) {
      if (t[i] == NONE) break;
      looked++;
      if (inFrontier(t[i])) return t[i];
    }
  }
  return NONE;
}

// firstOf returns the first entry of a quad that is in the frontier, or NONE.
__device__ inline u32 firstOf(uint4 t, const FrontierBits& inFrontier, u64& looked) {
  const u32 entry[4] = {t.x, t.y, t.z, t.w};
#pragma unroll
  for (int i = 0; i < 4; i++) {
    if (entry[i] == NONE) break; // the list has ended
    looked++;
    if (inFrontier(entry[i])) return entry[i];
  }
  return NONE;
}

// Block is the aligned block of a word: rows of 32 quads from `at` on.
struct Block {
  u64 at;
  u32 rows;    // 0: there is no block
  bool longer; // some list goes on in CSR
  u32 skip;    // entries of every list that were looked at: the hub of a grouped word
};

__device__ inline Block blockOf(u64 w) {
  u32 rows = w < graph.alignedWords ? graph.alignedRows[w] : LONGER;
  return Block{w < graph.alignedWords ? graph.alignedAt[w] : 0, rows & ~LONGER, (rows & LONGER) != 0, grouped(w)};
}

// findFar returns a parent of v among the entries behind the aligned block; NONE if none is in the frontier.
__device__ inline u32 findFar(u32 v, const Block& b, const FrontierBits& inFrontier, u64& looked) {
  u64 from = graph.offset[v] + b.skip + 4 * u64(b.rows), to = graph.offset[v + 1];
  return from < to ? scan(graph.target + from, to - from, inFrontier, looked) : NONE;
}

// scanWords scans the lists of the vertices that are left over in the block's words. A warp takes WORDS_STEP words at a time, and
// its lanes stand for the vertices of a word. It goes down the aligned blocks of all these words together.
__device__ inline void scanWords(Shared& shared, const FrontierBits& inFrontier, u32* next, Tally& tally, BufferedFinds& finds) {
  for (;;) {
    u32 first = 0;
    if (lane() == 0) first = atomicAdd(&shared.taken, u32(WORDS_STEP));
    first = __shfl_sync(~0u, first, 0);
    if (first >= shared.words) return;
    const uint4* row[WORDS_STEP]; // the next row of each word
    u32 rows[WORDS_STEP];         // that are left
    u32 parent[WORDS_STEP];       // NONE while this lane looks for one
    u32 looking = 0;              // bit i: this lane does in word i
#pragma unroll
    for (int i = 0; i < WORDS_STEP; i++) {
      bool mine = first + i < shared.words && (shared.rest[first + i] >> lane() & 1);
      Block b = mine ? blockOf(shared.word[first + i]) : Block{};
      row[i] = graph.aligned + b.at + lane();
      rows[i] = b.rows;
      parent[i] = NONE;
      looking |= u32(mine) << i;
    }
    for (bool more = true; more;) {
      uint4 t[WORDS_STEP];
      more = false;
#pragma unroll
      for (int i = 0; i < WORDS_STEP; i++) {
        bool on = (looking >> i & 1) && rows[i] != 0;
        t[i] = on ? *row[i] : make_uint4(NONE, NONE, NONE, NONE);
        row[i] += 32;
        rows[i] -= on;
      }
#pragma unroll
      for (int i = 0; i < WORDS_STEP; i++) {
        u32 found = firstOf(t[i], inFrontier, tally.looked);
        if (found != NONE) parent[i] = found, looking &= ~(1u << i);
        more |= (looking >> i & 1) && rows[i] != 0;
      }
      more = __any_sync(~0u, more);
    }
#pragma unroll
    for (int i = 0; i < WORDS_STEP; i++) {
      if (first + i >= shared.words) break;
      u64 w = shared.word[first + i];
      u32 v = u32(w * 32) + lane();
      if (looking >> i & 1) {
        Block b = blockOf(w);
        if (b.longer) parent[i] = findFar(v, b, inFrontier, tally.looked);
      }
      bool other = parent[i] != NONE && (grouped(w) || parent[i] != graph.first[v]);  // than the template's
      finds.add(other, v, parent[i]);
      u32 hits = __ballot_sync(~0u, parent[i] != NONE);
      if (lane() == 0 && hits != 0) {
        graph.unvisited[w] &= ~hits;
        next[w] |= hits; // after what was claimed
        tally.findWord(w, hits);
      }
    }
  }
}

// contract finds a parent in the frontier for every unvisited vertex that has one. Threads take words and claim; then the warps of
// the block share the words in which vertices are left over.
__device__ inline void contract(Shared& shared, Counters* counters, const u32* frontier, u32* next, u32* spare) {
  Tally tally;
  BufferedFinds finds(shared.finds[threadIdx.x / 32]);
  for (u64 w = threadIdx.x; w < NEAR_VERTICES / 32; w += SEARCH_THREADS) shared.near[w] = w < graph.words ? frontier[w] : 0;
  FrontierBits inFrontier{shared.near, frontier};
  u64 warps = u64(gridDim.x) * (SEARCH_THREADS / 32);
  u64 warp = u64(threadIdx.x / 32) * gridDim.x + blockIdx.x; // neighbouring words, which are alike, go to different blocks
  u64 rounds = (graph.words + warps * 32 * CLAIM_STEP - 1) / (warps * 32 * CLAIM_STEP);
  for (u64 round = 0; round < rounds; round++) {
    syncSearch();
    if (threadIdx.x == 0) shared.words = shared.taken = 0;
    syncSearch();
    u32 bits[CLAIM_STEP], unvisited[CLAIM_STEP];
#pragma unroll
    for (int i = 0; i < CLAIM_STEP; i++) {
      u64 w = ((round * CLAIM_STEP + i) * warps + warp) * 32 + lane();
      bits[i] = w < graph.words ? frontier[w] : 0;
      unvisited[i] = w < graph.words ? graph.unvisited[w] : 0;
    }
#pragma unroll
    for (int i = 0; i < CLAIM_STEP; i++) {
      u64 w = ((round * CLAIM_STEP + i) * warps + warp) * 32 + lane();
      u32 rest = 0;
      if (w < graph.words) {
        spare[w] = 0;
        if (w * 32 < graph.hubs) tally.expandWord(w, bits[i]);
        u32 claimed = unvisited[i] != 0 && grouped(w) ? claim(w, unvisited[i], inFrontier) : 0;
        if (claimed != 0) {
          graph.unvisited[w] = unvisited[i] & ~claimed;
          next[w] = claimed;
          tally.findWord(w, claimed);
        }
        rest = unvisited[i] & ~claimed;
      }
      u32 left = __ballot_sync(~0u, rest != 0);
      u32 at = 0;
      if (lane() == 0 && left != 0) at = atomicAdd(&shared.words, u32(__popc(left)));
      at = __shfl_sync(~0u, at, 0) + __popc(left & below(lane()));
      if (rest != 0) shared.word[at] = u32(w), shared.rest[at] = rest;
    }
    syncSearch();
    scanWords(shared, inFrontier, next, tally, finds);
  }
  finds.flush();
  report(shared, counters, tally);
}

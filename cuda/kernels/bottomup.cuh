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
  u32 nearby; // vertices in near
  __device__ bool operator()(u32 v) const { return v < nearby ? near[v >> 5] >> (v & 31) & 1 : bit(all, v); }
};

// scan looks for a parent among list[0 ... n) and returns it, or NONE.
__device__ inline u32 scan(const u32* list, u64 n, const FrontierBits& inFrontier, u32& looked) {
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

// nearHits returns which entries of a quad are in the frontier, bit k for entry k, among those whose bits are in shared memory.
__device__ inline u32 nearHits(const u32 (&entry)[4], const FrontierBits& inFrontier) {
  u32 hits = 0;
#pragma unroll
  for (int k = 0; k < 4; k++) {
    if (entry[k] < inFrontier.nearby) hits |= (inFrontier.near[entry[k] >> 5] >> (entry[k] & 31) & 1) << k;
  }
  return hits;
}

// findFar returns a parent of v among the entries behind the aligned block of so many rows; NONE if none is in the frontier. The block
// begins behind what a claim has looked at.
__device__ inline u32 findFar(u32 v, u32 rows, const FrontierBits& inFrontier, u32& looked) {
  u64 from = graph.offset[v] + grouped(v / 32) + 4 * u64(rows), to = graph.offset[v + 1];
  return from < to ? scan(graph.target + from, to - from, inFrontier, looked) : NONE;
}

// scanWords scans the lists of the vertices that are left over in the block's words. A warp takes WORDS_STEP words at a time, and
// its lanes stand for the vertices of a word. It goes down the aligned blocks of all these words together: one quad of each, then all
// looks at bits in shared memory, and where these find nothing all looks at the other bits, so that each kind of wait comes once.
__device__ inline void scanWords(Shared& shared, const FrontierBits& inFrontier, u32* next, Tally& tally, BufferedFinds& finds) {
  for (;;) {
    u32 begin = 0;
    if (lane() == 0) begin = atomicAdd(&shared.taken, u32(WORDS_STEP));
    begin = __shfl_sync(~0u, begin, 0);
    if (begin >= shared.words) return;
    const uint4* row[WORDS_STEP]; // the next row of each word
    u32 rows[WORDS_STEP];         // that are left
    u32 parent[WORDS_STEP];       // NONE while this lane looks for one
    u32 looking = 0;              // bit i: this lane does in word i
    u32 first = 0;                // bit i: what it found is the first entry of the block
#pragma unroll
    for (int i = 0; i < WORDS_STEP; i++) {
      Left left = begin + i < shared.words ? shared.left[begin + i] : Left{};
      row[i] = graph.aligned + left.at + lane();
      rows[i] = left.rows & ~LONGER;
      parent[i] = NONE;
      looking |= (left.rest >> lane() & 1) << i;
    }
    u32 top = 1; // in the first row
    for (bool more = true; more; top = 0) {
      u32 entry[WORDS_STEP][4], hits[WORDS_STEP], word[WORDS_STEP][4];
      u32 reads = 0; // bit i: this lane reads a row of word i
      more = false;
#pragma unroll
      for (int i = 0; i < WORDS_STEP; i++) {
        bool on = (looking >> i & 1) && rows[i] != 0;
        reads |= u32(on) << i;
        uint4 t = on ? *row[i] : make_uint4(NONE, NONE, NONE, NONE);
        entry[i][0] = t.x, entry[i][1] = t.y, entry[i][2] = t.z, entry[i][3] = t.w;
        row[i] += 32;
        rows[i] -= on;
      }
#pragma unroll
      for (int i = 0; i < WORDS_STEP; i++) {
        hits[i] = nearHits(entry[i], inFrontier);
#pragma unroll
        for (int k = 0; k < 4; k++) {
          bool far = hits[i] == 0 && entry[i][k] >= inFrontier.nearby && entry[i][k] != NONE;
          word[i][k] = far ? __ldcg(inFrontier.all + (entry[i][k] >> 5)) : 0;
        }
      }
#pragma unroll
      for (int i = 0; i < WORDS_STEP; i++) {
        bool ended = (reads >> i & 1) && entry[i][3] == NONE; // the list has, in this row
#pragma unroll
        for (int k = 0; k < 4; k++) {
          hits[i] |= (word[i][k] >> (entry[i][k] & 31) & 1) << k;
          if (parent[i] == NONE && entry[i][k] != NONE) {
            tally.looked++;
            if (hits[i] >> k & 1) parent[i] = entry[i][k];
          }
        }
        first |= (hits[i] & top) << i;
        if (parent[i] != NONE || ended) looking &= ~(1u << i);
        more |= (looking >> i & 1) && rows[i] != 0;
      }
      more = __any_sync(~0u, more);
    }
#pragma unroll
    for (int i = 0; i < WORDS_STEP; i++) {
      if (begin + i >= shared.words) break;
      const Left& left = shared.left[begin + i];
      u32 v = left.word * 32 + lane();
      if ((looking >> i & 1) && (left.rows & LONGER)) {
        parent[i] = findFar(v, left.rows & ~LONGER, inFrontier, tally.looked);
        if (left.rows == LONGER) first |= u32(parent[i] == graph.first[v]) << i;
      }
      bool other = parent[i] != NONE && (grouped(left.word) || !(first >> i & 1));  // than the template's
      finds.add(other, v, parent[i]);
      u32 found = __ballot_sync(~0u, parent[i] != NONE);
      if (lane() == 0 && found != 0) {
        graph.unvisited[left.word] = left.rest & ~found;
        next[left.word] = left.claimed | found;
        tally.findWord(left.word, found);
      }
    }
  }
}

// contract finds a parent in the frontier for every unvisited vertex that has one. Threads take words and claim; then the warps of
// the block share the words in which vertices are left over.
__device__ inline void contract(Shared& shared, Counters* counters, u32 nearby, const u32* frontier, u32* next, u32* spare) {
  Tally tally;
  BufferedFinds finds(shared.finds[threadIdx.x / 32]);
  for (u64 w = threadIdx.x; w < nearby / 32; w += SEARCH_THREADS) shared.near[w] = w < graph.words ? frontier[w] : 0;
  FrontierBits inFrontier{shared.near, frontier, nearby};
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
      u32 rest = 0, claimed = 0;
      if (w < graph.words) {
        spare[w] = 0;
        if (w * 32 < graph.hubs) tally.expandWord(w, bits[i]);
        claimed = unvisited[i] != 0 && grouped(w) ? claim(w, unvisited[i], inFrontier) : 0;
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
      if (rest != 0) {
        bool aligned = w < graph.alignedWords;
        shared.left[at] = Left{aligned ? graph.alignedAt[w] : 0, aligned ? graph.alignedRows[w] : LONGER, u32(w), rest, claimed};
      }
    }
    syncSearch();
    scanWords(shared, inFrontier, next, tally, finds);
  }
  finds.flush();
  report(shared, counters, tally, finds.added);
}

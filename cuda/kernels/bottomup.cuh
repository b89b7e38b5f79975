// SPDX-License-Identifier: Apache-2.0

// Parts of the bottom-up step: finding vertices through their hubs, and scanning the lists of the others.
//
// Lists are ascending and hubs are the first vertices, so a scan ends as early as it can (Kolganov 2018, section
// 2.1), and most of the frontier bits that it tests are cached in shared memory. The lists of 32 consecutive vertices
// lie in an aligned block, row by row, so that the lanes of a warp read neighboring words (section 3.2, figure 4). A
// row has four entries of each vertex, one read of 16 bytes: when most vertices have been found, the few lanes that
// go on scanning use half of every 32 bytes that memory delivers, and would use an eighth with single entries. A block
// has only the rows in which enough lanes have an entry; the rest of a list, and lists without a block, are read from
// CSR, lane by lane. In a grouped word the blocks begin behind the first neighbors, which are the hubs.
#pragma once
#include "output.cuh"

// FrontierBits is the frontier as a bitmap whose first vertices are cached in shared memory.
struct FrontierBits {
  const u32* cached;
  const u32* all;
  u32 cachedVertices;
  __device__ bool operator()(u32 v) const { return v < cachedVertices ? cached[v >> 5] >> (v & 31) & 1 : bit(all, v); }
};

// findThroughHubs returns those of the unvisited vertices of grouped own word w whose hub is in the frontier.
__device__ inline u32 findThroughHubs(u64 w, u32 unvisited, const FrontierBits& inFrontier) {
  u32 hub = graph.wordHub[w];
  if (hub != NONE) return inFrontier(hub) ? unvisited : 0;
  u32 found = 0;
  for (u32 rest = unvisited; rest != 0;) { // one group after the other
    hub = graph.firstNeighbor[w * 32 + __ffs(rest) - 1];
    u32 group = rest & lowBits(graph.groupBegin[hub + 1] - w * 32);
    if (inFrontier(hub)) found |= group;
    rest &= ~group;
  }
  return found;
}

// scan returns the first entry at the cursor or behind it that is in the frontier, or NONE.
__device__ inline u32 scan(Cursor cursor, const FrontierBits& inFrontier, u32& examined) {
  while (cursor.at < cursor.list.length) {
    u32 t[SCAN_ENTRIES];
#pragma unroll
    for (int i = 0; i < SCAN_ENTRIES; i++) t[i] = cursor.next();
#pragma unroll
    for (int i = 0; i < SCAN_ENTRIES; i++) {
      if (t[i] == NONE) break;
      examined++;
      if (inFrontier(t[i])) return t[i];
    }
  }
  return NONE;
}

// scanBeyondBlock scans the entries of v behind `rows` rows of its aligned block. It returns a parent, or NONE.
__device__ inline u32 scanBeyondBlock(u32 v, u32 rows, const FrontierBits& inFrontier, u32& examined) {
  return scan(Cursor(neighborsOf(v), grouped(v / 32) + 4 * rows), inFrontier, examined);
}

// cachedHits returns which of four entries are in the frontier according to the cached bits: bit k for entry k.
__device__ inline u32 cachedHits(const u32 (&entry)[4], const FrontierBits& inFrontier) {
  u32 hits = 0;
#pragma unroll
  for (int k = 0; k < 4; k++) {
    if (entry[k] < inFrontier.cachedVertices) hits |= (inFrontier.cached[entry[k] >> 5] >> (entry[k] & 31) & 1) << k;
  }
  return hits;
}

// scanPending scans the lists of the vertices of the block's pending words. A warp takes WORDS_PER_WARP words at a
// time, and its lanes stand for the vertices of a word. It interleaves the scans of their aligned blocks: it reads one
// row of each, then all cached bits of the frontier, then, for rows without a hit, all other bits, so that each kind of
// latency is paid once for all words.
__device__ inline void scanPending(Shared& shared, const FrontierBits& inFrontier, u32* next, Tally& tally,
                                   BufferedCorrections& corrections) {
  for (;;) {
    u32 begin = 0;
    if (lane() == 0) begin = atomicAdd(&shared.taken, u32(WORDS_PER_WARP));
    begin = __shfl_sync(~0u, begin, 0);
    if (begin >= shared.words) return;
    const uint4* row[WORDS_PER_WARP]; // the next row of each word
    u32 rows[WORDS_PER_WARP];         // that remain
    u32 parent[WORDS_PER_WARP];       // NONE until this lane has found one
    u32 scanning = 0;                 // bit i: this lane scans in word i
    u32 first = 0;                    // bit i: its parent in word i is the first entry of the block
#pragma unroll
    for (int i = 0; i < WORDS_PER_WARP; i++) {
      PendingWord pending = begin + i < shared.words ? shared.pending[begin + i] : PendingWord{};
      row[i] = graph.aligned + pending.block + lane();
      rows[i] = pending.rows & ~LONGER;
      parent[i] = NONE;
      scanning |= (pending.unvisited >> lane() & 1) << i;
    }
    u32 top = 1; // in the first row
    for (bool more = true; more; top = 0) {
      u32 entry[WORDS_PER_WARP][4], hits[WORDS_PER_WARP], word[WORDS_PER_WARP][4];
      u32 reads = 0; // bit i: this lane reads a row of word i
      more = false;
#pragma unroll
      for (int i = 0; i < WORDS_PER_WARP; i++) {
        bool on = (scanning >> i & 1) && rows[i] != 0;
        reads |= u32(on) << i;
        uint4 t = on ? *row[i] : make_uint4(NONE, NONE, NONE, NONE);
        entry[i][0] = t.x, entry[i][1] = t.y, entry[i][2] = t.z, entry[i][3] = t.w;
        row[i] += 32;
        rows[i] -= on;
      }
#pragma unroll
      for (int i = 0; i < WORDS_PER_WARP; i++) {
        hits[i] = cachedHits(entry[i], inFrontier);
#pragma unroll
        for (int k = 0; k < 4; k++) {
          bool uncached = hits[i] == 0 && entry[i][k] >= inFrontier.cachedVertices && entry[i][k] != NONE;
          word[i][k] = uncached ? __ldcg(inFrontier.all + (entry[i][k] >> 5)) : 0;
        }
      }
#pragma unroll
      for (int i = 0; i < WORDS_PER_WARP; i++) {
        bool ended = (reads >> i & 1) && entry[i][3] == NONE; // the list ends in this row
#pragma unroll
        for (int k = 0; k < 4; k++) {
          hits[i] |= (word[i][k] >> (entry[i][k] & 31) & 1) << k;
          if (parent[i] == NONE && entry[i][k] != NONE) {
            tally.examined++;
            if (hits[i] >> k & 1) parent[i] = entry[i][k];
          }
        }
        first |= (hits[i] & top) << i;
        if (parent[i] != NONE || ended) scanning &= ~(1u << i);
        more |= (scanning >> i & 1) && rows[i] != 0;
      }
      more = __any_sync(~0u, more);
    }
#pragma unroll
    for (int i = 0; i < WORDS_PER_WARP; i++) {
      if (begin + i >= shared.words) break;
      const PendingWord& pending = shared.pending[begin + i];
      u32 v = pending.word * 32 + lane();
      if ((scanning >> i & 1) && (pending.rows & LONGER)) {
        parent[i] = scanBeyondBlock(v, pending.rows & ~LONGER, inFrontier, tally.examined);
        if (pending.rows == LONGER) first |= u32(parent[i] == graph.firstNeighbor[v]) << i;
      }
      bool other = parent[i] != NONE && (grouped(pending.word) || !(first >> i & 1));  // than the template's
      corrections.add(other, v, parent[i]);
      u32 found = __ballot_sync(~0u, parent[i] != NONE);
      if (lane() == 0 && found != 0) {
        graph.unvisited[pending.word] = pending.unvisited & ~found;
        next[wordOf(pending.word)] = pending.found | found;
        tally.addFoundWord(pending.word, found);
      }
    }
  }
}

// SPDX-License-Identifier: Apache-2.0

// Neighbor lists: plain, as in CSR, or packed (option adjacency).
//
// Packed lists store differences with as few bits as a chunk of 32 entries needs: binary packing of differences (Lemire
// and Boytsov, "Decoding billions of integers per second through vectorization", Software: Practice and Experience 2015),
// with a chunk for a warp (Mallia, Siedlaczek, Suel, Zahran, "GPU-Accelerated Decoding of Integer Lists", CIKM 2019). A
// list of n entries in words of 32 bits:
//
//   first, place << 5 | width      for each of its ceil(n/32) chunks: the first entry, where the differences begin, in
//                                  words from the beginning of the list, and how many bits each of them has
//   differences                    of the other entries of a chunk from the one before, less 1; the chunk begins with a
//                                  word and ends with one
//
// A warp decodes a chunk with two reads a lane and prefix sums; a single lane decodes a list from the beginning of a chunk.
// Vertices in the order of graph.cuh have small differences: neighbors of large degree have small numbers.
//
// An offset of packed lists is begin << LENGTH_BITS | length, with the beginning in words.
#pragma once
#include "graph.cuh"

// PACKED is set by build.sh, for one GPU.
#ifndef PACKED
#define PACKED false
#endif

constexpr int WIDTH_BITS = 5;
constexpr int LENGTH_BITS = 26;

// lengthIn returns the length of v's list.
__device__ inline u64 lengthIn(const u64* offset, u32 v) {
  return PACKED ? offset[v] & ((1 << LENGTH_BITS) - 1) : offset[v + 1] - offset[v];
}

// bitsAt returns `width` bits, fewer than 32, from bit number `bit` of words on. It reads the word behind them, too.
__device__ inline u32 bitsAt(const u32* words, u32 bit, u32 width) {
  return __funnelshift_r(words[bit >> 5], words[(bit >> 5) + 1], bit & 31) & lowBits(width);
}

// List is the list of a vertex: ascending vertices.
struct List {
  const u32* words; // the entries, if it is plain
  u32 length;

  __device__ List() : words(nullptr), length(0) {}
  __device__ List(const u32* words, u32 length) : words(words), length(length) {}
  __device__ List(const u64* offset, const u32* target, u32 v)
      : words(target + (PACKED ? offset[v] >> LENGTH_BITS : offset[v])), length(u32(lengthIn(offset, v))) {}

  // difference returns entry i of the list less entry i-1; at the beginning of a chunk it returns the entry.
  __device__ u32 difference(u32 i) const {
    u32 first = words[i / 32 * 2], header = words[i / 32 * 2 + 1];
    if (i % 32 == 0) return first;
    u32 width = header & lowBits(WIDTH_BITS);
    return bitsAt(words + (header >> WIDTH_BITS), (i % 32 - 1) * width, width) + 1;
  }

  // row returns entry k + lane(), NONE beyond the end of the list. A row of a packed list is a chunk: k is a multiple of
  // 32. All lanes of the warp call it. fullRow does the same where the list has 32 entries from k on.
  __device__ u32 row(u32 k) const {
    u32 i = k + lane();
    if (!PACKED) return i < length ? words[i] : NONE;
    u32 entry = sumUntil(i < length ? difference(i) : 0);
    return i < length ? entry : NONE;
  }
  __device__ u32 fullRow(u32 k) const { return PACKED ? sumUntil(difference(k + lane())) : words[k + lane()]; }

  // operator[] returns entry i.
  __device__ u32 operator[](u32 i) const {
    if (!PACKED) return words[i];
    u32 entry = 0;
    for (u32 k = i & ~31u; k <= i; k++) entry += difference(k);
    return entry;
  }
};

// Cursor goes through a list from entry `at` on, by `step` entries, 1 if it is packed. Each lane has its cursor.
struct Cursor {
  List list;
  u32 at, step, entry = 0; // entry: the one before `at`

  __device__ Cursor(const List& list, u32 at, u32 step = 1) : list(list), at(at), step(step) {
    if (PACKED && at % 32 != 0 && at < list.length) entry = list[at - 1];
  }

  // next returns the next entry, NONE at the end.
  __device__ u32 next() {
    if (at >= list.length) return NONE;
    if (!PACKED) return list.words[(at += step) - step];
    u32 more = list.difference(at);
    return entry = at++ % 32 == 0 ? more : entry + more;
  }
};

// neighborsOf returns the list of own vertex v, and neighborsBySource that of v by source.
__device__ inline List neighborsOf(u32 v) { return List(graph.offset, graph.target, v); }
__device__ inline List neighborsBySource(u32 v) { return List(graph.sourceOffset, graph.sourceTarget, v); }

// lengthOf returns the length of v's list by source.
__device__ inline u64 lengthOf(u32 v) { return lengthIn(graph.sourceOffset, v); }

// topDownEdges returns how many entries of v's list a top-down step follows: a hub's group is found without them.
__device__ inline u64 topDownEdges(u32 v) { return v < graph.hubs ? graph.hubEdges[v] : lengthOf(v); }

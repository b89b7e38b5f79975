// SPDX-License-Identifier: Apache-2.0

// The rules of package graph/validate for kernels 2 and 3. Levels come from the parents by pointer jumping (Wyllie, "The
// complexity of parallel computations", 1979): each vertex has an ancestor and its distance from it, and goes to the
// ancestor of that one, so a tree of depth d takes log2(d) rounds. Then one pass reads all tuples: their levels, or
// their distances.
//
// Vertices are 32-bit numbers below 2^31.
#include <cmath>
#include <cstdint>

typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;

constexpr u32 UNREACHED = ~u32(0);    // instead of a parent
constexpr u32 UNUSABLE = UNREACHED - 1; // the parent is not a vertex
constexpr int MAX_WORD_LEVEL = 0xff - 1; // largest level of a word

// Findings are counters, and the lowest vertex or tuple that breaks a rule; ~0: none. findings of validate.go is the same.
struct Findings {
  u64 badRoot;                         // the root is not its own parent
  u64 unusable;                        // a vertex, rule 1
  u64 far, unspanned;                  // tuples, rules 3 and 4
  u64 noTuple;                         // a vertex whose tree edge is not a tuple, rule 5
  u64 badTuple;                        // a tuple with a label that is not a vertex
  u64 goesOn, lost;                    // pointer jumping has not ended; a vertex is not connected to the root
  u64 reached, depth, missed, loops;
  u64 badDistance;                     // a vertex, rule 2 of kernel 3
  u64 farthest;                        // bits of the largest distance
};

__device__ u64 thread() { return u64(blockIdx.x) * blockDim.x + threadIdx.x; }

__device__ u64 threads() { return u64(gridDim.x) * blockDim.x; }

__device__ void lowest(u64& at, u64 i) {
  if (i < *(volatile u64*)&at) atomicMin((unsigned long long*)&at, (unsigned long long)i);
}

__device__ void highest(u64& at, u64 x) {
  if (x > *(volatile u64*)&at) atomicMax((unsigned long long*)&at, (unsigned long long)x);
}

// add adds n of all threads of a warp, which must all call it, to a counter.
__device__ void add(u64& to, u64 n) {
  for (int d = 16; d > 0; d /= 2) n += __shfl_xor_sync(~0u, n, d);
  if (threadIdx.x % 32 == 0 && n != 0) atomicAdd((unsigned long long*)&to, (unsigned long long)n);
}

// unpack turns a chunk of tuples of 12 bytes into pairs of labels. The first has the number given.
extern "C" __global__ void unpack(const u32* tuples, u64 n, u64 number, uint2* pairs, u64 vertices, Findings* f) {
  for (u64 i = thread(); i < n; i += threads()) {
    u32 u = tuples[3 * i], v = tuples[3 * i + 1];
    if (u >= vertices || v >= vertices || tuples[3 * i + 2] != 0) lowest(f->badTuple, number + i);
    pairs[i] = make_uint2(u, v);
  }
}

// read_parents reads a chunk of parents of 64 bits, whose first is that of vertex first. The jump of a vertex has its
// distance from an ancestor in the high half, and the ancestor in the low half.
extern "C" __global__ void read_parents(const long long* in, u64 n, u64 first, u64 vertices, u64 root, u32* parent,
                                        u64* jump, Findings* f) {
  for (u64 i = thread(); i < n; i += threads()) {
    u64 v = first + i;
    long long p = in[i];
    u32 to = u32(p);
    if (p == -1) to = UNREACHED;
    else if (p < 0 || u64(p) >= vertices) to = UNUSABLE, lowest(f->unusable, v);
    if (v == root && to != root) f->badRoot = v;
    parent[v] = to;
    jump[v] = u64(v != root && to < UNUSABLE) << 32 | to;
  }
}

// jump_levels is a round of pointer jumping. Threads may change jumps at the same time: each jump is true at any time.
extern "C" __global__ void jump_levels(u64* jump, u64 vertices, u64 root, Findings* f) {
  bool goesOn = false, lost = false;
  for (u64 v = thread(); v < vertices; v += threads()) {
    u64 mine = jump[v];
    u32 ancestor = u32(mine);
    if (ancestor >= UNUSABLE || ancestor == root) continue;
    u64 next = ((volatile u64*)jump)[ancestor];
    if (u32(next) >= UNUSABLE) {
      lost = true;
      continue;
    }
    jump[v] = ((mine >> 32) + (next >> 32)) << 32 | u32(next);
    goesOn |= u32(next) != root;
  }
  if (goesOn) f->goesOn = 1;
  if (lost) f->lost = 1;
}

// make_words makes a word of 16 bits for each vertex, which the pass over the tuples reads: its level plus one, or 0 if it
// is unreached, and the lowest bits of its parent. It counts the vertices, and finds the depth.
extern "C" __global__ void make_words(const u32* parent, const u64* jump, u64 vertices, u16* words, Findings* f) {
  u64 reached = 0, depth = 0;
  for (u64 v = thread(); v < vertices; v += threads()) {
    u64 level = jump[v] >> 32;
    bool in = parent[v] != UNREACHED;
    words[v] = in ? u16((level + 1) << 8 | (parent[v] & 0xff)) : 0;
    reached += in;
    if (in && level > depth) depth = level;
  }
  add(f->reached, reached);
  highest(f->depth, depth);
}

// mark notes that the tree edge of a vertex is a tuple.
__device__ void mark(u32* found, u32 v) {
  u32 bit = u32(1) << v % 32;
  if ((((volatile u32*)found)[v / 32] & bit) == 0) atomicOr(&found[v / 32], bit);
}

// check_tuples is the pass over the tuples, or over n of them from number `number` on. If a level does not fit a word, it
// reads the jumps.
extern "C" __global__ void check_tuples(const uint2* pairs, u64 n, u64 number, const u32* parent, const u64* jump, const u16* words,
                                        u32* found, Findings* f) {
  u64 missed = 0, loops = 0;
  bool deep = f->depth > MAX_WORD_LEVEL;
  for (u64 i = thread(); i < n; i += threads()) {
    uint2 t = pairs[i];
    u32 wordU = words[t.x], wordV = words[t.y];
    long long levelU = wordU >> 8, levelV = wordV >> 8;
    if (deep) {
      levelU = parent[t.x] == UNREACHED ? 0 : (jump[t.x] >> 32) + 1;
      levelV = parent[t.y] == UNREACHED ? 0 : (jump[t.y] >> 32) + 1;
    }
    if (levelU == 0 || levelV == 0) {
      missed += levelU == levelV;
      if (levelU != levelV) lowest(f->unspanned, number + i);
    } else if (levelU - levelV > 1 || levelV - levelU > 1) {
      lowest(f->far, number + i);
    } else if (t.x == t.y) {
      loops++;
    } else if (levelU > levelV) {
      if ((wordU & 0xff) == (t.y & 0xff) && parent[t.x] == t.y) mark(found, t.x);
    } else if (levelV > levelU) {
      if ((wordV & 0xff) == (t.x & 0xff) && parent[t.y] == t.x) mark(found, t.y);
    }
  }
  add(f->missed, missed), add(f->loops, loops);
}

// read_distances reads a chunk of distances, whose first is that of vertex first, and checks rule 2 of kernel 3: the root
// has 0, reached vertices have numbers that are not negative, and the others +Inf.
extern "C" __global__ void read_distances(const u32* in, u64 n, u64 first, u64 root, const u32* parent, u32* distance,
                                          Findings* f) {
  constexpr u32 INFINITE = 0x7f800000; // the bits of +Inf; -0, negative numbers and NaN have greater ones
  u32 farthest = 0;
  for (u64 i = thread(); i < n; i += threads()) {
    u64 v = first + i;
    u32 bits = in[i];
    distance[v] = bits;
    bool fits = parent[v] == UNREACHED ? bits == INFINITE : bits < INFINITE && (v != root || bits == 0);
    if (!fits) lowest(f->badDistance, v);
    else if (bits < INFINITE) farthest = max(farthest, bits);
  }
  highest(f->farthest, farthest);
}

// check_paths is check_tuples for kernel 3: rules 3 and 4, and the tree edges of the right weight. By rule 2
// the distances tell which vertices are reached. Most tuples are on no shortest path.
extern "C" __global__ void check_paths(const uint2* pairs, const float* weights, u64 n, u64 number, const u32* parent,
                                       const float* distance, u32* found, Findings* f) {
  u64 missed = 0, loops = 0;
  for (u64 i = thread(); i < n; i += threads()) {
    uint2 t = pairs[i];
    float dU = distance[t.x], dV = distance[t.y], weight = weights[number + i], toV = dU + weight, toU = dV + weight;
    if (t.x != t.y && toV > dV && toU > dU) continue;
    bool inU = dU < INFINITY, inV = dV < INFINITY;
    if (!inU || !inV) {
      missed += inU == inV;
      if (inU != inV) lowest(f->unspanned, number + i);
    } else if (toV < dV || toU < dU) {
      lowest(f->far, number + i);
    } else if (t.x == t.y) {
      loops++;
    } else {
      if (toV == dV && parent[t.y] == t.x) mark(found, t.y);
      if (toU == dU && parent[t.x] == t.y) mark(found, t.x);
    }
  }
  add(f->missed, missed), add(f->loops, loops);
}

// find_missing finds the lowest vertex whose tree edge is not a tuple.
extern "C" __global__ void find_missing(const u32* parent, const u32* found, u64 vertices, u64 root, Findings* f) {
  for (u64 v = thread(); v < vertices; v += threads()) {
    if (parent[v] != UNREACHED && v != root && (found[v / 32] >> v % 32 & 1) == 0) lowest(f->noTuple, v);
  }
}

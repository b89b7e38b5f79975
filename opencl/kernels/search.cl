// SPDX-License-Identifier: Apache-2.0

// Kernel 2. ../bfs.go describes the search. Builds define, besides WG:
//
//   QUEUE        pieces of the next frontier that a work-group collects in local memory
//   PIECE        edges of a piece
//   ONE_GROUP    edges that one work-group follows, level after level, in one slot
//   READS        entries that an item reads, top-down, before it looks at the first of them
//   SCAN         entries that one item looks at, bottom-up, before it leaves a list to others
//   CHECKED      reads of words that other items change are atomic, for checkers of races

#define BLOCK 8u            // words of a bitmap that stay together; a chunk has blocks from distant parts
#define LONG (16u * PIECE)    // edges of a long piece, which work-groups follow; shorter lists have short pieces
#define PARTS ((LONG + READS * WG - 1) / (READS * WG)) // of a long piece, each for a work-group
#define ONE_GROUP_LEVELS 256u // in a slot: a limit for watchdogs
#define LONG_LISTS 256u     // that are left to others in a chunk
#define TEAM 32u            // items, at least, that share such a list
#define FEW_LEVELS 3u       // levels with few vertices before a search goes back to top-down

enum { AUTO, TOP_DOWN_ONLY, BOTTOM_UP_ONLY };

// The state of a search. Slot s reads that of slot s-1 and the counts of slot s-1, both in rings of 4 of 16 words.
enum { MODE, CURRENT, NEXT, FRONTIER, PIECES, LONG_PIECES, EDGES, FEW, UNEXPLORED, PREVIOUS, SLOTS, WORDS };
enum { TOP_DOWN, BOTTOM_UP, CONVERT, DONE, INITIAL }; // MODE
enum { FOUND, FOUND_EDGES, FOUND_PIECES, FOUND_LONG }; // counts
enum { RING = 16, COUNTS = 64, RESULT = 128 }; // places in the state
enum { IS_DONE, SLOTS_USED };                  // in the result

#ifdef CHECKED
#define LOAD(at) atomic_or((volatile __global uint*)(at), 0u)
#else
#define LOAD(at) (*(at))
#endif

static inline bool bit(__global const uint* words, uint v) { return words[v >> 5] >> (v & 31) & 1; }

static inline uint lowestBit(uint x) { return 31 - clz(x & -x); }

// advance computes the state of a slot. The rule is graph.Switch.Next (graph/direction.go) with two conditions more. A
// frontier with fewer edges than a bitmap has words stays top-down; otherwise searches of deep graphs would change
// direction repeatedly before their end. A search goes back to top-down after FEW_LEVELS levels that allow it, because
// the way back takes a slot, and most searches are over by then.
static inline void advance(uint slot, const Graph* g, __global const uint* state, uint* s) {
  __global const uint* before = state + (slot + 3 & 3) * RING;
  __global const uint* counts = before + COUNTS;
  for (int i = 0; i < WORDS; i++) s[i] = before[i];
  uint mode = s[MODE], edges = s[EDGES];
  if (mode == DONE) return;
  s[SLOTS]++;
  if (mode != CONVERT) {
    s[PREVIOUS] = s[FRONTIER];
    s[FRONTIER] = counts[FOUND];
  }
  if (s[FRONTIER] == 0) {
    s[MODE] = DONE;
    return;
  }
  if (mode == BOTTOM_UP) {
    s[CURRENT] ^= 1;
    s[FEW] += s[FRONTIER] <= s[PREVIOUS] && (float)s[FRONTIER] * g->beta < (float)g->searched;
    if (g->steps == AUTO && s[FEW] >= FEW_LEVELS) s[MODE] = CONVERT;
    return;
  }
  s[PIECES] = counts[FOUND_PIECES];
  s[LONG_PIECES] = counts[FOUND_LONG];
  s[EDGES] = counts[FOUND_EDGES];
  if (mode == CONVERT) {
    s[MODE] = TOP_DOWN;
    s[NEXT] = 1;
    s[FEW] = 0;
    return;
  }
  s[UNEXPLORED] -= min(edges, s[UNEXPLORED]);
  s[NEXT] ^= 1;
  bool doubled = s[FRONTIER] >= 2 * s[PREVIOUS], many = (float)s[EDGES] * g->alpha > (float)s[UNEXPLORED];
  s[MODE] = g->steps == BOTTOM_UP_ONLY || (g->steps == AUTO && doubled && many && s[EDGES] > g->words) ? BOTTOM_UP
                                                                                                     : TOP_DOWN;
}

// loadState gives all items of a work-group the state of the slot, after a barrier.
INLINED void loadState(uint slot, const Graph* g, __global const uint* state, __local uint* shared) {
  if (get_local_id(0) != 0) return;
  uint s[WORDS];
  advance(slot, g, state, s);
  for (int i = 0; i < WORDS; i++) shared[i] = s[i];
}

// chunkCount returns the number of chunks of a bitmap, and wordAt the word number i of a chunk.
static inline uint chunkCount(const Graph* g) {
  uint blocks = (g->words + BLOCK - 1) / BLOCK, each = g->chunkWords / BLOCK;
  return (blocks + each - 1) / each;
}
static inline uint wordAt(uint i, uint chunk, uint chunks) { return (i / BLOCK * chunks + chunk) * BLOCK + i % BLOCK; }

// widen returns two parents as 64 bits: NONE becomes -1.
static inline long2 widen(uint2 p) { return convert_long2(p) | convert_long2(p == (uint2)(NONE)); }

// copyTemplate copies pairs [from, to) of the template to the parents.
static inline void copyTemplate(__global const uint2* restrict outputTemplate, __global long2* restrict parent, uint from,
                                uint to) {
  size_t all = get_global_size(0), i = from + get_global_id(0);
  for (; i + 3 * all < to; i += 4 * all) {
    uint2 read[4];
    for (int k = 0; k < 4; k++) read[k] = outputTemplate[i + k * all];
    for (int k = 0; k < 4; k++) parent[i + k * all] = widen(read[k]);
  }
  for (; i < to; i += all) parent[i] = widen(outputTemplate[i]);
}

// begin_search makes the root, or its hub if it is a leaf, the frontier: the only visited vertex.
__kernel void begin_search(uint root, Graph g, __global const uint* vertex, __global const uint* outputTemplate,
                           __global const uint* offset, __global uint* visited, __global uint* corrected,
                           __global uint* by, __global uint2* queue, __global uint2* longQueue,
                           __global long2* parent, __global uint* state, uint copyFrom, uint copyTo) {
  size_t id = get_global_id(0), all = get_global_size(0);
  uint own = vertex[root], v = own;
  if (own != NONE && own >= g.searched) v = vertex[outputTemplate[root]];
  for (size_t w = id; w < g.words; w += all) {
    uint none = w * 32 + 32 <= g.searched ? 0 : ~((1u << (g.searched & 31)) - 1); // bits that are not vertices
    uint mine = v != NONE && v / 32 == w ? 1u << (v & 31) : 0;
    visited[w] = none | mine;
    corrected[w] = mine;
  }
  uint edges = v != NONE ? offset[v + 1] - offset[v] : 0;
  uint length = edges > LONG ? LONG : PIECE, pieces = (edges + length - 1) / length;
  for (size_t i = id; i < pieces; i += all) (edges > LONG ? longQueue : queue)[i] = (uint2)(v, (uint)i);
  if (id == 0) {
    if (v != NONE) by[v] = own;
    for (int i = 0; i < RING; i++) state[3 * RING + i] = state[COUNTS + i] = state[COUNTS + 3 * RING + i] = 0;
    for (int i = 0; i < RING; i++) state[RESULT + i] = 0;
    state[3 * RING + MODE] = INITIAL;
    state[3 * RING + NEXT] = 0;
    state[3 * RING + UNEXPLORED] = g.searched != 0 ? offset[g.searched] : 0;
    __global uint* counts = state + COUNTS + 3 * RING;
    counts[FOUND] = v != NONE;
    counts[FOUND_EDGES] = edges;
    counts[edges > LONG ? FOUND_LONG : FOUND_PIECES] = pieces;
  }
  copyTemplate((__global const uint2*)outputTemplate, parent, copyFrom, copyTo);
}

// Queue is where the items of a work-group put the next frontier.
typedef struct {
  __local uint2* pieces; // [QUEUE], collected in local memory
  __local uint* used;    // more than QUEUE if some went directly to next
  __global uint2* next;
  __global uint2* nextLong;
  __global uint* counts;
  uint vertices, edges; // of an item
} Queue;

// append puts v, whose list has a number of edges, into the next frontier.
INLINED void append(uint v, uint edges, Queue* q) {
  q->vertices++;
  q->edges += edges;
  if (edges == 0) return;
  if (edges > LONG) {
    uint pieces = (edges + LONG - 1) / LONG, at = atomic_add(&q->counts[FOUND_LONG], pieces);
    for (uint i = 0; i < pieces; i++) q->nextLong[at + i] = (uint2)(v, i);
    return;
  }
  uint pieces = (edges + PIECE - 1) / PIECE, at = atomic_add(q->used, pieces);
  uint here = at < QUEUE ? min(pieces, QUEUE - at) : 0;
  for (uint i = 0; i < here; i++) q->pieces[at + i] = (uint2)(v, i);
  if (here == pieces) return;
  at = atomic_add(&q->counts[FOUND_PIECES], pieces - here);
  for (uint i = here; i < pieces; i++) q->next[at++] = (uint2)(v, i);
}

// flushQueue moves the pieces in local memory to the next frontier, with one addition for all of them, if there are more
// than `limit`. All items of the work-group call it.
INLINED void flushQueue(uint limit, __local uint* base, Queue* q) {
  barrier(CLK_LOCAL_MEM_FENCE);
  uint n = *q->used > limit ? min(*q->used, QUEUE) : 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (get_local_id(0) == 0 && n != 0) {
    *base = atomic_add(&q->counts[FOUND_PIECES], n);
    *q->used = 0;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint i = get_local_id(0); i < n; i += WG) q->next[*base + i] = q->pieces[i];
  barrier(CLK_LOCAL_MEM_FENCE);
}

// follow follows READS entries k, k + stride, ... below `end` of the list of v. Found vertices become visited, with parent
// v, which needs no correction if v is the hub of their word.
INLINED void follow(uint k, uint end, uint stride, uint v, __global const uint* target,
                          __global const uint* wordHub, __global uint* visited, __global uint* corrected,
                          __global uint* by, __global const uint* offset, Queue* q) {
  uint t[READS], old[READS];
  for (int i = 0; i < READS; i++) t[i] = k + i * stride < end ? target[k + i * stride] : NONE;
  for (int i = 0; i < READS; i++) old[i] = t[i] != NONE ? LOAD(&visited[t[i] >> 5]) : ~0u;
  for (int i = 0; i < READS; i++) {
    uint mine = 1u << (t[i] & 31);
    if (!(old[i] & mine)) old[i] = atomic_or(&visited[t[i] >> 5], mine);
  }
  for (int i = 0; i < READS; i++) {
    uint mine = 1u << (t[i] & 31);
    if (old[i] & mine) continue;
    uint first = offset[t[i]], edges = offset[t[i] + 1] - first;
    if (wordHub[t[i] >> 5] != v) {
      by[t[i]] = v;
      atomic_or(&corrected[t[i] >> 5], mine);
    }
    append(t[i], edges, q);
  }
}

// lanesOf returns the logarithm of the number of items that share a piece: more for longer ones, and for few.
static inline uint lanesOf(uint edges, uint pieces, uint items, uint limit) {
  uint average = pieces != 0 ? edges / pieces : 0;
  uint shift = average >= 24 ? 5 : average >= 12 ? 4 : average >= 6 ? 3 : average >= 3 ? 2 : average == 2 ? 1 : 0;
  for (; shift < limit && 1u << shift < average && pieces << (shift + 1) <= items; shift++) {}
  for (; 1u << shift > items; shift--) {}
  return shift;
}

// fourEntries returns the entries j, j + step, j + 2 * step and j + 3 * step of the lists, but none after `last`.
static inline uint4 fourEntries(__global const uint* target, uint j, uint step, uint last) {
  return (uint4)(target[j], target[min(j + step, last)], target[min(j + 2 * step, last)], target[min(j + 3 * step, last)]);
}

// firstVisited returns the first of four vertices that is visited, or NONE.
static inline uint firstVisited(uint4 k, __global const uint* visited) {
  uint4 b = (uint4)(visited[k.x >> 5], visited[k.y >> 5], visited[k.z >> 5], visited[k.w >> 5]) >> (k & 31) & 1;
  return b.x ? k.x : b.y ? k.y : b.z ? k.z : b.w ? k.w : NONE;
}

// search_slot is one step of a search, and a share of the copy of the template.
__kernel __attribute__((reqd_work_group_size(WG, 1, 1)))
void search_slot(uint slot, Graph g, __global const uint* restrict offset, __global const uint* restrict target,
                 __global const uint4* restrict quad, __global const uint* restrict wordHub,
                 __global const uint* restrict outputTemplate, __global uint* visited0, __global uint* visited1,
                 __global uint* corrected, __global uint* by, __global uint2* queue0, __global uint2* queue1,
                 __global uint2* long0, __global uint2* long1, __global long2* restrict parent, __global uint* state,
                 uint copyFrom, uint copyTo) {
  __local uint s[RING];
  __local uint used, base, foundVertices, foundEdges, longLists;
  __local union {
    uint2 pieces[QUEUE];
    ushort pending[WG * 32]; // vertices of a chunk: word << 5 | bit, and 0x8000 where the word has a hub
  } shared;
  __local uint foundWords[WG], correctedWords[WG];
  __local ushort longList[LONG_LISTS];
  __local uint longParent[LONG_LISTS];
  uint lid = get_local_id(0), id = get_global_id(0), all = get_global_size(0);
  loadState(slot, &g, state, s);
  if (id == 0) { // keeps the state for the next slot
    for (int i = 0; i < WORDS; i++) state[(slot & 3) * RING + i] = s[i];
    for (int i = 0; i < RING; i++) state[COUNTS + (slot + 1 & 3) * RING + i] = 0;
  }
  if (lid == 0) used = base = foundVertices = foundEdges = longLists = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  uint mode = s[MODE];
  __global uint* counts = state + COUNTS + (slot & 3) * RING;
  __global uint* visited = s[CURRENT] ? visited1 : visited0;
  __global uint* other = s[CURRENT] ? visited0 : visited1;

  // Few edges: the first work-group runs level after level, and the others have nothing to do.
  bool few = mode == TOP_DOWN && s[LONG_PIECES] == 0 && s[EDGES] <= ONE_GROUP;
  uint levels = few && get_group_id(0) == 0 ? ONE_GROUP_LEVELS : 0, next = s[NEXT];
  uint pieces = s[PIECES], edges = s[EDGES], newLong = 0;
  for (uint level = 1; level <= levels; level++) { // all items leave it together
    __global const uint2* from = next ? queue0 : queue1;
    __global uint2* to = next ? queue1 : queue0;
    __global uint2* toLong = next ? long1 : long0;
    uint shift = lanesOf(edges, pieces, WG, 8), lane = lid & ((1u << shift) - 1);
    for (uint i = lid >> shift; i < pieces; i += WG >> shift) {
      uint2 piece = from[i];
      uint v = piece.x, first = offset[v] + piece.y * PIECE, end = min(offset[v + 1], first + PIECE);
      for (uint k = first + lane; k < end; k += 1u << shift) {
        uint t = target[k], mine = 1u << (t & 31);
        uint begin = offset[t], degree = offset[t + 1] - begin; // read at the same time as the bit
        if (atomic_or(&visited[t >> 5], mine) & mine) continue;
        by[t] = v;
        atomic_or(&corrected[t >> 5], mine);
        atomic_inc(&foundVertices);
        atomic_add(&foundEdges, degree);
        uint length = degree > LONG ? LONG : PIECE, n = (degree + length - 1) / length;
        uint at = n != 0 ? atomic_add(degree > LONG ? &base : &used, n) : 0;
        for (uint j = 0; j < n; j++) (degree > LONG ? toLong : to)[at + j] = (uint2)(t, j);
      }
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    uint newVertices = foundVertices, newEdges = foundEdges, newPieces = used;
    newLong = base;
    bool more = newVertices != 0 && newEdges <= ONE_GROUP && newLong == 0 && level < levels;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lid == 0 && more) {
      s[PREVIOUS] = s[FRONTIER];
      s[FRONTIER] = newVertices;
      s[UNEXPLORED] -= min(s[UNEXPLORED], edges);
      s[NEXT] = next ^ 1;
      s[PIECES] = newPieces;
      s[EDGES] = newEdges;
      foundVertices = foundEdges = used = 0;
    }
    pieces = newPieces;
    if (more) edges = newEdges, next ^= 1; else levels = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (few) {
    mode = DONE; // nothing is left to do below
    if (lid == 0 && get_group_id(0) == 0) {
      for (int i = 0; i < WORDS; i++) state[(slot & 3) * RING + i] = s[i];
      counts[FOUND_PIECES] = pieces;
      counts[FOUND_LONG] = newLong;
    }
  }

  bool into1 = mode == TOP_DOWN && next == 1;
  Queue q = {shared.pieces, &used, into1 ? queue1 : queue0, into1 ? long1 : long0, counts, 0, 0};
  if (mode == CONVERT) {
    for (uint w = id; w < g.words; w += all) {
      for (uint rest = visited[w] & ~other[w]; rest != 0; rest &= rest - 1) {
        uint v = w * 32 + lowestBit(rest), first = offset[v];
        append(v, offset[v + 1] - first, &q);
      }
    }
    q.vertices = 0;
  }
  // A work-group takes parts of long pieces, and then short pieces, one for 2^shift items.
  uint shift = lanesOf(edges, pieces, all, 8), longParts = s[LONG_PIECES] * PARTS;
  uint parts = mode == TOP_DOWN ? longParts + ((pieces << shift) + WG - 1) / WG : 0;
  for (uint part = get_group_id(0); part < parts; part += get_num_groups(0)) {
    uint v = NONE, k = 0, end = 0, stride = WG;
    if (part < longParts) {
      uint2 piece = (next ? long0 : long1)[part / PARTS];
      v = piece.x;
      k = offset[v] + piece.y * LONG + part % PARTS * READS * WG + lid;
      end = min(offset[v + 1], k - lid + READS * WG);
    } else {
      uint item = (part - longParts) * WG + lid;
      stride = 1u << shift;
      if (item >> shift < pieces) {
        uint2 piece = (next ? queue0 : queue1)[item >> shift];
        v = piece.x;
        k = offset[v] + piece.y * PIECE;
        end = min(offset[v + 1], k + PIECE);
        k += item & (stride - 1);
      }
    }
    for (; k < end; k += READS * stride) {
      follow(k, end, stride, v, target, wordHub, visited, corrected, by, offset, &q);
    }
    flushQueue(QUEUE / 2, &base, &q);
  }
  if (q.vertices != 0) atomic_add(&foundVertices, q.vertices);
  if (q.edges != 0) atomic_add(&foundEdges, q.edges);
  if (few && lid == 0) used = 0;
  flushQueue(0, &base, &q);

  uint chunks = chunkCount(&g), limit = mode == BOTTOM_UP ? chunks : 0;
  for (uint c = get_group_id(0); c < limit; c += get_num_groups(0)) {
    uint w = lid < g.chunkWords ? wordAt(lid, c, chunks) : NONE, old = w < g.words ? visited[w] : ~0u;
    uint rest = ~old, byHub = 0, skip = 0;
    if (rest != 0) {
      uint hub = wordHub[w];
      skip = hub != NONE ? 0x8000 : 0;
      if (hub != NONE && bit(visited, hub)) byHub = rest, rest = 0;
    }
    if (lid == 0) used = longLists = 0;
    foundWords[lid] = byHub;
    correctedWords[lid] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (rest != 0) {
      uint at = atomic_add(&used, popcount(rest));
      for (; rest != 0; rest &= rest - 1) shared.pending[at++] = (ushort)(lid * 32 + lowestBit(rest) | skip);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint n = used;
    for (uint i = lid; i < n; i += WG) {
      uint x = shared.pending[i], v = wordAt((x & 0x7fff) >> 5, c, chunks) * 32 + (x & 31);
      uint4 t = quad[v];
      if (t.x == NONE) continue;
      uint4 known = (uint4)(t.x, t.y != NONE ? t.y : t.x, t.z != NONE ? t.z : t.x, t.w != NONE ? t.w : t.x);
      uint p = firstVisited(known, visited);
      if (p == NONE && t.w != NONE) {
        uint j = offset[v] + 4 + (x >> 15), end = offset[v + 1], pause = j + SCAN;
        for (; j < end && p == NONE; j += 4) {
          if (j == pause) {
            uint at = atomic_inc(&longLists);
            if (at < LONG_LISTS) {
              longList[at] = (ushort)x;
              longParent[at] = NONE;
              break;
            }
          }
          p = firstVisited(fourEntries(target, j, 1, end - 1), visited);
        }
      }
      if (p == NONE) continue;
      uint mine = 1u << (x & 31), at = (x & 0x7fff) >> 5;
      atomic_or(&foundWords[at], mine);
      if (p != t.x || x >> 15) { // not the first neighbor
        by[v] = p;
        atomic_or(&correctedWords[at], mine);
      }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    // Long lists, each by a team of items. They all look until one has found a visited neighbor.
    uint lists = min(longLists, LONG_LISTS), team = WG;
    for (; team > TEAM && team * lists > WG; team >>= 1) {}
    for (uint i = lid / team; i < lists; i += WG / team) {
      uint x = longList[i], v = wordAt((x & 0x7fff) >> 5, c, chunks) * 32 + (x & 31), end = offset[v + 1];
      uint j = offset[v] + 4 + (x >> 15) + SCAN + lid % team;
      for (; j < end && atomic_or(&longParent[i], 0u) == NONE; j += 4 * team) {
        uint p = firstVisited(fourEntries(target, j, team, end - 1), visited);
        if (p != NONE) atomic_min(&longParent[i], p);
      }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = lid; i < lists; i += WG) {
      uint x = longList[i], p = longParent[i], mine = 1u << (x & 31), at = (x & 0x7fff) >> 5;
      if (p == NONE) continue;
      by[wordAt(at, c, chunks) * 32 + (x & 31)] = p;
      atomic_or(&foundWords[at], mine);
      atomic_or(&correctedWords[at], mine);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (w < g.words) {
      uint now = foundWords[lid], correct = correctedWords[lid];
      other[w] = old | now;
      if (correct != 0) corrected[w] |= correct;
      if (now != 0) atomic_add(&foundVertices, popcount(now));
    }
  }
  copyTemplate((__global const uint2*)outputTemplate, parent, copyFrom, copyTo);
  barrier(CLK_LOCAL_MEM_FENCE);
  uint sum = atomic_xchg(&foundVertices, 0); // the first item takes it
  if (sum != 0) atomic_add(&counts[FOUND], sum);
  sum = atomic_xchg(&foundEdges, 0);
  if (sum != 0) atomic_add(&counts[FOUND_EDGES], sum);
}

// end_search completes the parents once the search is over, and says in the result whether it is.
__kernel __attribute__((reqd_work_group_size(WG, 1, 1)))
void end_search(uint slot, uint root, Graph g, __global const uint* restrict leafBegin,
                __global const uint* restrict label, __global const uint* visited0, __global const uint* visited1,
                __global const uint* restrict corrected, __global const uint* restrict by, __global long* restrict parent,
                __global uint* state) {
  __local uint s[RING];
  __local uint used, longLists;
  __local ushort pending[WG * 32];
  __local ushort manyLeaves[WG * 32];
  uint lid = get_local_id(0);
  loadState(slot, &g, state, s);
  if (get_global_id(0) == 0) {
    state[RESULT + IS_DONE] = s[MODE] == DONE;
    state[RESULT + SLOTS_USED] = s[SLOTS];
    if (s[MODE] == DONE) parent[root] = root;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  __global const uint* visited = s[CURRENT] ? visited1 : visited0;
  uint chunks = chunkCount(&g), limit = s[MODE] == DONE ? chunks : 0;
  for (uint c = get_group_id(0); c < limit; c += get_num_groups(0)) {
    uint w = lid < g.chunkWords ? wordAt(lid, c, chunks) : NONE, wrong = w < g.words ? ~visited[w] | corrected[w] : 0;
    if (lid == 0) used = longLists = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (wrong != 0) {
      uint at = atomic_add(&used, popcount(wrong));
      for (; wrong != 0; wrong &= wrong - 1) pending[at++] = (ushort)(lid * 32 + lowestBit(wrong));
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint n = used;
    for (uint i = lid; i < n; i += WG) {
      uint x = pending[i], v = wordAt(x >> 5, c, chunks) * 32 + (x & 31), l = label[v];
      if (bit(visited, v)) {
        if (l != root) parent[l] = label[by[v]];
        continue;
      }
      parent[l] = -1;
      if (v >= g.hubs) continue;
      uint leaf = leafBegin[v], end = leafBegin[v + 1];
      if (end - leaf > SCAN) manyLeaves[atomic_inc(&longLists)] = (ushort)x;
      else for (; leaf < end; leaf++) parent[label[leaf]] = -1;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = 0; i < longLists; i++) {
      uint x = manyLeaves[i], v = wordAt(x >> 5, c, chunks) * 32 + (x & 31);
      for (uint leaf = leafBegin[v] + lid; leaf < leafBegin[v + 1]; leaf += WG) parent[label[leaf]] = -1;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}

// SPDX-License-Identifier: Apache-2.0

// Kernel 2. ../bfs.go describes the search. Builds define, besides WG:
//
//   QUEUE        pieces of the next frontier that a work-group collects in local memory
//   PIECE        edges of a piece
//   ONE_GROUP    edges that one work-group follows, level after level, in one slot; 0: no levels
//   ALONE        1: a launch has one work-group, which runs such levels as part of the slot before, and nothing else
//   TURNS        turns of each slot for a work-group, in a launch that is a whole search; 0: a launch is a slot
//   READS        entries that an item reads, top-down, before it looks at the first of them
//   SCAN         entries that one item looks at, bottom-up, before it leaves a list to others
//   CHECKED      reads of words that other items change are atomic, for checkers of races

#define BLOCK 8u            // words of a bitmap that stay together; a chunk has blocks from distant parts
#define LONG (16u * PIECE)    // edges of a long piece, which work-groups follow; shorter lists have short pieces
#define PARTS ((LONG + READS * WG - 1) / (READS * WG)) // of a long piece, each for a work-group
#define ONE_GROUP_WORK 32768u // iterations of an item in a slot, about: a limit for watchdogs, and for llvmpipe's of loops
#define SUMS 8u             // of edges, so that items that add at the same time rarely add to the same one
#define SLOTS_A_LAUNCH 64u  // at most, with TURNS
#define PATIENCE (1u << 18) // reads of a word, about 0.3 ms, before a work-group does not wait for others
#define LONG_LISTS 256u     // that are left to others in a chunk
#define TEAM 32u            // items, at least, that share such a list
#define FEW_LEVELS 3u       // levels with few vertices before a search goes back to top-down

enum { AUTO, TOP_DOWN_ONLY, BOTTOM_UP_ONLY };

// The state of a search. Slot s reads that of slot s-1 and the counts of slot s-1, both in rings of 4 of 16 words.
enum { MODE, CURRENT, NEXT, FRONTIER, PIECES, LONG_PIECES, EDGES, FEW, UNEXPLORED, PREVIOUS, SLOTS, ROOT, WORDS };
enum { TOP_DOWN, BOTTOM_UP, CONVERT, DONE, OVER, INITIAL }; // MODE
enum { FOUND, FOUND_EDGES, FOUND_PIECES, FOUND_LONG }; // counts
enum { RING = 16, COUNTS = 64, RESULT = 128 }; // places in the state
enum { IS_DONE, SLOTS_USED, TAKEN, FINISHED, DECIDED, NEXT_SLOT }; // in the result

#ifdef CHECKED
#define LOAD(at) atomic_or((volatile __global uint*)(at), 0u)
#else
#define LOAD(at) (*(at))
#endif

static inline bool bit(__global const uint* words, uint v) { return words[v >> 5] >> (v & 31) & 1; }
static inline uint lowestBit(uint x) { return 31 - clz(x & -x); }

// first computes the state of slot 0, whose frontier is the root, or its hub if it is a leaf.
static inline void first(uint root, const Graph* g, IN vertex, IN outputTemplate, IN offset, uint* s) {
  uint v = vertex[root];
  if (v != NONE && v >= g->searched) v = vertex[outputTemplate[root]];
  for (int i = 0; i < WORDS; i++) s[i] = 0;
  s[MODE] = g->steps == BOTTOM_UP_ONLY ? INITIAL : TOP_DOWN;
  s[NEXT] = s[FRONTIER] = s[SLOTS] = 1;
  s[ROOT] = v;
  s[EDGES] = v != NONE ? offset[v + 1] - offset[v] : 0;
  bool isLong = s[EDGES] > LONG;
  s[PIECES] = isLong ? 0 : (s[EDGES] + PIECE - 1) / PIECE;
  s[LONG_PIECES] = isLong ? (s[EDGES] + LONG - 1) / LONG : 0;
  s[UNEXPLORED] = offset[g->searched];
}

// advance computes the state of another slot. The rule is graph.Switch.Next (graph/direction.go) with two conditions more. A
// frontier with fewer edges than a bitmap has words stays top-down; otherwise searches of deep graphs would change
// direction repeatedly before their end. A search goes back to top-down after FEW_LEVELS levels that allow it, because
// the way back takes a slot, and most searches are over by then.
static inline void advance(uint slot, const Graph* g, __global const uint* state, uint* s) {
  __global const uint* before = state + (slot + 3 & 3) * RING;
  uint4 found = *(__global const uint4*)(before + COUNTS); // read together with the state: this is on every slot's way
  for (int i = 0; i < WORDS; i++) s[i] = before[i];
  uint mode = s[MODE], edges = s[EDGES];
  if (mode == DONE || mode == OVER) { s[MODE] = OVER; return; }
  s[SLOTS]++;
  s[ROOT] = NONE;
  if (mode != CONVERT) {
    s[PREVIOUS] = s[FRONTIER];
    s[FRONTIER] = found.x;
  }
  if (s[FRONTIER] == 0) s[MODE] = DONE;
  if (s[MODE] == DONE) return;
  if (mode == BOTTOM_UP) {
    s[CURRENT] ^= 1;
    s[FEW] += s[FRONTIER] <= s[PREVIOUS] && (float)s[FRONTIER] * g->beta < (float)g->searched;
    if (g->steps == AUTO && s[FEW] >= FEW_LEVELS) s[MODE] = CONVERT;
    return;
  }
  s[EDGES] = found.y, s[PIECES] = found.z, s[LONG_PIECES] = found.w;
  if (mode == CONVERT) {
    s[MODE] = TOP_DOWN, s[NEXT] = 1, s[FEW] = 0;
    return;
  }
  s[UNEXPLORED] -= min(edges, s[UNEXPLORED]);
  s[NEXT] ^= 1;
  bool doubled = s[FRONTIER] >= 2 * s[PREVIOUS], many = (float)s[EDGES] * g->alpha > (float)s[UNEXPLORED];
  s[MODE] = g->steps == BOTTOM_UP_ONLY || (g->steps == AUTO && doubled && many && s[EDGES] > g->words) ? BOTTOM_UP
                                                                                                     : TOP_DOWN;
}

// clearCounts clears the counts of a slot. A slot clears those of the next but one, and so does the end of a search. The
// last slot finds nothing, so all are 0 when the next search begins.
static inline void clearCounts(uint slot, __global uint* state) {
  for (int i = 0; i < RING; i++) state[COUNTS + (slot & 3) * RING + i] = 0;
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
static inline void copyTemplate(__global const uint2* outputTemplate, __global long2* parent, uint from,
                                uint to, uint id, size_t all) {
  size_t i = (size_t)from + id;
  for (; i + 3 * all < to; i += 4 * all) {
    uint2 read[4];
    for (int k = 0; k < 4; k++) read[k] = outputTemplate[i + k * all];
    for (int k = 0; k < 4; k++) parent[i + k * all] = widen(read[k]);
  }
  for (; i < to; i += all) parent[i] = widen(outputTemplate[i]);
}

// notVertices returns the bits of a word that are not vertices.
static inline uint notVertices(const Graph* g, uint w) { return (w + 1) * 32 <= g->searched ? 0 : ~0u << (g->searched & 31); }
// begin_searches makes all vertices unvisited. The end of a search does so, too.
__kernel void begin_searches(Graph g, __global uint* visited, __global uint* corrected, __global uint* state) {
  if (get_global_id(0) == 0) for (uint slot = 0; slot < 4; slot++) clearCounts(slot, state);
  for (size_t w = get_global_id(0); w < g.words; w += get_global_size(0)) {
    visited[w] = notVertices(&g, w);
    corrected[w] = 0;
  }
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
INLINED void follow(uint k, uint end, uint stride, uint v, IN target, IN wordHub, __global uint* visited,
                    __global uint* corrected, __global uint* by, IN offset, Queue* q) {
  uint t[READS], old[READS];
  for (int i = 0; i < READS; i++) t[i] = k + i * stride < end ? target[k + i * stride] : NONE;
  for (int i = 0; i < READS; i++) old[i] = t[i] != NONE ? LOAD(&visited[t[i] >> 5]) : ~0u;
  for (int i = 0; i < READS; i++) if (!(old[i] >> (t[i] & 31) & 1)) old[i] = atomic_or(&visited[t[i] >> 5], 1u << (t[i] & 31));
  #pragma unroll // or compilers keep t and old in memory
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
  for (; shift < limit && 1u << shift < average && pieces <= items >> (shift + 1); shift++) {}
  for (; 1u << shift > items || shift > clz(2 * pieces); shift--) {}
  return shift;
}

// fourEntries returns the entries j, j + step, j + 2 * step and j + 3 * step of the lists, but none after `last`.
static inline uint4 fourEntries(__global const uint* target, uint j, uint step, uint last) {
  return (uint4)(target[j], target[min(j + step, last)], target[min(j + 2 * step, last)], target[min(j + 3 * step, last)]);
}

// firstVisited returns the first of four vertices that is visited, or NONE. It shifts no vector: Intel's IGC issue 358.
static inline uint firstVisited(uint4 k, __global const uint* visited) {
  bool x = bit(visited, k.x), y = bit(visited, k.y), z = bit(visited, k.z), w = bit(visited, k.w);
  return x ? k.x : y ? k.y : z ? k.z : w ? k.w : NONE;
}

// finish completes the parents for a work-group's share of the vertices, and makes them unvisited.
INLINED void finish(uint limit, uint group, uint groups, uint root, const Graph* g, IN leafBegin, IN label, IN visited,
                    __global uint* visited0, __global uint* corrected, IN by, __global long* parent, __local uint* used,
                    __local uint* many, __local ushort* pending, __local ushort* manyLeaves) {
  uint lid = get_local_id(0), chunks = chunkCount(g);
  for (uint c = group; c < limit; c += groups) {
    uint w = lid < g->chunkWords ? wordAt(lid, c, chunks) : NONE, wrong = w < g->words ? ~visited[w] | corrected[w] : 0;
    if (lid == 0) *used = *many = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (wrong != 0) {
      uint at = atomic_add(used, popcount(wrong));
      for (; wrong != 0; wrong &= wrong - 1) pending[at++] = (ushort)(lid * 32 + lowestBit(wrong));
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint n = *used;
    for (uint i = lid; i < n; i += WG) {
      uint x = pending[i], v = wordAt(x >> 5, c, chunks) * 32 + (x & 31), l = label[v], p = by[v];
      if (bit(visited, v)) {
        if (l != root) parent[l] = label[p];
        continue;
      }
      parent[l] = -1;
      if (v >= g->hubs) continue;
      uint leaf = leafBegin[v], end = leafBegin[v + 1], at = end - leaf > SCAN ? atomic_inc(many) : LONG_LISTS;
      if (at < LONG_LISTS) manyLeaves[at] = (ushort)x;
      else for (; leaf < end; leaf++) parent[label[leaf]] = -1;
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    uint lists = min(*many, LONG_LISTS);
    for (uint i = 0; i < lists; i++) {
      uint x = manyLeaves[i], v = wordAt(x >> 5, c, chunks) * 32 + (x & 31);
      for (uint leaf = leafBegin[v] + lid; leaf < leafBegin[v + 1]; leaf += WG) parent[label[leaf]] = -1;
    }
    if (w < g->words) {
      visited0[w] = notVertices(g, w);
      corrected[w] = 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}

// takeTurn returns the next turn of a launch, or NONE if it has to end. Before the launch, turnsBefore turns were taken and
// finished. Every slot has a turn for each of `groups`. Its first may begin when those of the slots before are finished.
// They were taken by work-groups that run, so nobody waits for one that has not begun; on processors, a work-group that
// runs keeps running, and all see the same memory. A work-group that has waited for long, perhaps because the system runs
// other programs, ends the launch, unless the slot has begun: one word decides.
static inline uint takeTurn(uint turnsBefore, uint groups, uint firstSlot, __global uint* result) {
  uint turn = atomic_inc(&result[TAKEN]) - turnsBefore, slot = turn / groups, before = turnsBefore + slot * groups;
  uint patience = slot < SLOTS_A_LAUNCH ? PATIENCE : 0;
  while (patience > 0 && (int)(*(volatile __global uint*)&result[FINISHED] - before) < 0) patience--;
  uint now = atomic_or(&result[DECIDED], 0u), go = 2 * before, stop = go - 1, mine = patience > 0 ? go : stop;
  while ((int)(now - go) < 0 && now != stop) {
    uint found = atomic_cmpxchg(&result[DECIDED], now, mine);
    now = found == now ? mine : found;
  }
  if (now != stop) return turn;
  result[NEXT_SLOT] = firstSlot + slot;
  return NONE;
}

// search_slot is one step of a search, and a share of the copy of the template, or the end of a search. The last slot of
// a launch or of a batch ends the search if it is over.
__kernel __attribute__((reqd_work_group_size(WG, 1, 1)))
void search_slot(uint slot, uint root, uint turnsBefore, Graph g, IN restrict vertex, IN restrict offset,
                 IN restrict target, __global const uint4* restrict quad, IN restrict wordHub, IN restrict outputTemplate,
                 IN restrict leafBegin, IN restrict label, __global uint* visited0, __global uint* visited1,
                 __global uint* corrected, __global uint* by, __global uint2* queue0, __global uint2* queue1,
                 __global uint2* long0, __global uint2* long1, __global long2* parent, __global uint* state,
                 uint copyFrom, uint copyTo, uint last) {
  __local uint s[RING];
  __local uint turn, used, base, foundVertices, foundEdges, longLists;
  __local union {
    uint2 pieces[QUEUE];
    ushort pending[ALONE ? 1 : WG * 32]; // vertices of a chunk: word << 5 | bit, and 0x8000 where the word has a hub
  } shared;
  __local uint foundWords[WG], correctedWords[WG], longParent[LONG_LISTS], sums[SUMS];
  __local ushort longList[LONG_LISTS];
  uint lid = get_local_id(0), group = get_group_id(0), groups = get_num_groups(0), begin = slot, is;
  bool stop = false;
  do { // a turn
  if (TURNS) {
    groups = get_num_groups(0) * TURNS;
    if (lid == 0) turn = takeTurn(turnsBefore, groups, begin, state + RESULT);
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    stop = turn == NONE;
    slot = begin + turn / groups;
    group = turn % groups;
  }
  uint id = group * WG + lid, all = groups * WG;
  if (lid == 0) {
    uint mine[WORDS];
    if (slot == 0) first(root, &g, vertex, outputTemplate, offset, mine);
    else advance(slot, &g, state, mine);
    if (stop) mine[MODE] = OVER;
    for (int i = 0; i < WORDS; i++) s[i] = mine[i];
    used = base = foundEdges = longLists = 0;
    for (int i = 0; i < SUMS; i++) sums[i] = 0;
    foundVertices = id == 0 && mine[MODE] == INITIAL && mine[ROOT] != NONE;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  uint mode = is = s[MODE], from = s[ROOT], at = (ALONE ? slot + 3 : slot) & 3;
  __global uint* counts = state + COUNTS + at * RING;
  __global uint* visited = s[CURRENT] ? visited1 : visited0;
  __global uint* other = s[CURRENT] ? visited0 : visited1;

  // Few edges: the first work-group runs level after level, and the others have nothing to do.
  bool few = ONE_GROUP > 0 && mode == TOP_DOWN && s[LONG_PIECES] == 0 && s[EDGES] <= ONE_GROUP;
  if (id == 0 && (few || !ALONE) && !stop) { // the state for the next slot
    for (int i = 0; i < WORDS; i++) state[at * RING + i] = s[i];
    clearCounts(at + 2, state);
  }
  if (id == 0 && slot == 0 && from != NONE) {
    atomic_or(&visited0[from >> 5], 1u << (from & 31));
    atomic_or(&corrected[from >> 5], 1u << (from & 31));
    by[from] = vertex[root];
  }
  uint left = few && group == 0 ? ONE_GROUP_WORK : 0, next = s[NEXT];
  uint pieces = s[PIECES], edges = s[EDGES], newEdges = 0, newLong = 0;
  while (left != 0) { // all items leave it together
    __global const uint2* queue = next ? queue0 : queue1;
    __global uint2* to = next ? queue1 : queue0;
    __global uint2* toLong = next ? long1 : long0;
    uint shift = lanesOf(edges / READS, pieces, WG, 8), lane = lid & ((1u << shift) - 1);
    for (uint i = lid >> shift; i < pieces; i += WG >> shift) {
      uint2 piece = from != NONE ? (uint2)(from, i) : queue[i];
      uint v = piece.x, first = offset[v] + piece.y * PIECE, end = min(offset[v + 1], first + PIECE);
      for (uint k = first + lane; k < end; k += READS << shift) {
        uint t[READS], old[READS], degree[READS];
        for (int r = 0; r < READS; r++) t[r] = k + (r << shift) < end ? target[k + (r << shift)] : NONE;
        for (int r = 0; r < READS; r++) {
          old[r] = t[r] != NONE ? atomic_or(&visited[t[r] >> 5], 1u << (t[r] & 31)) : ~0u;
          degree[r] = t[r] != NONE ? offset[t[r] + 1] - offset[t[r]] : 0;
        }
        for (int r = 0; r < READS; r++) {
          uint mine = 1u << (t[r] & 31), length = degree[r] > LONG ? LONG : PIECE, n = (degree[r] + length - 1) / length;
          if (old[r] & mine) continue;
          by[t[r]] = v;
          atomic_or(&corrected[t[r] >> 5], mine);
          atomic_inc(&foundVertices);
          atomic_add(&sums[lid % SUMS], degree[r]);
          uint at = n != 0 ? atomic_add(degree[r] > LONG ? &base : &used, n) : 0;
          for (uint j = 0; j < n; j++) (degree[r] > LONG ? toLong : to)[at + j] = (uint2)(t[r], j);
        }
      }
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    uint newVertices = foundVertices, newPieces = used;
    newEdges = 0, newLong = base;
    for (int i = 0; i < SUMS; i++) newEdges += sums[i];
    left -= min(left, 32 + 8 * edges / WG);
    bool more = newVertices != 0 && newEdges <= ONE_GROUP && newLong == 0 && left != 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lid == 0 && more) {
      s[PREVIOUS] = s[FRONTIER], s[FRONTIER] = newVertices, s[PIECES] = newPieces, s[EDGES] = newEdges;
      s[UNEXPLORED] -= min(s[UNEXPLORED], edges);
      s[NEXT] = next ^ 1, s[SLOTS] += ALONE; // in the first batch, which nobody runs alone, it will be a slot
      foundVertices = used = 0;
      for (int i = 0; i < SUMS; i++) sums[i] = 0;
    }
    pieces = newPieces;
    from = NONE;
    if (more) edges = newEdges, next ^= 1; else left = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (few || ALONE) mode = DONE; // nothing is left to do below
  if (few && id == 0) {
    for (int i = 0; i < WORDS; i++) state[at * RING + i] = s[i];
    counts[FOUND] = foundVertices, counts[FOUND_EDGES] = newEdges;
    counts[FOUND_PIECES] = pieces, counts[FOUND_LONG] = newLong;
    foundVertices = used = 0;
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
  for (uint part = group; part < parts; part += groups) {
    uint v = NONE, k = 0, end = 0, stride = WG;
    if (part < longParts) {
      uint2 piece = from != NONE ? (uint2)(from, part / PARTS) : (next ? long0 : long1)[part / PARTS];
      v = piece.x;
      k = offset[v] + piece.y * LONG + part % PARTS * READS * WG + lid;
      end = min(offset[v + 1], k - lid + READS * WG);
    } else {
      uint item = (part - longParts) * WG + lid;
      stride = 1u << shift;
      if (item >> shift < pieces) {
        uint2 piece = from != NONE ? (uint2)(from, item >> shift) : (next ? queue0 : queue1)[item >> shift];
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
  flushQueue(0, &base, &q);

  uint chunks = chunkCount(&g), limit = mode == BOTTOM_UP ? chunks : 0;
  for (uint c = group; c < limit; c += groups) {
    uint w = lid < g.chunkWords ? wordAt(lid, c, chunks) : NONE, old = w < g.words ? visited[w] : ~0u;
    uint hub = w < g.words ? wordHub[w] : NONE, skip = hub != NONE ? 0x8000 : 0;
    uint byHub = hub != NONE && bit(visited, hub) ? ~old : 0, rest = ~old & ~byHub;
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
        uint p = firstVisited(fourEntries(target, j, team, end - 1), visited), mine = 1u << (x & 31);
        if (p == NONE || atomic_cmpxchg(&longParent[i], NONE, p) != NONE) continue;
        by[v] = p;
        atomic_or(&foundWords[(x & 0x7fff) >> 5], mine);
        atomic_or(&correctedWords[(x & 0x7fff) >> 5], mine);
      }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (w < g.words) {
      uint now = foundWords[lid], correct = correctedWords[lid];
      other[w] = old | now;
      if (correct != 0) corrected[w] |= correct;
      if (now != 0) atomic_add(&foundVertices, popcount(now));
    }
  }
  copyTemplate((__global const uint2*)outputTemplate, parent, copyFrom, TURNS && slot != 0 ? 0 : copyTo, id, all);
  barrier(CLK_LOCAL_MEM_FENCE);
  uint sum = atomic_xchg(&foundVertices, 0); // the first item takes it
  if (sum != 0) atomic_add(&counts[FOUND], sum);
  sum = atomic_xchg(&foundEdges, 0);
  if (sum != 0) atomic_add(&counts[FOUND_EDGES], sum);
  bool ends = last && (is == DONE || (is == OVER && !TURNS));
  finish(ends ? chunks : 0, group, groups, root, &g, leafBegin, label, visited, visited0, corrected, by,
         (__global long*)parent, &used, &longLists, shared.pending, longList);
  if (id == 0 && last && !stop && (is != OVER || !TURNS)) {
    state[RESULT + IS_DONE] = ends;
    state[RESULT + SLOTS_USED] = s[SLOTS];
    if (ends) ((__global long*)parent)[root] = root;
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  if (TURNS && lid == 0) atomic_inc(&state[RESULT + FINISHED]);
  } while (TURNS && is != OVER);
}

// SPDX-License-Identifier: Apache-2.0

// kernel=merrill: D. Merrill, M. Garland, A. Grimshaw, "Scalable GPU Graph Traversal", PPoPP 2012, after the lecture
// "CUDA 6: Breadth-First Search" (CS121 Parallel Computing, 2019).
//
// Queues hold the frontier of vertices, and in all orders but one that of edges: the neighbors of a frontier, with
// duplicates and with vertices that were visited before. Work is linear in vertices and edges.
//
//   expansion     gathers the neighbors of vertices, by CTA, by warp and by prefix sum ("Load balanced gathering")
//   contraction   keeps neighbors that are not visited ("Visited status lookup"), and few duplicates ("Duplicate
//                 culling")
//
// Benign races, intended by the paper: bits of the mask are set without atomic operations, so a bit may be lost, and the
// label decides then; several threads may find a vertex unvisited, so it may be in a queue twice, with the parent that
// was written last. All of them are of the same level. If duplicates fill a queue, the host repeats the search with
// `exact`, where atomicOr on the mask decides.
//
// Several GPUs (section 7; base.cu has the grid, of one row): a GPU expands its vertices, filters their neighbors by a
// mask of those that it has sent before, and sorts the others into bins by owner; owners contract what they get, with
// `exact`.
#include "base.cuh"

namespace {

constexpr u32 CTA = 128;           // threads of a block
constexpr u32 WARPS = CTA / 32;
constexpr u32 HASHES = 128;        // entries of a warp's table of duplicates
constexpr u32 HISTORY = 1024;      // entries of a CTA's table

}  // namespace

// Merrill has the arguments of all kernels; it mirrors type merrillArguments of merrill.go.
struct Merrill {
  const u64* R;        // [n+1] rows
  const u32* C;        // columns
  u64* parent;         // label with output=predecessor; null: the mask only
  u32* dist;           // label with output=distance, otherwise null
  uint8_t* mask;       // bitmap of visited vertices
  u32* vertices[2];    // queues: the frontier of vertices, in and out
  u32* edges[2];       // the frontier of edges, in and out
  u32* pred[2];        // the vertex that an entry of edges was gathered from, with output=predecessor
  u64 room;            // entries that a queue takes
  u64 ctaMin, warpMin; // shortest lists that a CTA and a warp gather
  u64 cullWarp, cullHistory, exact;
  u64 in;              // entries of the queue that is read, ~0: counters->vertices
  u64 depth;
  Counters* counters;  // vertices and edges: tails of the queues that are written; examined: not 0 if one is full
  u64* culled;         // with counters=on: the number of neighbors for each value of Culled; otherwise null
  u64 rank, ranks;     // vertex v of an expansion is label v * ranks + rank
  const u64* found;    // the frontier of edges in merrill_contract, in place of edges and pred; otherwise null
  u32* keptPred;       // of the vertices that merrill_contract writes; otherwise null
};

// Culled says why a neighbor is not in the next frontier, or that it is; merrill.go has the names.
enum Culled { MASK, LABEL, WARP, HISTORY_TABLE, ATOMIC, KEPT };

namespace {

struct Shared {
  volatile u32 hash[WARPS][HASHES];
  volatile u32 history[HISTORY];
  u64 sums[WARPS], reserved;
  volatile u32 winner[WARPS], vertex[WARPS];              // of a warp; 0: of the CTA
  volatile u64 begin[WARPS], length[WARPS], before[WARPS];
  u64 offset[CTA], position[CTA];                         // of the gathering by prefix sum
  u32 source[CTA];
};

// sumBefore returns the sum of x over the threads before this one, and over all.
__device__ u64 sumBefore(Shared& s, u64 x, u64& total) {
  u64 until = x;
  for (int d = 1; d < 32; d *= 2) {
    u64 other = __shfl_up_sync(~0u, until, d);
    if (lane() >= d) until += other;
  }
  __syncthreads(); // sums is free
  if (lane() == 31) s.sums[threadIdx.x / 32] = until;
  __syncthreads();
  total = 0;
  for (u32 w = 0; w < WARPS; w++) {
    if (w == threadIdx.x / 32) until += total;
    total += s.sums[w];
  }
  return until - x;
}

// reserve takes total entries of a queue, with one atomicAdd by the first thread. It returns where they begin, and
// ~0 if they do not fit.
__device__ u64 reserve(Shared& s, u64* tail, u64 total, u64 room, Counters* counters) {
  if (threadIdx.x == 0) {
    s.reserved = total == 0 ? 0 : atomicAdd(tail, total);
    if (s.reserved + total > room) s.reserved = ~u64(0), counters->examined = 1;
  }
  __syncthreads();
  return s.reserved;
}

// gather calls each(valid, neighbor, vertex, place of the neighbor) for all neighbors of the vertices that the
// threads of the CTA have. All lanes of a warp call it. before: the neighbors of the threads before.
template <typename Each>
__device__ void gather(const Merrill& m, Shared& s, u32 vertex, u64 begin, u64 length, u64 before, Each each) {
  u32 warp = threadIdx.x / 32;
  // By CTA: threads with long lists vote; the winner's list is walked by all.
  while (__syncthreads_or(length >= m.ctaMin)) {
    if (length >= m.ctaMin) s.winner[0] = threadIdx.x;
    __syncthreads();
    if (length >= m.ctaMin && s.winner[0] == threadIdx.x) {
      s.vertex[0] = vertex, s.begin[0] = begin, s.length[0] = length, s.before[0] = before;
      length = 0;
    }
    __syncthreads();
    u32 v = s.vertex[0];
    u64 b = s.begin[0], n = s.length[0], p = s.before[0];
    for (u64 i = threadIdx.x; i - threadIdx.x < n; i += CTA) each(i < n, i < n ? m.C[b + i] : NONE, v, p + i);
  }
  // By warp: the same with the lanes of a warp.
  while (__any_sync(~0u, length >= m.warpMin)) {
    if (length >= m.warpMin) s.winner[warp] = lane();
    __syncwarp();
    if (length >= m.warpMin && s.winner[warp] == lane()) {
      s.vertex[warp] = vertex, s.begin[warp] = begin, s.length[warp] = length, s.before[warp] = before;
      length = 0;
    }
    __syncwarp();
    u32 v = s.vertex[warp];
    u64 b = s.begin[warp], n = s.length[warp], p = s.before[warp];
    for (u64 i = lane(); i - lane() < n; i += 32) each(i < n, i < n ? m.C[b + i] : NONE, v, p + i);
    __syncwarp();
  }
  // By prefix sum: threads write where their neighbors are to a buffer of the CTA, and each reads one.
  u64 total, first = sumBefore(s, length, total), written = 0;
  for (u64 done = 0; done < total; done += CTA) {
    for (; written < length && first + written < done + CTA; written++) {
      u64 i = first + written - done;
      s.offset[i] = begin + written, s.position[i] = before + written, s.source[i] = vertex;
    }
    __syncthreads();
    bool valid = done + threadIdx.x < total;
    u32 i = threadIdx.x;
    each(valid, valid ? m.C[s.offset[i]] : NONE, valid ? s.source[i] : NONE, valid ? s.position[i] : 0);
    __syncthreads();
  }
}

// count adds the lanes with `mine` to a counter. All lanes of a warp call it.
__device__ inline void count(const Merrill& m, Culled why, bool mine) {
  if (m.culled == nullptr) return;
  u32 all = __ballot_sync(~0u, mine);
  if (lane() == 0 && all != 0) atomicAdd(&m.culled[why], u64(__popc(all)));
}

// contracted reports whether v stays in the frontier, and labels it then. All lanes of a warp call it.
__device__ bool contracted(const Merrill& m, Shared& s, bool valid, u32 v, u32 u) {
  bool hit = false, late = false;
  if (valid) { // "Visited status lookup"
    uint8_t bits = __ldg(m.mask + v / 8), bit = 1u << (v % 8);
    if (bits & bit) {
      hit = true;
    } else if (m.dist != nullptr ? m.dist[v] != NONE : m.parent != nullptr && i64(m.parent[v]) >= 0) {
      if (!m.exact) m.mask[v / 8] = bits | bit;
      late = true;
    }
    valid = !hit && !late;
  }
  count(m, MASK, hit);
  count(m, LABEL, late);
  if (m.cullWarp) { // a lane writes itself over its vertex; of the lanes with the same vertex one is read back
    volatile u32* entry = &s.hash[threadIdx.x / 32][v % HASHES];
    if (valid) *entry = v;
    __syncwarp();
    bool same = valid && *entry == v;
    __syncwarp();
    if (same) *entry = lane();
    __syncwarp();
    bool other = same && *entry != lane();
    __syncwarp();
    if (other) valid = false;
    count(m, WARP, other);
  }
  if (m.cullHistory) {
    volatile u32* entry = &s.history[v % HISTORY];
    bool known = valid && *entry == v;
    if (valid && !known) *entry = v;
    if (known) valid = false;
    count(m, HISTORY_TABLE, known);
  }
  if (m.exact) {
    u32 bit = 1u << (v % 32);
    bool second = valid && atomicOr(reinterpret_cast<u32*>(m.mask) + v / 32, bit) & bit;
    if (second) valid = false;
    count(m, ATOMIC, second);
  } else if (valid) {
    m.mask[v / 8] = __ldg(m.mask + v / 8) | 1u << (v % 8);
  }
  count(m, KEPT, valid);
  if (!valid) return false;
  if (m.dist != nullptr) m.dist[v] = u32(m.depth); else if (m.parent != nullptr) m.parent[v] = u;
  return true;
}

__device__ void begin(const Merrill& m, Shared& s) {
  for (u32 i = threadIdx.x; i < HISTORY; i += CTA) s.history[i] = NONE;
  __syncthreads();
}

// expand gathers the neighbors of one vertex a thread (NONE: of none) into the frontier of edges. Their number is
// known, so a CTA reserves once.
__device__ void expand(const Merrill& m, Shared& s, u32 v) {
  u64 begin = v == NONE ? 0 : m.R[v], length = v == NONE ? 0 : m.R[v + 1] - begin, total;
  u64 before = sumBefore(s, length, total);
  u64 base = reserve(s, &m.counters->edges, total, m.room, m.counters);
  if (base == ~u64(0)) return;
  gather(m, s, v, begin, length, before, [&](bool valid, u32 neighbor, u32 u, u64 place) {
    if (!valid) return;
    m.edges[1][base + place] = neighbor;
    if (m.dist == nullptr) m.pred[1][base + place] = u * u32(m.ranks) + u32(m.rank);
  });
}

}  // namespace

// merrill_contract: frontier of edges to frontier of vertices, the second half of order=two-phase.
extern "C" __global__ void __launch_bounds__(CTA) merrill_contract(Merrill m) {
  __shared__ Shared s;
  begin(m, s);
  for (u64 tile = u64(blockIdx.x) * CTA; tile < m.in; tile += u64(gridDim.x) * CTA) {
    u64 i = tile + threadIdx.x, total;
    u32 v = NONE, u = NONE;
    if (i < m.in && m.found != nullptr) v = u32(m.found[i] >> 32), u = u32(m.found[i]);
    else if (i < m.in) v = m.edges[0][i], u = m.dist == nullptr ? m.pred[0][i] : NONE;
    bool kept = contracted(m, s, i < m.in, v, u);
    u64 before = sumBefore(s, kept, total);
    u64 base = reserve(s, &m.counters->vertices, total, m.room, m.counters);
    if (kept && base != ~u64(0)) {
      m.vertices[1][base + before] = v;
      if (m.keptPred != nullptr) m.keptPred[base + before] = u;
    }
  }
}

// merrill_expand: frontier of vertices to frontier of edges, the first half.
extern "C" __global__ void __launch_bounds__(CTA) merrill_expand(Merrill m) {
  __shared__ Shared s;
  u64 n = m.counters->examined ? 0 : m.counters->vertices; // 0: the queue was full, and the host repeats the search
  for (u64 tile = u64(blockIdx.x) * CTA; tile < n; tile += u64(gridDim.x) * CTA) {
    u64 i = tile + threadIdx.x;
    expand(m, s, i < n ? m.vertices[1][i] : NONE);
  }
}

// merrill_contract_expand: frontier of edges to the next frontier of edges; vertices are in no queue.
extern "C" __global__ void __launch_bounds__(CTA) merrill_contract_expand(Merrill m) {
  __shared__ Shared s;
  begin(m, s);
  for (u64 tile = u64(blockIdx.x) * CTA; tile < m.in; tile += u64(gridDim.x) * CTA) {
    u64 i = tile + threadIdx.x;
    u32 v = i < m.in ? m.edges[0][i] : NONE, u = i < m.in && m.dist == nullptr ? m.pred[0][i] : NONE;
    expand(m, s, contracted(m, s, i < m.in, v, u) ? v : NONE);
  }
}

// merrill_expand_contract: frontier of vertices to the next frontier of vertices; edges are in no queue. Warps gather
// independently here, so each reserves for itself.
extern "C" __global__ void __launch_bounds__(CTA) merrill_expand_contract(Merrill m) {
  __shared__ Shared s;
  begin(m, s);
  u64 gathered = 0;
  for (u64 tile = u64(blockIdx.x) * CTA; tile < m.in; tile += u64(gridDim.x) * CTA) {
    u64 i = tile + threadIdx.x;
    u32 v = i < m.in ? m.vertices[0][i] : NONE;
    u64 begin = v == NONE ? 0 : m.R[v], length = v == NONE ? 0 : m.R[v + 1] - begin;
    gathered += length;
    gather(m, s, v, begin, length, 0, [&](bool valid, u32 neighbor, u32 u, u64) {
      bool kept = contracted(m, s, valid, neighbor, u);
      u32 all = __ballot_sync(~0u, kept);
      u64 base = 0;
      if (lane() == 0 && all != 0) base = atomicAdd(&m.counters->vertices, u64(__popc(all)));
      base = __shfl_sync(~0u, base, 0) + __popc(all & ((1u << lane()) - 1));
      if (kept && base < m.room) m.vertices[1][base] = neighbor;
      if (kept && base >= m.room) m.counters->examined = 1;
    });
  }
  gathered = warpSum(gathered);
  if (lane() == 0 && gathered != 0) atomicAdd(&m.counters->edges, gathered);
}

// merrill_bin counts the vertices of each owner. With out, it writes them to bins that begin at tails.
extern "C" __global__ void merrill_bin(const u32* vertices, const u32* pred, u64 n, u64 ranks, u64* tails, u64* out) {
  u64 i = u64(blockIdx.x) * blockDim.x + threadIdx.x;
  u32 v = i < n ? vertices[i] : 0, p = u32(ranks);
  u64 at = binned(tails, v % p, i < n);
  if (i < n && out != nullptr) out[at] = u64(v / p) << 32 | pred[i];
}

// merrill_parents finds a parent for each vertex by its distance: the further pass of output=distance.
extern "C" __global__ void merrill_parents(const u64* R, const u32* C, u64 n, const u32* dist, u64* parent) {
  u64 v = u64(blockIdx.x) * blockDim.x + threadIdx.x;
  if (v >= n || dist[v] == NONE || dist[v] == 0) return;
  u64 r = R[v];
  while (dist[C[r]] + 1 != dist[v]) r++;
  parent[v] = C[r];
}

// SPDX-License-Identifier: Apache-2.0

// kernel=bisson: M. Bisson, M. Bernaschi, E. Mastrostefano, "Parallel Distributed Breadth First Search on the Kepler
// Architecture", IEEE TPDS 2016: the search of one GPU, section 3.4 and algorithm 3.
//
// A level: degrees of the frontier, their exclusive scan, and an expansion with a thread for each k consecutive edges
// of the frontier. A thread finds the first of them by binary search in the scan (figure 2), goes on linearly, and loads
// all before it tests one (section 3.4, figure 3: k = 4 was best). The names are those of the algorithm; the graph has
// the same columns (CSC) and rows.
//
//   visit=atomic   atomicOr on the bitmap says which thread is the first at a vertex
//   visit=compact  the authors' earlier code, without it (figure 9): all threads at a vertex write their edge to a map;
//                  the one that reads its own edge back keeps the vertex; a scan makes room, and a third pass writes
//   search=warp    the lanes of a warp share the search for its first edge, in 32 places at a time, and from there each
//                  searches for its first edge
//
// Several GPUs run algorithm 1 (base.cu has the grid): bisson_expand_to_bins is algorithm 3 with append by owner, and
// bisson_update is update_frontier.
#include "base.cuh"

namespace {

constexpr u32 THREADS = 256;
constexpr u32 SCANNED = 8;  // numbers of a thread in a scan
constexpr u32 TILE = THREADS * SCANNED;

// before returns the sum of x over the threads of a block before this one, and over all.
__device__ u64 before(u64 x, u64& total) {
  __shared__ u64 sums[THREADS / 32];
  u64 until = x;
  for (int d = 1; d < 32; d *= 2) {
    u64 other = __shfl_up_sync(~0u, until, d);
    if (lane() >= d) until += other;
  }
  __syncthreads();
  if (lane() == 31) sums[threadIdx.x / 32] = until;
  __syncthreads();
  total = 0;
  for (u32 w = 0; w < THREADS / 32; w++) {
    if (w == threadIdx.x / 32) until += total;
    total += sums[w];
  }
  return until - x;
}

// sourceOfWarp returns which of n vertices has an edge: cumul[source] <= edge < cumul[source + 1]. All lanes of a warp
// call it with the same edge.
__device__ inline u64 sourceOfWarp(const u64* cumul, u64 n, u64 edge) {
  u64 low = 0;
  while (n > 1) { // it is in [low, low+n)
    u64 part = (n + 31) / 32, at = lane() * part;
    u64 skipped = (__popc(__ballot_sync(~0u, at < n && cumul[low + at] <= edge)) - 1) * part;
    low += skipped;
    n = min(part, n - skipped);
  }
  return low;
}

// edges calls each(i, edge, u, v) for the K edges of this thread that exist, i of 0 to K-1, once all are loaded.
// cumul[i] is the number of edges of the frontier before vertex i. All threads of a warp call it.
template <int K, typename Each>
__device__ void edges(const u64* col, const u32* row, const u32* frontier, const u64* cumul, u64 n, u64 sum, u64 byWarp,
                      Each each) {
  u64 gid = (u64(blockIdx.x) * blockDim.x + threadIdx.x) * K;
  u64 low = 0, high = n; // cumul[low] <= gid < cumul[high]
  if (byWarp && gid - lane() * K < sum) {
    low = sourceOfWarp(cumul, n, gid - lane() * K);
    if (byWarp == 1) high = min(n, low + lane() * K + 1); // every vertex of a frontier has an edge, but not on a grid: 2
  }
  u32 u[K], v[K];
  if (gid < sum) {
    while (low + 1 < high) {
      u64 middle = (low + high) / 2;
      if (cumul[middle] <= gid) low = middle; else high = middle;
    }
#pragma unroll
    for (int i = 0; i < K; i++) {
      if (gid + i >= sum) break;
      while (low + 1 < n && cumul[low + 1] <= gid + i) low++;
      u[i] = frontier[low];
      v[i] = row[col[u[i]] + (gid + i - cumul[low])];
    }
  }
#pragma unroll
  for (int i = 0; i < K; i++) each(gid + i < sum, gid + i, u[i], v[i]);
}

}  // namespace

// bisson_degrees writes the sums of the degrees before each vertex of the frontier in its tile of TILE, and the sum of
// each tile.
extern "C" __global__ void __launch_bounds__(THREADS)
bisson_degrees(const u64* col, const u32* frontier, u64 n, u64* cumul, u64* tile) {
  u64 first = u64(blockIdx.x) * TILE + threadIdx.x * SCANNED, degree[SCANNED], mine = 0, total;
  for (u32 i = 0; i < SCANNED; i++) {
    u32 u = first + i < n ? frontier[first + i] : NONE;
    degree[i] = u == NONE ? 0 : col[u + 1] - col[u];
    mine += degree[i];
  }
  u64 sum = before(mine, total);
  for (u32 i = 0; i < SCANNED; i++) {
    if (first + i < n) cumul[first + i] = sum;
    sum += degree[i];
  }
  if (threadIdx.x == 0) tile[blockIdx.x] = total;
}

// bisson_scan adds the sums before each tile.
extern "C" __global__ void __launch_bounds__(THREADS) bisson_scan(u64 n, u64* cumul, const u64* tile) {
  u64 i = u64(blockIdx.x) * THREADS + threadIdx.x;
  if (i < n) cumul[i] += tile[i / TILE];
}

namespace {

// expand is algorithm 3 on one GPU. counters: vertices that were found, the tail of the next frontier.
//
// Benign race: the bitmap may be read before the last atomicOr of this launch; the result of atomicOr decides.
template <int K>
__device__ void expand(const u64* col, const u32* row, const u32* frontier, const u64* cumul, u64 n, u64 sum,
                       u64 byWarp, u32* bmap, u64* pred, u32* dst, bool appendByWarp, Counters* counters) {
  edges<K>(col, row, frontier, cumul, n, sum, byWarp, [&](bool valid, u64, u32 u, u32 v) {
    u32 m = valid ? 1u << (v & 31) : 0;
    bool first = valid && !(bmap[v / 32] & m) && !(atomicOr(&bmap[v / 32], m) & m);
    if (first) pred[v] = u;
    if (appendByWarp) {
      u32 all = __ballot_sync(~0u, first);
      u64 off = 0;
      if (lane() == 0 && all != 0) off = atomicAdd(&counters->vertices, u64(__popc(all)));
      off = __shfl_sync(~0u, off, 0) + __popc(all & ((1u << lane()) - 1));
      if (first) dst[off] = v;
    } else if (first) {
      dst[atomicAdd(&counters->vertices, u64(1))] = v;
    }
  });
}

// expandToBins is algorithm 3 on several GPUs: bin b of out begins at b * room, and has its tail in tails.
template <int K>
__device__ void expandToBins(const u64* col, const u32* row, const u32* frontier, const u64* cumul, u64 n, u64 sum,
                             u64 byWarp, u32* bmap, u32 columns, u32 column, u64* out, u64 room, u64* tails) {
  edges<K>(col, row, frontier, cumul, n, sum, byWarp, [&](bool valid, u64, u32 u, u32 v) {
    u32 m = valid ? 1u << (v & 31) : 0, bin = valid ? v % columns : 0;
    bool first = valid && !(bmap[v / 32] & m) && !(atomicOr(&bmap[v / 32], m) & m);
    u64 at = binned(tails, bin, first);
    if (first) out[bin * room + at] = u64(v / columns) << 32 | (u * columns + column);
  });
}

// scatter is the first pass of visit=compact. map has an entry for each vertex.
template <int K>
__device__ void scatter(const u64* col, const u32* row, const u32* frontier, const u64* cumul, u64 n, u64 sum,
                        u64 byWarp, const i64* pred, u64* map) {
  edges<K>(col, row, frontier, cumul, n, sum, byWarp, [&](bool valid, u64 e, u32, u32 v) {
    if (valid && pred[v] < 0) map[v] = e;
  });
}

// keep is the second pass, which counts the vertices that each block keeps, and with dst the third, which writes them.
template <int K>
__device__ void keep(const u64* col, const u32* row, const u32* frontier, const u64* cumul, u64 n, u64 sum, u64 byWarp,
                     u64* pred, const u64* map, u64* kept, u32* dst) {
  u32 found[K], from[K], count = 0;
  edges<K>(col, row, frontier, cumul, n, sum, byWarp, [&](bool valid, u64 e, u32 u, u32 v) {
    if (valid && map[v] == e && i64(pred[v]) < 0) found[count] = v, from[count++] = u;
  });
  u64 total, at = before(count, total);
  if (dst == nullptr) {
    if (threadIdx.x == 0) kept[blockIdx.x] = total;
    return;
  }
  for (u32 i = 0; i < count; i++) dst[kept[blockIdx.x] + at + i] = found[i], pred[found[i]] = from[i];
}

}  // namespace

#define BISSON(K)                                                                                                      \
  extern "C" __global__ void __launch_bounds__(THREADS)                                                                \
  bisson_expand_##K(const u64* col, const u32* row, const u32* frontier, const u64* cumul, u64 n, u64 sum, u64 byWarp, \
                    u32* bmap, u64* pred, u32* dst, u64 appendByWarp, Counters* counters) {                            \
    expand<K>(col, row, frontier, cumul, n, sum, byWarp, bmap, pred, dst, appendByWarp, counters);                     \
  }                                                                                                                    \
  extern "C" __global__ void __launch_bounds__(THREADS)                                                                \
  bisson_expand_to_bins_##K(const u64* col, const u32* row, const u32* frontier, const u64* cumul, u64 n, u64 sum,     \
                            u64 byWarp, u32* bmap, u64 columns, u64 column, u64* out, u64 room, u64* tails) {          \
    expandToBins<K>(col, row, frontier, cumul, n, sum, byWarp, bmap, u32(columns), u32(column), out, room, tails);     \
  }                                                                                                                    \
  extern "C" __global__ void __launch_bounds__(THREADS)                                                                \
  bisson_scatter_##K(const u64* col, const u32* row, const u32* frontier, const u64* cumul, u64 n, u64 sum, u64 byWarp,\
                     const i64* pred, u64* map) {                                                                      \
    scatter<K>(col, row, frontier, cumul, n, sum, byWarp, pred, map);                                                  \
  }                                                                                                                    \
  extern "C" __global__ void __launch_bounds__(THREADS)                                                                \
  bisson_keep_##K(const u64* col, const u32* row, const u32* frontier, const u64* cumul, u64 n, u64 sum, u64 byWarp,   \
                  u64* pred, const u64* map, u64* kept, u32* dst) {                                                    \
    keep<K>(col, row, frontier, cumul, n, sum, byWarp, pred, map, kept, dst);                                          \
  }

BISSON(1)
BISSON(2)
BISSON(4)
BISSON(8)
BISSON(16)

// bisson_update makes discovered vertices that were not visited the frontier of their owner, by their numbers in the
// column. counters: vertices.
extern "C" __global__ void __launch_bounds__(THREADS)
bisson_update(const u64* found, u64 n, u64 rows, u64 gridRow, u64 columns, u64 column, u32* bmap, u64* pred, u32* dst,
              Counters* counters) {
  u64 i = u64(blockIdx.x) * THREADS + threadIdx.x, none = ~u64(0);
  u32 place = i < n ? u32(found[i] >> 32) : 0, number = place * u32(columns) + u32(column);
  bool first = i < n && pred[place] == none && atomicCAS(&pred[place], none, u64(u32(found[i]))) == none;
  if (first) atomicOr(&bmap[number / 32], 1u << (number & 31));
  u64 at = binned(&counters->vertices, 0, first);
  if (first) dst[at] = place * u32(rows) + u32(gridRow);
}

// SPDX-License-Identifier: Apache-2.0

// kernel=kolganov: A. S. Kolganov, "The Fastest and Energy-Efficient Breadth-First Search Algorithm on a Single Node
// with Various Parallel Architectures According to Graph500", Bulletin of the South Ural State University, 2018
// (DOI 10.14529/cmse180201, in Russian): the hybrid search of section 3.2 over the graph of section 2. The names are
// those of figures 2 to 4.
//
// Levels begin with 1, that of the root; 0 is a vertex without one. The paper does not state their width; here they have
// 32 bits. Levels, parents and queues are numbered as the transformations of section 2 say. kolganov_parents writes
// parents in the labels of the tuples at the end.
#include "base.cuh"

// Section 2. number is the new number of each label; rank is the place that a neighbor has in lists: 2.1, local sort.

// kolganov_degrees writes keys that sort labels by descending number of neighbors: 2.2, global sort.
extern "C" __global__ void kolganov_degrees(const u64* X, u64 n, u64* keys) {
  u64 v = u64(blockIdx.x) * blockDim.x + threadIdx.x;
  if (v < n) keys[v] = u64(NONE - u32(X[v + 1] - X[v])) << 32 | v;
}

// kolganov_ranks writes the place of each label among sorted keys, or without keys the label.
extern "C" __global__ void kolganov_ranks(const u64* keys, u64 n, u32* rank) {
  u64 i = u64(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) rank[keys == nullptr ? i : u32(keys[i])] = u32(i);
}

// kolganov_scatter writes to[at[v]] = value[v], or v without values.
extern "C" __global__ void kolganov_scatter(const u32* at, const u32* value, u64 n, u32* to) {
  u64 v = u64(blockIdx.x) * blockDim.x + threadIdx.x;
  if (v < n) to[at[v]] = value == nullptr ? u32(v) : value[v];
}

// kolganov_keys writes number << bits | rank of the neighbor for all entries, a warp for each list.
extern "C" __global__ void kolganov_keys(const u64* X, const u32* A, u64 n, const u32* number, const u32* rank, u64 bits,
                                         u64* keys) {
  u64 v = (u64(blockIdx.x) * blockDim.x + threadIdx.x) / 32;
  if (v >= n) return;
  for (u64 k = X[v] + lane(); k < X[v + 1]; k += 32) keys[k] = u64(number[v]) << bits | rank[A[k]];
}

// kolganov_targets replaces the ranks in lists by numbers.
extern "C" __global__ void kolganov_targets(u32* A, u64 entries, const u32* numberOfRank) {
  u64 k = u64(blockIdx.x) * blockDim.x + threadIdx.x;
  if (k < entries) A[k] = numberOfRank[A[k]];
}

// Section 3.2, "the neighbors of the threads of a warp are interleaved": first the 32 first neighbors of 32 vertices,
// then the 32 second ones, and so on. kolganov_blocks writes the entries of each group of 32 below `aligned`, which is a
// multiple of 32 or n.
extern "C" __global__ void kolganov_blocks(const u64* X, u64 aligned, u64* block) {
  u64 v = u64(blockIdx.x) * blockDim.x + threadIdx.x;
  u32 length = v < aligned ? u32(X[v + 1] - X[v]) : 0;
  for (int d = 16; d > 0; d /= 2) length = max(length, __shfl_xor_sync(~0u, length, d));
  if (v < aligned && lane() == 0) block[v / 32] = 32 * u64(length);
}

// kolganov_align fills the groups, and rowsIndices: [i] where the list of vertex i begins, [i + n] its length.
extern "C" __global__ void kolganov_align(const u64* X, const u32* A, u64 n, u64 aligned, const u64* block,
                                          u64* rowsIndices, u32* endV) {
  u64 i = u64(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= n) return;
  u64 start = X[i], length = X[i + 1] - start;
  rowsIndices[i] = i < aligned ? block[i / 32] + i % 32 : start;
  rowsIndices[i + n] = length;
  for (u64 k = 0; i < aligned && k < length; k++) endV[rowsIndices[i] + 32 * k] = A[start + k];
}

// kolganov_begin makes the root the first frontier.
extern "C" __global__ void kolganov_begin(const u32* number, u64 root, u32* levels, u32* parents, u32* Qcurr) {
  u32 v = number[root];
  levels[v] = 1, parents[v] = v, Qcurr[0] = v;
}

namespace {

// visit is the inner loop of TD in figure 2. Several threads may reach a vertex; the paper does not say how it comes
// into the queue once. With room = 0 compare-and-swap decides. Otherwise a vertex may be in the queue several times, with
// the parent that was written last, and the queue takes `room` vertices; the host makes it again if they are more.
__device__ inline void visit(u32 Vk, u32 Vi, u32 lvl, u32* levels, u32* parents, u32* Qnext, u64 room,
                             Counters* counters) {
  if (levels[Vk] != 0) return;
  if (room != 0) {
    levels[Vk] = lvl;
  } else if (atomicCAS(&levels[Vk], 0, lvl) != 0) {
    return;
  }
  parents[Vk] = Vi;
  u64 at = atomicAdd(&counters->vertices, u64(1));
  if (room == 0 || at < room) Qnext[at] = Vk;
}

}  // namespace

#if CHILDREN
// kolganov_child is the grid of one vertex, with a thread for each neighbor.
extern "C" __global__ void kolganov_child(const u32* A, u32 length, u32 Vi, u32 lvl, u32* levels, u32* parents, u32* Qnext,
                                          u64 room, Counters* counters) {
  u32 k = blockIdx.x * blockDim.x + threadIdx.x;
  if (k < length) visit(A[k], Vi, lvl, levels, parents, Qnext, room, counters);
}
#endif

// kolganov_td is TD by dynamic parallelism: a master thread for each vertex of Qcurr launches as many threads as the
// vertex has neighbors. A master thread goes through lists shorter than `child` itself, and through all if `pending`
// threads before it may have launched a grid. Without CHILDREN, the image for child=0, it goes through all lists itself.
//
// counters: vertices of Qnext; inLvl; child grids that were launched.
extern "C" __global__ void __launch_bounds__(256)
kolganov_td(const u32* Qcurr, u64 queued, const u64* X, const u32* A, u64 lvl, u64 child, u64 pending, u32* levels,
            u32* parents, u32* Qnext, u64 room, Counters* counters) {
  u64 i = u64(blockIdx.x) * blockDim.x + threadIdx.x, inLvl = 0, grids = 0;
  if (i < queued) {
    u32 Vi = Qcurr[i];
    const u32* list = A + X[Vi];
    u32 length = u32(inLvl = X[Vi + 1] - X[Vi]);
#if CHILDREN
    if (length >= child && i < pending) {
#if __CUDACC_VER_MAJOR__ >= 12
      cudaStream_t stream = cudaStreamFireAndForget;
#else
      cudaStream_t stream = nullptr;
#endif
      u32 threads = min(256u, (length + 31) / 32 * 32);
      kolganov_child<<<(length + threads - 1) / threads, threads, 0, stream>>>(list, length, Vi, u32(lvl), levels, parents,
                                                                               Qnext, room, counters);
      if (cudaGetLastError() == cudaSuccess) length = 0, grids = 1;
    }
#endif
    for (u32 k = 0; k < length; k++) visit(list[k], Vi, u32(lvl), levels, parents, Qnext, room,
                                           counters);
  }
  add(counters, 0, inLvl, grids);
}

// kolganov_bu is figure 4, bu_align, for the vertices from `first` to `end`: with step 32 for aligned ones, with step 1
// for the others. levels and levels_out are the same array: only the thread of a vertex writes its level, and no other
// thread looks for that level.
//
// counters: vertices of Qnext; inLvl.
extern "C" __global__ void __launch_bounds__(256)
kolganov_bu(u64 first, u64 end, u64 step, u64 n, const u64* rowsIndices, const u32* endV, u64 lvl,
            const u32* __restrict__ levels, u32* levels_out, u32* parents, Counters* counters) {
  u64 i = first + u64(blockIdx.x) * blockDim.x + threadIdx.x, inLvl = 0;
  bool found = false;
  if (i < end && levels_out[i] == 0) {
    u64 start_k = rowsIndices[i], end_k = rowsIndices[i + n];
    for (u64 k = start_k; k < start_k + step * end_k; k += step) {
      inLvl++;
      u32 endk = endV[k];
      if (levels[endk] == u32(lvl) - 1) {
        parents[i] = endk;
        levels_out[i] = u32(lvl);
        found = true;
        break;
      }
    }
  }
  add(counters, found, inLvl, 0);
}

// kolganov_queue makes the queue of a level for TD after BU, which has none, and where duplicates have filled it.
extern "C" __global__ void __launch_bounds__(256)
kolganov_queue(const u32* levels, u64 n, u64 lvl, u32* Qnext, Counters* counters) {
  u64 i = u64(blockIdx.x) * blockDim.x + threadIdx.x;
  bool in = i < n && levels[i] == u32(lvl);
  u32 all = __ballot_sync(~0u, in);
  u64 at = 0;
  if (lane() == 0 && all != 0) at = atomicAdd(&counters->vertices, u64(__popc(all)));
  at = __shfl_sync(~0u, at, 0) + __popc(all & ((1u << lane()) - 1));
  if (in) Qnext[at] = u32(i);
}

// kolganov_parents writes the parents of labels that were reached. original is the label of each number.
extern "C" __global__ void kolganov_parents(const u32* number, const u32* original, u64 n, const u32* levels,
                                            const u32* parents, u64* parent) {
  u64 v = u64(blockIdx.x) * blockDim.x + threadIdx.x;
  if (v >= n) return;
  u32 i = number[v];
  if (levels[i] != 0) parent[v] = original[parents[i]];
}

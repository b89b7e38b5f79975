// Kernel 1 on several GPUs: what it does besides the kernels of one GPU. graph.cuh has the numbering.
//
// Every tuple (u, v) makes two entries, (u, v) at the owner of u and (v, u) at the owner of v: place << 32 | other label.
// GPUs exchange entries and sections of Graph::vertex; the host copies them (construct_several.go).
#include "append.cuh"

namespace {

constexpr int PER_THREAD = 4; // at a time
constexpr u32 MAX_RANGES = 4096; // maxRanges of construct_lists.go

// vertexOfEnd returns Graph::vertex of the label of an entry.
__device__ u32 vertexOfEnd(u64 entry) {
  u64 label = u32(entry);
  return graph.vertex[label % graph.ranks * graph.labels + label / graph.ranks];
}

// ownOf returns the local number of the own end of an entry, or NONE if that is a leaf or isolated.
__device__ u32 ownOf(u64 entry) {
  u32 v = graph.vertex[graph.rank * graph.labels + (entry >> 32)];
  return v < LEAF ? u32(ownWord(v / 32)) * 32 + v % 32 : NONE;
}

}  // namespace

// count_owned adds the number of entries of each owner to counts.
extern "C" __global__ void count_owned(const u64* pairs, u64 n, u64 ranks, u64* counts) {
  u64 stride = u64(gridDim.x) * blockDim.x;
  for (u64 r = 0; r < ranks; r++) {
    u64 mine = 0;
    for (u64 i = u64(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += stride) {
      u32 u = u32(pairs[i] >> 32), v = u32(pairs[i]);
      if (u != v) mine += (u % u32(ranks) == r) + (v % u32(ranks) == r);
    }
    mine = warpSum(mine);
    if (lane() == 0 && mine != 0) atomicAdd(&counts[r], mine);
  }
}

// select_owned writes the entries of an owner to out, in any order, and adds their number to *written.
extern "C" __global__ void __launch_bounds__(THREADS)
select_owned(const u64* pairs, u64 n, u64 owner, u64 ranks, u64* out, u64* written) {
  u64 stride = u64(gridDim.x) * THREADS * PER_THREAD;
  u32 p = u32(ranks);
  for (u64 begin = u64(blockIdx.x) * THREADS * PER_THREAD; begin < n; begin += stride) {
    u64 mine[2 * PER_THREAD];
#pragma unroll
    for (int i = 0; i < PER_THREAD; i++) {
      u64 at = begin + i * THREADS + threadIdx.x;
      mine[2 * i] = mine[2 * i + 1] = ~u64(0);
      if (at >= n) continue;
      u32 u = u32(pairs[at] >> 32), v = u32(pairs[at]);
      if (u == v) continue;
      if (u % p == owner) mine[2 * i] = u64(u / p) << 32 | v;
      if (v % p == owner) mine[2 * i + 1] = u64(v / p) << 32 | u;
    }
    append(mine, out, written);
  }
}

// count_entries counts the entries of every place, with duplicates.
extern "C" __global__ void count_entries(const u64* entries, u64 n, u32* degree) {
  u64 stride = u64(gridDim.x) * blockDim.x;
  for (u64 i = u64(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += stride) atomicAdd(&degree[entries[i] >> 32], 1u);
}

// number_hubs turns the local numbers of the own section of Graph::vertex into vertices of hubs; the others become `hubs`.
extern "C" __global__ void number_hubs(const u32* local, u32* section) {
  u64 stride = u64(gridDim.x) * blockDim.x;
  for (u64 l = u64(blockIdx.x) * blockDim.x + threadIdx.x; l < graph.labels; l += stride) {
    u32 v = local[l];
    section[l] = v == NONE ? NONE : v < graph.ownHubs ? vertexOf(v) : u32(graph.hubs);
  }
}

// smallest_hubs finds the first hub among the neighbours of every own vertex. smallest must be filled with NONE.
extern "C" __global__ void smallest_hubs(const u64* entries, u64 n, const u32* local, u32* smallest) {
  u64 stride = u64(gridDim.x) * blockDim.x;
  for (u64 i = u64(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += stride) {
    u32 u = local[entries[i] >> 32], v = vertexOfEnd(entries[i]);
    if (v < smallest[u]) atomicMin(&smallest[u], v);
  }
}

// number_all turns local numbers into the own section of Graph::vertex.
extern "C" __global__ void number_all(const u32* local, u32* section) {
  u64 stride = u64(gridDim.x) * blockDim.x;
  for (u64 l = u64(blockIdx.x) * blockDim.x + threadIdx.x; l < graph.labels; l += stride) {
    u32 v = local[l];
    section[l] = v == NONE ? NONE : v < graph.searched ? vertexOf(v) : LEAF | hubOf(v);
  }
}

// label_all writes the labels of all vertices.
extern "C" __global__ void label_all(u32* label) {
  u64 stride = u64(gridDim.x) * blockDim.x;
  for (u64 l = u64(blockIdx.x) * blockDim.x + threadIdx.x; l < graph.allLabels; l += stride) {
    u32 v = vertexAt(l);
    if (v < LEAF) label[v] = u32(l);
  }
}

// count_ranges counts the entries, duplicates included, of each of at most MAX_RANGES ranges of `width` sources: the
// other ends of the entries, or the own ones.
extern "C" __global__ void count_ranges(const u64* entries, u64 n, u64 others, u64 width, u64* counts) {
  __shared__ u32 sums[MAX_RANGES];
  for (u32 i = threadIdx.x; i < MAX_RANGES; i += blockDim.x) sums[i] = 0;
  __syncthreads();
  u64 stride = u64(gridDim.x) * blockDim.x;
  for (u64 i = u64(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += stride) {
    u32 own = ownOf(entries[i]), other = vertexOfEnd(entries[i]);
    if (own != NONE && other < LEAF) atomicAdd(&sums[(others ? other : own) / width], 1u);
  }
  __syncthreads();
  for (u32 i = threadIdx.x; i < MAX_RANGES; i += blockDim.x) {
    if (sums[i] != 0) atomicAdd(&counts[i], u64(sums[i]));
  }
}

// entry_keys is list_keys for entries. The sources are the other ends of the entries, or the own ones.
extern "C" __global__ void __launch_bounds__(THREADS)
entry_keys(const u64* entries, u64 n, u64 others, u64 fromTo, u64 bits, u64* keys, u64* written) {
  u32 from = u32(fromTo >> 32), to = u32(fromTo);
  u64 stride = u64(gridDim.x) * THREADS * PER_THREAD;
  for (u64 begin = u64(blockIdx.x) * THREADS * PER_THREAD; begin < n; begin += stride) {
    u64 mine[PER_THREAD];
#pragma unroll
    for (int i = 0; i < PER_THREAD; i++) {
      u64 at = begin + i * THREADS + threadIdx.x;
      mine[i] = ~u64(0);
      if (at >= n) continue;
      u32 own = ownOf(entries[at]), other = vertexOfEnd(entries[at]);
      if (own == NONE || other >= LEAF) continue; // leaves are in no list
      u32 source = others ? other : own, target = others ? own : other;
      if (source >= from && source < to) mine[i] = u64(source - from) << bits | target;
    }
    append(mine, keys, written);
  }
}

// own_template writes the label of the first neighbour of each own label; NONE where isolated.
extern "C" __global__ void own_template(u32* out) {
  u64 stride = u64(gridDim.x) * blockDim.x;
  for (u64 l = u64(blockIdx.x) * blockDim.x + threadIdx.x; l < graph.labels; l += stride) {
    u32 v = graph.vertex[graph.rank * graph.labels + l];
    if (v == NONE) out[l] = NONE;
    else if (v & LEAF) out[l] = graph.label[v & ~LEAF];
    else out[l] = graph.label[graph.firstNeighbour[u32(ownWord(v / 32)) * 32 + v % 32]];
  }
}

// SPDX-License-Identifier: Apache-2.0

// The top-down step by dynamic parallelism (Kolganov 2018, section 3.2): one thread for each vertex of the queue
// launches a child grid with a thread for each edge, and the hardware's scheduler balances the work. A thread follows
// the edges of a short list itself. The host launches this kernel in place of topDownStep of search.cu. Nothing waits
// for the children on the device, which compute capability 9.0 no longer supports: the next kernel in the stream
// starts after all of them.
#include "topdown.cuh"

namespace {

// addWarp adds the tallies of a warp, and how many corrections it has added, to the level's counters. All lanes call
// it.
__device__ void addWarp(Counters* counters, const Tally& t, u32 corrections) {
  u64 found = warpSum(t.found), edges = warpSum(t.edges), hubs = warpSum(t.hubs);
  if (lane() != 0 || found == 0) return;
  atomicAdd(&counters->found, found);
  if (corrections != 0) atomicAdd(&counters->corrections, u64(corrections));
  if (hubs != 0) atomicAdd(&counters->hubs, hubs), atomicAdd(&counters->edges, edges);
}

}  // namespace

extern "C" __global__ void child(u64 edges, u32 from, u32* next, Counters* counters) {
  u64 i = u64(blockIdx.x) * blockDim.x + threadIdx.x;
  Tally tally;
  DirectCorrections corrections;
  u32 t[1] = {neighborsBySource(from).row(u32(i & ~u64(31)))};
  if (i >= edges) t[0] = NONE; // a hub's group
  DenseOutput<DirectCorrections> output{next, tally, corrections};
  follow(t, from, output);
  addWarp(counters, tally, corrections.added);
}

extern "C" __global__ void top_down_dynamic(u64 queued) {
  u64 i = u64(blockIdx.x) * blockDim.x + threadIdx.x;
  Counters* counters = &state.counters[state.level.number % 3];
  u32* next = graph.frontier[(state.level.number + 1) % 3];
  Tally tally;
  DirectCorrections corrections;
  u32 from = 0;
  u64 n = 0; // edges that this thread follows itself
  if (i < queued) {
    from = graph.queue[i];
    if (from < graph.hubs) visitSharedWords(from, next, tally);
    n = topDownEdges(from);
    if (n >= CHILD_EDGES) {
#if __CUDACC_VER_MAJOR__ >= 12
      cudaStream_t stream = cudaStreamFireAndForget;
#else
      cudaStream_t stream = nullptr;
#endif
      child<<<(n + CHILD_THREADS - 1) / CHILD_THREADS, CHILD_THREADS, 0, stream>>>(n, from, next, counters);
      if (cudaGetLastError() == cudaSuccess) n = 0; // otherwise the launch queue is full: follow them here
    }
  }
  DenseOutput<DirectCorrections> output{next, tally, corrections};
  Cursor cursor(n != 0 ? neighborsBySource(from) : List(), 0);
  for (u64 k = 0; __any_sync(~0u, k < n); k++) {
    u32 t[1] = {k < n ? cursor.next() : NONE};
    follow(t, from, output);
  }
  addWarp(counters, tally, corrections.added);
}

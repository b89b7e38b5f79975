// The top-down step by dynamic parallelism (Kolganov 2018, section 3.2): one master thread for each vertex of the queue
// launches a child grid as large as the vertex has links. The hardware's scheduler balances the work. A list too short to be
// worth a launch is walked by its master. The host launches this step in the place of expand of the fused search; children are
// not waited for on the device, which compute capability 9.0 no longer can: the kernel that follows in the stream waits for all.
#include "topdown.cuh"

namespace {

// add adds the tallies of a warp, and how many finds it has added, to the level's counters. All lanes call it.
__device__ void add(Counters* counters, const Tally& t, u32 finds) {
  u64 found = warpSum(t.found), edges = warpSum(t.edges), hubs = warpSum(t.hubs);
  if (lane() != 0 || found == 0) return;
  atomicAdd(&counters->found, found);
  if (finds != 0) atomicAdd(&counters->finds, u64(finds));
  if (hubs != 0) atomicAdd(&counters->hubs, hubs), atomicAdd(&counters->edges, edges);
}

}  // namespace

extern "C" __global__ void child(const u32* list, u64 links, u32 from, u32* next, Counters* counters) {
  u64 i = u64(blockIdx.x) * blockDim.x + threadIdx.x;
  Tally tally;
  DirectFinds finds;
  u32 t[1] = {i < links ? list[i] : NONE};
  relax(t, from, next, tally, finds);
  add(counters, tally, finds.added);
}

extern "C" __global__ void expand_dynamic(u64 queued) {
  u64 i = u64(blockIdx.x) * blockDim.x + threadIdx.x;
  Counters* counters = &state.counters[state.progress.number % 3];
  u32* next = graph.frontier[(state.progress.number + 1) % 3];
  Tally tally;
  DirectFinds finds;
  u32 from = 0;
  u64 n = 0; // links that this thread walks itself
  const u32* list = nullptr;
  if (i < queued) {
    from = graph.queue[i];
    if (from < graph.hubs) claimBorders(from, next, tally);
    list = graph.target + graph.offset[from];
    n = links(from);
    if (n >= CHILD_EDGES) {
#if __CUDACC_VER_MAJOR__ >= 12
      cudaStream_t stream = cudaStreamFireAndForget;
#else
      cudaStream_t stream = nullptr;
#endif
      child<<<(n + CHILD_THREADS - 1) / CHILD_THREADS, CHILD_THREADS, 0, stream>>>(list, n, from, next, counters);
      if (cudaGetLastError() == cudaSuccess) n = 0; // else there is no room for another launch: walk
    }
  }
  for (u64 k = 0; __any_sync(~0u, k < n); k++) {
    u32 t[1] = {k < n ? list[k] : NONE};
    relax(t, from, next, tally, finds);
  }
  add(counters, tally, finds.added);
}

// Finds: vertices whose parent is not the one of the output template, in a list that grows level by level. Writing each parent into an
// array by vertex, or at once to its place in the output, would write 4 or 8 bytes at a random place, which costs memory a read and a
// write of a whole sector, in the middle of the search; the list is written in rows.
#pragma once
#include "barrier.cuh"

// BufferedFinds collects the finds of a warp in shared memory, and adds them to the list when there is no room for more. All lanes of
// the warp call its functions.
struct BufferedFinds {
  u64* buffer;  // [FINDS_BUFFER] of this warp
  u32 used = 0;
  u32 added = 0; // to the list

  __device__ explicit BufferedFinds(u64* buffer) : buffer(buffer) {}

  __device__ void add(bool found, u32 v, u32 parent) {
    u32 lanes = __ballot_sync(~0u, found);
    if (lanes == 0) return;
    if (used + __popc(lanes) > FINDS_BUFFER) flush();
    if (found) buffer[used + __popc(lanes & ((1u << lane()) - 1))] = u64(v) << 32 | parent;
    used += __popc(lanes);
  }

  __device__ void flush() {
    __syncwarp();
    u64 at = 0;
    if (lane() == 0 && used != 0) at = atomicAdd(&state.finds, u64(used));
    at = __shfl_sync(~0u, at, 0);
    for (u32 i = lane(); i < used; i += 32) graph.finds[at + i] = buffer[i];
    __syncwarp();
    added += used;
    used = 0;
  }
};

// DirectFinds adds the finds of a warp to the list at once.
struct DirectFinds {
  u32 added = 0;

  __device__ void add(bool found, u32 v, u32 parent) {
    u32 lanes = __ballot_sync(~0u, found);
    if (lanes == 0) return;
    u64 at = 0;
    if (lane() == 0) at = atomicAdd(&state.finds, u64(__popc(lanes)));
    at = __shfl_sync(~0u, at, 0);
    if (found) graph.finds[at + __popc(lanes & ((1u << lane()) - 1))] = u64(v) << 32 | parent;
    added += __popc(lanes);
  }
};

// Barriers of the search. A block has SEARCH_THREADS threads that search and COPY_THREADS behind them that copy the output template
// at the same time, so the barriers of the whole block are not for them: named ones count the threads that are meant.
#pragma once
#include "graph.cuh"

constexpr int SEARCH_BARRIER = 1, COPY_BARRIER = 2;

// syncSearch waits for all searching threads of the block.
__device__ inline void syncSearch() { asm volatile("bar.sync %0, %1;" ::"n"(SEARCH_BARRIER), "n"(SEARCH_THREADS) : "memory"); }

// syncCopy waits for all copying threads of the block.
__device__ inline void syncCopy() { asm volatile("bar.sync %0, %1;" ::"n"(COPY_BARRIER), "n"(COPY_THREADS) : "memory"); }

// anySearch waits for all searching threads of the block, and says whether one of them said so.
__device__ inline bool anySearch(bool says) {
  u32 any;
  asm volatile(
      "{\n\t.reg .pred p, q;\n\tsetp.ne.u32 p, %1, 0;\n\tbar.red.or.pred q, %2, %3, p;\n\tselp.u32 %0, 1, 0, q;\n\t}"
      : "=r"(any)
      : "r"(u32(says)), "n"(SEARCH_BARRIER), "n"(SEARCH_THREADS)
      : "memory");
  return any != 0;
}

extern __device__ u32 arrived;  // blocks at the grid's barrier; the highest bit changes when all are there
extern __device__ u64 copied;   // blocks that have copied their part of the template, of all searches

// fence orders what this thread, and those that it has met at a barrier, wrote and read before it against what they do after it, for the
// whole device.
__device__ inline void fence() { asm volatile("fence.acq_rel.gpu;" ::: "memory"); }

// syncGrid waits for the searching threads of all blocks, and lets one thread of each do something before the others of its block go
// on. The first block adds what the others lack to the highest bit, so the counter need never be reset.
template <class Then>
__device__ inline void syncGrid(const Then& then) {
  syncSearch();
  if (threadIdx.x == 0) {
    u32 mine = blockIdx.x == 0 ? 0x80000000u - (gridDim.x - 1) : 1u, before, now;
    asm volatile("atom.add.release.gpu.u32 %0, [%1], %2;" : "=r"(before) : "l"(&arrived), "r"(mine) : "memory");
    do {
      asm volatile("ld.relaxed.gpu.u32 %0, [%1];" : "=r"(now) : "l"(&arrived) : "memory");
    } while (((before ^ now) & 0x80000000u) == 0);
    fence();
    then();
  }
  syncSearch();
}

__device__ inline void syncGrid() {
  syncGrid([] {});
}

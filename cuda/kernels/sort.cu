// SPDX-License-Identifier: Apache-2.0

// The kernels of the sort (sort.cuh), and prefix sums.
#include "sort.cuh"

// sort_count counts the digits of every block into place[digit*gridDim.x + block].
extern "C" __global__ void __launch_bounds__(THREADS) sort_count(const u64* keys, u64 n, u64 shift, u64* place) {
  __shared__ u32 count[DIGITS];
  count[threadIdx.x] = 0;
  __syncthreads();
  u64 end = firstKey(blockIdx.x + 1, n);
  for (u64 i = firstKey(blockIdx.x, n) + threadIdx.x; i < end; i += THREADS) {
    atomicAdd(&count[digitOf(keys[i], shift)], 1u);
  }
  __syncthreads();
  place[u64(threadIdx.x) * gridDim.x + blockIdx.x] = count[threadIdx.x];
}

// sort_scatter moves every key to its place. place has the exclusive prefix sums of the counts of sort_count.
extern "C" __global__ void __launch_bounds__(THREADS)
sort_scatter(const u64* in, u64* out, u64 n, u64 shift, const u64* place) {
  scatter<false>(in, out, nullptr, nullptr, n, shift, place);
}

// prefix_sums replaces n numbers by their exclusive prefix sums, and writes their total. It runs as one block.
extern "C" __global__ void __launch_bounds__(SUM_THREADS) prefix_sums(u64* numbers, u64 n, u64* total) {
  __shared__ u64 sums[32];
  constexpr int NUMBERS_PER_THREAD = 8;
  u64 carry = 0;
  for (u64 begin = 0; begin < n; begin += SUM_THREADS * NUMBERS_PER_THREAD) {
    u64 x[NUMBERS_PER_THREAD], mine = 0;
    for (int i = 0; i < NUMBERS_PER_THREAD; i++) {
      u64 at = begin + threadIdx.x * NUMBERS_PER_THREAD + i;
      x[i] = at < n ? numbers[at] : 0;
      mine += x[i];
    }
    u64 until = sumUntil(mine);
    __syncthreads();
    if (lane() == 31) sums[threadIdx.x / 32] = until;
    __syncthreads();
    u64 all = 0;
    for (u32 w = 0; w < 32; w++) {
      if (w == threadIdx.x / 32) until += all;
      all += sums[w];
    }
    u64 sum = carry + until - mine;
    for (int i = 0; i < NUMBERS_PER_THREAD; i++) {
      u64 at = begin + threadIdx.x * NUMBERS_PER_THREAD + i;
      if (at < n) numbers[at] = sum;
      sum += x[i];
    }
    carry += all;
  }
  if (threadIdx.x == 0) *total = carry;
}

// SPDX-License-Identifier: Apache-2.0

#include "../sort.cuh"

// sort_scatter_pairs is sort_scatter for keys with values.
extern "C" __global__ void __launch_bounds__(THREADS)
sort_scatter_pairs(const u64* in, u64* out, const u64* values, u64* valuesOut, u64 n, u64 shift, const u64* place) {
  scatter<true>(in, out, values, valuesOut, n, shift, place);
}

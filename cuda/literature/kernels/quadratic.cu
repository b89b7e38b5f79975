// SPDX-License-Identifier: Apache-2.0

// kernel=quadratic: one thread for each vertex and level, as in the first searches on GPUs.
//
// P. Harish, P. J. Narayanan, "Accelerating Large Graph Algorithms on the GPU Using CUDA", HiPC 2007, algorithms 1 and
// 2; in the form of the lecture "CUDA 6: Breadth-First Search" (CS121 Parallel Computing, 2019), slide "Parallelizing
// BFS", with the test that the slide says it lacks. Work grows with vertices times levels.
#include "base.cuh"

// quadratic takes one level: every vertex of distance `iteration` gives its neighbors without a distance the next one.
//
// Benign races: several threads may find the same vertex. All write the same distance, and each writes a parent that is
// one level above; the last one stays.
//
// counters: vertices and edges of the frontier.
extern "C" __global__ void __launch_bounds__(256)
quadratic(const u64* R, const u32* C, u64 n, u64 iteration, u32* dist, u64* parent, Counters* counters) {
  constexpr u32 INFINITE = ~0u;
  u64 i = u64(blockIdx.x) * blockDim.x + threadIdx.x;
  bool frontier = i < n && dist[i] == u32(iteration);
  u64 edges = 0;
  if (frontier) {
    edges = R[i + 1] - R[i];
    for (u64 offset = R[i]; offset < R[i + 1]; offset++) {
      u32 j = C[offset];
      if (dist[j] == INFINITE) {
        dist[j] = u32(iteration) + 1;
        parent[j] = i;
      }
    }
  }
  add(counters, frontier, edges, edges);
}

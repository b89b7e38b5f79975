// SPDX-License-Identifier: Apache-2.0

// The first step: Dijkstra's algorithm by one block (sssp.cu).
#pragma once
#include "step.cuh"

namespace {

// begin makes all vertices unreached.
__device__ void begin(const Paths& p, Search& s) {
  u64 at = u64(blockIdx.x) * PATH_THREADS + threadIdx.x, threads = u64(gridDim.x) * PATH_THREADS;
  for (u64 i = at; i < (p.vertices + 3) / 4; i += threads) { // arrays are padded
    reinterpret_cast<ulonglong2*>(p.state)[2 * i] = make_ulonglong2(UNREACHED, UNREACHED);
    reinterpret_cast<ulonglong2*>(p.state)[2 * i + 1] = make_ulonglong2(UNREACHED, UNREACHED);
    reinterpret_cast<uint4*>(p.stamp)[i] = make_uint4(0, 0, 0, 0);
  }
  if (at < 3) p.search->counters[at] = StepCounters{0, 0, INFINITE, 0, INFINITE};
  syncGrid(p, s);
}

// nearestOf returns the place of the nearest vertex in the queue of start, and its distance << 32. All threads of the
// block call it.
__device__ u64 nearestOf(Shared& shared, u32 length) {
  u64 least = ~u64(0);
  for (u32 i = threadIdx.x; i < length; i += PATH_THREADS) {
    u64 key = u64(shared.start.distance[i]) << 32 | i;
    if (key < least) least = key;
  }
  for (int d = 16; d > 0; d /= 2) {
    u64 other = __shfl_xor_sync(~0u, least, d);
    if (other < least) least = other;
  }
  if (lane() == 0) shared.start.least[threadIdx.x / 32] = least;
  __syncthreads();
  least = shared.start.least[0];
  for (int w = 1; w < WARPS; w++) least = shared.start.least[w] < least ? shared.start.least[w] : least;
  return least;
}

// dijkstra is Dijkstra's algorithm by one block. It returns t0, as bits, and the number of vertices that it has made
// final; the others that it has reached are in the queue.
__device__ u32 dijkstra(const Paths& p, Search& s, Shared& shared, u32& popped) {
  auto& queue = shared.start;
  for (popped = 0;; ) {
    u32 length = queue.length;
    u64 least = nearestOf(shared, length);
    u32 distance = u32(least >> 32), i = u32(least);
    if (distance >= INFINITE) return INFINITE;
    u32 v = queue.vertex[i];
    u64 state = __ldcg(p.state + v);
    bool stale = (state & FINAL) != 0 || u32(state >> 32) != distance;
    u32 at = p.head[v].at, n = p.head[v + 1].at - at;
    if (!stale && (v < p.hubs || length + n > START_QUEUE || popped == START_STEPS)) return distance;
    __syncthreads();
    if (threadIdx.x == 0) {
      queue.distance[i] = INFINITE;
      if (!stale) __stcg(p.state + v, state | FINAL);
    }
    __syncthreads();
    if (stale) continue;
    popped++;
    for (u32 k = threadIdx.x; k < n; k += PATH_THREADS) {
      Entry e = p.entry[at + k];
      float further = __uint_as_float(distance) + e.weight;
      s.examined++;
      if (!lower(p, e.neighbor, __ldcg(p.state + e.neighbor), further, v)) continue;
      u32 place = atomicAdd(&queue.length, 1u);
      queue.vertex[place] = e.neighbor;
      queue.distance[place] = __float_as_uint(further);
    }
    __syncthreads();
  }
}

// start runs as the first step, in one block. It finds t0 and T, and queues the first round.
__device__ void start(const Paths& p, Search& s, Shared& shared, u32& popped) {
  auto& queue = shared.start;
  u32 root = p.vertex[p.root];
  u32 nearest = INFINITE;
  if (threadIdx.x == 0) {
    queue.length = 0;
    if (root != NONE) {
      u32 v = root;
      float distance = 0;
      if (root >= p.vertices) v = p.leaf[root - p.vertices].vertex, distance = p.leaf[root - p.vertices].weight;
      __stcg(p.state + v, stateOf(distance, root));
      queue.vertex[0] = v, queue.distance[0] = __float_as_uint(distance), queue.length = 1;
    }
  }
  __syncthreads();
  popped = 0;
  if (root != NONE) nearest = p.hubs != 0 ? dijkstra(p, s, shared, popped) : 0;
  float below = __uint_as_float(nearest);
  if (p.reach > 0 && below < p.safe) below = __fmul_rn(below + p.reach, SLACK);
  if (threadIdx.x == 0) {
    p.search->nearest = __uint_as_float(nearest);
    p.search->below = below;
    p.search->phase = nearest == INFINITE ? OUTPUT : p.hubs != 0 ? PUSH : LISTS;
  }
  __syncthreads();
  u32 length = nearest < INFINITE ? queue.length : 0;
  for (u32 from = 0; from < length; from += PATH_THREADS) {
    u32 i = from + threadIdx.x, v = 0, n = 0, kind = WHOLE;
    bool wanted = i < length && queue.distance[i] < INFINITE;
    if (wanted) {
      v = queue.vertex[i];
      u64 state = __ldcg(p.state + v);
      wanted = (state & FINAL) == 0 && u32(state >> 32) == queue.distance[i];
      if (v < p.hubs) {
        kind = CORE;
        wanted = wanted && p.reach > 0 && distanceOf(state) < below;
      }
      if (wanted) n = kind == CORE ? coreLengthOf(p, v) : lengthOf(p, v);
      if (wanted && n != 0) s.near = min(s.near, u32(state >> 32));
    }
    enqueue(p, s, shared, wanted && n != 0, v | kind, n);
  }
}

}  // namespace

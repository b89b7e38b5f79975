// SPDX-License-Identifier: Apache-2.0

// Kernel 1 for kernel 3: from tuples with weights to lists in the order of bounds (paths.cuh), and the core.
#include "../append.cuh"
#include "core.cuh"

namespace {

constexpr u32 LEAF_DEGREE = NONE;
constexpr int TUPLES_PER_THREAD = 4; // at a time

__device__ u64 thread() { return u64(blockIdx.x) * blockDim.x + threadIdx.x; }

__device__ u64 threads() { return u64(gridDim.x) * blockDim.x; }

}  // namespace

// copy_weights copies weights, and makes -0 to 0.
extern "C" __global__ void copy_weights(const float* from, u64 n, float* into) {
  for (u64 i = thread(); i < n; i += threads()) into[i] = from[i] + 0.0f;
}

// mark_leaves turns the degrees of leaves into LEAF_DEGREE, in a copy of them. Of a pair of vertices with a single
// tuple one is a leaf.
extern "C" __global__ void mark_leaves(const u64* pairs, u64 n, const u32* degree, u32* marked) {
  for (u64 i = thread(); i < n; i += threads()) {
    u32 u = u32(pairs[i] >> 32), v = u32(pairs[i]);
    if (u == v) continue;
    u32 degreeU = degree[u], degreeV = degree[v];
    if (degreeU == 1 && (degreeV > 1 || u > v)) marked[u] = LEAF_DEGREE;
    if (degreeV == 1 && (degreeU > 1 || v > u)) marked[v] = LEAF_DEGREE;
  }
}

// path_keys writes keys whose upper halves sort labels: hubs by descending degree, classes, leaves, isolated labels. It
// adds the numbers of hubs, of hubs and classes, and of these and leaves to counts.
extern "C" __global__ void path_keys(const u32* marked, u64 labels, u64 largest, u64* keys, u64* counts) {
  u32 hubs = 0, vertices = 0, numbered = 0;
  for (u64 l = thread(); l < labels; l += threads()) {
    u32 degree = marked[l];
    u64 key = largest + 2;
    if (degree == LEAF_DEGREE) key += CLASSES;
    else if (degree == 0) key += CLASSES + 1;
    else if (degree >= HUB_DEGREE) key = largest - degree;
    else key += CLASSES - 1 - (31 - __clz(degree)) / 2;
    hubs += degree >= HUB_DEGREE && degree != LEAF_DEGREE;
    vertices += degree != 0 && degree != LEAF_DEGREE;
    numbered += degree != 0;
    keys[l] = key << 32 | l;
  }
  hubs = warpSum(hubs), vertices = warpSum(vertices), numbered = warpSum(numbered);
  if (lane() == 0) {
    atomicAdd(&counts[0], u64(hubs)), atomicAdd(&counts[1], u64(vertices)), atomicAdd(&counts[2], u64(numbered));
  }
}

// first_relays counts the entries of every vertex, finds the lightest of each that is not a hub, weight << 32 |
// neighbor, and writes the leaves. first must be filled with ~0.
extern "C" __global__ void first_relays(const u64* pairs, const float* weights, u64 n, const u32* vertex, u64 vertices,
                                        u64 hubs, u64* length, u64* first, Leaf* leaf) {
  for (u64 i = thread(); i < n; i += threads()) {
    u32 u = vertex[u32(pairs[i] >> 32)], v = vertex[u32(pairs[i])];
    if (u == v) continue;
    for (int side = 0; side < 2; side++) {
      if (u >= vertices) {
        leaf[u - vertices] = Leaf{v, weights[i]};
      } else if (v < vertices) {
        atomicAdd(&length[u], u64(1));
        u64 mine = u64(__float_as_uint(weights[i])) << 32 | v;
        if (u >= hubs && mine < first[u]) atomicMin(&first[u], mine);
      }
      u32 other = u;
      u = v, v = other;
    }
  }
}

// second_relays finds the least weight of the entries with other neighbors than that of the lightest. second must be
// filled with bytes 0x7f, which make a number above all weights.
extern "C" __global__ void second_relays(const u64* pairs, const float* weights, u64 n, const u32* vertex, u64 vertices,
                                         u64 hubs, const u64* first, u32* second) {
  for (u64 i = thread(); i < n; i += threads()) {
    u32 u = vertex[u32(pairs[i] >> 32)], v = vertex[u32(pairs[i])], weight = __float_as_uint(weights[i]);
    if (u == v || u >= vertices || v >= vertices) continue;
    if (u >= hubs && u32(first[u]) != v && weight < second[u]) atomicMin(&second[u], weight);
    if (v >= hubs && u32(first[v]) != u && weight < second[v]) atomicMin(&second[v], weight);
  }
}

// path_entries writes the entries whose sources lie in [from, to), packed into fromTo, in any order, and adds their
// number to *written: a key source << BOUND_BITS | bound, and weight << 32 | neighbor.
extern "C" __global__ void __launch_bounds__(THREADS)
path_entries(const u64* pairs, const float* weights, u64 n, const u32* vertex, u64 vertices, u64 hubs, const u64* first,
             const u32* second, u64 fromTo, u64* keys, u64* values, u64* written) {
  u32 from = u32(fromTo >> 32), to = u32(fromTo);
  u64 stride = u64(gridDim.x) * THREADS * TUPLES_PER_THREAD;
  for (u64 begin = u64(blockIdx.x) * THREADS * TUPLES_PER_THREAD; begin < n; begin += stride) {
    u64 key[2 * TUPLES_PER_THREAD], value[2 * TUPLES_PER_THREAD];
    u32 count = 0;
#pragma unroll
    for (int i = 0; i < TUPLES_PER_THREAD; i++) {
      u64 at = begin + i * THREADS + threadIdx.x;
      u32 u = NONE, v = NONE, weight = 0;
      if (at < n) u = vertex[u32(pairs[at] >> 32)], v = vertex[u32(pairs[at])], weight = __float_as_uint(weights[at]);
      for (int side = 0; side < 2; side++) {
        u64& k = key[2 * i + side] = ~u64(0);
        if (u != v && u < vertices && v < vertices && u >= from && u < to) { // the entry (u, v)
          float bound = __uint_as_float(weight);
          if (v >= hubs) {
            u64 lightest = first[v];
            u32 relay = u32(lightest) != u ? u32(lightest >> 32) : second[v];
            bound += __uint_as_float(relay < 0x7f800000 ? relay : 0x7f800000);
          }
          k = u64(u - from) << BOUND_BITS | __float_as_uint(__fmul_rn(bound, SLACK)) >> (31 - BOUND_BITS);
          value[2 * i + side] = u64(weight) << 32 | v;
          count++;
        }
        u32 other = u;
        u = v, v = other;
      }
    }
    u64 at = placeOf(count, written);
#pragma unroll
    for (int i = 0; i < 2 * TUPLES_PER_THREAD; i++) {
      if (key[i] == ~u64(0)) continue;
      keys[at] = key[i];
      values[at++] = value[i];
    }
  }
}

// fill_entries makes entries of sorted keys and their values.
extern "C" __global__ void fill_entries(const u64* keys, const u64* values, u64 n, Entry* entry) {
  for (u64 i = thread(); i < n; i += threads()) {
    u32 bound = u32(keys[i] & ((u64(1) << BOUND_BITS) - 1)) << (31 - BOUND_BITS);
    entry[i] = Entry{u32(values[i]), __uint_as_float(u32(values[i] >> 32)), __uint_as_float(bound)};
  }
}

// fill_heads makes the head of every list, and the one behind them.
extern "C" __global__ void fill_heads(const u64* offset, u64 vertices, const Entry* entry, Head* head) {
  const float infinity = __uint_as_float(0x7f800000);
  for (u64 v = thread(); v <= vertices; v += threads()) {
    Head h{u32(offset[v]), u32(v), infinity, infinity};
    if (v < vertices) {
      u64 n = offset[v + 1] - offset[v];
      if (n > 0) h.neighbor = entry[offset[v]].neighbor, h.weight = entry[offset[v]].weight;
      if (n > 1) h.next = entry[offset[v] + 1].bound;
    }
    head[v] = h;
  }
}

// core_radii writes the distance of every vertex from the landmark, vertex 0, from which a search has found the states;
// +Inf if the path has more than MAX_HOPS edges.
extern "C" __global__ void core_radii(const u64* state, u64 vertices, float* radius) {
  for (u64 v = thread(); v < vertices; v += threads()) {
    u32 distance = u32(state[v] >> 32) & ~0x80000000u;
    u32 u = u32(state[v]);
    for (int hops = 1; u != 0 && distance < 0x7f800000; hops++) {
      if (hops == MAX_HOPS) distance = 0x7f800000;
      u = u32(state[u]);
    }
    radius[v] = __uint_as_float(distance);
  }
}

// core_sizes counts the entries of the core. reach and margin are the bits of numbers. A warp takes the list of a
// hub, and then 32 other vertices at a time.
extern "C" __global__ void core_sizes(const Head* head, const Entry* entry, u64 vertices, u64 hubs, const float* radius,
                                      u64 reach, u64 margin, u64* size) {
  CoreRule rule{head, entry, u32(hubs), radius, __uint_as_float(u32(reach)), __uint_as_float(u32(margin))};
  for (u64 v = thread() / 32; v < hubs; v += threads() / 32) {
    u32 count = 0;
    for (u64 i = head[v].at + lane(); i < head[v + 1].at && entry[i].bound < rule.reach; i += 32) {
      count += rule.keeps(u32(v), entry[i]);
    }
    count = warpSum(count);
    if (lane() == 0) size[v] = count;
  }
  for (u64 v = hubs + thread(); v < vertices; v += threads()) {
    u32 count = 0;
    for (u64 i = head[v].at; i < head[v + 1].at && entry[i].bound < rule.reach; i++) {
      count += rule.keeps(u32(v), entry[i]);
    }
    size[v] = count;
  }
}

// core_lists fills the core and its heads, where size has the prefix sums.
extern "C" __global__ void core_lists(const Head* head, const Entry* entry, u64 vertices, u64 hubs, const float* radius,
                                      u64 reach, u64 margin, const u64* size, CoreHead* heads, Entry* core) {
  CoreRule rule{head, entry, u32(hubs), radius, __uint_as_float(u32(reach)), __uint_as_float(u32(margin))};
  for (u64 v = thread() / 32; v < hubs; v += threads() / 32) {
    u64 into = size[v];
    for (u64 i = head[v].at + lane();; i += 32) {
      bool inside = i < head[v + 1].at && entry[i].bound < rule.reach;
      bool kept = inside && rule.keeps(u32(v), entry[i]);
      u32 lanes = __ballot_sync(~0u, kept);
      if (kept) core[into + __popc(lanes & ((1u << lane()) - 1))] = entry[i];
      into += __popc(lanes);
      if (!__all_sync(~0u, inside)) break;
    }
  }
  for (u64 v = hubs + thread(); v < vertices; v += threads()) {
    u64 into = size[v];
    for (u64 i = head[v].at; i < head[v + 1].at && entry[i].bound < rule.reach; i++) {
      if (rule.keeps(u32(v), entry[i])) core[into++] = entry[i];
    }
  }
  for (u64 v = thread(); v <= vertices; v += threads()) heads[v] = CoreHead{u32(size[v]), v < vertices ? radius[v] : 0};
}

// SPDX-License-Identifier: Apache-2.0

// Kernel 1, from tuples to the numbers of the vertices (graph.cl). lists.cl has the sort.

// count_loop counts the iterations of a loop that a compiler cannot foresee: x starts at 1 and becomes `last` after some.
__kernel void count_loop(uint last, __global uint* count) {
  uint i = 0;
  for (uint x = 1; x != last; x = x * 1664525u + 1013904223u) i++;
  if (get_global_id(0) == 0) *count = i;
}

// unpack_tuples turns n tuples of 12 bytes (low half of u, low half of v, high parts) into pairs. bounds[0] becomes the
// largest label, and bounds[1] is not 0 if a label has more than 32 bits.
__kernel void unpack_tuples(__global const uint* tuples, uint n, __global uint2* pairs, __global uint* bounds) {
  uint largest = 0, high = 0;
  for (size_t i = get_global_id(0); i < n; i += get_global_size(0)) {
    uint u = tuples[3 * i], v = tuples[3 * i + 1];
    high |= tuples[3 * i + 2];
    largest = max(largest, max(u, v));
    pairs[i] = (uint2)(u, v);
  }
  atomic_max(&bounds[0], largest);
  if (high != 0) atomic_or(&bounds[1], high);
}

// count_degrees counts the tuples at every label, with duplicates but without self-loops.
__kernel void count_degrees(__global const uint2* pairs, uint n, __global uint* degree) {
  for (size_t i = get_global_id(0); i < n; i += get_global_size(0)) {
    uint2 p = pairs[i];
    if (p.x == p.y) continue;
    atomic_inc(&degree[p.x]);
    atomic_inc(&degree[p.y]);
  }
}

// max_degree writes the largest degree to result[0] and the number of labels that are not isolated to result[1].
__kernel void max_degree(__global const uint* degree, uint labels, __global uint* result) {
  uint largest = 0, used = 0;
  for (size_t l = get_global_id(0); l < labels; l += get_global_size(0)) {
    largest = max(largest, degree[l]);
    used += degree[l] != 0;
  }
  atomic_max(&result[0], largest);
  atomic_add(&result[1], used);
}

// degree_keys writes keys whose upper halves sort labels by descending degree.
__kernel void degree_keys(__global const uint* degree, uint labels, uint largest, __global ulong* keys) {
  for (size_t l = get_global_id(0); l < labels; l += get_global_size(0)) keys[l] = (ulong)(largest - degree[l]) << 32 | l;
}

// number_vertices numbers the labels in the lower halves of keys by their positions. Others keep their vertex.
__kernel void number_vertices(__global const ulong* keys, uint vertices, __global uint* label, __global uint* vertex) {
  for (size_t v = get_global_id(0); v < vertices; v += get_global_size(0)) {
    uint l = (uint)keys[v];
    label[v] = l;
    vertex[l] = (uint)v;
  }
}

// smallest_neighbors finds the neighbor with the smallest number of every vertex. smallest must be filled with NONE.
__kernel void smallest_neighbors(__global const uint2* pairs, uint n, IN vertex, __global uint* smallest) {
  for (size_t i = get_global_id(0); i < n; i += get_global_size(0)) {
    uint2 p = pairs[i];
    if (p.x == p.y) continue;
    uint u = vertex[p.x], v = vertex[p.y];
    atomic_min(&smallest[u], v);
    atomic_min(&smallest[v], u);
  }
}

// group_keys writes keys whose upper halves sort vertices, which are in descending order of degree, into hubs (0), groups
// (1 + hub), ungrouped vertices (1 + hubs) and leaves (2 + hubs + hub).
__kernel void group_keys(IN label, IN degree, IN smallest, uint vertices, uint hubs, __global ulong* keys) {
  for (size_t v = get_global_id(0); v < vertices; v += get_global_size(0)) {
    uint l = label[v], group = 0;
    if (v >= hubs) {
      uint hub = smallest[v];
      group = hub >= hubs ? 1 + hubs : degree[l] == 1 ? 2 + hubs + hub : 1 + hub;
    }
    keys[v] = (ulong)group << 32 | l;
  }
}

// group_begins writes where each group begins: begin[g] for g = 0 ... groups, the last being the number of vertices.
__kernel void group_begins(__global const ulong* keys, uint vertices, uint groups, __global uint* begin) {
  for (size_t v = get_global_id(0); v <= vertices; v += get_global_size(0)) {
    uint group = v < vertices ? (uint)(keys[v] >> 32) : groups;
    uint first = v > 0 ? (uint)(keys[v - 1] >> 32) + 1 : 0;
    for (uint g = first; g <= group; g++) begin[g] = (uint)v;
  }
}

// range_entries counts the list entries, duplicates included, of each range of `width` vertices.
__kernel void range_entries(IN label, IN degree, uint searched, uint width, __global uint* entries) {
  __local uint sums[WG];
  size_t from = get_group_id(0) * (size_t)width, to = min(from + width, (size_t)searched);
  uint mine = 0, all;
  for (size_t v = from + get_local_id(0); v < to; v += WG) mine += degree[label[v]];
  scanGroup(mine, sums, &all);
  if (get_local_id(0) == 0) entries[get_group_id(0)] = all;
}

// list_keys appends to keys, in any order, source<<bits | target of both directions of every tuple whose source is in
// [from, to): self-loops and leaves have none. *written is the number of keys.
__kernel void list_keys(__global const uint2* pairs, uint n, IN vertex, uint searched, uint from, uint to, uint bits,
                        __global ulong* keys, __global uint* written) {
  __local uint count, base;
  uint lid = get_local_id(0);
  for (size_t begin = get_group_id(0) * (size_t)WG; begin < n; begin += get_global_size(0)) {
    size_t i = begin + lid;
    uint u = NONE, v = NONE;
    if (i < n) {
      uint2 p = pairs[i];
      if (p.x != p.y) u = vertex[p.x], v = vertex[p.y];
    }
    bool listed = u < searched && v < searched;
    bool first = listed && u >= from && u < to, second = listed && v >= from && v < to;
    if (lid == 0) count = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    uint at = first || second ? atomic_add(&count, (uint)first + (uint)second) : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lid == 0) base = atomic_add(written, count);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (first) keys[base + at++] = (ulong)(u - from) << bits | v;
    if (second) keys[base + at] = (ulong)(v - from) << bits | u;
  }
}

// word_hubs writes wordHub.
__kernel void word_hubs(Graph g, IN offset, IN target, __global uint* wordHub) {
  for (size_t w = get_global_id(0); w < g.words; w += get_global_size(0)) {
    uint from = w * 32, to = min(from + 32, g.searched), hub = offset[from] < offset[from + 1] ? target[offset[from]] : NONE;
    for (uint v = from; v < to; v++) hub = offset[v] == offset[v + 1] || target[offset[v]] != hub ? NONE : hub;
    wordHub[w] = hub;
  }
}

// fill_quads writes quad.
__kernel void fill_quads(Graph g, IN offset, IN target, IN wordHub, __global uint4* quad) {
  for (size_t v = get_global_id(0); v < 32 * (size_t)g.words; v += get_global_size(0)) {
    uint4 q = (uint4)(NONE);
    if (v < g.searched) {
      uint at = offset[v] + (wordHub[v / 32] != NONE), n = offset[v + 1] - at;
      q = (uint4)(n > 0 ? target[at] : NONE, n > 1 ? target[at + 1] : NONE, n > 2 ? target[at + 2] : NONE,
                  n > 3 ? target[at + 3] : NONE);
    }
    quad[v] = q;
  }
}

// fill_template writes outputTemplate. The first neighbor of a hub that has only leaves is the hub itself.
__kernel void fill_template(Graph g, IN offset, IN target, IN leafBegin, IN label, IN vertex, __global uint* outputTemplate) {
  uint padded = g.labels + (g.labels & 1);
  for (size_t l = get_global_id(0); l < padded; l += get_global_size(0)) {
    uint v = l < g.labels ? vertex[l] : NONE, first = NONE;
    if (v < g.searched) first = label[offset[v] < offset[v + 1] ? target[offset[v]] : v];
    else if (v != NONE) {
      uint low = 0, high = g.hubs; // the last hub whose leaves begin at v or before
      while (low + 1 < high) {
        uint middle = low + (high - low) / 2;
        if (leafBegin[middle] <= v) low = middle; else high = middle;
      }
      first = label[low];
    }
    outputTemplate[l] = first;
  }
}

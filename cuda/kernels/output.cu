// SPDX-License-Identifier: Apache-2.0

// Output of a search that reached few vertices: clearing the parents and writing those few is then cheaper than
// correcting the template (output.cuh). The host launches these kernels after the search.
#include "search.cuh"

// clear_parents fills parent with Unreached (-1).
extern "C" __global__ void clear_parents(i64* parent, u64 length) {
  u64 stride = u64(gridDim.x) * blockDim.x;
  for (u64 l = u64(blockIdx.x) * blockDim.x + threadIdx.x; l < length; l += stride) parent[l] = -1;
}

// write_reached writes the template's parents of the vertices that were reached.
extern "C" __global__ void write_reached(i64* parent) {
  u64 stride = u64(gridDim.x) * blockDim.x;
  for (u64 v = u64(blockIdx.x) * blockDim.x + threadIdx.x; v < graph.searched; v += stride) {
    if (graph.unvisited[v >> 5] >> (v & 31) & 1) continue;
    u32 label = graph.label[v];
    parent[label] = graph.outputTemplate[label];
    if (v >= graph.hubs) continue;
    for (u32 leaf = graph.leafBegin[v]; leaf < graph.leafBegin[v + 1]; leaf++) parent[graph.label[leaf]] = label;
  }
}

// write_corrections writes the parents that the template does not have.
extern "C" __global__ void write_corrections(i64* parent) {
  u64 stride = u64(gridDim.x) * blockDim.x;
  for (u64 i = u64(blockIdx.x) * blockDim.x + threadIdx.x; i < state.corrections; i += stride) {
    parent[graph.label[graph.corrections[i] >> 32]] = graph.label[u32(graph.corrections[i])];
  }
}

// write_root makes the root its own parent, after all other kernels.
extern "C" __global__ void write_root(i64* parent, u64 root) { parent[root] = i64(root); }

// wake does nothing. The host launches it and waits for it before a search's clock starts, because device and driver
// respond slowly after they were idle.
extern "C" __global__ void wake() {}

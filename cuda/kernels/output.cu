// Output where a search reached little: then clearing the parents and writing the few is cheaper than correcting the template
// (output.cuh). The host launches these kernels after the search.
#include "graph.cuh"

// erase fills parent with Unreached.
extern "C" __global__ void erase(i64* parent, u64 length) {
  u64 stride = u64(gridDim.x) * blockDim.x;
  for (u64 l = u64(blockIdx.x) * blockDim.x + threadIdx.x; l < length; l += stride) parent[l] = -1;
}

// write_reached writes the template's parents of what a search reached, into parents that were erased.
extern "C" __global__ void write_reached(i64* parent) {
  u64 stride = u64(gridDim.x) * blockDim.x;
  for (u64 v = u64(blockIdx.x) * blockDim.x + threadIdx.x; v < graph.searched; v += stride) {
    if (graph.unvisited[v >> 5] >> (v & 31) & 1) continue;
    u32 label = graph.original[v];
    parent[label] = graph.output[label];
    if (v >= graph.hubs) continue;
    for (u32 leaf = graph.leafAt[v]; leaf < graph.leafAt[v + 1]; leaf++) parent[graph.original[leaf]] = label;
  }
}

// write_finds writes the parents that the template does not have.
extern "C" __global__ void write_finds(i64* parent) {
  u64 stride = u64(gridDim.x) * blockDim.x;
  for (u64 i = u64(blockIdx.x) * blockDim.x + threadIdx.x; i < state.finds; i += stride) {
    parent[graph.original[graph.finds[i] >> 32]] = graph.original[u32(graph.finds[i])];
  }
}

// write_root makes the root its own parent, after everything else.
extern "C" __global__ void write_root(i64* parent, u64 root) { parent[root] = i64(root); }

// wake does nothing. The host launches it and waits for it before a search's clock starts, to wake the device and the driver from
// what the host did in between.
extern "C" __global__ void wake() {}

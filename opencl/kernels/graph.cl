// SPDX-License-Identifier: Apache-2.0

// The graph that kernel 1 (order.cl, lists.cl) builds and kernel 2 (search.cl) searches.
//
// Every label that is not isolated gets a number, its vertex:
//
//   0 ............ hubs ............ ungrouped ............ searched ............ vertices
//   |    hubs       |    grouped        |     ungrouped        |       leaves         |
//
// Hubs are the vertices of largest degree, in descending order of degree. Each other vertex with a hub as neighbor belongs
// to the group of its largest hub, and every group is a range of vertices. A leaf has a single tuple, with a hub; leaves
// have no lists, because the parent of a leaf is always its hub.
//
//   offset[searched+1]    the list of v is target[offset[v]] ... target[offset[v+1]-1]: vertices, ascending, no leaves
//   wordHub[words]        the first neighbor of all 32 vertices of a word, NONE if they differ
//   quad[32*words]        four neighbors of each vertex: entries 1 to 4 of its list where the word has a hub, otherwise
//                         entries 0 to 3; NONE beyond the list
//   leafBegin[hubs+1]     the leaves of hub h are leafBegin[h] ... leafBegin[h+1]-1
//   label[vertices], vertex[labels]   one from the other; NONE where a label is isolated
//   outputTemplate[labels]   label of the first neighbor of each label, NONE where isolated; of even length
//
// A build defines WG, the number of items of a work-group, a power of two. Every barrier is reached by all items of a
// work-group in the same iteration: it stands at the top level of a kernel or in a loop that they leave together. pocl
// miscompiles others (pocl issues 1167 and 1977), and so do other drivers.
#define NONE 0xffffffffu
#define IN __global const uint* // what a function reads

// INLINED is for functions that take local memory. pocl 3.1 gives every work-group its own only within kernels: LLVM
// replaces a parameter that is always the same variable, and in a function that is not inlined, threads then share it.
#define INLINED static inline __attribute__((always_inline))

typedef struct {
  uint labels;     // 1 + the largest label of the tuples
  uint vertices;   // labels that are not isolated
  uint searched;   // vertices with lists
  uint words;      // words of 32 searched vertices
  uint hubs;
  uint chunkWords; // words that a work-group takes at a time, a multiple of BLOCK, at most WG
  uint steps;      // AUTO, TOP_DOWN_ONLY, BOTTOM_UP_ONLY
  float alpha, beta;
} Graph;

// scanGroup returns the sum of the values of the items before the calling one in its work-group, and writes the sum of
// all to *total. sums has WG elements.
INLINED uint scanGroup(uint value, __local uint* sums, uint* total) {
  uint lid = get_local_id(0), sum = value;
  sums[lid] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint step = 1; step < WG; step *= 2) {
    if (lid >= step) sum += sums[lid - step];
    barrier(CLK_LOCAL_MEM_FENCE);
    sums[lid] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  *total = sums[WG - 1];
  barrier(CLK_LOCAL_MEM_FENCE);
  return sum - value;
}

// fill sets n elements.
__kernel void fill(__global uint* array, uint value, uint n) {
  for (size_t i = get_global_id(0); i < n; i += get_global_size(0)) array[i] = value;
}

// SPDX-License-Identifier: Apache-2.0

// Kernel 1 of packed lists (neighbors.cuh has the format): they are made of the plain lists of a range of sources. A warp
// takes a list, chunk by chunk.
#include "neighbors.cuh"

namespace {

// Chunk is entries k ... k+31 of a plain list, as far as it has them; each lane has one.
struct Chunk {
  u32 entry, difference; // difference: less 1; 0 in the first lane
  u32 entries, width;    // of the chunk

  __device__ Chunk(const u32* list, u64 length, u64 k) {
    entries = length - k < 32 ? u32(length - k) : 32;
    entry = lane() < entries ? list[k + lane()] : 0;
    u32 before = __shfl_up_sync(~0u, entry, 1);
    difference = lane() > 0 && lane() < entries ? entry - before - 1 : 0;
    width = 32 - __clz(warpOr(difference));
  }

  // words returns how many words the differences need.
  __device__ u32 words() const { return ((entries - 1) * width + 31) / 32; }
};

__device__ u64 headers(u64 length) { return (length + 31) / 32 * 2; }

}  // namespace

// packed_sizes writes how many words each packed list will have.
extern "C" __global__ void packed_sizes(const u64* offset, const u32* target, u64 sources, u64* size) {
  u64 warps = u64(gridDim.x) * (blockDim.x / 32);
  for (u64 s = (u64(blockIdx.x) * blockDim.x + threadIdx.x) / 32; s < sources; s += warps) {
    u64 length = offset[s + 1] - offset[s], words = headers(length);
    for (u64 k = 0; k < length; k += 32) words += Chunk(target + offset[s], length, k).words();
    if (lane() == 0) size[s] = words;
  }
}

// pack_lists writes the packed lists behind the first `used` words, and their offsets to place, which has where each of
// them begins behind these.
extern "C" __global__ void __launch_bounds__(THREADS)
pack_lists(const u64* offset, const u32* target, u64 sources, u64 used, u64* place, u32* words) {
  __shared__ u32 bits[THREADS / 32][32];
  u32* mine = bits[threadIdx.x / 32];
  u64 warps = u64(gridDim.x) * (blockDim.x / 32);
  for (u64 s = (u64(blockIdx.x) * blockDim.x + threadIdx.x) / 32; s < sources; s += warps) {
    u64 length = offset[s + 1] - offset[s], begin = used + place[s];
    u32* list = words + begin;
    u32 at = u32(headers(length)); // in the list
    for (u64 k = 0; k < length; k += 32) {
      Chunk c(target + offset[s], length, k);
      if (lane() == 0) list[k / 16] = c.entry, list[k / 16 + 1] = at << WIDTH_BITS | c.width;
      mine[lane()] = 0;
      __syncwarp();
      u32 bit = (lane() - 1) * c.width;
      if (c.difference != 0) {
        atomicOr(&mine[bit / 32], c.difference << bit % 32);
        if (bit % 32 + c.width > 32) atomicOr(&mine[bit / 32 + 1], c.difference >> (32 - bit % 32));
      }
      __syncwarp();
      if (lane() < c.words()) list[at + lane()] = mine[lane()];
      __syncwarp();
      at += c.words();
    }
    if (lane() == 0) place[s] = begin << LENGTH_BITS | length;
  }
}

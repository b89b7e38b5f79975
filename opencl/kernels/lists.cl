// SPDX-License-Identifier: Apache-2.0

// Kernel 1: a least-significant-digit radix sort of 64-bit keys, 8 bits a pass, and neighbor lists of sorted keys.
//
// The sort is stable. A work-group owns consecutive tiles of keys in both kernels. It sorts a tile by the digit in local
// memory, in two stable steps of 4 bits: an item owns consecutive keys and counts its digits in one number of 64 bits.
#define KEYS 8             // of an item, at most 15
#define TILE (WG * KEYS)
#define DIGITS 256

// padded is the place of key i of a tile; consecutive keys of neighboring items lie in different banks.
static inline uint padded(uint i) { return i + i / KEYS; }

static inline uint digitOf(ulong key, uint shift) { return (uint)(key >> shift) & (DIGITS - 1); }

// firstKey returns the first key of a work-group. Tiles are divided as evenly as possible.
static inline size_t firstKey(size_t group, uint n) {
  size_t tiles = ((size_t)n + TILE - 1) / TILE;
  return min(tiles * group / get_num_groups(0) * TILE, (size_t)n);
}

// sort_count counts the digits of every work-group into place[digit*groups + group].
__kernel void sort_count(__global const ulong* keys, uint n, uint shift, __global uint* place) {
  __local uint count[DIGITS];
  uint lid = get_local_id(0);
  for (uint d = lid; d < DIGITS; d += WG) count[d] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  size_t group = get_group_id(0), to = firstKey(group + 1, n);
  for (size_t i = firstKey(group, n) + lid; i < to; i += WG) atomic_inc(&count[digitOf(keys[i], shift)]);
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint d = lid; d < DIGITS; d += WG) place[d * get_num_groups(0) + group] = count[d];
}

// sort_scatter moves every key to its place. place has the exclusive prefix sums of the counts of sort_count.
__kernel __attribute__((reqd_work_group_size(WG, 1, 1)))
void sort_scatter(__global const ulong* restrict in, __global ulong* restrict out, uint n, uint shift,
                  __global const uint* restrict place) {
  __local ulong tile[TILE + WG];
  __local ushort counts[16 * WG];
  __local uint base[DIGITS], sums[WG]; // base: where keys of a digit go, less the place of the first in the tile
  uint lid = get_local_id(0);
  for (uint d = lid; d < DIGITS; d += WG) base[d] = place[d * get_num_groups(0) + get_group_id(0)];
  size_t to = firstKey(get_group_id(0) + 1, n);
  for (size_t begin = firstKey(get_group_id(0), n); begin < to; begin += TILE) {
    uint here = (uint)min(to - begin, (size_t)TILE);
    for (uint i = lid; i < TILE; i += WG) tile[padded(i)] = i < here ? in[begin + i] : ~0UL; // others sort to the end
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint s = shift; s < shift + 8; s += 4) {
      ulong key[KEYS], packed = 0; // packed: 4 bits for each digit
      uint rank[KEYS];
      for (uint k = 0; k < KEYS; k++) {
        key[k] = tile[padded(lid * KEYS + k)];
        uint bits = ((uint)(key[k] >> s) & 15) * 4;
        rank[k] = (uint)(packed >> bits) & 15;
        packed += 1UL << bits;
      }
      for (uint d = 0; d < 16; d++) counts[d * WG + lid] = (ushort)(packed >> (4 * d) & 15);
      barrier(CLK_LOCAL_MEM_FENCE);
      uint sum = 0, total;
      for (uint i = 0; i < 16; i++) sum += counts[lid * 16 + i];
      sum = scanGroup(sum, sums, &total);
      for (uint i = 0; i < 16; i++) {
        uint x = counts[lid * 16 + i];
        counts[lid * 16 + i] = (ushort)sum;
        sum += x;
      }
      barrier(CLK_LOCAL_MEM_FENCE);
      for (uint k = 0; k < KEYS; k++) {
        tile[padded(counts[((uint)(key[k] >> s) & 15) * WG + lid] + rank[k])] = key[k];
      }
      barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (uint i = lid; i < here; i += WG) {
      uint d = digitOf(tile[padded(i)], shift);
      if (i == 0 || digitOf(tile[padded(i - 1)], shift) != d) base[d] -= i;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = lid; i < here; i += WG) out[base[digitOf(tile[padded(i)], shift)] + i] = tile[padded(i)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = lid; i < here; i += WG) {
      uint d = digitOf(tile[padded(i)], shift);
      if (i + 1 == here || digitOf(tile[padded(i + 1)], shift) != d) base[d] += i + 1;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}

// prefix_sums replaces n numbers by their exclusive prefix sums, and writes their total. It runs as one work-group.
__kernel __attribute__((reqd_work_group_size(WG, 1, 1)))
void prefix_sums(__global uint* numbers, uint n, __global uint* total) {
  __local uint sums[WG];
  uint lid = get_local_id(0), carry = 0, all;
  for (uint begin = 0; begin < n; begin += WG * KEYS) {
    uint x[KEYS], mine = 0;
    for (uint k = 0; k < KEYS; k++) {
      uint i = begin + lid * KEYS + k;
      x[k] = i < n ? numbers[i] : 0;
      mine += x[k];
    }
    uint sum = carry + scanGroup(mine, sums, &all);
    for (uint k = 0; k < KEYS; k++) {
      uint i = begin + lid * KEYS + k;
      if (i < n) numbers[i] = sum;
      sum += x[k];
    }
    carry += all;
  }
  if (lid == 0) *total = carry;
}

// count_unique counts, for every work-group, the keys that differ from their predecessor.
__kernel void count_unique(__global const ulong* keys, uint n, __global uint* counts) {
  __local uint sums[WG];
  uint lid = get_local_id(0), mine = 0, all;
  size_t group = get_group_id(0), to = firstKey(group + 1, n);
  for (size_t i = firstKey(group, n) + lid; i < to; i += WG) mine += i == 0 || keys[i] != keys[i - 1];
  scanGroup(mine, sums, &all);
  if (lid == 0) counts[group] = all;
}

// write_lists appends the targets of keys, each key once, to the entries of earlier sources in target, and writes where
// the list of each source begins, for sources up to the last one with an entry. before has the prefix sums of
// count_unique, from is source 0 of the keys, and earlier the number of entries of earlier sources.
__kernel __attribute__((reqd_work_group_size(WG, 1, 1)))
void write_lists(__global const ulong* restrict keys, uint n, uint bits, uint from, uint earlier,
                 __global const uint* restrict before, __global uint* restrict target, __global uint* restrict offset) {
  __local uint sums[WG];
  uint lid = get_local_id(0), at = earlier + before[get_group_id(0)], all;
  size_t to = firstKey(get_group_id(0) + 1, n);
  for (size_t begin = firstKey(get_group_id(0), n); begin < to; begin += TILE) {
    ulong key[KEYS + 1];
    uint unique = 0;
    size_t first = begin + lid * KEYS;
    key[0] = first > 0 && first < to ? keys[first - 1] : 0;
    for (uint k = 0; k < KEYS; k++) {
      key[k + 1] = first + k < to ? keys[first + k] : key[k];
      unique += first + k < to && (first + k == 0 || key[k + 1] != key[k]);
    }
    uint place = at + scanGroup(unique, sums, &all);
    for (uint k = 0; k < KEYS; k++) {
      if (first + k >= to || (first + k > 0 && key[k + 1] == key[k])) continue;
      target[place] = (uint)(key[k + 1] & ((1UL << bits) - 1));
      uint source = (uint)(key[k + 1] >> bits), next = first + k == 0 ? 0 : (uint)(key[k] >> bits) + 1;
      for (uint s = next; s <= source; s++) offset[from + s] = place;
      place++;
    }
    at += all;
  }
}

// end_lists writes the offsets of the sources after the last one with an entry, up to and including `to`.
__kernel void end_lists(__global const ulong* keys, uint n, uint bits, uint from, uint to, uint all,
                        __global uint* offset) {
  uint first = from + (n > 0 ? (uint)(keys[n - 1] >> bits) + 1 : 0);
  for (size_t s = first + get_global_id(0); s <= to; s += get_global_size(0)) offset[s] = all;
}

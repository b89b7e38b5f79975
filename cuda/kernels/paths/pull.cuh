// SPDX-License-Identifier: Apache-2.0

// Passes of pull (sssp.cu).
#pragma once
#include "step.cuh"

namespace {

// Active collects the vertices of the next pass in shared memory. All lanes of a warp call its functions.
struct Active {
  const Paths& p;
  u32* buffer;  // [WARP_ACTIVE] of this warp
  u32* into;
  u32* total;
  u32 used = 0;

  __device__ Active(const Paths& p, const Search& s, Shared& shared)
      : p(p), buffer(shared.active[threadIdx.x / 32]), into(p.active[(s.step + 1) & 1]),
        total(&countersOf(p, s.step + 1)->active) {}

  __device__ void add(bool wanted, u32 v) {
    u32 lanes = __ballot_sync(~0u, wanted);
    if (wanted) buffer[used + __popc(lanes & ((1u << lane()) - 1))] = v;
    used += __popc(lanes);
    __syncwarp();
    if (used > WARP_ACTIVE - 32) flush();
  }

  __device__ void flush() {
    if (used == 0) return;
    u32 at = 0;
    if (lane() == 0) at = atomicAdd(total, used);
    at = __shfl_sync(~0u, at, 0);
    for (u32 i = lane(); i < used; i += 32) into[at + i] = buffer[i];
    __syncwarp();
    used = 0;
  }
};

// isFinal reports whether a neighbor with this state is right.
__device__ bool isFinal(const Paths& p, const Search& s, u32 u, u64 state) {
  return (state & FINAL) != 0 || u < p.hubs && distanceOf(state) < s.below;
}

// firstPass makes vertices final that need only their first entry, FIRST_ENTRIES of a thread at a time, and hubs
// below T. The others are active in the next pass.
__device__ void firstPass(const Paths& p, Search& s, Shared& shared) {
  Active active(p, s, shared);
  u64 stride = u64(gridDim.x) * PATH_THREADS;
  u64 warp = (u64(blockIdx.x) * PATH_THREADS + threadIdx.x) & ~u64(31);
  for (u64 from = warp; from < p.vertices; from += stride * FIRST_ENTRIES) {
    Head head[FIRST_ENTRIES];
    u64 state[FIRST_ENTRIES], other[FIRST_ENTRIES];
#pragma unroll
    for (int i = 0; i < FIRST_ENTRIES; i++) {
      u64 v = from + i * stride + lane();
      state[i] = FINAL;
      if (v >= p.vertices) continue;
      state[i] = __ldcg(p.state + v);
      uint4 h = __ldcs(reinterpret_cast<const uint4*>(p.head + v));
      head[i] = Head{h.x, h.y, __uint_as_float(h.z), __uint_as_float(h.w)};
    }
#pragma unroll
    for (int i = 0; i < FIRST_ENTRIES; i++) {
      if ((state[i] & FINAL) == 0) other[i] = __ldcg(p.state + head[i].neighbor);
    }
#pragma unroll
    for (int i = 0; i < FIRST_ENTRIES; i++) {
      u64 v = from + i * stride + lane();
      bool open = (state[i] & FINAL) == 0;
      if (open && v < p.hubs) {
        open = distanceOf(state[i]) >= s.below;
        if (!open) __stcg(p.state + v, state[i] | FINAL);
      } else if (open) {
        s.examined++;
        float best = distanceOf(state[i]), further = distanceOf(other[i]) + head[i].weight;
        u64 now = state[i];
        if (further < best) best = further, now = stateOf(further, head[i].neighbor);
        if (isFinal(p, s, head[i].neighbor, other[i]) && s.low + head[i].next >= best) now |= FINAL, open = false;
        if (now != state[i]) __stcg(p.state + v, now);
      }
      active.add(open, u32(v));
    }
  }
  active.flush();
}

// Looking is a vertex that looks at its list.
struct Looking {
  u32 v, at, length;
  float best;   // distance so far
  u32 parent;
  float floor;  // no path through a neighbor that is not final is shorter
};

// lengthThrough returns a lower bound of the lengths of paths to l.v through an entry whose neighbor is not final.
// open is a lower bound of the distances of vertices that are not final. The distance of a neighbor that is not a hub
// is that over its first entry, if that leads to a final vertex, or at least the bound of its second one.
__device__ float lengthThrough(const Paths& p, Search& s, const Looking& l, const Entry& e, float open) {
  float length = open + e.bound;
  if (e.neighbor < p.hubs) return fmaxf(length, s.below + e.weight);
  if (length >= l.best) return length;
  Head head = p.head[e.neighbor];
  if (head.neighbor == l.v) return length;
  s.examined++;
  u64 state = __ldcg(p.state + head.neighbor);
  if (!isFinal(p, s, head.neighbor, state)) return length;
  return fmaxf(length, fminf(distanceOf(state) + head.weight, s.low + head.next) + e.weight);
}

// lookAlone goes through a list while the bound of the next entry is less than the distance found, but not further than
// ALONE_ENTRIES. It returns whether entries remain.
__device__ bool lookAlone(const Paths& p, Search& s, float open, Looking& l) {
  for (u32 i = 0; i < ALONE_ENTRIES; i += LOOK_ENTRIES) {
    Entry e[LOOK_ENTRIES];
    u64 state[LOOK_ENTRIES];
#pragma unroll
    for (int k = 0; k < LOOK_ENTRIES; k++) {
      e[k] = Entry{l.v, __uint_as_float(INFINITE), __uint_as_float(INFINITE)};
      if (i + k < l.length) e[k] = p.entry[l.at + i + k];
    }
#pragma unroll
    for (int k = 0; k < LOOK_ENTRIES; k++) {
      state[k] = s.low + e[k].bound < l.best ? __ldcg(p.state + e[k].neighbor) : FINAL;
    }
#pragma unroll
    for (int k = 0; k < LOOK_ENTRIES; k++) {
      if (s.low + e[k].bound >= l.best) return false;
      s.examined++;
      float further = distanceOf(state[k]) + e[k].weight;
      if (further < l.best) l.best = further, l.parent = e[k].neighbor;
      if (!isFinal(p, s, e[k].neighbor, state[k])) l.floor = fminf(l.floor, lengthThrough(p, s, l, e[k], open));
    }
  }
  return true;
}

// lookTogether goes on with a list where lookAlone has stopped. All lanes of a warp share it.
__device__ void lookTogether(const Paths& p, Search& s, float open, Looking& l) {
  for (u32 i = ALONE_ENTRIES + lane();; i += 32) {
    bool use = false;
    u64 offer = ~u64(0);
    float floor = __uint_as_float(INFINITE);
    if (i < l.length) {
      Entry e = p.entry[l.at + i];
      use = s.low + e.bound < l.best;
      if (use) {
        s.examined++;
        u64 state = __ldcg(p.state + e.neighbor);
        offer = stateOf(distanceOf(state) + e.weight, e.neighbor);
        if (!isFinal(p, s, e.neighbor, state)) floor = lengthThrough(p, s, l, e, open);
      }
    }
    for (int d = 16; d > 0; d /= 2) {
      u64 other = __shfl_xor_sync(~0u, offer, d);
      offer = other < offer ? other : offer;
      floor = fminf(floor, __shfl_xor_sync(~0u, floor, d));
    }
    l.floor = fminf(l.floor, floor);
    if (offer != ~u64(0) && distanceOf(offer) < l.best) l.best = distanceOf(offer), l.parent = u32(offer);
    if (!__all_sync(~0u, use)) return;
  }
}

// pass lets the active vertices look at their lists, each lane at one, and the lanes of a warp together at long ones.
// last: those that change are queued, to push their lists.
__device__ void pass(const Paths& p, Search& s, Shared& shared, u32 count, float open, bool last) {
  Active active(p, s, shared);
  u32 warps = gridDim.x * WARPS, warp = threadIdx.x / 32 * gridDim.x + blockIdx.x;
  for (u64 from = u64(warp) * 32; from < count; from += u64(warps) * 32) {
    bool mine = from + lane() < count, more = false;
    Looking l{};
    u64 state = FINAL;
    if (mine) {
      l.v = __ldcg(p.active[s.step & 1] + from + lane());
      state = __ldcg(p.state + l.v);
      l.at = p.head[l.v].at;
      l.length = p.head[l.v + 1].at - l.at;
      l.best = distanceOf(state), l.parent = u32(state), l.floor = __uint_as_float(INFINITE);
      more = lookAlone(p, s, open, l);
    }
    for (u32 rest = __ballot_sync(~0u, more); rest != 0; rest &= rest - 1) {
      int owner = __ffs(rest) - 1;
      Looking shown{__shfl_sync(~0u, l.v, owner), __shfl_sync(~0u, l.at, owner), __shfl_sync(~0u, l.length, owner),
                    __shfl_sync(~0u, l.best, owner), __shfl_sync(~0u, l.parent, owner),
                    __shfl_sync(~0u, l.floor, owner)};
      lookTogether(p, s, open, shown);
      if (lane() == owner) l = shown;
    }
    u64 now = stateOf(l.best, l.parent);
    u32 distance = u32(now >> 32);
    bool keep = mine && (l.floor < l.best || distance == INFINITE), changed = mine && distance != u32(state >> 32);
    if (changed) s.changed = min(s.changed, distance);
    if (mine && !keep) now |= FINAL;
    if (mine && now != state) __stcg(p.state + l.v, now);
    active.add(keep, l.v);
    if (!last) continue;
    bool push = changed && l.length != 0;
    if (push) s.near = min(s.near, distance);
    enqueue(p, s, shared, push, l.v | WHOLE, l.length);
  }
  active.flush();
}

// pull runs passes. It returns whether the rest must be pushed over whole lists.
__device__ bool pull(const Paths& p, Search& s, Shared& shared) {
  beginStep(p, s);
  firstPass(p, s, shared);
  endTogether(p, s, shared, true, p.vertices);
  float open = s.low;
  for (int n = 2;; n++) {
    const StepCounters* now = countersOf(p, s.step);
    u32 count = __ldcg(&now->active);
    if (n > 2) {
      u32 changed = __ldcg(&now->changed);
      if (changed == INFINITE) return false;
      open = fmaxf(s.low, __fmul_rn(__uint_as_float(changed), SLACK));
    }
    if (count == 0) return false;
    if (n > PASSES) return true;
    beginStep(p, s);
    pass(p, s, shared, count, open, n == PASSES);
    endTogether(p, s, shared, true, count);
  }
}

}  // namespace

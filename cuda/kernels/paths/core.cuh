// SPDX-License-Identifier: Apache-2.0

// The core: the entries that can lie on a shortest path between hubs, as in package cpu/layout.
//
// It is made with a landmark (after Goldberg, Harrelson, "Computing the shortest path: A* search meets graph theory",
// 2005): radius[v] is the distance of v from vertex 0, the largest hub. The way from v to u over the landmark is at
// most radius[v] + radius[u], so an entry that is longer lies on no shortest path, and neither does an entry of v to
// z, which is not a hub, if each of the ways on from z to a vertex u is longer than radius[v] + radius[u]. Longer
// means by more than margin, so that rounding cannot hide it: a way over the landmark that is counted has at most
// 2*MAX_HOPS edges, and that number of additions to a distance below Paths::safe changes a sum by less than margin.
// For the same reason a search leaves out distances of v that are longer than that of the landmark plus radius[v].
#pragma once
#include "paths.cuh"

constexpr int MAX_HOPS = 15;   // edges from the landmark to a vertex whose radius counts
constexpr int MAX_RELAYS = 2;  // vertices that are not hubs in a row, up to which they are checked

struct CoreRule {
  const Head* head;
  const Entry* entry;
  u32 hubs;
  const float* radius;
  float reach, margin;

  // direct reports whether the way over the landmark is not shorter than w.
  __device__ bool direct(u32 v, u32 u, float w) const { return w <= radius[v] + radius[u] + margin; }

  // leadsOn reports whether a shortest path that comes from v over an edge of weight w to z, which is not a hub, can go
  // on to a hub. It looks through RELAYS vertices that are not hubs, and assumes that it can after that.
  template <int RELAYS>
  __device__ bool leadsOn(u32 v, u32 z, float w) const {
    for (u64 i = head[z].at; i < head[z + 1].at; i++) {
      Entry e = entry[i];
      if (__fmul_rn(w, SLACK) + e.bound >= reach) return false;
      if (e.neighbor == v || !direct(v, e.neighbor, w + e.weight) || !direct(z, e.neighbor, e.weight)) continue;
      if constexpr (RELAYS == 0) return true;
      else if (e.neighbor < hubs || leadsOn<RELAYS - 1>(z, e.neighbor, e.weight)) return true;
    }
    return false;
  }

  // keeps reports whether an entry of v belongs to the core. Its bound is below reach.
  __device__ bool keeps(u32 v, const Entry& e) const {
    return direct(v, e.neighbor, e.weight) && (e.neighbor < hubs || leadsOn<MAX_RELAYS>(v, e.neighbor, e.weight)) &&
           (v < hubs || leadsOn<MAX_RELAYS>(e.neighbor, v, e.weight));
  }
};

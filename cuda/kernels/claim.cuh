// Claiming: unvisited vertices whose first neighbour is in the frontier are found without a look at any list. That is one
// look for a word of 32 vertices of one group, and it finds most of the largest level.
#pragma once
#include "block.cuh"
#include "finds.cuh"

// below returns a word with the n lowest bits set.
__device__ inline u32 below(u64 n) { return n >= 32 ? ~0u : (1u << n) - 1; }

// claim returns the vertices among unvisited, of a grouped word w, whose hub inFrontier says is in the frontier.
template <class InFrontier>
__device__ u32 claim(u64 w, u32 unvisited, const InFrontier& inFrontier) {
  u32 hub = graph.wordHub[w];
  if (hub != NONE) return inFrontier(hub) ? unvisited : 0;
  u32 claimed = 0;
  for (u32 rest = unvisited; rest != 0;) { // several groups, one behind the other
    hub = graph.first[w * 32 + __ffs(rest) - 1];
    u32 group = rest & below(graph.groupAt[hub + 1] - w * 32);
    if (inFrontier(hub)) claimed |= group;
    rest &= ~group;
  }
  return claimed;
}

// claimBorders finds the vertices in the first and in the last word of the group of a hub in the frontier, where they share the
// word with others. It may run beside relax.
__device__ inline void claimBorders(u32 hub, u32* next, Tally& tally) {
  u64 from = graph.groupAt[hub], to = graph.groupAt[hub + 1];
  if (from == to) return;
  for (u64 w = from / 32; w <= (to - 1) / 32; w = w < (to - 1) / 32 ? (to - 1) / 32 : w + 1) {
    if (w * 32 >= from && w * 32 + 32 <= to) continue; // a word of this group alone
    u32 mask = below(to - w * 32) & (from > w * 32 ? ~below(from - w * 32) : ~0u);
    u32 mine = graph.unvisited[w] & mask;
    if (mine != 0) mine &= atomicAnd(graph.unvisited + w, ~mine);
    if (mine == 0) continue;
    atomicOr(next + w, mine);
    tally.findWord(w, mine);
  }
}

package cpu

import "sort"

// segments cut the lists of the vertices with the most links where blocks of vertices begin, so that a top-down level can go through
// the vertices block by block: what it asks of a block of the unvisited vertices then fits the innermost cache, and a
// block belongs to one worker.
//
// Lists of fewer links are not cut: a frontier in which they matter has so many that finding the segment costs more
// than looking at it.
type segments struct {
	borders []uint32 // [blocks+1] block b has the vertices borders[b]..borders[b+1]-1; multiples of 64, but the last
	wide    int      // vertices 0..wide-1 are cut
	before  []uint32 // [wide*(blocks+1)] links of each into blocks before this one
}

const (
	blockEntries = 1 << 14 // least entries of a block, by which small graphs have few blocks
	blockShare   = 8       // blocks of equal work that there should be for each worker
	leastBlocks  = 32      // that there should be for few workers
	maxBlock     = 1 << 17 // vertices of a block: what is found there may be most of its work
	wideSegment  = 16      // links that a cut list has in a block on average, at least
)

func (s *segments) blocks() int { return len(s.borders) - 1 }

// of returns which links of u, which is wide, lie in block b.
func (s *segments) of(u uint32, b int) (from, to int) {
	at := int(u)*len(s.borders) + b
	return int(s.before[at]), int(s.before[at+1])
}

// cutLists makes the segments of a finished layout.
func (b *builder) cutLists(g *layout) (err error) {
	s := &g.segments
	s.borders = g.blocks(b.team.size)
	for s.wide < g.hubs && int(g.linked[s.wide]) >= wideSegment*s.blocks() {
		s.wide++
	}
	if s.before, err = allocate[uint32](b.memory, "segments", s.wide*len(s.borders)); err != nil {
		return err
	}
	b.team.run(func(worker int) {
		for u := worker; u < s.wide; u += b.team.size {
			before := s.before[u*len(s.borders):][:len(s.borders)]
			links := int(g.linked[u])
			for i, border := range s.borders {
				done := 0
				if i > 0 {
					done = int(before[i-1])
				}
				before[i] = uint32(done + sort.Search(links-done, func(j int) bool { return g.lists.entry(uint32(u), done+j) >= border }))
			}
			before[len(before)-1] = uint32(links)
		}
	})
	return nil
}

// blocks returns the borders of blocks.
func (g *layout) blocks(workers int) []uint32 {
	limit := max(g.lists.entries()/max(blockShare*workers, leastBlocks), blockEntries)
	borders := []uint32{0}
	entries := 0
	for v := range g.searched {
		if v&63 == 0 && (entries >= limit || v-int(borders[len(borders)-1]) >= maxBlock) {
			borders = append(borders, uint32(v))
			entries = 0
		}
		entries += g.lists.degree(uint32(v))
	}
	return append(borders, uint32(g.searched))
}

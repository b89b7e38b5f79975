package cpu

import "github.com/tepsbench/teps/graph"

// The steps of one worker in local order (local.go): a queue, and a byte for each vertex.
//
// A step has one of three forms. If the frontier is narrow, the cost of a step counts, and several are taken in one
// call. In a grid the processor predicts which neighbours are unvisited, but sometimes it is wrong, and then it waits
// for the lists of the next vertices; so they are fetched before. In other graphs whether a neighbour is unvisited
// cannot be predicted. So each one is written behind the queue, and stays there if it is. No branch depends on what
// lists hold then, and the processor fetches the next ones itself.

const (
	expansions     = 1 << 16 // vertices that are expanded before the caller looks for a cancelled search
	narrowFrontier = 8       // vertices; a frontier of fewer is narrow
	fetchedLists   = 64
	// Vertices are published by as many: workers that write close behind the one that expands take its cache lines.
	publishedPiece = 1 << 10
)

// alone is what these steps read and write, apart from the queue of part 0.
type alone struct {
	at, targets []uint32
	seen        []uint8
	steps       [timedVertices]step
	fetched     uint32 // not used; keeps the compiler from dropping reads
}

// step is what a step has done.
type step struct{ frontier, entries int }

// stepsAlone expands the frontier and those that follow until one is wide, or for a while. It returns the number of
// vertices in the next frontier.
func (s *search) stepsAlone(state *graph.SwitchState) (next int) {
	l, p := &s.local, &s.local.parts[0]
	for begun := p.end; ; {
		steps := l.alone.steps[:]
		if len(s.levels) < timedLevels {
			steps = steps[:1] // each level has a time of its own
		}
		steps = steps[:s.expandAlone(steps)]
		if len(s.levels) > maxLevels { // and levels are not reported, only counted
			steps = steps[:1]
			steps[0].frontier = p.end - p.head
		}
		for _, step := range steps {
			state.Frontier = int64(step.frontier)
			s.recordLevel(state, step.entries)
		}
		if p.end-p.published >= publishedPiece {
			p.publish()
		}
		next = p.tail - p.end
		if next == 0 || next >= l.wide && len(l.parts) > 1 || p.end-begun >= expansions {
			return next
		}
	}
}

// expandAlone expands the frontier of part 0. If it is narrow, it expands those that follow as well, as many as there
// are steps at most. It returns the number of steps. Afterwards queue[head:end] are all vertices it has expanded.
func (s *search) expandAlone(steps []step) (n int) {
	a, p := &s.local.alone, &s.local.parts[0]
	p.head, p.end = p.end, p.tail
	us := p.queue[p.head:p.end]
	switch {
	case s.g.Lists.Packed:
		steps[0].entries = s.expandPacked(us)
	case len(us) < narrowFrontier:
		n, p.end, p.tail = a.narrow(p.queue, p.head, p.tail, steps)
		return n
	case s.g.Regular:
		steps[0].entries, p.tail = a.regular(us, p.queue, p.tail)
	default:
		steps[0].entries, p.tail = a.irregular(us, p.queue, p.tail)
	}
	steps[0].frontier = len(us)
	return 1
}

// narrow expands queue[head:tail] and the frontiers that follow, while they are narrow and steps are left, until it is
// time to read the clock.
func (a *alone) narrow(queue []uint64, head, tail int, steps []step) (n, newHead, newTail int) {
	at, targets, seen := a.at, a.targets, a.seen
	first := head
	for ; n < len(steps) && head-first < timedVertices && head < tail && tail-head < narrowFrontier; n++ {
		begin, end, entries := head, tail, 0
		for ; head < end; head++ {
			e := queue[head]
			u := uint32(e)
			list := targets[at[u]:at[u+1]]
			entries += len(list)
			for _, v := range list {
				if seen[v] == 0 {
					seen[v] = 1
					queue[tail] = e<<32 | uint64(v)
					tail++
				}
			}
		}
		steps[n] = step{end - begin, entries}
	}
	return n, head, tail
}

// regular makes the vertices us the parents of their unvisited neighbours, which it adds to the queue.
func (a *alone) regular(us, queue []uint64, tail int) (entries, newTail int) {
	at, targets, seen := a.at, a.targets, a.seen
	for len(us) > 0 {
		piece := us[:min(len(us), fetchedLists)]
		us = us[len(piece):]
		fetched := uint32(0)
		for _, e := range piece {
			u := uint32(e)
			begin := at[u]
			entries += int(at[u+1] - begin)
			fetched |= uint32(seen[targets[begin]])
		}
		a.fetched = fetched
		for _, e := range piece {
			u := uint32(e)
			for _, v := range targets[at[u]:at[u+1]] {
				if seen[v] == 0 {
					seen[v] = 1
					queue[tail] = e<<32 | uint64(v)
					tail++
				}
			}
		}
	}
	return entries, tail
}

// irregular does the same without a branch for each neighbour.
func (a *alone) irregular(us, queue []uint64, tail int) (entries, newTail int) {
	at, targets, seen := a.at, a.targets, a.seen
	for _, e := range us {
		u := uint32(e)
		list := targets[at[u]:at[u+1]]
		entries += len(list)
		for _, v := range list {
			queue[tail] = e<<32 | uint64(v)
			tail += int(1 - seen[v])
			seen[v] = 1
		}
	}
	return entries, tail
}

// expandPacked is irregular for packed lists.
func (s *search) expandPacked(us []uint64) (entries int) {
	p, seen := &s.local.parts[0], s.local.seen
	for _, e := range us {
		list := s.unpack(&s.workers[0], uint32(e))
		entries += len(list)
		for _, v := range list {
			p.queue[p.tail] = e<<32 | uint64(v)
			p.tail += int(1 - seen[v])
			seen[v] = 1
		}
	}
	return entries
}

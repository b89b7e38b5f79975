package cpu

import "github.com/tepsbench/teps/graph"

// Top-down: every frontier vertex offers itself as parent to its unvisited neighbours. Workers take pieces of the
// frontier and collect what they found in queues of their own; a vertex that two of them reach at once goes to the one
// that clears its bit first.

// topDownGrain is how many frontier vertices a worker takes at a time.
const topDownGrain = 32

// expand finds the next frontier top-down, as a queue, and updates p.
func (s *search[P]) expand(p *graph.Progress) []uint32 {
	if p.FrontierEdges <= int64(s.serial) {
		s.expandAlone()
	} else {
		s.taken.reset()
		s.team.run(s.steps.topDown)
	}
	p.Frontier, p.FrontierEdges = 0, 0
	for w := range s.workers {
		p.Frontier += int64(s.workers[w].found)
		p.FrontierEdges += int64(s.workers[w].edges)
	}
	s.queue = s.queue[:p.Frontier]
	if int(p.Frontier) <= s.serial {
		for w := range s.workers {
			s.gather(w)
		}
	} else {
		s.team.run(s.steps.gather)
	}
	for w := range s.workers {
		s.workers[w].found, s.workers[w].edges = 0, 0
	}
	return s.queue
}

// expandAlone is topDown by one worker, which needs no atomic operations.
func (s *search[P]) expandAlone() {
	g, mine := s.g, &s.workers[0]
	unvisited, parent, original := s.unvisited, s.parent, g.original
	found := mine.queue[:0]
	edges := 0
	for _, u := range s.queue {
		label := P(original[u])
		for _, v := range g.lists.list(u) {
			if unvisited.has(v) {
				unvisited.remove(v)
				parent[original[v]] = label
				found = append(found, v)
				edges += g.lists.degree(v)
			}
		}
	}
	mine.found, mine.edges = len(found), edges
}

func (s *search[P]) topDown(worker int) {
	g, mine := s.g, &s.workers[worker]
	unvisited, parent, original := s.unvisited, s.parent, g.original
	found := mine.queue[:0]
	edges := 0
	for {
		from, to, ok := s.taken.take(len(s.queue), topDownGrain)
		if !ok {
			break
		}
		for _, u := range s.queue[from:to] {
			label := P(original[u])
			for _, v := range g.lists.list(u) {
				if unvisited.claim(v) {
					parent[original[v]] = label
					found = append(found, v)
					edges += g.lists.degree(v)
				}
			}
		}
	}
	mine.found, mine.edges = len(found), edges
}

// gather copies the worker's queue to its place in the frontier.
func (s *search[P]) gather(worker int) {
	at := 0
	for w := range worker {
		at += s.workers[w].found
	}
	copy(s.queue[at:], s.workers[worker].queue[:s.workers[worker].found])
}

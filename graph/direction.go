package graph

// Switch decides the direction of the next level of a search, after Beamer, Asanović and Patterson,
// "Direction-Optimizing Breadth-First Search" (SC 2012), section 5. It is a pure function of what the search knows of
// its frontier; the constants belong to the engine that uses it.
//
// Top-down looks at every edge out of the frontier; bottom-up looks at the edges of unvisited vertices, but at few of
// them once the frontier is dense. So a search goes bottom-up while its frontier grows and holds more than 1/Alpha of
// the edges that are still unexplored, and comes back when the frontier has shrunk below 1/Beta of all vertices.
type Switch struct {
	Alpha float64 // larger: bottom-up sooner; 0: never
	Beta  float64 // larger: back to top-down later; 0: at once
}

// Progress is what a search knows between two levels. Edges are adjacency entries (every edge counts at both ends).
type Progress struct {
	Direction       Direction // of the level just finished
	Frontier        int64     // vertices found by it, to be expanded next
	Previous        int64     // vertices it expanded
	FrontierEdges   int64     // adjacency entries of Frontier; needed when Direction is TopDown
	UnexploredEdges int64     // adjacency entries of unvisited vertices; needed when Direction is TopDown
	Vertices        int64     // of the graph
}

// Next returns the direction in which to expand p.Frontier.
func (s Switch) Next(p Progress) Direction {
	if p.Direction == TopDown {
		growing := p.Frontier > p.Previous
		if growing && s.Alpha > 0 && float64(p.FrontierEdges)*s.Alpha > float64(p.UnexploredEdges) {
			return BottomUp
		}
		return TopDown
	}
	shrinking := p.Frontier < p.Previous
	if shrinking && float64(p.Frontier)*s.Beta < float64(p.Vertices) {
		return TopDown
	}
	return BottomUp
}

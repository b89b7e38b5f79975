// SPDX-License-Identifier: Apache-2.0

package graph

import "fmt"

// Direction is the direction of a step from one level of a search to the next.
type Direction uint8

const (
	TopDown  Direction = iota // from the frontier to unvisited neighbors
	BottomUp                  // from unvisited vertices to a parent in the frontier (Beamer et al. 2012)
)

func (d Direction) String() string {
	switch d {
	case TopDown:
		return "top-down"
	case BottomUp:
		return "bottom-up"
	}
	return fmt.Sprintf("Direction(%d)", uint8(d))
}

// MarshalText writes the direction as String does.
func (d Direction) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText parses the text that MarshalText writes.
func (d *Direction) UnmarshalText(text []byte) error {
	for _, known := range []Direction{TopDown, BottomUp} {
		if string(text) == known.String() {
			*d = known
			return nil
		}
	}
	return fmt.Errorf("graph: %q is not a direction; want %q or %q", text, TopDown, BottomUp)
}

// Switch chooses the direction of the next step of a search, after Beamer, Asanović and Patterson,
// "Direction-Optimizing Breadth-First Search" (SC 2012), section 5. The constants belong to the engine that uses it.
//
// A search switches to bottom-up when its frontier has more than 1/Alpha of the unexplored edges and is at least twice
// as large as the one before, and switches back when the frontier shrinks and is below 1/Beta of all vertices. Beamer's
// rule requires only that it grows. In a mesh with many neighbors it grows slowly, and most unvisited vertices are far
// from it, so a bottom-up step looks at nearly all of their edges.
//
// The engine cuda applies the rule on the device (nextBottomUp in cuda/kernels/levels.cuh) with one more condition: a
// frontier with few edges stays top-down, because changing direction costs a GPU more than such a step.
type Switch struct {
	Alpha float64 // larger: bottom-up sooner; 0: never
	Beta  float64 // larger: back to top-down later; 0: at once
	Steps Steps   // the steps that a search may take
}

// Steps limits the directions that a search may take.
type Steps uint8

const (
	BothDirections Steps = iota // the first step is top-down, and the rule chooses the others
	OnlyTopDown
	OnlyBottomUp // including the first step
)

// First returns the direction of the first step.
func (s Switch) First() Direction {
	if s.Steps == OnlyBottomUp {
		return BottomUp
	}
	return TopDown
}

// SwitchState is the state of a search between two steps. Edges are adjacency entries: every edge counts at both ends.
type SwitchState struct {
	Direction       Direction // of the last step
	Frontier        int64     // vertices that it discovered
	Previous        int64     // vertices in the frontier before it
	FrontierEdges   int64     // adjacency entries of Frontier; needed when Direction is TopDown
	UnexploredEdges int64     // adjacency entries of unvisited vertices; needed when Direction is TopDown
	Vertices        int64     // of the graph
}

// Next returns the direction of the next step.
func (s Switch) Next(p SwitchState) Direction {
	if s.Steps != BothDirections {
		return s.First()
	}
	doubled, shrinking := p.Frontier >= 2*p.Previous, p.Frontier < p.Previous
	switch {
	case p.Direction == TopDown && doubled && float64(p.FrontierEdges)*s.Alpha > float64(p.UnexploredEdges):
		return BottomUp
	case p.Direction == BottomUp && shrinking && float64(p.Frontier)*s.Beta < float64(p.Vertices):
		return TopDown
	}
	return p.Direction
}

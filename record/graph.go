// SPDX-License-Identifier: Apache-2.0

package record

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/tepsbench/teps/graph"
)

// GraphID names a graph of a plan: a scale of the benchmark's Kronecker graphs, or the name of another source.
type GraphID struct {
	Scale  int    `json:"scale,omitempty"`  // log2 of the number of vertices
	Source string `json:"source,omitempty"` // GraphSpec.Name; empty for a scale
}

// String returns scale 20, or the name of the source.
func (id GraphID) String() string {
	if id.Source != "" {
		return id.Source
	}
	return fmt.Sprintf("scale %d", id.Scale)
}

// At returns at scale 20, or on and the name of the source.
func (id GraphID) At() string {
	if id.Source != "" {
		return "on " + id.Source
	}
	return "at " + id.String()
}

// Cell returns 20, or the name of the source: for a column of a table.
func (id GraphID) Cell() string {
	if id.Source != "" {
		return id.Source
	}
	return fmt.Sprint(id.Scale)
}

// GraphSpec is a source of tuples other than the Kronecker graphs of a plan's scales.
type GraphSpec struct {
	// Name is that of a generator (graph.ParseSource) or of the file, unique in a plan.
	Name string `json:"name"`
	// Path is the file, or StandardInput; empty for a generator.
	Path string `json:"path,omitempty"`
	// Checksum is the SHA-256 that the file must have; empty: any.
	Checksum string `json:"checksum,omitempty"`
}

// StandardInput is the path of standard input.
const StandardInput = "-"

// maxGraphName bounds GraphSpec.Name.
const maxGraphName = 200

// GraphIDs are the graphs of the plan in the order in which they are searched.
func (p Plan) GraphIDs() (ids []GraphID) {
	for _, scale := range p.Scales {
		ids = append(ids, GraphID{Scale: scale})
	}
	for _, g := range p.Graphs {
		ids = append(ids, GraphID{Source: g.Name})
	}
	return ids
}

// Only returns the plan for one of its graphs.
func (p Plan) Only(id GraphID) Plan {
	if id.Source == "" {
		p.Scales, p.Graphs = []int{id.Scale}, nil
	} else {
		p.Scales, p.Graphs = []int{}, []GraphSpec{p.Graph(id)} // not nil, which is null in JSON
	}
	return p
}

// Graph returns the specification of a graph of the plan; a scale has an empty one.
func (p Plan) Graph(id GraphID) GraphSpec {
	i := slices.IndexFunc(p.Graphs, func(g GraphSpec) bool { return g.Name == id.Source })
	if i < 0 {
		return GraphSpec{}
	}
	return p.Graphs[i]
}

// Generator returns the generator of a graph of the plan, or nil for a file, whose size is known once it is read.
func (p Plan) Generator(id GraphID) (graph.Source, error) {
	if recipe := p.Recipe(id.Scale); id.Source == "" {
		return recipe, recipe.Check()
	}
	if p.Graph(id).Path != "" {
		return nil, nil
	}
	return graph.ParseSource(id.Source, p.Seed1, p.Seed2)
}

// AddGraph adds what --graph names: a generator, or the path of a file. A Kronecker graph with the plan's edge factor
// is one of its scales.
func (p *Plan) AddGraph(text string) error {
	switch {
	case text == "":
		return Usage("the name of a graph is empty")
	case text == StandardInput:
		p.Graphs = append(p.Graphs, GraphSpec{Name: "standard input", Path: StandardInput})
		return nil
	case !graph.IsGenerator(text):
		path, err := filepath.Abs(text)
		if err != nil {
			return Usage("graph %s: %w", text, err)
		}
		p.Graphs = append(p.Graphs, GraphSpec{Name: filepath.Base(path), Path: path})
		return nil
	}
	source, err := graph.ParseSource(text, p.Seed1, p.Seed2)
	if err != nil {
		return Usage("%w", err)
	}
	if k, ok := source.(graph.Kronecker); ok && k.EdgeFactor == p.EdgeFactor {
		p.Scales = append(p.Scales, k.Scale)
		return nil
	}
	p.Graphs = append(p.Graphs, GraphSpec{Name: source.Name()})
	return nil
}

// checkGraphs returns an ErrUsage if the graphs cannot be searched.
func (p Plan) checkGraphs() error {
	if len(p.Scales)+len(p.Graphs) == 0 {
		return Usage("no scale or graph is named")
	}
	seen := map[GraphID]bool{}
	for _, id := range p.GraphIDs() {
		spec := p.Graph(id)
		switch {
		case seen[id] && spec.Path != "":
			return Usage("two files are named %s; rename one of them, because a run names its graphs after their files", id)
		case seen[id]:
			return Usage("%s is named twice", id)
		case len(id.Source) > maxGraphName:
			return Usage("the name of a graph has %d bytes; at most %d are allowed", len(id.Source), maxGraphName)
		}
		seen[id] = true
		if _, err := p.Generator(id); err != nil {
			return Usage("%w", err)
		}
	}
	return nil
}

// GraphRecord is one graph of a plan: its tuples, and the draw of the roots.
type GraphRecord struct {
	// Recipe is that of a Kronecker graph, zero for others.
	Recipe   graph.Kronecker `json:"recipe,omitzero"`
	Vertices int64           `json:"vertices,omitempty"` // labels are below it
	Tuples   int64           `json:"tuples"`
	// SHA256 is that of the tuples in the packed form of Graph500. It is absent for a scale, whose recipe is enough.
	SHA256      string      `json:"sha256,omitempty"`
	File        *FileRecord `json:"file,omitempty"`
	GeneratedBy string      `json:"generated_by,omitempty"` // the host's device; empty: the CPU
	// Regenerated says that no memory holds the tuples: engines and validation make them again from the recipe.
	Regenerated   bool    `json:"regenerated,omitempty"`
	Generation    float64 `json:"generation"`     // seconds of generating or reading them, untimed
	RejectedDraws int     `json:"rejected_draws"` // root draws of an isolated vertex or of one drawn before
	RootsFound    int     `json:"roots_found"`
}

// FileRecord describes the file that tuples were read from.
type FileRecord struct {
	Format      string `json:"format"`
	Compression string `json:"compression,omitempty"`
	Bytes       int64  `json:"bytes"`
	SHA256      string `json:"sha256"`
	// Symmetrized reports whether the file has directed edges, or does not say that they are undirected: each is one
	// undirected tuple.
	Symmetrized bool `json:"symmetrised"`
	// Relabeled reports whether the vertices have other numbers than in the file: RootRecord.Label has the file's.
	Relabeled bool `json:"relabelled"`
}

// Same reports whether two records are of the same list of tuples.
func (g *GraphRecord) Same(other *GraphRecord) bool {
	return g.Recipe == other.Recipe && g.Vertices == other.Vertices && g.Tuples == other.Tuples &&
		g.SHA256 == other.SHA256
}

// MeanDepth is the mean of the largest levels of the validated searches, the search depth of Merrill, Garland and
// Grimshaw, 2012; NaN if none was validated.
func (r Run) MeanDepth() float64 {
	sum, n := 0.0, 0.0
	for _, root := range r.Roots {
		if root.Depth != nil {
			sum, n = sum+float64(*root.Depth), n+1
		}
	}
	return sum / n
}

//go:build cuda

package cuda

import (
	"fmt"
	"math/bits"

	"gorgonia.org/cu"
)

// order numbers the vertices (kernels/graph.cuh): by descending degree, stably (Kolganov 2018, section 2.2), and then, also
// stably, by group.
func (b *builder) order() (err error) {
	g, k := &b.graph, &b.device.kernels
	labels, vertices := int64(g.Labels), int64(g.Vertices)
	if g.Original, err = b.memory.array("label of each vertex", 4*vertices); err != nil {
		return err
	}
	if g.Vertex, err = b.filled("vertex of each label", 4*labels, 0xff); err != nil {
		return err
	}
	keys, err := b.memory.array("vertices to sort", 8*labels)
	if err != nil {
		return err
	}
	spare, err := b.memory.array("vertices to sort", 8*labels)
	if err != nil {
		return err
	}
	if err := k.degreeKeys.launch(cu.NoStream, b.stride(), b.degree, g.Labels, b.largest, keys); err != nil {
		return err
	}
	if err := b.sort(&keys, &spare, labels, 32, 32+bits.Len64(b.largest)); err != nil {
		return err
	}
	if err := k.number.launch(cu.NoStream, b.stride(), keys, g.Vertices, g.Original, g.Vertex); err != nil {
		return err
	}

	near, err := b.filled("nearest neighbours", 4*vertices, 0xff)
	if err != nil {
		return err
	}
	if err := k.nearest.launch(cu.NoStream, b.stride(), b.pairs, uint64(len(b.tuples)), g.Vertex, near); err != nil {
		return err
	}
	hubs := b.c.wantHubs(vertices)
	g.Hubs = uint64(hubs)
	if err := k.groupKeys.launch(cu.NoStream, b.stride(), g.Original, b.degree, near, g.Vertices, g.Hubs, keys); err != nil {
		return err
	}
	groups := 2 + 2*hubs // hubs, their groups, strays, their leaves
	if err := b.sort(&keys, &spare, vertices, 32, 32+bits.Len64(uint64(groups))); err != nil {
		return err
	}
	if err := k.number.launch(cu.NoStream, b.stride(), keys, g.Vertices, g.Original, g.Vertex); err != nil {
		return err
	}
	border, err := b.memory.array("borders of groups", 4*(groups+1))
	if err != nil {
		return err
	}
	if err := k.groupBorders.launch(cu.NoStream, b.stride(), keys, g.Vertices, uint64(groups), border); err != nil {
		return err
	}
	var strays, leaves [1]uint32
	if err := read(strays[:], border+uint64(4*(1+hubs))); err != nil {
		return fmt.Errorf("cuda: groups: %w", err)
	}
	if err := read(leaves[:], border+uint64(4*(2+hubs))); err != nil {
		return fmt.Errorf("cuda: groups: %w", err)
	}
	g.Strays, g.Searched = uint64(strays[0]), uint64(leaves[0])
	if err := checkSearched(int64(g.Searched)); err != nil {
		return err
	}
	g.Words = uint64(words(int64(g.Searched)))
	// the group of hub h begins at border[1+h], its leaves at border[2+hubs+h], and the last border is the number of vertices
	g.GroupAt, g.LeafAt = border+4, border+uint64(4*(2+hubs))
	for _, each := range []*uint64{&keys, &spare, &near} {
		if err := b.memory.release(each); err != nil {
			return err
		}
	}
	return nil
}

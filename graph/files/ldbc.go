// SPDX-License-Identifier: Apache-2.0

package files

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/internal/regular"
)

// LDBC Graphalytics (specification 1.0.5, section 2.4.2): NAME.v has a label per line, NAME.e two labels and an
// optional weight per line, and NAME.properties states whether the edges are directed. Labels are 64-bit numbers.

// loadLDBC reads the graph that a .v or .e file belongs to. An .e file without a .v file is an edge list.
func loadLDBC(ctx context.Context, name string, o Options) (*Graph, error) {
	stem, compression := splitCompression(name)
	ext := filepath.Ext(stem)
	stem = strings.TrimSuffix(stem, ext)
	vertices, edges := sibling(stem+".v", compression), sibling(stem+".e", compression)
	if ext == ".v" {
		vertices = name
	} else {
		edges = name
	}
	if edges == "" {
		return nil, fmt.Errorf("%s: want the edges next to it, in %s.e", name, stem)
	}
	o.Format = EdgeList
	var read func(in *input) error
	if vertices != "" {
		set, one := map[uint64]uint64{}, o
		one.Threads = 1 // so that the second line of a vertex is the one in the error
		var numbers *numbering
		_, err := loadFile(ctx, vertices, one, func(in *input) (err error) {
			if err = in.readVertices(set); err == nil {
				numbers, err = in.newNumbering(set)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
		read = numbers.readEdges
	}
	g, err := loadFile(ctx, edges, o, read)
	if err != nil {
		return nil, err
	}
	info := &g.Info
	info.Format = LDBC
	if n := len(info.Labels); n > 0 && info.Labels[n-1]-info.Labels[0] == uint64(n-1) && info.Labels[0] <= 1 {
		info.FirstLabel, info.Labels = int64(info.Labels[0]), nil
	}
	if err := properties(stem, info); err != nil {
		return nil, err
	}
	return g, nil
}

// sibling returns the name of an existing file with the given extension, in any compression, or an empty string.
func sibling(name, compression string) string {
	for _, c := range []string{compression, "", ".gz", ".zst"} {
		if _, err := os.Stat(name + c); err == nil {
			return name + c
		}
	}
	return ""
}

func (in *input) readVertices(set map[uint64]uint64) error {
	room := 0
	return in.parallel(blocks{limit: -1, parse: func(b *block, _ []graph.Edge) ([]graph.Edge, error) {
		for i := 0; i < len(b.data); {
			i = skipBlanks(b.data, i)
			if i == len(b.data) || b.data[i] == '\n' {
				i++
				continue
			}
			label, next := number(b.data, i)
			if end := skipBlanks(b.data, next); next == i || end < len(b.data) && b.data[end] != '\n' {
				return nil, b.atLine(i, "want one vertex, a number from 0 to 2^64-1")
			}
			if set[label>>6]&(1<<(label&63)) != 0 {
				return nil, b.atLine(i, "a vertex that an earlier line has")
			}
			addLabel(set, label)
			i = next
		}
		return nil, in.grow(&room, len(set))
	}})
}

func (n *numbering) readEdges(in *input) error {
	in.info.Vertices, in.info.Labels = int64(len(n.labels)), n.labels
	lines := pairs{other: func(b *block, start int, u, v uint64) (graph.Edge, error) {
		a, okA := n.vertex(u)
		z, okZ := n.vertex(v)
		if !okA || !okZ {
			return graph.Edge{}, b.atLine(start, "a vertex that is not in the list of vertices")
		}
		return graph.MakeEdge(a, z), nil
	}}
	b := in.edgeLines(0, &lines)
	b.parse = lines.plain
	return in.parallel(b)
}

func properties(stem string, info *Info) error {
	name := stem + ".properties"
	text, err := regular.Read(name, 1<<20)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	key := []byte("graph." + filepath.Base(stem) + ".directed")
	for n, line := range bytes.Split(text, newline) {
		left, right, ok := bytes.Cut(line, []byte("="))
		if !ok || !bytes.Equal(bytes.TrimSpace(left), key) {
			continue
		}
		switch string(bytes.TrimSpace(right)) {
		case "true":
			info.Symmetrized = true
		case "false":
			info.Symmetrized = false
		default:
			return fmt.Errorf("%s:%d: want true or false: %q", name, n+1, bytes.TrimSpace(right))
		}
	}
	return nil
}

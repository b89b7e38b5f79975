// SPDX-License-Identifier: Apache-2.0

package files

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/tepsbench/teps/graph"
)

// LDBC Graphalytics (specification 1.0.5, section 2.4.2): NAME.v has a label per line, NAME.e two labels and an
// optional weight per line, and NAME.properties states whether the edges are directed. Labels are 64-bit numbers.

// loadLDBC reads the graph that a .v or .e file belongs to. An .e file without a .v file is an edge list.
func (p place) loadLDBC(ctx context.Context, name string, o Options) (*Graph, error) {
	uncompressed, compression := splitCompression(name)
	ext := filepath.Ext(uncompressed)
	stem := strings.TrimSuffix(uncompressed, ext)
	vertices, edges := p.sibling(stem, ".v", compression), p.sibling(stem, ".e", compression)
	if strings.EqualFold(ext, ".v") {
		vertices = name
	} else {
		edges = name
	}
	if edges == "" {
		return nil, fmt.Errorf("%s: want the edges next to it, in %s.e", name, stem)
	}
	o.Format = EdgeList
	read := readEdgesLDBC
	if vertices != "" {
		set, one := map[uint64]uint64{}, o
		one.Threads = 1 // so that the second line of a vertex is the one in the error
		var numbers *numbering
		_, err := p.load(ctx, vertices, one, func(in *input) (err error) {
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
	g, err := p.load(ctx, edges, o, read)
	if err != nil {
		return nil, err
	}
	info := &g.Info
	info.Format = LDBC
	if n := len(info.Labels); n > 0 && info.Labels[n-1]-info.Labels[0] == uint64(n-1) && info.Labels[0] <= 1 {
		info.FirstLabel, info.Labels = int64(info.Labels[0]), nil
	}
	if properties := p.sibling(stem, ".properties", ""); properties != "" {
		_, err = p.load(ctx, properties, o, func(in *input) error { return in.readProperties(filepath.Base(stem), info) })
	}
	return g, err
}

// sibling returns the name of an existing file with the given extension, in any compression, or an empty string.
func (p place) sibling(stem, ext, compression string) string {
	names := p.members
	if dir, _ := filepath.Split(stem); p.path == "" {
		files, _ := os.ReadDir(filepath.Clean(dir))
		for _, file := range files {
			names = append(names, dir+file.Name())
		}
	}
	for _, c := range append([]string{compression, ""}, compressions()...) {
		for _, name := range names {
			if rest, ok := strings.CutPrefix(name, stem); ok && strings.EqualFold(rest, ext+c) {
				return name
			}
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

// readEdgesLDBC reads edges without a list of vertices.
func readEdgesLDBC(in *input) error { return in.labeled(blocks{limit: -1}, in.lines().parse) }

// lines parses lines of an edge list, with weights if these are requested and the first line has one.
func (in *input) lines() *pairs {
	lines := in.edgeLines()
	if _, first := in.beginning(); in.wantWeights {
		columns := len(bytes.Fields(first))
		if lines.list = columns != 2; columns == 3 { // with two, no line has a weight
			in.readWeighted(lines)
		}
	}
	return lines
}

func (n *numbering) readEdges(in *input) error {
	in.info.Vertices, in.info.Labels = int64(len(n.labels)), n.labels
	lines := in.lines()
	lines.other = func(b *block, start int, u, v uint64) (graph.Edge, error) {
		a, okA := n.vertex(u)
		z, okZ := n.vertex(v)
		if !okA || !okZ {
			return graph.Edge{}, b.atLine(start, "a vertex that is not in the list of vertices")
		}
		return graph.MakeEdge(a, z), nil
	}
	return in.parallel(blocks{limit: -1, parse: lines.plain})
}

// readProperties reads whether the edges of a graph are directed.
func (in *input) readProperties(name string, info *Info) error {
	for {
		line, err := in.readLine()
		if err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		key, value, ok := strings.Cut(string(line), "=")
		if !ok || strings.TrimSpace(key) != "graph."+name+".directed" {
			continue
		}
		if info.Symmetrized, err = strconv.ParseBool(strings.TrimSpace(value)); err != nil {
			return atLine(in.line, "want true or false: %q", strings.TrimSpace(value))
		}
	}
}

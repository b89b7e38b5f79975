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
	"sync"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/internal/regular"
)

// LDBC Graphalytics (specification 1.0.5, section 2.4.2): NAME.v has a label a line, NAME.e two labels and maybe a
// weight a line, and NAME.properties states whether the edges are directed. Labels are 64-bit numbers.

// loadLDBC reads the graph that a .v or .e file belongs to. An .e file without a .v file is an edge list.
func loadLDBC(ctx context.Context, name string, o Options) (*Graph, error) {
	stem, compression := splitCompression(name)
	ext := filepath.Ext(stem)
	stem = strings.TrimSuffix(stem, ext)
	vertices, edges := sibling(stem+".v", compression), sibling(stem+".e", compression)
	switch ext {
	case ".v":
		vertices = name
	default:
		edges = name
	}
	if edges == "" {
		return nil, fmt.Errorf("%s: want the edges next to it, in %s.e", name, stem)
	}
	o.Format = EdgeList
	var known *numbering
	if vertices != "" {
		var err error
		if known, err = readVertices(ctx, vertices, o); err != nil {
			return nil, err
		}
	}
	g, err := loadFile(ctx, edges, o, known)
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

// sibling returns the name of a file that exists, with the given extension of compressed files or another, or nothing.
func sibling(name, compression string) string {
	for _, c := range []string{compression, "", ".gz", ".zst"} {
		if _, err := os.Stat(name + c); err == nil {
			return name + c
		}
	}
	return ""
}

// readVertices reads a list of labels.
func readVertices(ctx context.Context, name string, o Options) (*numbering, error) {
	set := map[uint64]uint64{}
	var mu sync.Mutex
	parse := func(b *block, _ []graph.Edge) ([]graph.Edge, error) {
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
			mu.Lock()
			again := set[label>>6]&(1<<(label&63)) != 0
			addLabel(set, label)
			mu.Unlock()
			if again {
				return nil, b.atLine(i, "a vertex that was there before")
			}
			i = next
		}
		return nil, nil
	}
	file, stat, err := regular.Open(name, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	o.Threads = 1 // so that the second line of a vertex is the one in the error
	in, err := open(ctx, file, stat.Size(), o)
	defer in.close()
	if err != nil {
		return nil, named(name, err)
	}
	err = in.parallel(blocks{limit: -1, parse: parse})
	if err == nil {
		err = in.finish()
	}
	if err != nil {
		return nil, named(name, err)
	}
	return newNumbering(set), nil
}

// properties reads whether the edges are directed from NAME.properties, if there is one.
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
			info.Symmetrised = true
		case "false":
			info.Symmetrised = false
		default:
			return fmt.Errorf("%s:%d: want true or false: %q", name, n+1, bytes.TrimSpace(right))
		}
	}
	return nil
}

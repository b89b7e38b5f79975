// SPDX-License-Identifier: Apache-2.0

// Package files reads graphs from files and writes them, in the formats of format.go, plain, compressed or in an
// archive. A file that is not in an archive is read once, from beginning to end, so it may be a pipe. One goroutine
// reads, hashes and decompresses blocks, and others parse. The tuples are in memory once, in the order of the file.
//
// Every tuple is an undirected edge, as in Graph500. Each line of a directed file is one tuple, so an edge that has an
// arc in both directions becomes two tuples. A format that stores an undirected edge twice (METIS, an undirected .sg)
// contributes it once. Duplicates and self-loops stay.
//
// Formats that state their number of vertices keep their numbering; vertex 1 of a format that counts from 1 is vertex
// 0 here (Info.FirstLabel). In the others, dense labels are the vertices: the largest is below 65,536 or 8 times the
// number of tuples. Other labels are numbered in ascending order at the end of the file, and Info.Labels maps back.
package files

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"sort"
	"strings"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/internal/regular"
)

// Info describes a file that was read.
type Info struct {
	Format      Format
	Compression string // gzip, zstd, bzip2, xz, zip, or empty
	SHA256      string // hexadecimal, if requested: of the file as stored, or of the edge file of an LDBC graph
	Bytes       int64  // of the file as stored

	Vertices int64 // all labels of tuples are below it; some vertices may have no tuple
	Tuples   int64
	// Symmetrized reports whether the edges of the file are directed, or not declared undirected.
	Symmetrized bool

	FirstLabel int64    // label of vertex 0 if Labels is nil: 0 or 1
	Labels     []uint64 // label of each vertex in the file, ascending; nil: vertex v is v + FirstLabel
}

// Label returns the label of vertex v in the file.
func (i *Info) Label(v graph.Vertex) uint64 {
	if i.Labels != nil {
		return i.Labels[v]
	}
	return uint64(int64(v) + i.FirstLabel)
}

// Options are the choices of a reader. The zero value is ready to use.
type Options struct {
	Format  Format // empty: detected by the extension, or else by the content
	Threads int    // parsing threads; 0: GOMAXPROCS
	SHA256  bool   // requests Info.SHA256
	// Progress, unless nil, is called with the bytes read from the file and its size, 0 if unknown.
	Progress func(done, size int64)
	// Memory, unless nil, returns memory for n more tuples, or an error that ends reading. Nil: the heap.
	Memory func(n int) ([]graph.Edge, error)
	// Weights requests the weights of a format that has them: .wel, DIMACS' .gr, real or integer
	// matrices, and .e with three columns.
	Weights bool
	// Reserve, unless nil, is called before reading takes n more bytes, on any goroutine. An error ends reading.
	Reserve func(n int64) error

	block  int    // bytes that are parsed at a time; 0: blockBytes
	path   string // of the file; empty: a stream
	member string // the file to read if the file is an archive
}

// Load reads the file of the given name, or ARCHIVE/FILE: a file in an archive.
//
// An error about the content is one line, NAME:LINE: reason, or NAME: byte OFFSET: reason. Load allocates memory only
// for data that the file contains, whatever its header says. A file that changes while it is read is an error. When ctx
// ends, Load returns ctx.Err().
func Load(ctx context.Context, name string, o Options) (*Graph, error) {
	if o.Format == "" {
		o.Format = formatOfName(name)
	}
	var where place
	if path, member := SplitArchive(name); member != "" {
		where.path, name = path, member
	}
	if o.Format != LDBC {
		return where.load(ctx, name, o, nil)
	}
	if where.path != "" { // LDBC's graphs are in several files
		var a *archive
		_, err := loadFile(ctx, where.path, o, func(*input) error { return noMember(name) })
		if !errors.As(err, &a) {
			return nil, err
		}
		where.members = a.members
	}
	return where.loadLDBC(ctx, name, o)
}

// LoadFrom is Load for a reader, such as standard input. The name appears in errors, and may determine the format.
func LoadFrom(ctx context.Context, r io.Reader, name string, o Options) (*Graph, error) {
	if o.Format == "" {
		o.Format = formatOfName(name)
	}
	return load(ctx, r, name, 0, o, nil)
}

func loadFile(ctx context.Context, name string, o Options, read func(in *input) error) (*Graph, error) {
	file, stat, err := regular.Open(name, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	o.path = name
	g, err := load(ctx, file, strings.TrimSuffix(name+"/"+o.member, "/"), stat.Size(), o, read)
	if now, statErr := file.Stat(); ctx.Err() == nil && statErr == nil &&
		(now.Size() != stat.Size() || !now.ModTime().Equal(stat.ModTime())) {
		return nil, fmt.Errorf("%s: the file changed while it was read", name) // which explains err
	}
	return g, err
}

// load reads a graph from r with read or, if that is nil, in its format.
func load(ctx context.Context, r io.Reader, name string, size int64, o Options, read func(in *input) error,
) (*Graph, error) {
	in, err := open(ctx, r, size, o)
	defer in.close()
	if err == nil {
		err = in.readGraph(o.Format, read)
	}
	if err != nil {
		return nil, named(name, err)
	}
	g := &Graph{Info: in.info, name: name, blocks: in.blocks, first: []int64{0}}
	g.weights, g.weighted = in.weights, in.weighted
	for i, block := range g.blocks {
		g.first = append(g.first, g.first[i]+int64(len(block)))
	}
	return g, nil
}

func (in *input) readGraph(format Format, read func(in *input) error) (err error) {
	if in.info.Format = format; format == "" {
		if in.info.Format, err = in.detect(); err != nil {
			return err
		}
	}
	codec := formatOf(in.info.Format)
	if codec.text {
		if err := in.skipByteOrderMark(); err != nil {
			return err
		}
		// Network Repository has matrices whose names end in .edges.
		if head, _ := in.r.Peek(64); in.info.Format == EdgeList && read == nil && matrixBanner.Match(head) {
			in.info.Format = MatrixMarket
			codec = formatOf(MatrixMarket)
		}
	}
	if read == nil {
		read = codec.read
	}
	if read == nil {
		return fmt.Errorf("unknown graph format %q; the formats are %s", in.info.Format, strings.Join(Formats(), ", "))
	}
	if err := read(in); err != nil {
		return err
	}
	return in.finish()
}

// Graph is a file in memory, graph.EdgeBytes per tuple, as a graph.Source.
type Graph struct {
	Info   Info
	name   string
	blocks [][]graph.Edge
	first  []int64 // the number of the first tuple of each block, and of all tuples

	weights  [][]float32 // in the order of the tuples
	weighted bool
}

// Weights copies the weights of the tuples first, first+1, ... to dst, and reports whether Options.Weights has
// requested them and the file has any.
func (g *Graph) Weights(dst []float32, first int64) bool {
	for _, part := range g.weights {
		skipped := min(first, int64(len(part)))
		dst, first = dst[copy(dst, part[skipped:]):], first-skipped
	}
	return g.weighted
}

// Name and the methods below implement graph.Source.
func (g *Graph) Name() string    { return g.name }
func (g *Graph) Vertices() int64 { return g.Info.Vertices }
func (g *Graph) Tuples() int64   { return g.Info.Tuples }

// Generate is graph.Source.Generate.
func (g *Graph) Generate(ctx context.Context, dst []graph.Edge, first int64, threads int) error {
	if first < 0 || first > g.Tuples()-int64(len(dst)) {
		return fmt.Errorf("%s: tuples %d to %d are out of range: the file has %d",
			g.name, first, first+int64(len(dst)), g.Tuples())
	}
	if threads < 1 {
		threads = runtime.GOMAXPROCS(0)
	}
	from := sort.Search(len(g.blocks), func(b int) bool { return g.first[b+1] > first })
	to := sort.Search(len(g.blocks), func(b int) bool { return g.first[b] >= first+int64(len(dst)) })
	_, err := graph.Parallel(ctx, threads, int64(to-from), 1, func(_ int, i, _ int64) bool {
		b := from + int(i)
		begin := max(g.first[b], first)
		copy(dst[begin-first:], g.blocks[b][begin-g.first[b]:])
		return true
	})
	return err
}

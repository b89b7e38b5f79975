// SPDX-License-Identifier: Apache-2.0

package files

import (
	"bufio"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/google/renameio/v2"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/graph/adjacency"
	"github.com/tepsbench/teps/internal/child"
	"github.com/tepsbench/teps/internal/regular"
)

// Write writes a graph to the file of the given name, in the format of its extension, compressed if .gz or .zst
// follows. It follows symbolic links, also to a file that does not exist. It replaces an existing file, whose mode it
// keeps, only when the new one is complete; an error leaves nothing behind. Progress, unless nil, is called with the
// number of tuples of each block; formats that list neighbors take two passes.
//
// One line, entry or arc stands for a tuple, as when the file is read. Edge lists and LDBC's files have the original
// labels if the vertices were renumbered. Files of KeepsWeights have the weights of the file that g was read from, with
// Options.Weights; without any, .wel and .gr have those of graph.Weights from the seeds.
func Write(ctx context.Context, name string, g graph.Source, seed1, seed2 uint64, progress func(tuples int64)) error {
	format, err := CanWrite(name, g.Vertices())
	if err != nil {
		return err
	}
	if progress == nil {
		progress = func(int64) {}
	}
	out := &output{ctx: ctx, source: g, progress: progress, threads: runtime.GOMAXPROCS(0)}
	out.weights = func(dst []float32, first int64) error {
		return graph.Weights(ctx, g, seed1, seed2, dst, first, 0)
	}
	if file, ok := g.(*Graph); ok && file.weighted {
		out.weighted, out.weights = true, func(dst []float32, first int64) error {
			file.Weights(dst, first)
			return nil
		}
	}
	if err = out.create(name); err == nil {
		err = formatOf(format).write(out, name)
	}
	for _, f := range out.files {
		if err == nil {
			err = f.finish()
		}
	}
	for _, f := range out.files {
		if err == nil {
			err = f.pending.CloseAtomicallyReplace()
		}
	}
	for _, f := range out.files {
		f.remove()
	}
	if failed := (*fs.PathError)(nil); errors.As(err, &failed) { // it names the temporary file
		err = fmt.Errorf("%s: %w", name, failed.Err)
	}
	return err
}

// WritePacked writes the tuples of a graph in the packed form of Graph500. Progress is that of Write.
func WritePacked(ctx context.Context, w io.Writer, g graph.Source, progress func(tuples int64)) error {
	out := &output{ctx: ctx, source: g, progress: progress, Writer: bufio.NewWriterSize(w, 1<<20)}
	return cmp.Or(writePacked(out, ""), out.Flush())
}

// CanWrite returns the format that Write uses for a file of this name, or an error.
func CanWrite(name string, vertices int64) (Format, error) {
	format := formatOfName(name)
	switch _, compression := splitCompression(strings.ToLower(name)); {
	case formatOf(format).write == nil, extension(name) == ".v", compression == ".bz2", compression == ".xz":
		return "", fmt.Errorf("%s: want a name that ends in one of %s, and maybe in .gz or .zst after that",
			name, strings.Join(Writable(), ", "))
	case format == SG && vertices >= 1<<31, format == METIS && vertices > adjacency.MaxVertices:
		return "", fmt.Errorf("%s: %d vertices are too many for this format", name, vertices)
	}
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
		return "", fmt.Errorf("%s: a directory, a pipe or a device: want the name of a file", name)
	}
	if file, err := os.OpenFile(name, os.O_WRONLY, 0); err == nil {
		return format, file.Close()
	} else if !errors.Is(err, fs.ErrNotExist) { // such as permission denied
		return "", err
	}
	return format, nil
}

// KeepsWeights reports whether Write writes the weights of a graph to a file of this name.
func KeepsWeights(name string) bool {
	return slices.Contains([]string{".wel", ".gr", ".mtx", ".e"}, extension(name))
}

// WriteBytes returns the memory that Write takes for a graph in a format, in bytes, up to a few megabytes.
func WriteBytes(format Format, g graph.Source) int64 {
	if format == METIS || format == SG {
		return adjacency.Bytes(g)
	}
	return 0
}

// Writable returns the extensions that Write supports.
func Writable() []string {
	var all []string
	for _, f := range formats() {
		if f.write != nil {
			all = append(all, f.extensions[0])
		}
	}
	return all
}

type output struct {
	ctx           context.Context
	source        graph.Source
	progress      func(tuples int64)
	threads       int
	weighted      bool // the source has weights
	weights       func(dst []float32, first int64) error
	files         []*outputFile
	*bufio.Writer // of the file that was created last
}

// Replace makes a temporary file for the file of a name, whose mode it keeps. It follows symbolic links. The file lies
// in a directory next to that, which remove removes, or the next process if this one is killed.
func Replace(name string) (file *renameio.PendingFile, remove func(), err error) {
	path := regular.Target(name)
	dir, err := child.NewDirIn(filepath.Dir(path), ".teps-out-")
	if err != nil {
		return nil, nil, err
	}
	file, err = renameio.NewPendingFile(path, renameio.WithPermissions(0o644), renameio.WithExistingPermissions(),
		renameio.WithTempDir(dir.Path()))
	if err != nil {
		return nil, nil, errors.Join(err, dir.Remove())
	}
	return file, func() { _ = errors.Join(file.Cleanup(), dir.Remove()) }, nil
}

type outputFile struct {
	*bufio.Writer
	compressor io.WriteCloser // or nil
	pending    *renameio.PendingFile
	remove     func()
}

func (out *output) create(name string) error {
	pending, remove, err := Replace(name)
	if err != nil {
		return err
	}
	f := &outputFile{pending: pending, remove: remove}
	out.files = append(out.files, f)
	switch _, compression := splitCompression(strings.ToLower(name)); compression {
	case ".gz":
		f.compressor, err = gzip.NewWriterLevel(pending, gzip.BestSpeed)
	case ".zst", ".zstd":
		f.compressor, err = zstd.NewWriter(pending, zstd.WithEncoderLevel(zstd.SpeedFastest))
	}
	if err != nil {
		return err
	}
	var w io.Writer = pending
	if f.compressor != nil {
		w = f.compressor
	}
	f.Writer = bufio.NewWriterSize(w, 1<<20)
	out.Writer = f.Writer
	return nil
}

// finish writes what is left in buffers.
func (f *outputFile) finish() error {
	err := f.Flush()
	if err == nil && f.compressor != nil {
		err = f.compressor.Close()
	}
	return err
}

func (out *output) each(f func([]graph.Edge) error) error {
	return adjacency.Each(out.ctx, out.source, func(edges []graph.Edge) error {
		out.progress(int64(len(edges)))
		return f(edges)
	})
}

// lines writes the text that format appends for each tuple, and, in the end, its weight if weighted.
func (out *output) lines(weighted bool, format func(line []byte, u, v graph.Vertex) []byte, end string) error {
	first, weights := int64(0), []float32(nil)
	return out.each(func(edges []graph.Edge) error {
		if weighted {
			weights = slices.Grow(weights[:0], len(edges))[:len(edges)]
			if err := out.weights(weights, first); err != nil {
				return err
			}
			first += int64(len(edges))
		}
		return out.parts(int64(len(edges)), func(text []byte, i int64) []byte {
			u, v := edges[i].Ends()
			if text = format(text, u, v); weighted {
				text = strconv.AppendFloat(append(text, ' '), float64(weights[i]), 'g', -1, 32)
			}
			return append(text, end...)
		})
	})
}

// parts writes the text that format appends for each of the numbers below n. Several threads format at the same time.
func (out *output) parts(n int64, format func(text []byte, i int64) []byte) error {
	const part = 1 << 10
	texts := make([][]byte, 8*out.threads)
	for first := int64(0); first < n; first += part * int64(len(texts)) {
		_, err := graph.Parallel(out.ctx, out.threads, int64(len(texts)), 1, func(_ int, t, _ int64) bool {
			text := texts[t][:0]
			begin := first + t*part
			for i := begin; i < min(begin+part, n); i++ {
				text = format(text, i)
			}
			texts[t] = text
			return true
		})
		if err != nil {
			return err
		}
		for _, text := range texts {
			if _, err := out.Write(text); err != nil {
				return err
			}
		}
	}
	return nil
}

// label returns a function that appends the label of a vertex in the file of the source.
func (out *output) label() func(text []byte, v graph.Vertex) []byte {
	if g, ok := out.source.(*Graph); ok && g.Info.Labels != nil {
		return func(text []byte, v graph.Vertex) []byte { return strconv.AppendUint(text, g.Info.Labels[v], 10) }
	}
	return func(text []byte, v graph.Vertex) []byte { return strconv.AppendInt(text, int64(v), 10) }
}

func writePacked(out *output, _ string) error {
	return out.each(func(edges []graph.Edge) error { return graph.WriteEdges(out, edges) })
}

func writePacked16(out *output, _ string) error {
	return out.lines(false, func(text []byte, u, v graph.Vertex) []byte {
		return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(text, uint64(u)), uint64(v))
	}, "")
}

// writeEdgeList writes plain lines, or lines with SNAP's comments if the name ends in .txt.
func writeEdgeList(out *output, name string) error {
	if stem, _ := splitCompression(name); extension(name) == ".txt" {
		fmt.Fprintf(out, "# Undirected graph: %s\n# Nodes: %d Edges: %d\n# FromNodeId\tToNodeId\n",
			filepath.Base(stem), out.source.Vertices(), out.source.Tuples())
	}
	return out.pairs("", out.label(), false)
}

func writeWeightedList(out *output, _ string) error { return out.pairs("", out.label(), true) }

// pairs writes lines of two vertices, each appended by name, and maybe a weight.
func (out *output) pairs(begin string, name func(text []byte, v graph.Vertex) []byte, weighted bool) error {
	return out.lines(weighted, func(text []byte, u, v graph.Vertex) []byte {
		return name(append(name(append(text, begin...), u), ' '), v)
	}, "\n")
}

// fromOne appends the number of a vertex in formats that count from 1.
func fromOne(text []byte, v graph.Vertex) []byte { return strconv.AppendInt(text, int64(v)+1, 10) }

func writeMatrixMarket(out *output, _ string) error {
	n := out.source.Vertices()
	field := "pattern"
	if out.weighted {
		field = "real"
	}
	fmt.Fprintf(out, "%s matrix coordinate %s symmetric\n%d %d %d\n", bannerMM, field, n, n, out.source.Tuples())
	return out.lines(out.weighted, func(text []byte, u, v graph.Vertex) []byte {
		return fromOne(append(fromOne(text, max(u, v)), ' '), min(u, v))
	}, "\n")
}

func writeDIMACS(out *output, name string) error {
	kind, line, weighted := "sp", "a ", extension(name) == ".gr"
	if !weighted {
		kind, line = "edge", "e "
	}
	fmt.Fprintf(out, "p %s %d %d\n", kind, out.source.Vertices(), out.source.Tuples())
	return out.pairs(line, fromOne, weighted)
}

func writeLDBC(out *output, name string) error {
	if err := out.pairs("", out.label(), out.weighted); err != nil {
		return err
	}
	stem, compression := splitCompression(name)
	stem = strings.TrimSuffix(stem, filepath.Ext(stem))
	vertices := stem + ".v" + compression
	if err := out.create(vertices); err != nil {
		return err
	}
	label, n := out.label(), out.source.Vertices()
	err := out.parts(n, func(text []byte, v int64) []byte { return append(label(text, graph.Vertex(v)), '\n') })
	if err != nil {
		return err
	}
	if err := out.create(stem + ".properties"); err != nil {
		return err
	}
	key := "graph." + filepath.Base(stem)
	fmt.Fprintf(out, "%s.vertex-file = %s\n%s.edge-file = %s\n%s.meta.vertices = %d\n%s.meta.edges = %d\n"+
		"%s.directed = false\n", key, filepath.Base(vertices), key, filepath.Base(name), key, n, key,
		out.source.Tuples(), key)
	if out.weighted {
		fmt.Fprintf(out, "%s.edge-properties.names = weight\n%s.edge-properties.types = real\n", key, key)
	}
	return nil
}

func writeMETIS(out *output, _ string) error {
	l, err := adjacency.New(out.ctx, out.source, 1, out.progress)
	if err != nil {
		return err
	}
	n := out.source.Vertices()
	fmt.Fprintf(out, "%d %d\n", n, out.source.Tuples())
	return out.parts(n, func(text []byte, v int64) []byte {
		for i, u := range l.Of(v) {
			if i > 0 {
				text = append(text, ' ')
			}
			text = strconv.AppendUint(text, uint64(u)+1, 10)
		}
		return append(text, '\n')
	})
}

func writeSG(out *output, _ string) error {
	l, err := adjacency.New(out.ctx, out.source, 2, out.progress)
	if err != nil {
		return err
	}
	n := out.source.Vertices()
	header := binary.LittleEndian.AppendUint64([]byte{0}, uint64(len(l.Entries)))
	if _, err := out.Write(binary.LittleEndian.AppendUint64(header, uint64(n))); err != nil {
		return err
	}
	err = out.parts(n+1, func(text []byte, v int64) []byte {
		return binary.LittleEndian.AppendUint64(text, uint64(l.Offsets[v]))
	})
	if err != nil {
		return err
	}
	return out.parts(n, func(text []byte, v int64) []byte {
		for _, u := range l.Of(v) {
			text = binary.LittleEndian.AppendUint32(text, u)
		}
		return text
	})
}

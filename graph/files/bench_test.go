// SPDX-License-Identifier: Apache-2.0

package files

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/internal/must"
)

var (
	benchScale = flag.Int("files.scale", 14, "scale of the Kronecker graph of the benchmarks")
	benchSHA   = flag.Bool("files.sha256", false, "compute the SHA-256 of the files of the benchmarks")
	benchDir   = flag.String("files.dir", "", "directory for the files of the benchmarks, where they stay")
)

// BenchmarkRead reads a Kronecker graph from a file of each format. MB/s are of the file.
func BenchmarkRead(b *testing.B) {
	g := graph.Kronecker{Scale: *benchScale, EdgeFactor: 16, Seed1: 2, Seed2: 3}
	dir := *benchDir
	if dir == "" {
		dir = b.TempDir()
	}
	for _, ext := range append(Writable(), ".el.gz", ".el.zst") {
		b.Run(ext[1:], func(b *testing.B) {
			name := filepath.Join(dir, "kron"+ext)
			info, err := os.Stat(name)
			if err != nil {
				if err = Write(context.Background(), name, g, 2, 3, nil); err == nil {
					info, err = os.Stat(name)
				}
			}
			must.Do(err)
			b.SetBytes(info.Size())
			b.ReportAllocs()
			for b.Loop() {
				must.Get(Load(context.Background(), name, Options{SHA256: *benchSHA}))
			}
			b.ReportMetric(float64(g.Tuples())*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mtuples/s")
		})
	}
}

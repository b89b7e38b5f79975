package record

import (
	"path/filepath"
	"testing"
)

// BenchmarkLoad reads a record of 5 engines with 64 roots each and many levels and ranks.
func BenchmarkLoad(b *testing.B) {
	for b.Loop() {
		if _, err := Load(filepath.Join(resultsFolder, "runs", "distributed-s20")); err != nil {
			b.Fatal(err)
		}
	}
}

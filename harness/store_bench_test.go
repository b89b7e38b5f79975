package harness

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// BenchmarkSeal is what a seal costs between two searches, for the line of a search of 16 ranks.
func BenchmarkSeal(b *testing.B) {
	line := append(append([]byte(`{"engine":"distributed"`), make([]byte, 16<<10)...), '}')
	b.SetBytes(int64(len(line)))
	for b.Loop() {
		line[len(line)-1] = '}' // the last member's place was overwritten
		if _, _, err := onLine.seal(line, sealMember, sealOf("", nil)); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkLoad reads a record of 5 engines with 64 roots each and many levels and ranks, with and without seals.
func BenchmarkLoad(b *testing.B) {
	for name, sealed := range map[string]bool{"sealed": true, "first-release": false} {
		b.Run(name, func(b *testing.B) {
			m, err := readManifest(filepath.Join(resultsFolder, "distributed", "s20"))
			if err != nil {
				b.Fatal(err)
			}
			data, err := os.ReadFile(filepath.Join(resultsFolder, "distributed", "s20", JournalFile))
			if err != nil {
				b.Fatal(err)
			}
			if sealed {
				m.Seal = sealOf("", nil)
				data = sealLines(b, m.Seal, data)
			}
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				entries, _, err := parseJournal(m, data)
				if err != nil {
					b.Fatal(err)
				}
				if _, err := replay(m, entries); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// sealLines gives the lines of an old journal seals.
func sealLines(b *testing.B, before string, data []byte) (sealed []byte) {
	for line := range bytes.Lines(data) {
		text, seal, err := onLine.seal(bytes.Clone(bytes.TrimSuffix(line, []byte("\n"))), sealMember, before)
		if err != nil {
			b.Fatal(err)
		}
		sealed, before = append(append(sealed, text...), '\n'), seal
	}
	return sealed
}

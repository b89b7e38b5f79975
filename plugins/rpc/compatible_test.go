package rpc

import (
	"os"
	"strings"
	"testing"
)

// declarations are the lines of a .proto file that say something, each with the blocks that it stands in and without its
// comment: "message Call / uint64 id = 1;".
func declarations(t *testing.T, path string) map[string]bool {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	var blocks []string
	for line := range strings.Lines(string(text)) {
		line, _, _ = strings.Cut(line, "//")
		line = strings.Join(strings.Fields(line), " ")
		switch {
		case line == "" || strings.HasPrefix(line, "option go_package"):
		case strings.HasSuffix(line, "{"):
			blocks = append(blocks, strings.TrimSuffix(line, " {"))
		case line == "}":
			blocks = blocks[:len(blocks)-1]
		default:
			found[strings.Join(append(blocks[:len(blocks):len(blocks)], line), " / ")] = true
		}
	}
	return found
}

// What version 1 of the protocol declares is declared today: no field, number, type or call was changed or taken away.
func TestNothingOfVersion1HasChanged(t *testing.T) {
	now := declarations(t, "internal/enginepb/engine.proto")
	first := declarations(t, "testdata/version1/enginepb/engine.proto")
	if len(first) < 80 {
		t.Fatalf("read only %d declarations of version 1", len(first))
	}
	for declaration := range first {
		if !now[declaration] {
			t.Errorf("version 1 has %q; it was changed or taken away", declaration)
		}
	}
}

package plugins

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The conformance of every engine to the limits, and of the limits to this table, is tested in package rpc.
func TestLimitsAreDocumented(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("..", "docs", "writing-an-engine.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(data), "## Limits of answers")
	table, _, _ = strings.Cut(table, "## What to know")
	for _, want := range []string{
		fmt.Sprintf("detail | %d bytes", MaxName), fmt.Sprintf("other text | %d bytes", MaxText),
		fmt.Sprintf("phases | %d of each", MaxList), fmt.Sprintf("ranks of a search | %d |", MaxRanks),
		fmt.Sprintf("levels of a search | %d; more than %d must", MaxLevels, fewLevels),
		fmt.Sprintf("(not stated) to %d", MaxBits),
	} {
		if !strings.Contains(table, want) {
			t.Errorf("the table of limits does not contain %q", want)
		}
	}
	if MaxNumber != 1<<53 || !strings.Contains(table, "0 to 2^53") {
		t.Error("the largest number is not documented")
	}
}

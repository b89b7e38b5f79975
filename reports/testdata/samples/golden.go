// SPDX-License-Identifier: Apache-2.0

package samples

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	_ "pgregory.net/rapid" // which has the flag
)

// Property tests draw the same cases in every run, so that a change is judged by what it changes. Others are drawn with
// -rapid.seed=0, more of them with -rapid.checks=N.
func init() {
	if err := flag.Set("rapid.seed", "500"); err != nil {
		panic(err)
	}
}

// Update is the flag with which tests write their golden files.
var Update = flag.Bool("update", false, "write golden files; read what changes before you commit it")

// Golden compares a text with the file NAME.golden in testdata, or writes it there.
func Golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *Update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs; see what changes, then run the test with -update:\n%s", path, differing(string(want), got))
	}
}

// differing are the lines that only one of two texts has.
func differing(want, got string) string {
	var out strings.Builder
	for _, side := range [][3]string{{"- ", want, got}, {"+ ", got, want}} {
		for line := range strings.Lines(side[1]) {
			if !strings.Contains(side[2], line) {
				out.WriteString(side[0] + line)
			}
		}
	}
	return out.String()
}

// SPDX-License-Identifier: Apache-2.0

package samples

import (
	"flag"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tepsbench/teps/internal/must"
)

// Update is the flag with which tests write their golden files.
var Update = flag.Bool("update", false, "write golden files; read what changes before you commit it")

// Golden compares a text with the file NAME.golden in testdata, or writes it there.
func Golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *Update {
		must.Do(os.WriteFile(path, []byte(got), 0o644))
	}
	want := must.Get(os.ReadFile(path))
	if got != string(want) {
		t.Errorf("%s differs; see what changes, then run the test with -update:\n%s", path, differing(string(want), got))
	}
}

// number matches a number of a drawing.
var number = regexp.MustCompile(`-?[0-9]+(\.[0-9]+)?(e[-+][0-9]+)?`)

// Drawing compares an SVG with the one in a file, or writes it there with -update. Texts must agree; numbers may differ
// by a fiftieth of a point, because another processor may round the last digit differently.
func Drawing(t *testing.T, path string, got []byte) {
	t.Helper()
	if *Update {
		must.Do(os.WriteFile(path, got, 0o644))
	}
	want := must.Get(os.ReadFile(path))
	zero := []byte("0")
	if diff := cmp.Diff(string(number.ReplaceAll(want, zero)), string(number.ReplaceAll(got, zero))); diff != "" {
		t.Fatalf("%s differs in more than its numbers; look at it before you write it (-want +got):\n%s", path, diff)
	}
	were := number.FindAllString(string(want), -1)
	for i, now := range number.FindAllString(string(got), -1) {
		a, b := must.Get(strconv.ParseFloat(now, 64)), must.Get(strconv.ParseFloat(were[i], 64))
		if math.Abs(a-b) > 0.02 {
			t.Fatalf("number %d of %s was %s and is %s", i, path, were[i], now)
		}
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

// SPDX-License-Identifier: Apache-2.0

package teps_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/tepsbench/teps/internal/must"
)

// TestFaultsAreHeldByTests checks that each row of docs/faults.md names a test, and that every test named exists.
func TestFaultsAreHeldByTests(t *testing.T) {
	page := must.Get(os.ReadFile("docs/faults.md"))
	declared := map[string]bool{}
	for _, path := range texts(t, ".go") {
		source := must.Get(os.ReadFile(path))
		for _, match := range regexp.MustCompile(`(?m)^func ((Test|Fuzz)\w+)`).FindAllSubmatch(source, -1) {
			declared[string(match[1])] = true
		}
	}
	names := regexp.MustCompile("`((Test|Fuzz)\\w+)`")
	for line := range strings.Lines(string(page)) {
		found := names.FindAllStringSubmatch(line, -1)
		if row := strings.HasPrefix(line, "| ") && !strings.HasSuffix(line, "| test |\n"); row && found == nil {
			t.Errorf("no test holds %s", line)
		}
		for _, match := range found {
			if !declared[match[1]] {
				t.Errorf("docs/faults.md names %s, which does not exist", match[1])
			}
		}
	}
}

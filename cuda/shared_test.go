// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tepsbench/teps/cuda/driver"
	"github.com/tepsbench/teps/cuda/team"
	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/internal/must"
)

func readSources(t *testing.T, paths ...string) string {
	t.Helper()
	var all strings.Builder
	for _, path := range paths {
		text := must.Get(os.ReadFile(path))
		all.Write(text)
	}
	return all.String()
}

func TestHostAndDeviceHaveTheSameConstants(t *testing.T) {
	source := readSources(t, "kernels/search.cuh", "kernels/tuning.cuh", "kernels/graph.cuh",
		"kernels/neighbors.cuh", "kernels/exchange.cuh", "kernels/several.cu", "kernels/paths/paths.cuh")
	for name, want := range map[string]int{
		"LEVELS": launchLevels, "ADAPTIVE": slices.Index(messages, "adaptive"), "LISTS": slices.Index(messages, "lists"),
		"BITMAPS": slices.Index(messages, "bitmaps"),
		"AUTO":    int(graph.BothDirections), "ONLY_TOP_DOWN": int(graph.OnlyTopDown),
		"ONLY_BOTTOM_UP": int(graph.OnlyBottomUp), "LENGTH_BITS": lengthBits, "THREADS": blockThreads,
		"SUM_THREADS": driver.SumThreads, "SORT_KEYS": driver.SortKeys, "MAX_RANKS": maxRanks, "CHUNK_WORDS": chunkWords,
		"MAX_RANGES": maxRanges, "PHASES": team.NumPhases, "SCAN": team.Scan, "FOLD": team.Fold, "UPDATE": team.Update,
		"EXPAND": team.Expand, "REDUCE": team.Reduce, "PATH_STEPS": pathSteps,
		"BOUND_BITS": boundBits, "CLASSES": degreeClasses,
	} {
		m := regexp.MustCompile(` ` + name + ` = (\d+)[,;]`).FindStringSubmatch(source)
		if m == nil {
			t.Errorf("the kernels have no constant %s", name)
		} else if m[1] != strconv.Itoa(want) {
			t.Errorf("%s: got %s in the kernels, %d on the host", name, m[1], want)
		}
	}
}

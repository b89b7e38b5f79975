package cuda

import (
	"fmt"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"

	"github.com/tepsbench/teps/cuda/driver"
	"github.com/tepsbench/teps/graph"
)

// field is a field of a structure: its name in lower case, with the length of an array, and its size and offset in
// bytes.
type field struct {
	Name         string
	Size, Offset uintptr
}

// fieldsOf reads a structure from the kernels' sources. Fields are aligned to their size, as the compilers do it.
func fieldsOf(t *testing.T, source, name string) (fields []field) {
	t.Helper()
	body := regexp.MustCompile(`(?s)struct ` + name + ` \{\n(.*?)\n\};`).FindStringSubmatch(source)
	if body == nil {
		t.Fatalf("the kernels have no struct %s", name)
	}
	declaration := regexp.MustCompile(`^((?:const )?\w+\*?) (\w+(?:, \w+)*)(?:\[(\w+)\])?;`)
	offset := uintptr(0)
	for line := range strings.SplitSeq(body[1], "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "//") {
			continue
		}
		m := declaration.FindStringSubmatch(line)
		if m == nil {
			t.Fatalf("struct %s: cannot read the line %q", name, line)
		}
		size := uintptr(8)
		switch m[1] {
		case "u32", "float":
			size = 4
		case "LevelRecord":
			size = unsafe.Sizeof(deviceLevel{})
		}
		for each := range strings.SplitSeq(m[2], ", ") {
			f := field{strings.ToLower(each), size, offset}
			lengths := strings.NewReplacer("LEVELS", strconv.Itoa(launchLevels), "MAX_RANKS", strconv.Itoa(maxRanks),
				"PHASES", strconv.Itoa(numPhases))
			if n := lengths.Replace(m[3]); n != "" {
				count, err := strconv.Atoi(n)
				if err != nil {
					t.Fatalf("struct %s: cannot read the length in %q", name, line)
				}
				f.Name += "[" + n + "]"
				f.Size *= uintptr(count)
			}
			if align := min(size, 8); offset%align != 0 {
				t.Fatalf("struct %s: %s is not aligned; the compilers may place it differently", name, f.Name)
			}
			fields = append(fields, f)
			offset += f.Size
		}
	}
	return fields
}

func readSources(t *testing.T, paths ...string) string {
	t.Helper()
	var all strings.Builder
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	return all.String()
}

func TestHostAndDeviceHaveTheSameStructures(t *testing.T) {
	source := readSources(t, "kernels/graph.cuh", "kernels/search.cuh", "kernels/exchange.cuh")
	for name, mirror := range map[string]any{
		"Graph": deviceGraph{}, "Exchange": deviceExchange{}, "LevelRecord": deviceLevel{},
		"Status": deviceStatus{}, "SearchParams": searchParams{},
	} {
		var host []field
		typ := reflect.TypeOf(mirror)
		for i := range typ.NumField() {
			f := typ.Field(i)
			name := strings.ToLower(f.Name)
			if f.Type.Kind() == reflect.Array {
				name += fmt.Sprintf("[%d]", f.Type.Len())
			}
			host = append(host, field{name, f.Type.Size(), f.Offset})
		}
		if diff := cmp.Diff(fieldsOf(t, source, name), host); diff != "" {
			t.Errorf("struct %s of the kernels (-) differs from its mirror (+):\n%s", name, diff)
		}
	}
}

func TestHostAndDeviceHaveTheSameConstants(t *testing.T) {
	source := readSources(t, "kernels/search.cuh", "kernels/tuning.cuh", "kernels/graph.cuh",
		"kernels/neighbors.cuh", "kernels/exchange.cuh", "kernels/several.cu")
	for name, want := range map[string]int{
		"LEVELS": launchLevels, "ADAPTIVE": slices.Index(messages, "adaptive"), "LISTS": slices.Index(messages, "lists"),
		"BITMAPS": slices.Index(messages, "bitmaps"),
		"AUTO":    int(graph.BothDirections), "ONLY_TOP_DOWN": int(graph.OnlyTopDown),
		"ONLY_BOTTOM_UP": int(graph.OnlyBottomUp), "LENGTH_BITS": lengthBits, "THREADS": blockThreads,
		"SUM_THREADS": driver.SumThreads, "SORT_KEYS": driver.SortKeys, "MAX_RANKS": maxRanks, "CHUNK_WORDS": chunkWords,
		"MAX_RANGES": maxRanges, "PHASES": numPhases, "SCAN": scanPhase, "FOLD": foldPhase, "UPDATE": updatePhase,
		"EXPAND": expandPhase, "REDUCE": reducePhase,
	} {
		m := regexp.MustCompile(` ` + name + ` = (\d+)[,;]`).FindStringSubmatch(source)
		if m == nil {
			t.Errorf("the kernels have no constant %s", name)
		} else if m[1] != strconv.Itoa(want) {
			t.Errorf("%s: got %s in the kernels, %d on the host", name, m[1], want)
		}
	}
}

// Kernels are looked up by name when they are launched, so a wrong name would only show on a GPU.
func TestHostLaunchesKernelsThatExist(t *testing.T) {
	names := func(pattern string, paths ...string) map[string]bool {
		all := map[string]bool{}
		for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(readSources(t, paths...), -1) {
			all[m[1]] = true
		}
		return all
	}
	launched := names(`(?:call(?:Blocks)?|Launch|Lookup)\([^"\n]*"(\w+)"`, "builder.go", "construct.go",
		"construct_packed.go", "construct_several.go", "construct_exchange.go", "construct_transfer.go",
		"construct_lists.go", "gpu.go", "bfs.go", "exchange.go", "driver/sort.go")
	defined := names(`extern "C" __global__ void (?:__launch_bounds__\([^)]*\)\s+)?(\w+)\(`,
		"accelerator/kernels/generate.cu", "kernels/order.cu", "kernels/packed.cu", "kernels/sort.cu", "kernels/lists.cu",
		"kernels/derived.cu", "kernels/search.cu", "kernels/dynamic.cu", "kernels/output.cu", "kernels/several.cu")
	delete(defined, "child") // launched by top_down_dynamic
	if diff := cmp.Diff(defined, launched); diff != "" {
		t.Errorf("kernels that are defined (-) and launched (+):\n%s", diff)
	}
}

package cuda

import (
	"os"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// fieldsOf returns the names of the fields of a structure in the kernels' sources, one of 8 bytes each; an array counts once.
func fieldsOf(t *testing.T, source, name string) (fields []string) {
	t.Helper()
	body := regexp.MustCompile(`(?s)struct ` + name + ` \{\n(.*?)\n\};`).FindStringSubmatch(source)
	if body == nil {
		t.Fatalf("graph.cuh has no struct %s", name)
	}
	field := regexp.MustCompile(`^(?:u64|const \w+\*|\w+\*|Level) (\w+(?:\[\w+\])?);`)
	for line := range strings.SplitSeq(body[1], "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "//") {
			continue
		}
		m := field.FindStringSubmatch(line)
		if m == nil {
			t.Fatalf("struct %s: a line that is no field of 8 bytes: %s", name, line)
		}
		fields = append(fields, strings.ToLower(strings.Replace(m[1], "LEVELS", strconv.Itoa(recorded), 1)))
	}
	return fields
}

func readSource(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestHostAndDeviceAgreeOnStructures(t *testing.T) {
	source := readSource(t, "kernels/graph.cuh")
	for name, twin := range map[string]any{"Graph": deviceGraph{}, "Level": deviceLevel{}, "Status": deviceStatus{}} {
		var want []string
		typ := reflect.TypeOf(twin)
		bytes := uintptr(0)
		for i := range typ.NumField() {
			f := typ.Field(i)
			if f.Offset != bytes {
				t.Errorf("%s.%s begins at byte %d, want %d", name, f.Name, f.Offset, bytes)
			}
			bytes += f.Type.Size()
			field := strings.ToLower(f.Name)
			if f.Type.Kind() == reflect.Array {
				field += "[" + strconv.Itoa(f.Type.Len()) + "]"
			}
			want = append(want, field)
		}
		if got := fieldsOf(t, source, name); !reflect.DeepEqual(got, want) {
			t.Errorf("struct %s of the kernels has the fields\n%v\nand its twin\n%v", name, got, want)
		}
	}
}

func TestHostAndDeviceAgreeOnConstants(t *testing.T) {
	source := readSource(t, "kernels/graph.cuh") + readSource(t, "kernels/tuning.cuh")
	for name, want := range map[string]int{
		"LEVELS": recorded, "QUEUE_SHIFT": queueShift, "FRESH": flagFresh, "HOST_EXPANDS": flagHostExpands,
		"THREADS": blockThreads, "SORT_KEYS": sortKeys,
	} {
		m := regexp.MustCompile(`[ ,]` + name + ` = (\d+)[;,]`).FindStringSubmatch(source)
		if m == nil {
			t.Errorf("the kernels have no constant %s", name)
		} else if m[1] != strconv.Itoa(want) {
			t.Errorf("%s is %s in the kernels and %d in the host", name, m[1], want)
		}
	}
}

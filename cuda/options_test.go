package cuda

import (
	"errors"
	"math"
	"strings"
	"testing"
	"unsafe"

	"github.com/tepsbench/teps/plugins"
)

func TestSizesAreReadWithTheirUnits(t *testing.T) {
	for text, want := range map[string]int64{
		"all": 0, "16GiB": 16 << 30, "500MiB": 500 << 20, "1.5KiB": 1536, "2TB": 2e12, "3 GB": 3e9, "7KB": 7000, "1MB": 1e6, "9B": 9, "1TiB": 1 << 40,
	} {
		if got, err := parseBytes(text); err != nil || got != want {
			t.Errorf("%s: want %d, got %d, %v", text, want, got, err)
		}
	}
	for _, text := range []string{"", "16", "GiB", "-1GiB", "0B", "1e30GiB", "NaNGiB", "16 gib", "some"} {
		if _, err := parseBytes(text); !errors.Is(err, plugins.ErrOption) {
			t.Errorf("%q: want ErrOption, got %v", text, err)
		}
	}
}

func TestOptionsBecomeAConfiguration(t *testing.T) {
	c, err := configure(map[string]string{"topdown": "dynamic", "bottomup": "csr", "aligned": "40", "levels": "stepped", "memory": "16GiB", "device": "2"})
	if err != nil {
		t.Fatal(err)
	}
	if !c.dynamic || c.aligned != 0 || !c.stepped || c.memory != 16<<30 || c.device != 2 {
		t.Errorf("got %+v", c)
	}
	c, err = configure(nil)
	if err != nil || c.dynamic || c.aligned != 100 || c.stepped || c.memory != 0 {
		t.Errorf("defaults: got %+v, %v", c, err)
	}
	if _, err := configure(map[string]string{"memory": "much"}); !errors.Is(err, plugins.ErrOption) || !strings.Contains(err.Error(), "16GiB") {
		t.Errorf("want an error that shows a size, got %v", err)
	}
}

func TestHubsKeepToTheirBounds(t *testing.T) {
	for _, test := range []struct{ set, vertices, want int64 }{
		{0, 0, 0}, {0, 10, 10}, {0, 1000, 64}, {0, 64 * 320, 320}, {0, 1 << 40, 1 << 18}, {5, 3, 3}, {5, 100, 5},
	} {
		if got := (configuration{hubs: int(test.set)}).wantHubs(test.vertices); got != test.want {
			t.Errorf("%d hubs wanted of %d vertices: want %d, got %d", test.set, test.vertices, test.want, got)
		}
	}
}

func TestArgumentsArePackedEightBytesEach(t *testing.T) {
	var a arguments
	for _, values := range [][]uint64{{1, 2, 3}, {}, {math.MaxUint64, 0, 7, 9}} {
		pointers := a.pack(values...)
		if len(pointers) != len(values) {
			t.Fatalf("%d pointers for %d arguments", len(pointers), len(values))
		}
		for i, p := range pointers {
			if *(*uint64)(p) != values[i] || p != unsafe.Pointer(&a.values[i]) {
				t.Errorf("argument %d: want %d, got %d", i, values[i], *(*uint64)(p))
			}
		}
	}
	if x := floats(30, -0.5); math.Float32frombits(uint32(x)) != 30 || math.Float32frombits(uint32(x>>32)) != -0.5 {
		t.Errorf("floats: got %x", x)
	}
}

func TestTheAbsentEngineSaysWhy(t *testing.T) {
	e := &absent{why: "no driver"}
	d, err := e.Describe(t.Context())
	if err != nil || d.Unavailable != "no driver" || len(d.Options) == 0 {
		t.Errorf("describe: %+v, %v", d, err)
	}
	if _, err := e.Construct(t.Context(), plugins.Graph{}); !errors.Is(err, plugins.ErrUnavailable) || !strings.Contains(err.Error(), "no driver") {
		t.Errorf("construct: %v", err)
	}
	if _, err := e.Construct(t.Context(), plugins.Graph{Options: map[string]string{"topdown": "up"}}); !errors.Is(err, plugins.ErrOption) {
		t.Errorf("construct with a bad option: %v", err)
	}
}

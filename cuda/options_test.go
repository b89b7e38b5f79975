package cuda

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
)

func TestParseBytes(t *testing.T) {
	for text, want := range map[string]int64{
		"all": 0, "16GiB": 16 << 30, "500MiB": 500 << 20, "1.5KiB": 1536, "2TB": 2e12, "3 GB": 3e9, "7KB": 7000, "1MB": 1e6,
		"9B": 9, "1TiB": 1 << 40,
	} {
		if got, err := parseBytes(text); err != nil || got != want {
			t.Errorf("%s: got %d, %v, want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "16", "GiB", "-1GiB", "0B", "1e30GiB", "NaNGiB", "16 gib", "some"} {
		if _, err := parseBytes(text); !errors.Is(err, plugins.ErrOption) {
			t.Errorf("%q: got %v, want ErrOption", text, err)
		}
	}
}

func TestConfigure(t *testing.T) {
	rule := graph.Switch{Alpha: 30, Beta: 16384}
	for name, test := range map[string]struct {
		set  map[string]string
		want configuration
	}{
		"defaults": {nil, configuration{aligned: 100, rule: rule, lists: "auto"}},
		"all": {map[string]string{
			"topdown": "dynamic", "bottomup": "csr", "aligned": "40", "levels": "stepped", "memory": "16GiB", "device": "2",
			"hubs": "7", "lists": "host", "alpha": "1", "beta": "2",
		}, configuration{
			device: 2, dynamic: true, stepped: true, rule: graph.Switch{Alpha: 1, Beta: 2}, hubs: 7, memory: 16 << 30,
			lists: "host",
		}},
	} {
		set, err := plugins.Resolve(options(), test.set)
		if err != nil {
			t.Fatal(err)
		}
		got, err := configure(set)
		if diff := cmp.Diff(test.want, got, cmp.AllowUnexported(configuration{})); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
		}
	}
	set, err := plugins.Resolve(options(), map[string]string{"memory": "much"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := configure(set); !errors.Is(err, plugins.ErrOption) || !strings.Contains(err.Error(), "16GiB") {
		t.Errorf("got %v, want an error with an example of a size", err)
	}
}

func TestHubCountStaysInBounds(t *testing.T) {
	for _, test := range []struct{ set, vertices, want int64 }{
		{0, 0, 0}, {0, 10, 10}, {0, 1000, 64}, {0, 64 * 320, 320}, {0, 1 << 40, 1 << 18}, {5, 3, 3}, {5, 100, 5},
	} {
		if got := (configuration{hubs: int(test.set)}).hubCount(test.vertices); got != test.want {
			t.Errorf("hubs=%d, %d vertices: got %d, want %d", test.set, test.vertices, got, test.want)
		}
	}
}

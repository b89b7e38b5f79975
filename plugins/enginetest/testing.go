package enginetest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// Test runs every case as a subtest, once for each set of options (once without any when there is none):
//
//	func TestConformance(t *testing.T) {
//		open := func(context.Context) (plugins.Engine, error) { return cpu.New(), nil }
//		enginetest.Test(t, open, nil, map[string]string{"threads": "3"})
//	}
//
// A case that the engine is unavailable for is a skipped subtest. With -short the cases that take longest are left
// out: the deep paths and the larger Kronecker graphs.
func Test(t *testing.T, open Opener, options ...map[string]string) {
	t.Helper()
	if len(options) <= 1 {
		var set map[string]string
		if len(options) == 1 {
			set = options[0]
		}
		testCases(t, open, set)
		return
	}
	for _, set := range options {
		t.Run(label(set), func(t *testing.T) { testCases(t, open, set) })
	}
}

func testCases(t *testing.T, open Opener, options map[string]string) {
	for _, c := range Cases() {
		t.Run(c.Name, func(t *testing.T) {
			if testing.Short() && c.long {
				t.Skip("takes long; left out with -short")
			}
			switch o := c.Run(t.Context(), open, options); {
			case o.Skipped != "":
				t.Skip(o.Skipped)
			case o.Err != nil:
				t.Errorf("%v\nThe case: %s", o.Err, c.About)
			}
		})
	}
}

// label is a set of options as the name of a subtest.
func label(options map[string]string) string {
	if len(options) == 0 {
		return "defaults"
	}
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(options)) {
		parts = append(parts, fmt.Sprintf("%s=%s", name, options[name]))
	}
	return strings.Join(parts, ",")
}

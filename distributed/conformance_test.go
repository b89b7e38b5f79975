package distributed_test

import (
	"context"
	"flag"
	"testing"

	"github.com/tepsbench/teps/distributed"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/plugins/enginetest"
)

var flagProduct = flag.Bool("distributed.product", false,
	"run the conformance suite over every grid of 1 to 16 ranks and every option (half an hour)")

// By default the conformance suite runs with a few sets of options that include every value of every option; with
// -distributed.product, over every partition of 1 to 16 ranks with every form of messages.
func TestConformance(t *testing.T) {
	sets := []map[string]string{
		{"ranks": "4", "partition": "2d", "rows": "2"},
		{"ranks": "3", "partition": "1d-dest", "threads": "2", "messages": "lists"},
		{"ranks": "6", "partition": "2d", "rows": "2", "owner": "modulo", "messages": "lists",
			"direction": "auto", "alpha": "0"},
		{"ranks": "6", "partition": "2d", "rows": "2", "fold": "prefix"},
		{"ranks": "4", "partition": "2d", "fold": "prefix", "messages": "lists", "direction": "topdown"},
		{"ranks": "3", "partition": "1d-source", "owner": "modulo", "threads": "2", "messages": "bitmaps",
			"direction": "auto", "beta": "1e9"},
	}
	if *flagProduct {
		sets = combinations()
	} else if testing.Short() {
		sets = sets[:1]
	}
	if !testing.Short() {
		sets = append(sets, nil) // the defaults, and each option alone
	}
	enginetest.Test(t, func(context.Context) (plugins.Engine, error) { return distributed.New(), nil }, sets...)
}

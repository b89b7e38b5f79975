package cpu

import (
	"context"
	"flag"
	"testing"

	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/plugins/enginetest"
)

var flagProduct = flag.Bool("cpu.product", false, "run the conformance suite over every combination of options (minutes)")

// By default the conformance suite runs over a few sets in which every value of every option occurs; with -cpu.product
// over all of combinations.
func TestConformance(t *testing.T) {
	open := func(context.Context) (plugins.Engine, error) { return New(), nil }
	sets := []map[string]string{
		nil,
		{optionThreads: "3", optionAdjacency: "packed", optionParents: "32", optionAlpha: "0", optionSequential: "0", optionHubs: "2"},
		{optionThreads: "1", optionAlpha: "1e9", optionBeta: "1e9", optionHubs: "3"},
	}
	if *flagProduct {
		sets = combinations()
	} else if testing.Short() {
		sets = sets[:1]
	}
	enginetest.Test(t, open, sets...)
}

package distributed

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/plugins/enginetest"
)

var flagProduct = flag.Bool("distributed.product", false, "run the conformance suite over every grid of 1 to 16 ranks and every option (an hour)")

// fixed is an engine with some options set and no longer offered: the suite tries every option by itself, and a grid
// stands and falls with its number of ranks.
type fixed struct {
	plugins.Engine
	options map[string]string
}

func (f *fixed) Describe(ctx context.Context) (plugins.Description, error) {
	d, err := f.Engine.Describe(ctx)
	d.Options = slices.DeleteFunc(d.Options, func(o plugins.Option) bool { return f.options[o.Name] != "" })
	return d, err
}

func (f *fixed) Construct(ctx context.Context, g plugins.Graph) (plugins.Construction, error) {
	all := maps.Clone(f.options)
	maps.Copy(all, g.Options)
	g.Options = all
	return f.Engine.Construct(ctx, g)
}

func (f *fixed) Repeat(ctx context.Context, roots []graph.Vertex, duration time.Duration) (int64, error) {
	return f.Engine.(plugins.Repeater).Repeat(ctx, roots, duration)
}

// By default the conformance suite runs over a few cuts in which every value of every option occurs; with
// -distributed.product over every cut of 1 to 16 ranks with every form of messages and both kinds of predecessors.
func TestConformance(t *testing.T) {
	sets := []map[string]string{
		{optionRanks: "4", optionRows: "2"},
		{optionRanks: "3", optionPartition: "1d", optionOwner: "modulo", optionPredecessors: "early", optionBeta: "0"},
		{optionRanks: "6", optionRows: "2", optionOwner: "modulo", optionMessages: "lists", optionAlpha: "0"},
		{optionRanks: "5", optionPartition: "1d", optionMessages: "bitmaps", optionBeta: "1e9"},
	}
	if *flagProduct {
		sets = combinations()
	} else if testing.Short() {
		sets = sets[:2]
	}
	for _, set := range sets {
		t.Run(fmt.Sprint(set), func(t *testing.T) {
			enginetest.Test(t, func(context.Context) (plugins.Engine, error) { return &fixed{New(), set}, nil })
		})
	}
	// What a user has without any option, and every option by itself.
	t.Run("defaults", func(t *testing.T) {
		enginetest.Test(t, func(context.Context) (plugins.Engine, error) { return New(), nil })
	})
}

package distributed_test

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/tepsbench/teps/distributed"
	"github.com/tepsbench/teps/graph"
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
		{"ranks": "3", "partition": "1d", "owner": "modulo", "beta": "0"},
		{"ranks": "6", "partition": "2d", "rows": "2", "owner": "modulo", "messages": "lists", "alpha": "0"},
		{"ranks": "5", "partition": "1d", "messages": "bitmaps", "beta": "1e9"},
	}
	if *flagProduct {
		sets = combinations()
	} else if testing.Short() {
		sets = sets[:1]
	}
	for _, set := range sets {
		t.Run(fmt.Sprint(set), func(t *testing.T) {
			enginetest.Test(t, func(context.Context) (plugins.Engine, error) { return withOptions(distributed.New(), set), nil })
		})
	}
	if testing.Short() {
		return
	}
	// Without options, and with each option alone.
	t.Run("defaults", func(t *testing.T) {
		enginetest.Test(t, func(context.Context) (plugins.Engine, error) { return distributed.New(), nil })
	})
}

// withOptions returns the engine with some options set, which it no longer offers. The conformance suite tries all
// options one at a time, but the rows of a grid depend on the number of ranks.
func withOptions(engine plugins.Engine, options map[string]string) plugins.Engine {
	return &configured{engine, options}
}

type configured struct {
	plugins.Engine
	options map[string]string
}

func (e *configured) Describe(ctx context.Context) (plugins.Description, error) {
	d, err := e.Engine.Describe(ctx)
	d.Options = slices.DeleteFunc(d.Options, func(o plugins.Option) bool { return e.options[o.Name] != "" })
	return d, err
}

func (e *configured) Construct(ctx context.Context, in plugins.Input) (plugins.Construction, error) {
	all := maps.Clone(e.options)
	maps.Copy(all, in.Options)
	in.Options = all
	return e.Engine.Construct(ctx, in)
}

func (e *configured) Repeat(ctx context.Context, roots []graph.Vertex, duration time.Duration) (int64, error) {
	return e.Engine.(plugins.Repeater).Repeat(ctx, roots, duration)
}

package enginetest

import (
	"context"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"slices"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
)

// describing are the cases about what an engine says of itself. They run on an unavailable engine too.
func describing() []Case {
	return []Case{
		{Name: "describe/words", About: "Name, version, summary, devices and memory are filled in and well formed.",
			check: words, anywhere: true},
		{Name: "describe/options", About: "Every option is well formed, and its default passes its own check.",
			check: optionsFormed, anywhere: true},
		{Name: "describe/stable", About: "Describe says the same each time, before and after Construct.",
			check: stable, anywhere: true},
		{Name: "describe/unavailable", About: "An engine that says it is unavailable refuses Construct with ErrUnavailable.",
			check: unavailable, anywhere: true},
	}
}

// word is a name that needs no quoting on a command line and cannot be taken for a path.
func word(name string) bool { return regexp.MustCompile(`^[a-z][a-z0-9_-]*$`).MatchString(name) }

func words(_ context.Context, s *subject) error {
	d := s.description
	switch {
	case !word(d.Name):
		return fmt.Errorf("want Description.Name to be one lower-case word, got %q", d.Name)
	case d.Version == "":
		return fmt.Errorf("want Description.Version to be filled in, got nothing")
	case d.Summary == "":
		return fmt.Errorf("want Description.Summary to be a sentence, got nothing")
	}
	for i, device := range d.Devices {
		if device.Kind == "" || device.Name == "" || device.Units < 0 || device.MemoryBytes < 0 {
			return fmt.Errorf("want a kind and a name and no negative number for each device, got %+v for device %d", device, i)
		}
		if err := namedFacts(device.Details); err != nil {
			return fmt.Errorf("device %d: %w", i, err)
		}
	}
	for what, x := range map[string]float64{"Fixed": float64(d.Memory.Fixed), "PerVertex": d.Memory.PerVertex, "PerTuple": d.Memory.PerTuple} {
		if x < 0 || math.IsNaN(x) || math.IsInf(x, 0) {
			return fmt.Errorf("want Memory.%s to be a number of bytes, got %g", what, x)
		}
	}
	if d.Memory == (plugins.Memory{}) {
		return fmt.Errorf("want Memory to be an upper bound, got nothing: no engine searches without memory")
	}
	return nil
}

func optionsFormed(_ context.Context, s *subject) error {
	var names []string
	for _, o := range s.description.Options {
		number := o.Kind == plugins.Int || o.Kind == plugins.Float
		var fault string
		switch {
		case !word(o.Name):
			fault = "a name of one lower-case word"
		case slices.Contains(names, o.Name):
			fault = "a name of its own"
		case !slices.Contains([]plugins.Kind{plugins.Int, plugins.Float, plugins.Bool, plugins.Choice, plugins.Text}, o.Kind):
			fault = "a known kind"
		case o.Meaning == "":
			fault = "a meaning"
		case (o.Min != nil || o.Max != nil) && !number:
			fault = "bounds for numbers only"
		case o.Min != nil && o.Max != nil && *o.Min > *o.Max:
			fault = "Min at most Max"
		case (len(o.Choices) > 0) != (o.Kind == plugins.Choice):
			fault = "choices for the kind choice, and only there"
		case len(slices.Compact(slices.Sorted(slices.Values(o.Choices)))) != len(o.Choices):
			fault = "each choice once"
		}
		if fault != "" {
			return fmt.Errorf("option %q: want %s, got %+v", o.Name, fault, o)
		}
		if err := o.Check(o.Default); err != nil {
			return fmt.Errorf("option %q: want a default that passes its own check: %w", o.Name, err)
		}
		names = append(names, o.Name)
	}
	return nil
}

func stable(ctx context.Context, s *subject) error {
	compare := func(when string) error {
		d, err := s.engine.Describe(ctx)
		if err != nil {
			return fmt.Errorf("Describe %s: %w", when, err)
		}
		// Devices may report clocks and free memory, so they may differ.
		was, is := s.description, d
		was.Devices, is.Devices = nil, nil
		if !reflect.DeepEqual(was, is) {
			return fmt.Errorf("want the same description %s, got\n  first %+v\n  now   %+v", when, was, is)
		}
		return nil
	}
	if err := compare("again"); err != nil {
		return err
	}
	if s.description.Unavailable != "" {
		return nil
	}
	l, err := s.load(ctx, path(30))
	if err != nil {
		return err
	}
	if err := compare("after Construct"); err != nil {
		return err
	}
	if err := l.searchAll(ctx, []graph.Vertex{0, 29}); err != nil {
		return err
	}
	return compare("after searches")
}

func unavailable(ctx context.Context, s *subject) error {
	if s.description.Unavailable == "" {
		return nil
	}
	given, err := s.tuples(path(4).tuples)
	if err != nil {
		return err
	}
	_, err = s.engine.Construct(ctx, plugins.Graph{Tuples: given, Options: s.options})
	return wantError("Construct, unavailable because "+s.description.Unavailable, err, plugins.ErrUnavailable)
}

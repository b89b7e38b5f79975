package enginetest

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
)

// choosing are the cases about options: what is described works, and nothing else is taken.
func choosing() []Case {
	return []Case{
		{Name: "options/defaults", About: "Every option takes its default when it is set explicitly.", check: defaults},
		{Name: "options/values", About: "Every choice, both truths and the small bounds of numbers give right results.", check: values},
		{Name: "options/bad-value", About: "A value outside of an option's bounds is refused with ErrOption.", check: badValue},
		{Name: "options/unknown", About: "An unknown option is refused with ErrOption.", check: unknownOption},
		{Name: "options/no-graph-after-error", About: "After a refused Construct there is no graph, not the former one.",
			check: noGraphAfterError},
	}
}

// tried is the graph on which options are tried: large enough for both directions and for several components.
func tried(ctx context.Context) (input, error) { return kronecker(ctx, 9, 16, 2, 3) }

func (s *subject) try(ctx context.Context, in input, options map[string]string) error {
	l, err := s.loadWith(ctx, in, options)
	if err != nil {
		return err
	}
	if err := l.searchAll(ctx, in.sample()); err != nil {
		return fmt.Errorf("%s: %w", label(options), err)
	}
	return nil
}

func defaults(ctx context.Context, s *subject) error {
	in, err := tried(ctx)
	if err != nil {
		return err
	}
	all := map[string]string{}
	for _, o := range s.description.Options {
		all[o.Name] = o.Default
		if err := s.try(ctx, in, s.with(o.Name, o.Default)); err != nil {
			return err
		}
	}
	return s.try(ctx, in, all)
}

// rude is the largest bound of a number that is tried: a bound of 4096 threads or ranks is a promise that is not worth
// breaking a small machine for.
const rude = 64

func values(ctx context.Context, s *subject) error {
	in, err := tried(ctx)
	if err != nil {
		return err
	}
	for _, o := range s.description.Options {
		var list []string
		switch o.Kind {
		case plugins.Choice:
			list = o.Choices
		case plugins.Bool:
			list = []string{"true", "false"}
		case plugins.Int, plugins.Float:
			for _, bound := range []*float64{o.Min, o.Max} {
				if bound != nil && *bound <= rude {
					list = append(list, strconv.FormatFloat(*bound, 'f', -1, 64))
				}
			}
		}
		for _, value := range list {
			err := s.try(ctx, in, s.with(o.Name, value))
			if errors.Is(err, plugins.ErrUnavailable) {
				continue // a choice may need what is missing here; saying so is right
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// refusals are values that o must not take.
func refusals(o plugins.Option) []string {
	var list []string
	switch o.Kind {
	case plugins.Int:
		list = []string{"", "many", "1.5", "0x", "99999999999999999999"}
	case plugins.Float:
		list = []string{"", "many", "NaN", "Inf", "1e999"}
	case plugins.Bool:
		list = []string{"", "maybe", "2"}
	case plugins.Choice:
		list = []string{"", "no-such-choice"}
	}
	if o.Min != nil {
		list = append(list, strconv.FormatFloat(*o.Min-1, 'f', -1, 64))
	}
	if o.Max != nil {
		list = append(list, strconv.FormatFloat(*o.Max+1, 'f', -1, 64))
	}
	return list
}

func badValue(ctx context.Context, s *subject) error {
	for _, o := range s.description.Options {
		for _, value := range refusals(o) {
			if o.Check(value) == nil {
				continue // the description itself allows it, such as an empty choice
			}
			if err := s.refuse(ctx, s.with(o.Name, value)); err != nil {
				return err
			}
		}
	}
	return nil
}

func unknownOption(ctx context.Context, s *subject) error {
	return s.refuse(ctx, s.with("no-such-option", "1"))
}

// refuse wants ErrOption of a Construct, and an engine that can be used afterwards.
func (s *subject) refuse(ctx context.Context, options map[string]string) error {
	in := path(20)
	given, err := s.tuples(in.tuples)
	if err != nil {
		return err
	}
	_, err = s.engine.Construct(ctx, plugins.Graph{Tuples: given, Options: options})
	if err := wantError("Construct with "+label(options), err, plugins.ErrOption); err != nil {
		return err
	}
	l, err := s.load(ctx, in)
	if err != nil {
		return fmt.Errorf("after a refused option: %w", err)
	}
	return l.searchAll(ctx, []graph.Vertex{0, 7})
}

func noGraphAfterError(ctx context.Context, s *subject) error {
	l, err := s.load(ctx, path(20))
	if err != nil {
		return err
	}
	_, err = s.engine.Construct(ctx, plugins.Graph{Tuples: l.given, Options: s.with("no-such-option", "1")})
	if err := wantError("Construct with no-such-option=1", err, plugins.ErrOption); err != nil {
		return err
	}
	_, err = s.engine.Search(ctx, 0, l.parent)
	return wantError("Search after a refused Construct", err, plugins.ErrNotConstructed)
}

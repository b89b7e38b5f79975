// SPDX-License-Identifier: Apache-2.0

package enginetest

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"

	"github.com/tepsbench/teps/plugins"
)

func (s *subject) checkFacts(where string, facts []plugins.Fact) {
	if i := slices.IndexFunc(facts, func(f plugins.Fact) bool { return f.Name == "" }); i >= 0 {
		s.fail("%s: want a name for each detail, got none for %q", where, facts[i].Value)
	}
}

func wellDescribed(s *subject) {
	d := s.description
	s.must(d.Check(), "Description")
	if d.Version == "" || d.Summary == "" {
		s.fail("want Description.Version and Description.Summary, got %q and %q", d.Version, d.Summary)
	}
	for i, device := range d.Devices {
		if device.Kind == "" || device.Name == "" {
			s.fail("device %d: want a kind and a name, got %s", i, shown(device))
		}
		s.checkFacts("devices", device.Details)
	}
	if d.Memory == (plugins.Memory{}) {
		s.fail("want Memory to be an upper bound, got nothing: no engine searches without memory")
	}
	if d.Unavailable != "" {
		err := s.construct(s.ctx, s.tuples(path(4).tuples))
		s.wantError("Construct, unavailable because "+d.Unavailable, err, plugins.ErrUnavailable)
	}
}

func wellFormedOptions(s *subject) {
	s.must(s.description.Check(), "Description")
	var names []string
	for _, o := range s.description.Options {
		isNumber := o.Kind == plugins.Int || o.Kind == plugins.Float
		for _, rule := range []struct {
			ok   bool
			want string
		}{
			{!slices.Contains(names, o.Name), "a unique name"},
			{o.Meaning != "", "a meaning"},
			{isNumber || o.Min == nil && o.Max == nil, "bounds for numbers only"},
			{(len(o.Choices) > 0) == (o.Kind == plugins.Choice), "choices for the kind choice, and only there"},
			{len(slices.Compact(slices.Sorted(slices.Values(o.Choices)))) == len(o.Choices), "each choice once"},
		} {
			if !rule.ok {
				s.fail("option %q: want %s, got %s", o.Name, rule.want, shown(o))
			}
		}
		s.must(o.Check(o.Default), "option %q: want a default that passes its own check", o.Name)
		names = append(names, o.Name)
	}
}

// shown returns a value with the values of its pointers, for messages.
func shown(x any) string {
	text, _ := json.Marshal(x) // the caller has checked the numbers
	return string(text)
}

func sameDescription(s *subject) {
	compare := func(when string) {
		d, err := s.engine.Describe(s.ctx)
		s.must(err, "Describe %s", when)
		was, is := reflect.ValueOf(s.description), reflect.ValueOf(d)
		for i, field := range reflect.VisibleFields(was.Type()) {
			first, now := was.Field(i).Interface(), is.Field(i).Interface()
			if field.Name != "Devices" && !reflect.DeepEqual(first, now) { // they may report clocks and free memory
				s.fail("want the same description %s, but %s was %s and is %s", when, field.Name, shown(first), shown(now))
			}
		}
	}
	compare("again")
	if s.description.Unavailable != "" {
		return
	}
	l := s.load(path(30))
	compare("after Construct")
	l.searchAll(0, 29)
	compare("after searches")
}

func values(s *subject) {
	const maxBound = 64 // 4,096 threads or ranks would be too much for a small machine
	defaults, tried := map[string]string{}, map[string]bool{}
	in := s.kronecker(9, 16, 2, 3) // large enough for both directions and several components
	try := func(options map[string]string) {
		l := s.loadWith(in, nil, options)
		s.must(attempt(func() { l.searchAll(in.sample()...) }), "%s", label(options))
	}
	for _, o := range s.description.Options {
		defaults[o.Name] = o.Default
		list := []string{o.Default}
		switch o.Kind {
		case plugins.Choice:
			list = append(list, o.Choices...)
		case plugins.Bool:
			list = append(list, "true", "false")
		case plugins.Int, plugins.Float:
			for _, bound := range []*float64{o.Min, o.Max} {
				if bound != nil && *bound <= maxBound {
					list = append(list, number(*bound))
				}
			}
		}
		for _, value := range list {
			set := s.with(o.Name, value)
			settings, err := plugins.Resolve(s.description.Options, set)
			if err != nil || tried[fmt.Sprint(settings)] {
				continue // it does not fit the other options of the set (Needs, Divides), or says the same as another one
			}
			tried[fmt.Sprint(settings)] = true
			err = attempt(func() { try(set) })
			if err != nil && !errors.Is(err, plugins.ErrUnavailable) { // a choice may need a missing device
				panic(failure{err})
			}
		}
	}
	try(defaults)
}

func number(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

func badValues(o plugins.Option) []string {
	list := map[plugins.Kind][]string{
		plugins.Int:    {"", "many", "1.5", "0x", "99999999999999999999"},
		plugins.Float:  {"", "many", "NaN", "Inf", "1e999"},
		plugins.Bool:   {"", "maybe", "2"},
		plugins.Choice: {"", "no-such-choice"},
	}[o.Kind]
	if o.Min != nil {
		list = append(list, number(*o.Min-1))
	}
	if o.Max != nil {
		list = append(list, number(*o.Max+1))
	}
	return list
}

func refusedOptions(s *subject) {
	l := s.load(path(20))
	refuses := func(options map[string]string) {
		_, err := s.engine.Construct(s.ctx, plugins.Input{Tuples: s.tuples(l.input.tuples), Options: options})
		s.wantError("Construct with "+label(options), err, plugins.ErrOption)
		s.when = "after a refused option"
	}
	refuses(s.with("no-such-option", "1"))
	s.refusesSearch("Search", 0, l.parent, plugins.ErrNotConstructed)
	for _, o := range s.description.Options {
		for _, value := range badValues(o) {
			if o.Check(value) != nil { // the description may allow it, such as an empty choice
				refuses(s.with(o.Name, value))
			}
		}
	}
	s.load(path(20)).searchAll(0, 7) // once, because kernel 1 may have to start processes
}

// SPDX-License-Identifier: Apache-2.0

package plugins

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tepsbench/teps/graph"
)

// Kind is the type of an option's value.
type Kind string

const (
	Int    Kind = "int"
	Float  Kind = "float"
	Bool   Kind = "bool"
	Choice Kind = "choice" // one of Option.Choices
	Text   Kind = "text"
)

// Option is something that a user can set on an engine.
type Option struct {
	Name    string   `json:"name"`
	Kind    Kind     `json:"kind"`
	Default string   `json:"default"`       // as a user would write it
	Min     *float64 `json:"min,omitempty"` // Int and Float; nil: no bound
	Max     *float64 `json:"max,omitempty"`
	Choices []string `json:"choices,omitempty"`
	Limits  []Limits `json:"limits,omitempty"` // empty, or one for each of Choices; Description.Limits hold, too
	Meaning string   `json:"meaning"`          // one sentence, with its unit

	// A combination of options that does not fit is refused before a graph is generated.
	Divides string `json:"divides,omitempty"` // Int: the name of an Int option that this one divides, unless it is 0
	// NAME=VALUE or NAME=VALUE|VALUE, or several of these with spaces: with other values of NAME, this option keeps its
	// default.
	Needs string `json:"needs,omitempty"`
}

// Bound makes a bound for Option.Min and Option.Max.
func Bound(x float64) *float64 { return &x }

// OptionError returns an error that wraps ErrOption without its text: the error already names the option.
func OptionError(format string, arguments ...any) error {
	return optionError(fmt.Sprintf(format, arguments...))
}

type optionError string

func (e optionError) Error() string { return string(e) }
func (e optionError) Unwrap() error { return ErrOption }

// Check returns an error if value is not a value of o. The error wraps ErrOption and says what o takes.
func (o Option) Check(value string) error {
	var err error
	x := 0.0
	switch o.Kind {
	case Int:
		var n int64
		n, err = strconv.ParseInt(value, 10, 64)
		x = float64(n)
	case Float:
		x, err = strconv.ParseFloat(value, 64)
	case Bool:
		_, err = strconv.ParseBool(value)
	case Choice, Text:
	default:
		return OptionError("option %s has the unknown kind %q", o.Name, o.Kind)
	}
	if err != nil || math.IsNaN(x) || math.IsInf(x, 0) || o.Min != nil && x < *o.Min || o.Max != nil && x > *o.Max ||
		o.Kind == Choice && !slices.Contains(o.Choices, value) {
		return OptionError("option %s=%q: want %s", o.Name, value, o.Takes())
	}
	return nil
}

// Takes describes the values of o: a whole number from 1 to 8.
func (o Option) Takes() string {
	want := "a number"
	switch o.Kind {
	case Int:
		want = "a whole number"
	case Bool:
		return "true or false"
	case Choice:
		return "one of " + strings.Join(o.Choices, ", ")
	case Text:
		return "any text"
	}
	bound := func(x *float64) string { return strconv.FormatFloat(*x, 'f', -1, 64) }
	switch {
	case o.Min != nil && o.Max != nil:
		want += " from " + bound(o.Min) + " to " + bound(o.Max)
	case o.Min != nil:
		want += " of at least " + bound(o.Min)
	case o.Max != nil:
		want += " of at most " + bound(o.Max)
	}
	return want
}

// Settings are the values of all options of an engine: what was set, and defaults for the rest.
type Settings struct{ values map[string]string }

// UnknownOption is the error for an option that an engine does not have. It wraps ErrOption.
type UnknownOption struct {
	Name  string
	Known []string // names of the engine's options
}

func (e *UnknownOption) Error() string {
	return fmt.Sprintf("unknown option %s; this engine takes: %s", e.Name, cmp.Or(strings.Join(e.Known, ", "), "none"))
}

func (e *UnknownOption) Unwrap() error { return ErrOption }

// Resolve checks set against options. Errors wrap ErrOption and name every option that exists.
func Resolve(options []Option, set map[string]string) (Settings, error) {
	s := Settings{values: make(map[string]string, len(options))}
	names := make([]string, 0, len(options))
	for _, o := range options {
		names = append(names, o.Name)
		s.values[o.Name] = o.Default
		if value, ok := set[o.Name]; ok {
			if err := o.Check(value); err != nil {
				return Settings{}, err
			}
			s.values[o.Name] = value
		}
	}
	for name := range set {
		if _, known := s.values[name]; !known {
			return Settings{}, &UnknownOption{name, names}
		}
	}
	for _, o := range options {
		if err := s.checkCombination(o, options); err != nil {
			return Settings{}, err
		}
	}
	return s, nil
}

// checkCombination checks the value of o against those of the other options.
func (s Settings) checkCombination(o Option, options []Option) error {
	value := s.values[o.Name]
	if value != o.Default {
		for needs, i := strings.Fields(o.Needs), 0; i < len(needs) && i < len(options); i++ { // options may need each other
			other, want, _ := strings.Cut(needs[i], "=")
			if !slices.Contains(strings.Split(want, "|"), s.values[other]) {
				return OptionError("option %s=%s needs %s, but %s is %s", o.Name, value, needs[i], other, s.values[other])
			}
			if i := slices.IndexFunc(options, func(o Option) bool { return o.Name == other }); i >= 0 {
				needs = append(needs, strings.Fields(options[i].Needs)...)
			}
		}
	}
	if n := s.Int(o.Name); o.Divides != "" && n != 0 && s.Int(o.Divides)%n != 0 {
		return OptionError("option %s=%s does not divide %s=%s", o.Name, value, o.Divides, s.values[o.Divides])
	}
	return nil
}

// All returns name and value of every option, for the record.
func (s Settings) All() map[string]string { return s.values }

// Int returns an option of Kind Int, which Resolve has checked.
func (s Settings) Int(name string) int {
	n, _ := strconv.ParseInt(s.values[name], 10, 64)
	return int(n)
}

// Float returns an option of Kind Float.
func (s Settings) Float(name string) float64 {
	x, _ := strconv.ParseFloat(s.values[name], 64)
	return x
}

// Bool returns an option of Kind Bool.
func (s Settings) Bool(name string) bool {
	b, _ := strconv.ParseBool(s.values[name])
	return b
}

// Limits returns what an engine accepts with these settings: the least of its limits and those of the choices.
func (s Settings) Limits(d Description) Limits {
	smaller := func(a, b int64) int64 { return cmp.Or(min(a, b), max(a, b)) } // 0 means no limit
	all := d.Limits
	for _, o := range d.Options {
		if i := slices.Index(o.Choices, s.Text(o.Name)); i >= 0 && i < len(o.Limits) {
			all = Limits{smaller(all.Vertices, o.Limits[i].Vertices), smaller(all.Tuples, o.Limits[i].Tuples)}
		}
	}
	return all
}

// Text returns an option of Kind Text or Choice.
func (s Settings) Text(name string) string { return s.values[name] }

// SwitchOptions returns the options of a graph.Switch, the same in every engine, with an engine's default thresholds.
func SwitchOptions(alpha, beta string) []Option {
	const automatic = "direction=auto"
	return []Option{
		{Name: "direction", Kind: Choice, Default: "auto", Choices: []string{"auto", "topdown", "bottomup"},
			Meaning: "steps that a search takes: auto chooses by alpha and beta; the others never switch, from level 0 on"},
		{Name: "alpha", Kind: Float, Default: alpha, Min: Bound(0), Max: Bound(1e9), Needs: automatic,
			Meaning: "switch to bottom-up when a growing frontier has more than 1/alpha of the unexplored edges; 0 is never"},
		{Name: "beta", Kind: Float, Default: beta, Min: Bound(0), Max: Bound(1e9), Needs: automatic,
			Meaning: "switch back to top-down when a shrinking frontier has less than 1/beta of the vertices; 0 is at once"},
	}
}

// Switch returns the rule that the options of SwitchOptions describe.
func (s Settings) Switch() graph.Switch {
	rule := graph.Switch{Alpha: s.Float("alpha"), Beta: s.Float("beta")}
	switch s.Text("direction") {
	case "topdown":
		rule.Steps = graph.OnlyTopDown
	case "bottomup":
		rule.Steps = graph.OnlyBottomUp
	}
	return rule
}

package plugins

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
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
	Meaning string   `json:"meaning"` // one sentence, with its unit
}

// Bound makes a bound for Option.Min and Option.Max.
func Bound(x float64) *float64 { return &x }

// Check says whether value can be given to o; the error wraps ErrOption and names what would do.
func (o Option) Check(value string) error {
	var (
		x   float64
		err error
	)
	switch o.Kind {
	case Int:
		var n int64
		n, err = strconv.ParseInt(value, 10, 64)
		x = float64(n)
	case Float:
		x, err = strconv.ParseFloat(value, 64)
		if err == nil && (math.IsNaN(x) || math.IsInf(x, 0)) {
			err = strconv.ErrRange
		}
	case Bool:
		_, err = strconv.ParseBool(value)
		return o.refuse(value, err != nil, o.Takes())
	case Choice:
		return o.refuse(value, !slices.Contains(o.Choices, value), o.Takes())
	case Text:
		return nil
	default:
		return fmt.Errorf("option %s has the unknown kind %q: %w", o.Name, o.Kind, ErrOption)
	}
	bad := err != nil || o.Min != nil && x < *o.Min || o.Max != nil && x > *o.Max
	return o.refuse(value, bad, o.Takes())
}

func (o Option) refuse(value string, bad bool, want string) error {
	if !bad {
		return nil
	}
	return fmt.Errorf("option %s=%q: want %s: %w", o.Name, value, want, ErrOption)
}

// Takes says in words which values o takes.
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

// Settle checks set against options. Errors wrap ErrOption and name every option that exists.
func Settle(options []Option, set map[string]string) (Settings, error) {
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
			return Settings{}, fmt.Errorf("unknown option %s; this engine takes: %s: %w", name, listed(names), ErrOption)
		}
	}
	return s, nil
}

func listed(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// All returns name and value of every option, for the record.
func (s Settings) All() map[string]string { return s.values }

// Int returns an option of Kind Int. Like its siblings it must name an option of the right kind: the value was
// checked by Settle.
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

// Text returns an option of Kind Text or Choice.
func (s Settings) Text(name string) string { return s.values[name] }

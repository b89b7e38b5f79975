// SPDX-License-Identifier: Apache-2.0

// Package meters finds and opens power meters: the sensors of this machine, board controllers, and programs of the
// user. A source of meters is a file with a function that returns a Source, and a line in Sources.
package meters

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/tepsbench/teps/power"
)

const auto = "auto"

// Sources returns all sources of meters.
func Sources() []Source {
	return []Source{
		raplSource(), nvmlSource(), hwmonSource(), ipmiSource(),
		redfishSource("redfish", "a board; "+redfishUser+" and _PASSWORD log in", false),
		redfishSource("redfish-insecure", "the same, accepting any certificate", true), commandSource(),
	}
}

// Source is a kind of meter.
type Source struct {
	Name    string
	Help    string                   // description of its readings, one line
	Example string                   // of a source that needs a value; empty: it searches this machine
	Scope   power.Scope              // default for a source with a value; empty: the user must state it
	Check   func(value string) error // rejects invalid values before any meter is opened; nil: all are valid
	// Open opens the meters of the source. It may return both meters and an error that says why there are no others;
	// joined reasons (errors.Join) are reported separately.
	Open func(ctx context.Context, r Request) ([]power.Meter, error)
}

// Request is the input of Source.Open.
type Request struct {
	Root  string // directory that holds the machine's sys, proc and dev: "/" unless it is a test
	Scope power.Scope
	Value string
}

func (r Request) files() fs.FS { return os.DirFS(r.Root) }

func (s Source) local() bool { return s.Example == "" }

// Help explains how to ask for meters of the given sources, for the help of commands.
func Help(sources []Source) string {
	var b strings.Builder
	line := func(usage, help string) { fmt.Fprintf(&b, "  %-27s %s\n", usage, help) }
	b.WriteString("A meter is written SOURCE[:SCOPE][=VALUE].\n")
	b.WriteString("These sources search this machine, and SCOPE keeps some of the meters found:\n")
	line(auto, "all of these sources (the default)")
	for _, s := range sources {
		if s.local() {
			line(s.Name, s.Help)
		}
	}
	b.WriteString("These need a VALUE, and SCOPE states what they cover; for example:\n")
	for _, s := range sources {
		if !s.local() {
			line(s.Example, s.Help)
		}
	}
	fmt.Fprintf(&b, "Scopes: %s.\n", scopeNames())
	b.WriteString("SCOPE@2% states the error of a meter as given by its maker:\n  ipmi:node@3%, command:wall@1%=./pdu.sh")
	return b.String()
}

func scopeNames() string {
	var names []string
	for _, s := range power.Scopes() {
		names = append(names, string(s))
	}
	return strings.Join(names, ", ")
}

// Config selects meters. Its zero value selects all meters of this machine.
type Config struct {
	Root    string   // directory that holds the machine's sys, proc and dev; empty: "/"
	Specs   []string // specifications as Help explains them; empty: "auto"
	Sources []Source // empty: Sources()
}

// Find opens meters, and returns an absence for every source without one. The error is that of a wrong specification or
// of ctx; then no meter is left open. The caller closes the meters.
func Find(ctx context.Context, c Config) (meters []power.Meter, absences []power.Absence, err error) {
	if len(c.Sources) == 0 {
		c.Sources = Sources()
	}
	specs, err := parseAll(c.Sources, c.Specs)
	if err != nil {
		return nil, nil, err
	}
	names := map[string]bool{}
	for _, s := range specs {
		found, reasons := s.find(ctx, cmp.Or(c.Root, "/"))
		for _, m := range found {
			info := m.Info()
			if names[info.Name] { // asked for twice
				_ = m.Close()
				continue
			}
			names[info.Name] = true
			meters = append(meters, m)
		}
		if s.asked && len(found) == 0 {
			absences = append(absences, power.Absence{Source: s.text, Reason: reasons[0].Error(), Asked: true})
			continue
		}
		for _, reason := range reasons {
			a := power.Absence{Source: s.Name, Reason: reason.Error()}
			if part := (*power.PartError)(nil); errors.As(reason, &part) && len(found) > 0 {
				// An engine may not run on a GPU without a meter.
				a.Scope, a.Asked = part.Scope, s.asked && part.Scope != power.GPU
			}
			absences = append(absences, a)
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, nil, errors.Join(err, power.Here(meters).Close())
	}
	return meters, absences, nil
}

// Everywhere returns specifications for other hosts, which have other working directories: with absolute paths of
// programs. It returns an error for a wrong one, or one of a board, which is not every host's.
func Everywhere(specs []string) (all []string, err error) {
	if _, err := parseAll(Sources(), specs); err != nil {
		return nil, err
	}
	for _, text := range specs {
		name, value, _ := strings.Cut(text, "=")
		path, arguments, _ := strings.Cut(strings.TrimSpace(value), " ")
		if strings.HasPrefix(strings.TrimSpace(name), "redfish") {
			return nil, fmt.Errorf("power meter %q reads the board of one host: name a program that reads that of the host "+
				"where it runs, such as command:node=./board.sh", name)
		}
		if strings.ContainsRune(path, filepath.Separator) {
			if path, err = filepath.Abs(path); err != nil {
				return nil, err
			}
			text = name + "=" + path + " " + arguments
		}
		all = append(all, strings.TrimSpace(text))
	}
	return all, nil
}

// opened is a meter with the scope and error that the user stated.
type opened struct {
	power.Meter
	info power.Info
}

func (o opened) Info() power.Info { return o.info }

type spec struct {
	Source
	text  string // as the user wrote it
	scope power.Scope
	value string
	error float64 // relative, stated by the user; zero: not stated
	asked bool    // not found by auto
}

// find opens the meters of one specification, and returns the reasons why there are no others.
func (s spec) find(ctx context.Context, root string) (meters []power.Meter, reasons []error) {
	found, err := s.Open(ctx, Request{Root: root, Scope: s.scope, Value: s.value})
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		reasons = joined.Unwrap()
	} else if err != nil {
		reasons = []error{err}
	}
	reasons = slices.DeleteFunc(reasons, func(reason error) bool { // of parts that the user did not ask for
		part := (*power.PartError)(nil)
		return s.local() && s.scope != "" && errors.As(reason, &part) && part.Scope != s.scope
	})
	for _, m := range found {
		info := m.Info()
		if s.local() && s.scope != "" && info.Scope != s.scope {
			_ = m.Close()
			continue
		}
		info.Error, info.ScopeStated, info.Asked = s.error, !s.local(), s.asked
		meters = append(meters, opened{m, info})
	}
	if s.asked && len(meters) == 0 {
		reasons = append(reasons, fmt.Errorf("none of its %d meters has the scope %s", len(found), s.scope))
	}
	return meters, reasons
}

func parseAll(sources []Source, texts []string) (all []spec, err error) {
	if len(texts) == 0 {
		texts = []string{auto}
	}
	for _, text := range texts {
		if text == auto {
			for _, s := range sources {
				if s.local() {
					all = append(all, spec{Source: s, text: s.Name})
				}
			}
			continue
		}
		s, err := parse(sources, text)
		if err != nil {
			name, _, _ := strings.Cut(text, "=") // the value may hold a password
			return nil, fmt.Errorf("power meter %q: %w", name, err)
		}
		all = append(all, s)
	}
	return all, nil
}

// parse parses SOURCE[:SCOPE[@ERROR]][=VALUE].
func parse(sources []Source, text string) (s spec, err error) {
	head, value, _ := strings.Cut(strings.TrimSpace(text), "=")
	head, relative, hasError := strings.Cut(head, "@")
	name, scope, _ := strings.Cut(head, ":")
	names := []string{auto}
	for _, source := range sources {
		names = append(names, source.Name)
	}
	i := slices.Index(names, name)
	if i < 1 {
		return s, fmt.Errorf("unknown source %q; the sources are %s", name, strings.Join(names, ", "))
	}
	s = spec{Source: sources[i-1], text: text, value: strings.TrimSpace(value), asked: true}
	s.scope = cmp.Or(power.Scope(scope), s.Scope)
	switch {
	case s.scope != "" && !slices.Contains(power.Scopes(), s.scope):
		err = fmt.Errorf("unknown scope %q; the scopes are %s", s.scope, scopeNames())
	case s.local() && s.value != "":
		err = errors.New("the source takes no value")
	case !s.local() && s.value == "":
		err = errors.New("the value is missing")
	case !s.local() && s.scope == "":
		err = errors.New("state what the meter covers")
	case s.Check != nil:
		err = s.Check(s.value)
	}
	if err != nil {
		return s, fmt.Errorf("%w; write for example %s", err, cmp.Or(s.Example, s.Name+":package"))
	}
	if hasError {
		number, isPercent := strings.CutSuffix(strings.TrimSpace(relative), "%")
		percent, err := strconv.ParseFloat(number, 64)
		if err != nil || !isPercent || !(percent > 0 && percent < 100) {
			return s, fmt.Errorf("%q is not the error of a meter; write for example @2%%", relative)
		}
		s.error = percent / 100
	}
	return s, nil
}

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
	"github.com/spf13/pflag"

	"github.com/tepsbench/teps/harness"
	"github.com/tepsbench/teps/sweep"
)

// sweepFile is a sweep as its YAML file says it (docs/sweeps.md has the grammar). Values are taken as they are written,
// as in readConfig; what is not understood is refused with its line and a caret.
type sweepFile struct {
	path  string
	lines []string
	sweep sweep.Sweep
	store string
}

// Fields of a sweep file that are not flags of `teps run`.
var sweepFields = [...]string{"store", "engines", "scales", "repeats", "order", "exclude"}

// readSweep reads a sweep file. Its errors are ErrUsage.
func readSweep(path string) (sweepFile, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return sweepFile{}, harness.Usage("%w", err)
	}
	name := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	f := sweepFile{path: path, lines: strings.Split(string(data), "\n"), store: filepath.Join("teps-results", name)}
	file, err := parser.ParseBytes(data, 0)
	if err != nil {
		return f, harness.Usage("%s:\n%s", path, yaml.FormatError(err, false, true))
	}
	if len(file.Docs) != 1 || file.Docs[0].Body == nil {
		return f, harness.Usage("%s: want one document with the fields %s", path, strings.Join(sweepFields[:], ", "))
	}
	return f, f.read(file.Docs[0].Body)
}

func (f *sweepFile) read(body ast.Node) error {
	fields, err := f.mapping(body)
	if err != nil {
		return err
	}
	flags, plan := pflag.NewFlagSet("sweep", pflag.ContinueOnError), planFlags{}
	plan.register(flags)
	f.sweep.Repeats, f.sweep.Order = 1, sweep.Interleaved
	var engines, scales bool
	for _, field := range fields {
		var err error
		switch name := field.Key.GetToken().Value; name {
		case "store":
			f.store, err = f.scalar(field.Value)
		case "engines":
			engines, err = true, f.readEngines(field.Value)
		case "scales":
			scales = true
			plan.Scale, err = f.list(field.Value)
		case "repeats":
			err = f.readRepeats(field.Value)
		case "order":
			var order string
			order, err = f.scalar(field.Value)
			f.sweep.Order = sweep.Order(order)
		case "exclude":
			err = f.readExclude(field.Value)
		default:
			err = f.readSetting(flags, name, field)
		}
		if err != nil {
			return err
		}
	}
	if !engines || !scales {
		return harness.Usage("%s: want at least engines and scales, such as\nengines: [cpu]\nscales: 18", f.path)
	}
	// The engines are the sweep's own; a plan of flags always has one.
	plan.Engine = plan.Engine[:1]
	if f.sweep.Plan, err = plan.plan(); err != nil {
		return harness.Usage("%s: %w", f.path, err)
	}
	f.sweep.Plan.Engines = nil
	if err := f.sweep.Check(); err != nil {
		return harness.Usage("%s: %w", f.path, err)
	}
	return nil
}

// readSetting reads a flag of `teps run` that is about how every run is done.
func (f *sweepFile) readSetting(flags *pflag.FlagSet, name string, field *ast.MappingValueNode) error {
	flag := flags.Lookup(name)
	if flag == nil || slices.Contains([]string{"engine", "scale", "set", "checksum"}, name) {
		known := slices.Clone(sweepFields[:])
		flags.VisitAll(func(flag *pflag.Flag) {
			if !slices.Contains([]string{"engine", "scale", "set", "checksum"}, flag.Name) {
				known = append(known, flag.Name)
			}
		})
		return f.at(field.Key.GetToken(), "unknown field %s; the fields are %s", name, strings.Join(known, ", "))
	}
	values, err := f.scalars(field.Value)
	if err != nil {
		return err
	}
	if err := setFlag(flags, flag, values); err != nil {
		return f.at(field.Value.GetToken(), "%s: %v", name, err)
	}
	return nil
}

func (f *sweepFile) readRepeats(node ast.Node) error {
	text, err := f.scalar(node)
	if err != nil {
		return err
	}
	if f.sweep.Repeats, err = strconv.Atoi(text); err != nil {
		return f.at(node.GetToken(), "repeats wants a number, not %q", text)
	}
	return nil
}

// readEngines reads a list of engines, each as behind --engine, or as a mapping.
func (f *sweepFile) readEngines(node ast.Node) error {
	for _, n := range elements(node) {
		e := sweep.Engine{}
		var err error
		if _, mapping := n.(*ast.MappingNode); mapping {
			e, err = f.readEngine(n)
		} else {
			var text string
			if text, err = f.scalar(n); err == nil {
				e, err = f.parseEngine(n, text)
			}
		}
		if err != nil {
			return err
		}
		f.sweep.Engines = append(f.sweep.Engines, e)
	}
	return nil
}

// parseEngine reads what is written behind --engine. Options behind the name become options of one value.
func (f *sweepFile) parseEngine(node ast.Node, text string) (sweep.Engine, error) {
	spec, err := parseEngine(text)
	if err != nil {
		return sweep.Engine{}, f.at(node.GetToken(), "%v", err)
	}
	named, options, _ := strings.Cut(text, ":")
	e := sweep.Engine{Spec: spec, Labeled: strings.Contains(named, "=")}
	e.Spec.Options = nil
	if options != "" {
		for option := range strings.SplitSeq(options, ":") {
			name, _, _ := strings.Cut(option, "=")
			e.Options = append(e.Options, sweep.Values{Option: name, Values: []string{spec.Options[name]}})
		}
	}
	return e, nil
}

func (f *sweepFile) readEngine(node ast.Node) (e sweep.Engine, err error) {
	fields, err := f.mapping(node)
	if err != nil {
		return e, err
	}
	label, checksum := "", ""
	var set []sweep.Values
	for _, field := range fields {
		switch name := field.Key.GetToken().Value; name {
		case "name":
			var text string
			if text, err = f.scalar(field.Value); err == nil {
				e, err = f.parseEngine(field.Value, text)
			}
		case "label":
			if label, err = f.scalar(field.Value); err == nil && (label == "" || strings.Trim(label, labelLetters) != "") {
				err = f.at(field.Value.GetToken(), "a label is made of letters, digits, - and _")
			}
		case "checksum":
			checksum, err = f.scalar(field.Value)
		case "set":
			set, err = f.readSet(field.Value)
		default:
			err = f.at(field.Key.GetToken(), "unknown field %s of an engine; the fields are name, label, set, checksum", name)
		}
		if err != nil {
			return e, err
		}
	}
	if e.Spec.Name == "" {
		return e, f.at(node.GetToken(), "an engine wants a name, such as {name: cpu, set: {threads: [1, 2]}}")
	}
	for _, values := range set {
		if slices.ContainsFunc(e.Options, func(other sweep.Values) bool { return other.Option == values.Option }) {
			return e, f.at(node.GetToken(), "option %s stands behind the engine's name and in set", values.Option)
		}
	}
	e.Options = append(e.Options, set...)
	if label != "" {
		e.Spec.Name, e.Labeled = label, true
	}
	if checksum != "" {
		if e.Spec.Checksum, err = parseChecksum(e.Spec, checksum); err != nil {
			return e, f.at(node.GetToken(), "%v", err)
		}
	}
	return e, nil
}

// readSet reads options and the values that they are to take.
func (f *sweepFile) readSet(node ast.Node) ([]sweep.Values, error) {
	fields, err := f.mapping(node)
	if err != nil {
		return nil, err
	}
	var all []sweep.Values
	for _, field := range fields {
		values, err := f.scalars(field.Value)
		if err != nil {
			return nil, err
		}
		for i, value := range values {
			if slices.Contains(values[:i], value) {
				return nil, f.at(field.Value.GetToken(), "%s takes the value %s twice", field.Key.GetToken().Value, value)
			}
		}
		all = append(all, sweep.Values{Option: field.Key.GetToken().Value, Values: values})
	}
	return all, nil
}

// readExclude reads descriptions of cells that are left out.
func (f *sweepFile) readExclude(node ast.Node) error {
	for _, n := range elements(node) {
		fields, err := f.mapping(n)
		if err != nil {
			return err
		}
		line := n.GetToken().Position.Line
		if len(fields) > 0 {
			line = fields[0].Key.GetToken().Position.Line
		}
		x := sweep.Exclusion{Where: fmt.Sprintf("line %d", line)}
		for _, field := range fields {
			var err error
			switch name := field.Key.GetToken().Value; name {
			case "engine":
				x.Engine, err = f.scalar(field.Value)
			case "scales":
				var text string
				if text, err = f.list(field.Value); err == nil {
					x.Scales, err = parseScales(text)
				}
			case "set":
				x.Set, err = f.readSet(field.Value)
			default:
				err = f.at(field.Key.GetToken(), "unknown field %s of exclude; the fields are engine, scales, set", name)
			}
			if err != nil {
				return err
			}
		}
		f.sweep.Exclude = append(f.sweep.Exclude, x)
	}
	return nil
}

// elements are those of a list, or the node alone.
func elements(node ast.Node) []ast.Node {
	if list, ok := node.(*ast.SequenceNode); ok {
		return list.Values
	}
	return []ast.Node{node}
}

func (f *sweepFile) mapping(node ast.Node) ([]*ast.MappingValueNode, error) {
	switch n := node.(type) {
	case *ast.MappingNode:
		return n.Values, nil
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{n}, nil
	}
	return nil, f.at(node.GetToken(), "want lines of the form NAME: VALUE here")
}

// scalars are a value, or the values of a list, as they are written.
func (f *sweepFile) scalars(node ast.Node) ([]string, error) {
	values, ok := scalars(node)
	if !ok {
		return nil, f.at(node.GetToken(), "want a value or a list of values here")
	}
	return values, nil
}

// list is scalars as one text.
func (f *sweepFile) list(node ast.Node) (string, error) {
	values, err := f.scalars(node)
	return strings.Join(values, ","), err
}

func (f *sweepFile) scalar(node ast.Node) (string, error) {
	values, ok := scalars(node)
	if _, list := node.(*ast.SequenceNode); !ok || list {
		return "", f.at(node.GetToken(), "want a single value here")
	}
	return values[0], nil
}

// at is an error with its place in the file.
func (f *sweepFile) at(t *token.Token, format string, args ...any) error {
	where := fmt.Sprintf("%s, line %d: ", f.path, t.Position.Line)
	text := ""
	if n := t.Position.Line - 1; n >= 0 && n < len(f.lines) {
		number := fmt.Sprintf("%5d | ", n+1)
		text = fmt.Sprintf("\n%s%s\n%*s^", number, strings.ReplaceAll(f.lines[n], "\t", " "), len(number)+max(t.Position.Column-1, 0), "")
	}
	return harness.Usage("%s%w%s", where, fmt.Errorf(format, args...), text)
}

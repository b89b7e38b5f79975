package main

import (
	"os"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/spf13/pflag"

	"github.com/tepsbench/teps/harness"
)

// readConfig sets flags from a YAML file: a mapping of flag names to values, each written as on the command line, or to
// lists of such values. What was given on the command line wins. Values are taken as they are written, so that nothing
// YAML makes of them (016 is 14) comes between the file and the flag.
func readConfig(path string, flags *pflag.FlagSet) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return harness.Usage("--config: %w", err)
	}
	file, err := parser.ParseBytes(data, 0)
	if err != nil {
		return harness.Usage("--config %s:\n%s", path, yaml.FormatError(err, false, true))
	}
	if len(file.Docs) > 1 {
		return harness.Usage("--config %s: the file holds %d documents (---), want one", path, len(file.Docs))
	}
	if len(file.Docs) == 0 || file.Docs[0].Body == nil {
		return nil // empty, or comments alone
	}
	var settings []*ast.MappingValueNode
	switch body := file.Docs[0].Body.(type) {
	case *ast.MappingNode:
		settings = body.Values
	case *ast.MappingValueNode:
		settings = []*ast.MappingValueNode{body}
	case *ast.NullNode, *ast.CommentGroupNode:
		return nil
	default:
		return harness.Usage("--config %s: want lines of the form NAME: VALUE", path)
	}
	for _, setting := range settings {
		name := setting.Key.GetToken().Value
		line := setting.Key.GetToken().Position.Line
		flag := flags.Lookup(name)
		if flag == nil || slices.Contains([]string{"config", "resume", "help"}, name) {
			return harness.Usage("--config %s, line %d: %s is not a setting; the names are those of the flags of teps run", path, line, name)
		}
		values, ok := scalars(setting.Value)
		if !ok {
			return harness.Usage("--config %s, line %d: %s wants a value or a list of values", path, line, name)
		}
		if err := setFlag(flags, flag, values); err != nil {
			return harness.Usage("--config %s, line %d: %s: %w", path, line, name, err)
		}
	}
	return nil
}

// scalars returns a value, or the values of a list, as they are written.
func scalars(node ast.Node) (values []string, ok bool) {
	if list, isList := node.(*ast.SequenceNode); isList {
		for _, element := range list.Values {
			value, ok := scalars(element)
			if !ok || len(value) != 1 {
				return nil, false
			}
			values = append(values, value...)
		}
		return values, len(values) > 0
	}
	switch node.(type) {
	case *ast.StringNode, *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		return []string{node.GetToken().Value}, true
	}
	return nil, false // nothing, a mapping, or what only YAML knows: anchors, tags, blocks of text
}

// setFlag gives a flag the values of the file. Values of the command line stay: they replace the file's, or come after
// them where a flag may be repeated and the last one wins.
func setFlag(flags *pflag.FlagSet, flag *pflag.Flag, values []string) error {
	given := flag.Changed
	if many, ok := flag.Value.(pflag.SliceValue); ok && (flag.Name == "set" || flag.Name == "checksum" || flag.Name == "meter") {
		var typed []string
		if given {
			typed = many.GetSlice()
		}
		return many.Replace(append(slices.Clone(values), typed...))
	}
	if given {
		return nil
	}
	err := flags.Set(flag.Name, strings.Join(values, ","))
	flag.Changed = false // by the command line
	return settingError(err)
}

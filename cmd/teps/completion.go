// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/graph/files"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/power/meters"
	"github.com/tepsbench/teps/reports"
	"github.com/tepsbench/teps/reports/formats"
	"github.com/tepsbench/teps/reports/parts"
)

// complete registers the completions of flags and arguments. Only built-in engines complete their options, because it
// starts no engine.
func complete(root *cobra.Command, engines catalog) {
	const anything, goesOn = cobra.ShellCompDirectiveDefault, cobra.ShellCompDirectiveNoSpace
	const noFile = cobra.ShellCompDirectiveNoFileComp
	words := func(directive cobra.ShellCompDirective, all ...string) cobra.CompletionFunc {
		return cobra.FixedCompletions(all, directive)
	}
	directories := words(cobra.ShellCompDirectiveFilterDirs)
	graphs := words(goesOn,
		each(graph.Generators(), func(g graph.Generator) string { return g.Kind + ":\t" + g.About })...)
	known, _ := reports.References("all")
	flags := map[string]cobra.CompletionFunc{ // COMMAND FLAG, or FLAG for all commands
		"engine": engines.complete, "set": engines.completeSettings, "graph": graphs, "picture": completePictures,
		"meter":     words(goesOn, each(meters.Sources(), func(s meters.Source) string { return s.Name + "\t" + s.Help })...),
		"reference": words(noFile, append(each(known, func(r reports.Reference) string { return r.Name }), "all")...),
		"report format": words(noFile,
			each(formats.All(), func(f reports.Format) string { return f.Name + "\t" + f.Summary })...),
		"language": words(noFile, each(languages(), func(l language) string { return l.name + "\t" + l.about })...),
		"format":   words(noFile, files.Formats()...),
		"validate": words(noFile, "all", "none"), "host-device": words(anything, "auto", "cpu", "cuda"),
		"store": directories, "resume": directories,
	}
	named := words(anything, engines.names()...)
	arguments := map[string]cobra.CompletionFunc{
		"report": directories, "compare": directories, "list": directories, "graph": graphs, "search": graphs,
		"engines": named,
		"sweep":   words(cobra.ShellCompDirectiveFilterFileExt, "yaml", "yml"), "conform": named, "run": words(noFile),
		"machine": words(noFile), "generate": words(noFile),
	}
	root.InitDefaultCompletionCmd()
	if bash, _, err := root.Find([]string{"completion", "bash"}); err == nil {
		bash.PostRun = func(c *cobra.Command, _ []string) { fmt.Fprint(c.OutOrStdout(), forBash) }
		for _, shell := range bash.Parent().Commands() {
			shell.Args = exactArgs(0, "no arguments")
		}
		bash.Parent().Args = cobra.ArbitraryArgs
		bash.Parent().RunE = func(c *cobra.Command, _ []string) error {
			return usage("name a shell; see %s --help", c.CommandPath())
		}
	}
	for _, c := range root.Commands() {
		c.ValidArgsFunction = arguments[c.Name()]
		for name, function := range flags {
			if of, flag, ok := strings.Cut(name, " "); ok && of == c.Name() {
				_ = c.RegisterFlagCompletionFunc(flag, function)
			} else if c.Flags().Lookup(name) != nil && flags[c.Name()+" "+name] == nil {
				_ = c.RegisterFlagCompletionFunc(name, function)
			}
		}
	}
}

func each[T, U any](all []T, of func(T) U) (list []U) {
	for _, one := range all {
		list = append(list, of(one))
	}
	return list
}

func (c catalog) names() []string {
	return each(c.known(), func(e choice) string { return e.Name + "\t" + e.found })
}

// complete completes the last of several engines, or an option after its name.
func (c catalog) complete(_ *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
	last := word[strings.LastIndex(word, ",")+1:]
	engine, _, hasOptions := strings.Cut(last, ":")
	if label, name, ok := strings.Cut(engine, "="); ok {
		last, engine = last[len(label)+1:], name
	}
	if !hasOptions {
		return prefixed(word[:len(word)-len(last)], c.names()), cobra.ShellCompDirectiveNoSpace
	}
	option := last[strings.LastIndex(last, ":")+1:]
	directive := cobra.ShellCompDirectiveNoSpace
	if c.find(engine) != nil { // not a path with a colon
		directive |= cobra.ShellCompDirectiveNoFileComp
	}
	return prefixed(word[:len(word)-len(option)], c.options(engine, option)), directive
}

// completeSettings completes ENGINE.OPTION=VALUE for the engines of the command line.
func (c catalog) completeSettings(command *cobra.Command, args []string, word string) (all []string,
	directive cobra.ShellCompDirective) {
	directive = cobra.ShellCompDirectiveNoSpace | cobra.ShellCompDirectiveNoFileComp
	if list, err := command.Flags().GetStringSlice("engine"); err == nil {
		args = list
	}
	name, option, dotted := strings.Cut(word, ".")
	for _, text := range args {
		chosen, err := c.parse(text)
		switch {
		case err != nil:
		case !dotted:
			all = append(all, chosen.Name+".")
		case chosen.Name == name:
			return prefixed(name+".", c.options(chosen.Builtin, option)), directive
		}
	}
	return all, directive
}

// options lists the options of a built-in engine or, after NAME=, the values of an option.
func (c catalog) options(engine, word string) (all []string) {
	var d plugins.Description
	if open := c.find(engine); open != nil {
		d, _ = open().Describe(context.Background())
	}
	name, _, values := strings.Cut(word, "=")
	for _, o := range d.Options {
		switch {
		case !values:
			all = append(all, o.Name+"=\t"+o.Meaning)
		case o.Name == name && o.Kind == plugins.Bool:
			all = prefixed(name+"=", []string{"true", "false"})
		case o.Name == name:
			all = prefixed(name+"=", o.Choices)
		}
	}
	return all
}

// prefixed puts a prefix before words. After a comma it drops their descriptions, because cobra's script for bash
// compares words with descriptions in quoted form.
func prefixed(prefix string, all []string) []string {
	return each(all, func(s string) string {
		if strings.Contains(prefix, ",") {
			s, _, _ = strings.Cut(s, "\t")
		}
		return prefix + s
	})
}

// forBash replaces a function of cobra's script for bash. Bash starts a new word after a colon or an equals sign;
// cobra's function does not handle both in one word, as in cpu:threads=.
const forBash = `
__teps_handle_special_char() {
    local word=${1%"${1##*[:=]}"} i
    for i in "${!COMPREPLY[@]}"; do
        COMPREPLY[i]=${COMPREPLY[i]#"$word"}
    done
}
`

// completePictures lists the figures of the records that are named.
func completePictures(_ *cobra.Command, args []string, _ string) (all []string, _ cobra.ShellCompDirective) {
	results, _ := loadRuns(args)
	if report, err := reports.New(nil, results...); err == nil {
		all = each(parts.Figures(report), func(f reports.Figure) string { return f.Name + "\t" + f.Title })
	}
	return all, cobra.ShellCompDirectiveNoFileComp
}

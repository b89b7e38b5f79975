package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/power/meters"
	"github.com/tepsbench/teps/reports"
	"github.com/tepsbench/teps/reports/formats"
)

// offer lists what a word of a command line can be, each with a description after a tab if there is one.
type offer func(c *cobra.Command, args []string, word string) []string

// function is an offer as cobra takes it: what begins with the word. Where nothing does, a shell offers files unless
// the directive says otherwise.
func (o offer) function(directive cobra.ShellCompDirective) cobra.CompletionFunc {
	return func(c *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
		return slices.DeleteFunc(o(c, args, word), func(s string) bool { return !strings.HasPrefix(s, word) }), directive
	}
}

func words(all ...string) offer {
	return func(*cobra.Command, []string, string) []string { return slices.Clone(all) }
}

// each offers a word for each of all.
func each[T any](all []T, word func(T) string) offer {
	var list []string
	for _, one := range all {
		list = append(list, word(one))
	}
	return words(list...)
}

// complete tells shells what the flags and arguments of all commands take. No engine is started for that: only those
// that are built in describe their options.
func complete(root *cobra.Command, engines catalog) {
	const (
		goesOn = cobra.ShellCompDirectiveNoSpace
		noFile = cobra.ShellCompDirectiveNoFileComp
	)
	engine := func(c *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
		directive := goesOn
		if strings.Contains(word, ":") && !strings.Contains(word, "/") { // options of a built-in engine
			directive |= noFile
		}
		return offer(engines.offer).function(directive)(c, args, word)
	}
	directories := words().function(cobra.ShellCompDirectiveFilterDirs)
	yaml := func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return []string{"yaml", "yml"}, cobra.ShellCompDirectiveFilterFileExt
	}
	nothing := words().function(noFile)
	named := offer(func(*cobra.Command, []string, string) []string { return engines.names() }).function(0)
	graphs := each(graph.Generators(), func(g graph.Generator) string { return g.Kind + ":\t" + g.About }).function(goesOn)
	sources := each(meters.Sources(), func(s meters.Source) string { return s.Name + "\t" + s.Help }).function(goesOn)
	texts := each(formats.All(), func(f reports.Format) string { return f.Name + "\t" + f.Summary }).function(noFile)
	known, _ := reports.References("all")
	references := each(append(known, reports.Reference{Name: "all"}),
		func(r reports.Reference) string { return r.Name }).function(noFile)
	languages := each(languages(), func(l language) string { return l.name + "\t" + l.about }).function(noFile)
	flags := map[string]cobra.CompletionFunc{ // of a command or, without its name, of all
		"engine": engine, "set": offer(engines.offerSettings).function(goesOn | noFile),
		"graph": graphs, "meter": sources, "picture": offer(offerPictures).function(noFile),
		"reference": references, "report format": texts,
		"graph format": words("text", "json").function(noFile), "sort": words("date", "gteps").function(noFile),
		"language": languages, "validate": words("all", "none").function(noFile),
		"host-device": words("auto", "cpu", "cuda").function(0), "store": directories, "resume": directories,
	}
	arguments := map[string]cobra.CompletionFunc{
		"report": directories, "compare": directories, "list": directories, "sweep": yaml, "graph": graphs,
		"engines": named, "conform": named, "run": nothing, "machine": nothing, "generate": nothing,
	}
	root.InitDefaultCompletionCmd()
	if bash, _, err := root.Find([]string{"completion", "bash"}); err == nil {
		bash.PostRun = func(c *cobra.Command, _ []string) { fmt.Fprint(c.OutOrStdout(), forBash) }
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
			} else if c.Flags().Lookup(name) != nil {
				_ = c.RegisterFlagCompletionFunc(name, function)
			}
		}
	}
}

func (c catalog) names() (all []string) {
	for _, e := range c.known() {
		all = append(all, e.Name+"\t"+e.found)
	}
	return all
}

// offer completes the last of several engines, and the options after its name.
func (c catalog) offer(_ *cobra.Command, _ []string, word string) []string {
	last := word[strings.LastIndex(word, ",")+1:]
	engine, _, hasOptions := strings.Cut(last, ":")
	if label, name, ok := strings.Cut(engine, "="); ok {
		last, engine = last[len(label)+1:], name
	}
	if !hasOptions {
		return prefixed(word[:len(word)-len(last)], c.names())
	}
	option := last[strings.LastIndex(last, ":")+1:]
	return prefixed(word[:len(word)-len(option)], c.options(engine, option))
}

// offerSettings completes ENGINE.OPTION=VALUE, where the engine is one of the command line.
func (c catalog) offerSettings(command *cobra.Command, args []string, word string) (all []string) {
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
			return prefixed(name+".", c.options(chosen.Builtin, option))
		}
	}
	return all
}

// options lists the options of a built-in engine or, after NAME=, the values of one.
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

// prefixed puts a prefix before words. After a comma they lose their descriptions: cobra's script for bash compares
// words that have one in the form that needs quotes.
func prefixed(prefix string, all []string) (out []string) {
	for _, s := range all {
		if strings.Contains(prefix, ",") {
			s, _, _ = strings.Cut(s, "\t")
		}
		out = append(out, prefix+s)
	}
	return out
}

// forBash replaces a function of cobra's script for bash. Bash takes what follows a colon or an equals sign as a word
// of its own; cobra's function does not expect both in one word, as in cpu:pin=.
const forBash = `
__teps_handle_special_char() {
    local word=${1%"${1##*[:=]}"} i
    for i in "${!COMPREPLY[@]}"; do
        COMPREPLY[i]=${COMPREPLY[i]#"$word"}
    done
}
`

// offerPictures lists the figures of the records that are named.
func offerPictures(_ *cobra.Command, args []string, _ string) (all []string) {
	results, _ := loadAll(runsIn(args))
	if report, err := reports.New(nil, results...); err == nil {
		for _, f := range report.Figures() {
			all = append(all, f.Name+"\t"+f.Title)
		}
	}
	return all
}

package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tepsbench/teps/harness"
)

// addHelp adds cobra's commands help and completion, which take whatever follows them and exit with 0, and makes a command
// or a shell that there is none of wrong usage. The output of root is set.
func addHelp(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		switch c.Name() {
		case "help":
			c.Args = oneCommand
		case "completion":
			c.Args, c.RunE = noShell, func(c *cobra.Command, _ []string) error { return c.Help() }
			for _, shell := range c.Commands() {
				shell.Args = noArgs
			}
		}
	}
}

// knownCommand refuses a first word that is no command before cobra looks for --help behind it, which it would answer.
func knownCommand(root *cobra.Command, args []string) error {
	asked := slices.Contains(args, "--help") || slices.Contains(args, "-h")
	if !asked || strings.HasPrefix(args[0], "-") {
		return nil
	}
	if c, rest, _ := root.Find(args); c == root {
		return noArgs(root, rest)
	}
	return nil
}

// oneCommand wants the words of one command, or none.
func oneCommand(c *cobra.Command, args []string) error {
	if _, rest, err := c.Root().Find(args); err != nil || len(rest) > 0 {
		return harness.Usage("there is no command %q; see teps --help", strings.Join(args, " "))
	}
	return nil
}

// noShell is for the words behind completion that are none of its shells.
func noShell(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var shells []string
	for _, shell := range c.Commands() {
		shells = append(shells, shell.Name())
	}
	return harness.Usage("there is no completion for %q; there is one for %s", args[0], strings.Join(shells, ", "))
}

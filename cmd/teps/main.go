// SPDX-License-Identifier: Apache-2.0

// Command teps measures how fast machines search graphs breadth first, by the rules of Graph500. Engines are plugins;
// package harness runs the protocol over them. This package has flags, progress and exit codes (docs/running.md).
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

func main() {
	// A write to a closed pipe (teps run | head) returns an error; it must not end the process before its records are
	// complete.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	os.Exit(execute(context.Background(), builtins(), os.Args[1:], os.Stdout, os.Stderr))
}

// errInterrupted is the cause when a signal has ended the context of a command.
var errInterrupted = errors.New("interrupted")

// finishOnSignal makes the first signal cancel the context of c, so that a measurement ends in order. The second one
// ends the process and its engines at once, as the first does in other commands. Signals ignored at the start stay
// ignored: nohup ignores SIGHUP, and a shell ignores SIGINT for background jobs of a script.
func finishOnSignal(c *cobra.Command) {
	ctx, cancel := context.WithCancelCause(c.Context())
	c.SetContext(ctx)
	signals := make(chan os.Signal, 1)
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(s) {
			signal.Notify(signals, s)
		}
	}
	go func() {
		s := <-signals
		signal.Stop(signals)
		newLine := "\n"
		if isTerminal(os.Stderr) {
			newLine = eraseLine // erases the bar and the ^C
		}
		fmt.Fprintf(os.Stderr, "%steps: %v: finishing up; interrupt again to quit now\n", newLine, s)
		cancel(errInterrupted)
	}()
}

// Command teps measures how fast machines search graphs breadth first, by the rules of Graph500. The engines that do
// the searching are plugins; package harness runs the protocol over them. This package holds flags, progress and exit
// codes.
//
// Exit codes: 0, every run is complete and no validated search is wrong; 1, a run failed or is invalid; 2, the command
// line is wrong.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, cancel := context.WithCancel(context.Background())
	go cancelOnSignal(cancel)
	// Writing to a pipe whose reader has gone (teps run | head) is an error; it must not end the process before its
	// records are complete.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	os.Exit(execute(ctx, builtins(), os.Args[1:], os.Stdout, os.Stderr))
}

// cancelOnSignal waits for the first signal, which ends a run in an orderly way. A second one then has its usual
// effect: it ends the process and its engines at once. Signals that teps was started to ignore stay ignored: nohup
// ignores SIGHUP, and a shell ignores SIGINT for the background jobs of a script.
func cancelOnSignal(cancel func()) {
	signals := make(chan os.Signal, 1)
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(s) {
			signal.Notify(signals, s)
		}
	}
	s := <-signals
	signal.Stop(signals)
	newLine := "\n"
	if isTerminal(os.Stderr) {
		newLine = eraseLine // removes the bar, and the ^C that the terminal shows
	}
	fmt.Fprintf(os.Stderr, "%steps: %v: finishing up; interrupt again to quit now\n", newLine, s)
	cancel()
}

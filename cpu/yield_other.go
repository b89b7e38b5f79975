//go:build !linux

package cpu

import "runtime"

// yieldProcessor lets something else run on this processor. It is the plain twin of yield_linux.go: here that goes by the Go scheduler,
// which costs the next phase some microseconds.
func yieldProcessor() { runtime.Gosched() }

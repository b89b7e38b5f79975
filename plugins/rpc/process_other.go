//go:build unix && !linux

package rpc

import "syscall"

// processAttributes puts an engine into a process group of its own, so that Ctrl-C at a terminal reaches the host
// alone and a kill reaches all that the engine has started. The engine itself watches for the host's death (Serve).
func processAttributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// isStopped needs /proc; without it a stopped engine is found by the deadline of a call.
func isStopped(int) bool { return false }

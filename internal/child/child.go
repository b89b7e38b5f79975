// SPDX-License-Identifier: Apache-2.0

// Package child runs other programs so that none of them outlives this process: engines, meters, mpirun.
//
// Start puts a program into a new process group, so that Ctrl-C at a terminal reaches only this process and a signal
// reaches everything that the program has started. When the program ends, the rest of its group is killed, and on Linux
// so is every process that has left the group (orphans.go). When this process dies, the kernel signals the program
// (Linux only).
package child

import (
	"crypto/rand"
	"fmt"
	"os/exec"
	"runtime"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	drainTime = 300 * time.Millisecond // reading output after the end, should a child of the program hold the pipes open
	killTime  = 5 * time.Second        // dying after SIGKILL; a program that hangs inside a driver may never die
)

// A Process is a program that Start has started or Adopt watches. Its methods may be called by several goroutines.
type Process struct {
	cmd     *exec.Cmd // nil if it was adopted
	adopted int       // its process ID
	mark    string    // in the environment of the program and what it starts
	exited  chan struct{}
	err     error                     // of cmd.Wait, set before exited is closed
	killed  atomic.Bool               // by Kill
	endedAt atomic.Pointer[time.Time] // nil: it runs
}

// Start starts cmd. The kernel sends it the signal orphaned when this process dies. A cmd made by exec.CommandContext
// is killed with its process group when its context ends. When the program has ended and its output has been read,
// atEnd is called (unless it is nil), and only then is Exited closed.
func Start(cmd *exec.Cmd, orphaned syscall.Signal, atEnd func()) (*Process, error) {
	p := &Process{cmd: cmd, mark: "TEPS_CHILD=" + rand.Text(), exited: make(chan struct{})}
	cmd.Env = append(cmd.Environ(), p.mark)
	cmd.SysProcAttr = attributes(orphaned)
	cmd.WaitDelay = drainTime
	if cmd.Cancel != nil { // set by exec.CommandContext
		cmd.Cancel = func() error { p.Kill(); return nil }
	}
	started := make(chan error)
	go func() {
		// The kernel signals the program when the thread that started it ends, so this goroutine keeps its thread until the
		// program has ended.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := begin(cmd)
		started <- err
		if err != nil {
			return
		}
		p.err = cmd.Wait()
		p.end(atEnd)
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	return p, nil
}

// end cleans up after the program has ended.
func (p *Process) end(atEnd func()) {
	p.endedAt.Store(new(time.Now()))
	_ = syscall.Kill(-p.PID(), syscall.SIGKILL) // the rest of its group
	p.killOrphans()
	if atEnd != nil {
		atEnd()
	}
	close(p.exited)
}

// PID returns the process ID of the program, which is also the ID of its process group.
func (p *Process) PID() int {
	if p.cmd == nil {
		return p.adopted
	}
	return p.cmd.Process.Pid
}

// Mark returns the variable, as NAME=VALUE, by which processes of the program are recognized.
func (p *Process) Mark() string { return p.mark }

// EndedAt returns when the program ended, or the zero time. Exited follows later.
func (p *Process) EndedAt() time.Time {
	if at := p.endedAt.Load(); at != nil {
		return *at
	}
	return time.Time{}
}

// Exited returns a channel that is closed when the program has ended.
func (p *Process) Exited() <-chan struct{} { return p.exited }

// HasExited reports whether the program has ended.
func (p *Process) HasExited() bool {
	select {
	case <-p.exited:
		return true
	default:
		return false
	}
}

// WaitFor waits until the program has ended, but at most d, and reports whether it has.
func (p *Process) WaitFor(d time.Duration) bool {
	select {
	case <-p.exited:
	case <-time.After(d):
	}
	return p.HasExited()
}

// Wait waits until the program has ended. The error is that of exec.Cmd.Wait.
func (p *Process) Wait() error {
	<-p.exited
	return p.err
}

// Signal sends a signal to the process group. A group that no longer exists is an error. An adopted process may not be
// the leader of a group yet.
func (p *Process) Signal(s syscall.Signal) error {
	err := syscall.Kill(-p.PID(), s)
	if err == syscall.ESRCH && p.cmd == nil && !p.HasExited() {
		err = syscall.Kill(p.PID(), s)
	}
	return err
}

// Kill kills the process group. It does nothing once the program has ended.
func (p *Process) Kill() {
	if !p.HasExited() {
		p.killed.Store(true)
		_ = p.Signal(syscall.SIGKILL)
	}
}

// Killed reports whether Kill has killed the program.
func (p *Process) Killed() bool { return p.killed.Load() }

// Stop ends the program: it waits for the time leave, sends SIGTERM, waits for patience, kills, and reports success.
func (p *Process) Stop(leave, patience time.Duration) bool {
	if !p.WaitFor(leave) {
		_ = p.Signal(syscall.SIGTERM)
	}
	if !p.WaitFor(patience) {
		p.Kill()
	}
	return p.WaitFor(killTime)
}

// State describes how the program ended, such as "exit status 1". It may be called only once Exited is closed.
func (p *Process) State() string {
	if p.cmd == nil {
		return "its process ended"
	}
	state := p.cmd.ProcessState
	if state == nil {
		return fmt.Sprintf("unknown state: %v", p.err)
	}
	if status := state.Sys().(syscall.WaitStatus); status.Signal() == syscall.SIGKILL && !p.Killed() {
		return state.String() + ", but not by teps; is the machine out of memory?"
	}
	return state.String()
}

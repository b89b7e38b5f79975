package rpc

// A process is an engine's process, from its start to its end, as go-plugin's runner: go-plugin speaks the handshake
// and makes the connection, this file owns what go-plugin leaves open. It starts the process in a group of its own and
// kills the whole group; it looks at the handshake before go-plugin does; it keeps the last words and the exit status
// for the error message; and its Kill cannot hang.

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/hashicorp/go-plugin/runner"
)

const (
	// drainTime is how long the output of an ended process is read on, should a child of it hold the pipes open.
	drainTime = 300 * time.Millisecond
	// exitTime is how long an engine that was asked to end may take until it is killed.
	exitTime = 2 * time.Second
	// killTime is how long a killed process may take to die; one that hangs in a driver may never do.
	killTime = 5 * time.Second
)

// process implements runner.Runner.
type process struct {
	cmd    *exec.Cmd
	output *output
	first  *io.PipeReader // standard output as go-plugin sees it: the handshake line, or nothing
	pass   *io.PipeWriter

	exited  chan struct{} // closed after the process has been waited for and its output read
	leaving atomic.Bool   // it was asked to end; Kill waits longer
	killed  atomic.Bool   // the host has killed it

	mu    sync.Mutex // guards what follows
	pid   int        // 0 before the start
	fault error      // what was wrong with the handshake
	state string     // how it ended, set before exited is closed
}

var _ runner.Runner = (*process)(nil)

func newProcess(cmd *exec.Cmd, out *output) *process {
	p := &process{cmd: cmd, output: out, exited: make(chan struct{})}
	p.first, p.pass = io.Pipe()
	return p
}

// Start starts the process. The kernel ties Pdeathsig to the thread that forked, not to the host's process: were that
// thread to end, the engine would be killed. Go ends a thread only when a goroutine exits that is still locked to it,
// so the process is started from a goroutine that locks its thread, keeps it until the process is gone, and unlocks it.
func (p *process) Start(context.Context) error {
	stdout, stdoutEnd, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("make a pipe: %w", err)
	}
	stderr, stderrEnd, err := os.Pipe()
	if err != nil {
		return errors.Join(fmt.Errorf("make a pipe: %w", err), stdout.Close(), stdoutEnd.Close())
	}
	p.cmd.Stdout, p.cmd.Stderr, p.cmd.SysProcAttr = stdoutEnd, stderrEnd, processAttributes()
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := p.cmd.Start()
		stdoutEnd.Close()
		stderrEnd.Close()
		if err != nil {
			stdout.Close()
			stderr.Close()
			p.pass.CloseWithError(errNoHandshake)
			close(p.exited)
			started <- err
			return
		}
		p.mu.Lock()
		p.pid = p.cmd.Process.Pid
		p.mu.Unlock()
		started <- nil
		p.wait(stdout, stderr)
	}()
	return <-started
}

// wait reads the output and waits for the end of the process.
func (p *process) wait(stdout, stderr *os.File) {
	var readers sync.WaitGroup
	readers.Go(func() { p.output.lines(p.handshake(stdout), "stdout") })
	readers.Go(func() { p.output.lines(stderr, "stderr") })
	drained := make(chan struct{})
	go func() { readers.Wait(); close(drained) }()

	err := p.cmd.Wait()
	_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL) // what it started and left behind
	select {
	case <-drained:
	case <-time.After(drainTime):
	}
	stdout.Close()
	stderr.Close()
	<-drained

	state := "exit status 0"
	if p.cmd.ProcessState != nil {
		state = p.cmd.ProcessState.String()
	} else if err != nil {
		state = err.Error()
	}
	p.mu.Lock()
	p.state = state
	p.mu.Unlock()
	close(p.exited)
}

// handshake passes the first line of standard output on to go-plugin if it is one, and returns the reader of the rest.
func (p *process) handshake(stdout io.Reader) io.Reader {
	const longest = 16 << 10 // a certificate takes about 1 KiB
	rest := bufio.NewReaderSize(stdout, longest)
	line, err := rest.ReadSlice('\n')
	if err != nil && len(line) == 0 {
		p.pass.CloseWithError(errNoHandshake) // it has ended, or closed its output: Open says which
		return rest
	}
	if err := checkHandshake(string(line)); err != nil {
		p.mu.Lock()
		p.fault = err
		p.mu.Unlock()
		p.pass.CloseWithError(errNoHandshake)
		return rest
	}
	if _, err := p.pass.Write(line); err == nil {
		p.pass.Close()
	}
	return rest
}

// kill kills the process group. It does nothing to a process that has ended.
func (p *process) kill() {
	p.mu.Lock()
	pid := p.pid
	p.mu.Unlock()
	if pid != 0 && !p.gone() {
		p.killed.Store(true)
		_ = syscall.Kill(-pid, syscall.SIGKILL)
	}
}

// gone tells whether the process has ended.
func (p *process) gone() bool {
	select {
	case <-p.exited:
		return true
	default:
		return false
	}
}

// ended waits at most d for the end of the process.
func (p *process) ended(d time.Duration) bool {
	select {
	case <-p.exited:
		return true
	case <-time.After(d):
		return false
	}
}

// ending describes how the process ended, with its last words. It may be called after exited is closed.
func (p *process) ending() string {
	p.mu.Lock()
	state := p.state
	p.mu.Unlock()
	if state == "signal: killed" && !p.killed.Load() {
		state += " (by somebody else: out of memory?)"
	}
	return state + p.output.lastWords()
}

func (p *process) handshakeFault() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.fault
}

// Kill is what go-plugin calls for a process that does not go by itself, and also for one whose end it has only not
// seen yet: so it waits a little.
func (p *process) Kill(context.Context) error {
	patience := drainTime
	if p.leaving.Load() {
		patience = exitTime
	}
	if !p.ended(patience) {
		p.kill()
	}
	return nil
}

// Wait waits for the end of the process.
func (p *process) Wait(context.Context) error { <-p.exited; return nil }

// Stdout is what go-plugin reads the handshake from.
func (p *process) Stdout() io.ReadCloser { return p.first }

// Stderr is empty for go-plugin: the lines go straight to the log.
func (p *process) Stderr() io.ReadCloser { return io.NopCloser(strings.NewReader("")) }

// Name is what go-plugin's own messages call the process.
func (p *process) Name() string { return p.cmd.Path }

// ID is the process number; empty before the start.
func (p *process) ID() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.pid == 0 {
		return ""
	}
	return strconv.Itoa(p.pid)
}

// Diagnose adds nothing: Open finds out itself what was wrong.
func (p *process) Diagnose(context.Context) string { return "" }

// PluginToHost and HostToPlugin leave addresses alone: both sides see the same files.
func (p *process) PluginToHost(network, address string) (string, string, error) {
	return network, address, nil
}

func (p *process) HostToPlugin(network, address string) (string, string, error) {
	return network, address, nil
}

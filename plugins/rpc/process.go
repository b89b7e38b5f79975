// SPDX-License-Identifier: Apache-2.0

package rpc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/hashicorp/go-plugin/runner"

	"github.com/tepsbench/teps/internal/child"
)

const (
	exitTime   = 2 * time.Second // for the end of an engine that was asked to end
	noticeTime = 3 * time.Second // until the end of a process is noticed after its connection has broken
	killTime   = 5 * time.Second // for the death of a killed process, which may hang inside a driver forever
)

// process is an engine's process as go-plugin's runner.Runner. The host checks the handshake before go-plugin does, for
// clear messages, and Kill cannot hang.
type process struct {
	cmd    *exec.Cmd
	start  func(cmd *exec.Cmd, atEnd func()) (*child.Process, error) // Program.Start
	logger *slog.Logger
	keep   func(source, line string)
	tail   *child.Tail // for the message about a crash

	handshake *io.PipeReader // the first line of standard output for go-plugin, if it is a handshake
	fault     atomic.Pointer[error]
	child     atomic.Pointer[child.Process] // nil before Start
	killed    atomic.Bool                   // perhaps before it was started
	closing   atomic.Bool                   // the engine was asked to end
}

var _ runner.Runner = (*process)(nil)

// errNoHandshake is what go-plugin reads instead of a handshake.
var errNoHandshake = errors.New("rpc: no handshake")

func (p *process) Start(context.Context) error {
	reader, writer := io.Pipe()
	p.handshake = reader
	first := true
	stdout := child.NewLines(func(line []byte) {
		if !first {
			p.line(line, "stdout")
			return
		}
		first = false
		if err := checkHandshake(string(line)); err != nil {
			p.fault.Store(&err)
			p.line(line, "stdout")
			writer.CloseWithError(errNoHandshake)
			return
		}
		_, _ = writer.Write(append(line, '\n'))
		writer.Close()
	})
	stderr := child.NewLines(func(line []byte) { p.line(line, "stderr") })
	p.cmd.Stdout, p.cmd.Stderr = stdout, stderr
	atEnd := func() {
		reader.CloseWithError(errNoHandshake) // unless go-plugin has read it
		stdout.Flush()
		stderr.Flush()
	}
	var started *child.Process
	var err error
	if p.start != nil {
		started, err = p.start(p.cmd, atEnd)
	} else {
		started, err = child.Start(p.cmd, syscall.SIGKILL, atEnd)
	}
	if err == nil {
		p.child.Store(started)
		if p.killed.Load() {
			started.Kill()
		}
	}
	return err
}

func (p *process) line(line []byte, source string) {
	p.tail.Add(string(line))
	p.logger.Info(string(line), "from", source)
	p.keep(source, string(line))
}

func (p *process) started() *child.Process { return p.child.Load() }

// kill kills the process, or has Start kill it.
func (p *process) kill() {
	p.killed.Store(true)
	if c := p.started(); c != nil {
		c.Kill()
	}
}

func (p *process) hasEnded(d time.Duration) bool { return p.started().WaitFor(d) }

func (p *process) ending() string { return p.started().State() + "; " + p.tail.String() }

// lastOutput waits briefly for the end of a killed process and quotes its output.
func (p *process) lastOutput() string {
	p.hasEnded(noticeTime)
	return p.tail.String()
}

// Kill waits a little first, because go-plugin also calls it for a process that has just ended.
func (p *process) Kill(context.Context) error {
	wait := 250 * time.Millisecond
	if p.closing.Load() {
		wait = exitTime
	}
	if p.started() != nil && !p.hasEnded(wait) {
		p.kill()
	}
	return nil
}

func (p *process) Wait(context.Context) error      { return p.started().Wait() }
func (p *process) Stdout() io.ReadCloser           { return p.handshake }
func (p *process) Stderr() io.ReadCloser           { return io.NopCloser(strings.NewReader("")) } // is logged already
func (p *process) Name() string                    { return p.cmd.Path }
func (p *process) Diagnose(context.Context) string { return "" } // Host.Open explains failures

func (p *process) ID() string {
	if c := p.started(); c != nil {
		return strconv.Itoa(c.PID())
	}
	return ""
}

// PluginToHost and HostToPlugin translate nothing: host and engine see the same files.
func (p *process) PluginToHost(network, address string) (string, string, error) {
	return network, address, nil
}
func (p *process) HostToPlugin(network, address string) (string, string, error) {
	return network, address, nil
}

const maxOutput = 16 << 20 // bytes of output that a file keeps

// output is a file for the lines that engines print. It is created by the first line.
type output struct {
	mu   sync.Mutex
	path string // empty: lines are not kept
	file *os.File
	left int // bytes until the file is full
}

// KeepOutput appends what engines print from now on to the file at path, up to 16 MiB: each line with the time, the
// engine's name, and stdout or stderr. The file is created when an engine prints something. An empty path ends it.
func (h *Host) KeepOutput(path string) {
	o := &h.output
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.file != nil {
		o.file.Close()
	}
	o.path, o.file, o.left = path, nil, maxOutput
}

// add writes a line. After an error, which it logs, the rest is not kept.
func (o *output) add(logger *slog.Logger, engine, source, line string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.path == "" {
		return
	}
	text := fmt.Sprintf("%s %s %s: %s\n", time.Now().Format("15:04:05.000"), engine, source, printable(line))
	var err error
	if o.file == nil {
		o.file, err = os.OpenFile(o.path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o666)
	}
	if o.left -= len(text); o.left < 0 {
		text = fmt.Sprintf("more than %d MiB: the rest is not kept\n", maxOutput>>20)
	}
	if err == nil {
		_, err = o.file.WriteString(text)
	}
	if err != nil {
		logger.Warn("rpc: what engines print is not kept", "error", err)
	}
	if err != nil || o.left < 0 {
		o.path = ""
	}
}

// SPDX-License-Identifier: Apache-2.0

package rpc

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/internal/child"
	"github.com/tepsbench/teps/internal/must"
	"github.com/tepsbench/teps/plugins"
)

func TestProgramsThatCannotBeStartedAreRefused(t *testing.T) {
	s := newStage(t)
	directory := t.TempDir()
	write := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(directory, name)
		must.Do(os.WriteFile(path, []byte(text), mode))
		return path
	}
	// The header of an ELF program for an IBM S/390: 64 bits, little endian, without any segments.
	foreign := make([]byte, 64)
	copy(foreign, "\x7fELF\x02\x01\x01")
	foreign[16], foreign[18], foreign[20], foreign[52] = 2, 22, 1, 64
	fifo := filepath.Join(directory, "fifo")
	must.Do(syscall.Mkfifo(fifo, 0o755))

	for name, c := range map[string]struct{ path, words string }{
		"no path":              {"", "no path is given"},
		"does not exist":       {filepath.Join(directory, "nothing"), "no such file"},
		"directory":            {directory, "is a directory"},
		"pipe":                 {fifo, "want a regular file"},
		"not executable":       {write("plain", "hello", 0o644), "chmod +x"},
		"text file":            {write("text", "hello", 0o755), "first line does not begin with #!"},
		"empty file":           {write("empty", "", 0o755), "first line does not begin with #!"},
		"missing interpreter":  {write("script", "#!/no/such/shell\n", 0o755), "interpreter or loader"},
		"another architecture": {write("foreign", string(foreign), 0o755), "built for another machine"},
	} {
		t.Run(name, func(t *testing.T) {
			must.Is(t, must.Err(s.Open(context.Background(), Program{Path: c.path})), ErrProgram, c.words)
		})
	}
	s.works(s.parents(3))
}

func TestProgramsThatFailTheHandshakeAreEnded(t *testing.T) {
	for act, words := range map[string][]string{
		"prints first":      {`"Welcome to my engine!`, "print nothing before rpc.Serve"},
		"says nothing":      {"did not answer within 700ms", "killed"},
		"closes its output": {"did not answer within 700ms"},
		"exits at once":     {"exit status 3", "these are my last words"},
		"lies":              {"does not answer"},
		"lies and exits":    {"exit status 4"},
	} {
		t.Run(act, func(t *testing.T) {
			s := newStage(t)
			usual, silent := s.limits.start, act == "says nothing" || act == "closes its output" // the others end by themselves
			if silent {
				s.limits.start = 700 * time.Millisecond
			}
			must.Is(t, must.Err(s.Open(t.Context(), s.program(act))), ErrHandshake, words...)
			if silent { // nobody waits for silence twice
				s.limits.start = time.Hour
				must.Is(t, must.Err(s.Open(t.Context(), s.program(act))), ErrHandshake, words...)
				s.limits.start = usual
				other := s.program("serial")
				other.Args = []string{"other"}
				must.Get(s.Open(t.Context(), other))
			}
		})
	}
}

func TestHandshakeIsChecked(t *testing.T) {
	for line, words := range map[string]string{
		"1|1|unix|/a/socket|grpc|certificate":   "",
		"1|1|tcp|127.0.0.1:80|grpc|certificate": "",
		"\x00":                                  `not the handshake but "\x00"`,
		"1|1|unix":                              "not the handshake",
		"1|2|unix|/a/socket|grpc|certificate":   "it implements version 2",
		"2|1|unix|/a/socket|grpc|certificate":   "go-plugin: 2",
		"1|1|unix|/a/socket|grpc|":              "no gRPC with a certificate",
		"1|1|unix|/a/socket|netrpc|certificate": "no gRPC with a certificate",
		"1|1|tcp|192.0.2.1:80|grpc|certificate": `the address "tcp 192.0.2.1:80"; want a Unix socket`,
		"1|1|udp|127.0.0.1:80|grpc|certificate": "want a Unix socket",
	} {
		if err := checkHandshake(line); words != "" {
			must.Is(t, err, ErrHandshake, words)
		} else if err != nil {
			t.Errorf("%q: %v", line, err)
		}
	}
}

func TestOpenEndsWithItsContext(t *testing.T) {
	s := newStage(t)
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	must.Is(t, must.Err(s.Open(ctx, s.program("says nothing"))), context.DeadlineExceeded)
	must.Is(t, must.Err(s.Open(ctx, s.program("serial"))), context.DeadlineExceeded)
}

// A context may end while the system still starts the program.
func TestProcessKilledBeforeItHasStartedEnds(t *testing.T) {
	p := &process{cmd: exec.Command("sleep", "1000"), logger: slog.New(slog.DiscardHandler), tail: child.NewTail()}
	p.kill()
	must.Do(p.Start(t.Context()))
	if !p.hasEnded(time.Minute) || !p.started().Killed() {
		t.Error("the process runs on")
	}
}

func TestProgramWithAnotherChecksumIsRefused(t *testing.T) {
	s := newStage(t)
	p := s.program("serial")
	p.SHA256 = strings.ToUpper(s.open("serial").Checksum())
	must.Get(s.Open(t.Context(), p))
	p.SHA256 = strings.Repeat("0", 64)
	must.Is(t, must.Err(s.Open(t.Context(), p)), ErrChecksum, p.SHA256)
}

func TestProgramThatChangesWhileItStartsIsRefused(t *testing.T) {
	s := newStage(t)
	p := s.script("echo >>\"$0\"\nexec " + s.self)
	must.Is(t, must.Err(s.Open(context.Background(), p)), ErrChecksum)
}

func TestFileThatChangesDuringTheRunIsNoticed(t *testing.T) {
	s := newStage(t)
	p := s.script("exec " + s.self)
	touch := func(seconds int64) {
		t.Helper()
		must.Do(os.Chtimes(p.Path, time.Time{}, time.Unix(seconds, 0)))
	}
	touch(1e9)
	open := func() *Client { return must.Get(s.Open(context.Background(), p)) }
	touched := open()
	touch(2e9)
	must.Do(touched.Close())
	changed, removed := open(), open()
	must.Do(os.WriteFile(p.Path, []byte("#!/bin/sh\nexec "+s.self+"\n# more\n"), 0o755))
	touch(1e9)
	must.Is(t, changed.Close(), ErrChecksum)
	must.Is(t, must.Err(s.Open(context.Background(), p)), ErrChecksum)
	must.Do(os.Remove(p.Path))
	must.Is(t, removed.Close(), ErrChecksum)
}

func TestEngineRunByHandSaysWhatItIs(t *testing.T) {
	self := must.Get(os.Executable())
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), actKey+"=serial")
	stdout, err := cmd.Output()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 2 || len(stdout) > 0 {
		t.Fatalf("got %v and %q on standard output, want exit status 2", err, stdout)
	}
	said := errors.New(string(exit.Stderr))
	must.Is(t, said, said, "this is an engine of teps", "teps run: "+self)
}

func TestEnvironmentIsInheritedWithoutThatOfAnOuterHost(t *testing.T) {
	got := environment([]string{"A=1", "PLUGIN_UNIX_SOCKET_GROUP=outer", cookieKey + "=outer"}, []string{"PLUGIN_B=2"})
	if want := []string{"A=1", "PLUGIN_B=2"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestClosedHostOpensAndAllocatesNothing(t *testing.T) {
	s := newStage(t)
	must.Do(s.Close())
	must.Is(t, must.Err(s.Open(context.Background(), s.program("serial"))), plugins.ErrClosed)
	_, _, err := s.Tuples(1)
	must.Is(t, err, plugins.ErrClosed)
	must.Do(s.Close())
}

func kill(t *testing.T, pid int) { signal(t, pid, syscall.SIGKILL) }

func signal(t *testing.T, pid int, s syscall.Signal) {
	t.Helper()
	must.Do(syscall.Kill(pid, s))
}

// hostAct is a host that opens two engines, one of them behind a script, and is killed during a search. It prints the
// process IDs of the engines.
func hostAct() {
	self := must.Get(os.Executable())
	os.Setenv(actKey, "hangs")
	h := NewHost(slog.Default())
	parents := first(h.Parents(1000))
	script := os.Getenv(moreKey)
	for _, path := range []string{self, script} {
		client := must.Get(h.Open(context.Background(), Program{Path: path}))
		fmt.Println(client.PID())
		go client.Search(context.Background(), graph.Vertex(0), plugins.Output{Parent: parents})
	}
	fmt.Println("ready")
	forever()
}

func TestKilledHostLeavesNoEngineAndNoFile(t *testing.T) {
	temp, note := shortDirectory(t), filepath.Join(t.TempDir(), "behind")
	self := must.Get(os.Executable())
	script := filepath.Join(t.TempDir(), "engine")
	text := fmt.Sprintf("#!/bin/sh\n%s &\necho $! >%s\nwait\n", self, note)
	must.Do(os.WriteFile(script, []byte(text), 0o755))
	host := exec.Command(self)
	host.Env = append(os.Environ(), actKey+"=host", moreKey+"="+script, "TMPDIR="+temp)
	host.Stderr = os.Stderr
	out := must.Get(host.StdoutPipe())
	must.Do(host.Start())
	var engines []int
	for lines := bufio.NewScanner(out); lines.Scan() && lines.Text() != "ready"; {
		engines = append(engines, must.Get(strconv.Atoi(lines.Text())))
	}
	var behind []byte // which the shell may write after the engine's first output
	for start := time.Now(); len(behind) == 0 && time.Since(start) < time.Minute; time.Sleep(time.Millisecond) {
		behind, _ = os.ReadFile(note)
	}
	pid := must.Get(strconv.Atoi(strings.TrimSpace(string(behind))))
	if engines = append(engines, pid); len(engines) != 3 {
		t.Fatalf("engines %v, want 3", engines)
	}
	kill(t, host.Process.Pid)
	_ = host.Wait() // "signal: killed"
	for _, pid := range engines {
		if !must.Ends(pid) {
			t.Errorf("engine %d outlives its host", pid)
		}
	}
	if left := entries(temp); left != "" {
		t.Errorf("left in the temporary directory: %s", left)
	}
}

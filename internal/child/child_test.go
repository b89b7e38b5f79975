// SPDX-License-Identifier: Apache-2.0

package child

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tepsbench/teps/internal/must"
)

// TestMain starts this program as the parent of a program, if the environment names one.
func TestMain(m *testing.M) {
	program := os.Getenv("CHILD_TEST_PARENT")
	if program == "" {
		os.Exit(m.Run())
	}
	p := must.Get(Start(exec.Command("/bin/sh", "-c", program), syscall.SIGKILL, nil))
	fmt.Println(p.PID())
	_ = p.Wait()
}

func shell(script string) *exec.Cmd { return exec.Command("/bin/sh", "-c", script) }

func start(t *testing.T, cmd *exec.Cmd) *Process {
	t.Helper()
	p := must.Get(Start(cmd, syscall.SIGKILL, nil))
	t.Cleanup(func() { p.Kill(); _ = p.Wait() })
	return p
}

func TestStartFailsForAMissingProgram(t *testing.T) {
	_, err := Start(exec.Command("/nowhere/program"), 0, func() { t.Error("atEnd was called") })
	must.Is(t, err, os.ErrNotExist)
}

func TestEndOfProgram(t *testing.T) {
	for script, want := range map[string]string{
		"true":          "exit status 0",
		"exit 3":        "exit status 3",
		"kill -SEGV $$": "signal: segmentation fault",
		"kill -KILL $$": "signal: killed, but not by teps; is the machine out of memory?",
	} {
		p := start(t, shell(script))
		err := p.Wait()
		if got := p.State(); !strings.HasPrefix(got, want) || (err == nil) != (script == "true") {
			t.Errorf("%s: got %q, %v, want %q", script, got, err, want)
		}
	}
}

func TestOutputIsReadBeforeAtEndAndAtEndRunsBeforeExited(t *testing.T) {
	tail, text := NewTail(), ""
	cmd := shell("echo one; echo two >&2")
	cmd.Stdout, cmd.Stderr = tail, tail
	p := must.Get(Start(cmd, 0, func() {
		time.Sleep(10 * time.Millisecond)
		text = strings.Join(strings.Fields(tail.String()), " ")
	}))
	<-p.Exited()
	if text != "its last output: | one | two" && text != "its last output: | two | one" {
		t.Errorf("got %q", text)
	}
}

func TestProgramsLeftBehindAreKilled(t *testing.T) {
	const noEnvironment = "in another session, without an environment"
	const ready = "trap 'exit 0' USR1; export P=$$; "
	for name, script := range map[string]string{
		"in the group":         "sleep 1000 & echo $!",
		"in another session":   ready + "setsid sh -c 'echo $$; kill -USR1 $P; exec sleep 1000' & wait",
		"a child of an orphan": ready + "setsid sh -c '(sleep 1000 & echo $!; kill -USR1 $P) & wait' & wait",
		noEnvironment: ready +
			"setsid env -i P=$P /bin/sh -c 'echo $$; kill -USR1 $P; exec env -i sleep 1000' & wait",
	} {
		t.Run(name, func(t *testing.T) {
			if name != "in the group" && runtime.GOOS != "linux" {
				t.Skip("only Linux shows other processes")
			}
			bystander := start(t, exec.Command("sleep", "1000"))
			var out strings.Builder
			cmd := shell(script)
			cmd.Stdout = &out
			begin := time.Now()
			_ = start(t, cmd).Wait()
			var pid int
			must.Get(fmt.Sscan(out.String(), &pid))
			if d := time.Since(begin); d > 30*time.Second {
				t.Errorf("the end took %v", d)
			}
			if bystander.HasExited() {
				t.Error("the process of another program was killed")
			}
			if name == noEnvironment { // it may be the other program's
				if syscall.Kill(pid, 0) != nil {
					t.Error("killed while another program runs")
				}
				bystander.Kill()
				_ = bystander.Wait()
			}
			if reaped := errors.Is(syscall.Kill(pid, 0), syscall.ESRCH); !reaped && runtime.GOOS == "linux" || !must.Ends(pid) {
				t.Errorf("process %d is still there, reaped: %v", pid, reaped)
			}
		})
	}
}

func TestKillReachesTheGroup(t *testing.T) {
	cmd := shell("sleep 1000 & echo $!; wait")
	out := must.Get(cmd.StdoutPipe())
	p := start(t, cmd)
	var pid int
	must.Get(fmt.Fscan(out, &pid))
	if p.HasExited() || p.WaitFor(time.Millisecond) || p.Killed() {
		t.Error("the program has ended already")
	}
	p.Kill()
	_ = p.Wait()
	if !must.Ends(pid) || p.State() != "signal: killed" || !p.Killed() || !p.WaitFor(0) {
		t.Errorf("process %d: %s", pid, p.State())
	}
	p.Kill() // does nothing
}

func TestStopWaitsThenAsksThenKills(t *testing.T) {
	for _, c := range []struct {
		name, script    string
		leave, patience time.Duration
		want            string
	}{
		{"ends by itself", "echo; exit 5", time.Minute, time.Minute, "exit status 5"},
		{"ends when asked", "trap 'exit 6' TERM; echo; while true; do sleep 0.01; done", 0, time.Minute, "exit status 6"},
		{"ignores the request", "trap '' TERM; echo; while true; do sleep 0.01; done", 0, 20 * time.Millisecond,
			"signal: killed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			cmd := shell(c.script)
			out := must.Get(cmd.StdoutPipe())
			p := start(t, cmd)
			_, _ = bufio.NewReader(out).ReadString('\n') // it has set its trap
			if !p.Stop(c.leave, c.patience) {
				t.Fatal("still running")
			}
			if got := p.State(); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

// The kernel signals a program when the thread that started it ends.
func TestProgramOutlivesTheThreadThatStartedIt(t *testing.T) {
	started := make(chan *Process)
	go func() {
		runtime.LockOSThread() // and never unlocks: the thread ends with the goroutine
		started <- start(t, exec.Command("sleep", "1000"))
	}()
	if p := <-started; p.WaitFor(100 * time.Millisecond) {
		t.Errorf("the program died with the thread: %s", p.State())
	}
}

func TestEndOfContextKills(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	p := start(t, exec.CommandContext(ctx, "/bin/sh", "-c", "sleep 1000; true"))
	cancel()
	if err := p.Wait(); err == nil || !p.Killed() {
		t.Errorf("got %v, killed: %v", err, p.Killed())
	}
}

func TestProgramDiesWithItsParent(t *testing.T) {
	self := must.Get(os.Executable())
	parent := exec.Command(self)
	parent.Env = append(os.Environ(), "CHILD_TEST_PARENT=sleep 1000")
	out := must.Get(parent.StdoutPipe())
	must.Do(parent.Start())
	var pid int
	_, err := fmt.Fscan(out, &pid)
	_ = parent.Process.Kill()
	_ = parent.Wait()
	must.Do(err)
	if !must.Ends(pid) {
		t.Errorf("process %d outlives its parent", pid)
	}
}

// What this process starts without this package, and what it has inherited, is not an orphan.
func TestOtherChildrenAreLeftAlone(t *testing.T) {
	other := exec.Command("sleep", "1000")
	must.Do(other.Start())
	defer other.Process.Kill()
	ended := exec.Command("true")
	must.Do(ended.Start())
	must.Ends(ended.Process.Pid)
	self := must.Get(os.Executable())
	inherited := exec.Command("/bin/sh", "-c", `setsid sleep 1000 >/dev/null 2>&1 & echo $!; exec "$0"`, self)
	inherited.Env = append(os.Environ(), "CHILD_TEST_PARENT=true")
	out, err := inherited.Output()
	var pid int
	if _, scanErr := fmt.Sscan(string(out), &pid); err != nil || scanErr != nil {
		t.Fatal(err, scanErr)
	}
	if syscall.Kill(pid, syscall.SIGKILL) != nil {
		t.Error("a child that was inherited was killed")
	}
	_ = start(t, shell("true")).Wait()
	if syscall.Kill(other.Process.Pid, 0) != nil {
		t.Error("a child of this process was killed")
	}
	if err := ended.Wait(); err != nil {
		t.Errorf("a child of this process was reaped: %v", err)
	}
}

func newDir() *Dir { return must.Get(NewDir("teps-test-")) }

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func TestDirHasRoomForTheNamesOfSockets(t *testing.T) {
	t.Setenv("TMPDIR", "/tmp/"+strings.Repeat("x", maxBase))
	d := newDir()
	socket := filepath.Join(d.Path(), "plugin-dir1234567890", "plugin1234567890")
	if len(socket) > maxSocketPath {
		t.Errorf("%s has %d bytes", socket, len(socket))
	}
	if err := d.Remove(); err != nil || exists(d.Path()) {
		t.Errorf("%s is still there: %v", d.Path(), err)
	}
}

// The handshake of go-plugin is a line of fields with | between them.
func TestDirIsNotWhereAHandshakeWouldBreak(t *testing.T) {
	for _, name := range []string{"a\nb", "a|b", "a\r"} {
		base := filepath.Join(must.Get(os.MkdirTemp("/tmp", "c-")), name)
		defer os.RemoveAll(filepath.Dir(base))
		must.Do(os.Mkdir(base, 0o700))
		t.Setenv("TMPDIR", base)
		d := newDir()
		if filepath.Dir(d.Path()) != "/tmp" {
			t.Errorf("TMPDIR=%q: %q", base, d.Path())
		}
		must.Do(d.Remove())
	}
}

func TestDirInAMissingBase(t *testing.T) {
	t.Setenv("TMPDIR", "/nowhere")
	must.Fail(t, must.Err(NewDir("teps-test-")), "set TMPDIR")
}

func TestStaleDirsAreRemovedAndOthersAreNot(t *testing.T) {
	base := must.Get(os.MkdirTemp("/tmp", "child-"))
	defer os.RemoveAll(base)
	t.Setenv("TMPDIR", base)
	dead := exec.Command("true")
	must.Do(dead.Run())
	stale := filepath.Join(base, fmt.Sprintf("teps-test-%d-1", dead.Process.Pid))
	must.Do(os.MkdirAll(filepath.Join(stale, "socket"), 0o700))
	other := filepath.Join(base, fmt.Sprintf(".teps-out-%d-1", dead.Process.Pid)) // of another kind
	must.Do(os.Mkdir(other, 0o700))
	zombie := exec.Command("true") // nobody waits for it
	must.Do(zombie.Start())
	defer zombie.Wait()
	if !must.Ends(zombie.Process.Pid) {
		t.Fatal("it runs on")
	}
	unwaited := filepath.Join(base, fmt.Sprintf("teps-host-%d-1", zombie.Process.Pid))
	must.Do(os.Mkdir(unwaited, 0o700))
	must.Do(os.Mkdir(filepath.Join(base, "teps-test-x"), 0o700))
	shared := fmt.Sprintf("/dev/shm/teps-test-%d-1", dead.Process.Pid)
	if runtime.GOOS == "linux" {
		must.Do(os.MkdirAll(shared, 0o700))
	}
	living := newDir()
	if exists(shared) || exists(stale) || exists(other) || exists(unwaited) && runtime.GOOS == "linux" {
		t.Error("a directory of a dead process is still there")
	}
	// That of a process in another container, which is not visible here but holds the lock.
	hidden := newDir()
	elsewhere := filepath.Join(base, fmt.Sprintf("teps-test-%d-2", dead.Process.Pid))
	must.Do(os.Rename(hidden.Path(), elsewhere))
	third := newDir()
	for _, kept := range []string{living.Path(), elsewhere, filepath.Join(base, "teps-test-x")} {
		if !exists(kept) {
			t.Errorf("%s is gone", kept)
		}
	}
	_ = hidden.lock.Close()
	Sweep()
	if exists(elsewhere) {
		t.Error("the unlocked directory of a dead process is still there")
	}
	for _, d := range []*Dir{living, third} {
		must.Do(d.Remove())
	}
}

func TestLinesAreSplitWhereverWritesEnd(t *testing.T) {
	var got []string
	l := NewLines(func(line []byte) { got = append(got, string(line)) })
	for _, part := range []string{"one\ntw", "o\r\n\nthree", ", still three"} {
		if n, err := io.WriteString(l, part); n != len(part) || err != nil {
			t.Fatal(n, err)
		}
	}
	l.Flush()
	if want := "one|two|three, still three"; strings.Join(got, "|") != want {
		t.Errorf("got %q, want %s", got, want)
	}
	got = nil
	fmt.Fprint(l, strings.Repeat("x", maxLine+1))
	if len(got) != 1 {
		t.Errorf("an endless line was kept: %d lines", len(got))
	}
}

func tailOf(reasons []string, lines ...string) string {
	t := NewTail(reasons...)
	fmt.Fprint(t, strings.Join(lines, "\n"))
	return t.String()
}

func numbered(text string, n int) (lines []string) {
	for i := range n {
		lines = append(lines, fmt.Sprint(text, i))
	}
	return lines
}

func TestTail(t *testing.T) {
	last := strings.Join(numbered("line ", 50)[50-tailLines:], "\n  | ")
	begin := "its last output:\n  | "
	xs, many := strings.Repeat("x", 1000), numbered("line ", 100)
	for name, c := range map[string]struct {
		lines []string
		want  string
	}{
		"no output":             {nil, "it printed nothing"},
		"one line":              {[]string{"bye"}, "its last output: bye"},
		"the last lines":        {numbered("line ", 50), begin + last},
		"blank lines, rulers":   {[]string{"", "-----", "a", " == ", "b"}, begin + "a\n  | b"},
		"a long line":           {[]string{xs}, "its last output: " + xs[:tailBytes] + "..."},
		"a panic and its trace": {append([]string{"before", "panic: why"}, many...), "its last output: panic: why"},
		"a Python traceback": {
			[]string{"Traceback (most recent call last):", "  File \"engine\", line 1", "    f()", "ValueError: why"},
			"its last output: ValueError: why",
		},
		"an indented name": {[]string{"no such file:", "    hosts.txt"}, begin + "no such file:\n  | hosts.txt"},
		"a Go trace":       {[]string{"created by main.main", "\tmain.go:5 +0x25"}, "its last output: created by main.main"},
		"a given reason":   {append([]string{"ssh: no host"}, many...), "its last output: ssh: no host"},
	} {
		if got := tailOf([]string{"ssh: "}, c.lines...); !strings.HasPrefix(got, c.want) || strings.Contains(got, "line 99") {
			t.Errorf("%s: got %s, want %s", name, got, c.want)
		}
	}
}

// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tepsbench/teps/internal/must"
)

// terminal is a pseudoterminal that a command runs on.
type terminal struct {
	master *os.File
	done   chan error

	mu   sync.Mutex
	seen bytes.Buffer
}

// onTerminal starts a command with its input and standard error on a terminal of 100 columns, and its output too unless
// it has one already.
func onTerminal(t *testing.T, cmd *exec.Cmd) *terminal {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no pseudoterminal here: %v", err)
	}
	t.Cleanup(func() { master.Close() })
	number, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		err = unix.IoctlSetWinsize(int(master.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 40, Col: 100})
	}
	var slave *os.File
	if err == nil {
		slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	}
	if err != nil {
		t.Skipf("no pseudoterminal here: %v", err)
	}
	cmd.Stdin, cmd.Stderr = slave, slave
	if cmd.Stdout == nil {
		cmd.Stdout = slave
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	must.Do(cmd.Start())
	slave.Close()
	term := &terminal{master: master, done: make(chan error, 1)}
	go func() {
		_, err := io.Copy(term, master) // ends with EIO when the last process has left
		term.done <- err
	}()
	return term
}

func (term *terminal) Write(p []byte) (int, error) {
	term.mu.Lock()
	defer term.mu.Unlock()
	return term.seen.Write(p)
}

func (term *terminal) text() string {
	term.mu.Lock()
	defer term.mu.Unlock()
	return term.seen.String()
}

// end waits for the command and for everything that it has written.
func (term *terminal) end(t *testing.T, cmd *exec.Cmd) (text string, code int) {
	t.Helper()
	cmd.Wait()
	select {
	case <-term.done:
	case <-time.After(time.Minute):
		t.Error("the terminal is still open")
	}
	return term.text(), cmd.ProcessState.ExitCode()
}

// escape matches the sequences that control a terminal.
var escape = regexp.MustCompile("\x1b\\[[0-9;?]*[A-Za-z]")

// left is what remains visible on a terminal of the lines that were written to it.
func left(text string) []string {
	var lines []string
	for line := range strings.SplitSeq(strings.ReplaceAll(text, "\r\n", "\n"), "\n") {
		if i := strings.LastIndex(line, eraseLine); i >= 0 {
			line = line[i+len(eraseLine):]
		}
		lines = append(lines, line)
	}
	return lines
}

func TestATerminalGetsBarsAndIsLeftClean(t *testing.T) {
	for name, c := range map[string]struct {
		term string
		bars bool
	}{
		"a terminal":      {"TERM=xterm", true},
		"a dumb terminal": {"TERM=dumb", false},
	} {
		t.Run(name, func(t *testing.T) {
			cmd, temp := teps(t, "run", "--engine", "cpu", "--scale", "10", "--out", filepath.Join(t.TempDir(), "run"))
			cmd.Env = append(cmd.Env, c.term)
			text, code := onTerminal(t, cmd).end(t, cmd)
			if code != exitValid {
				t.Fatalf("exit code %d:\n%s", code, text)
			}
			kinds := map[string]bool{}
			for _, sequence := range escape.FindAllString(text, -1) {
				kinds[sequence] = true
			}
			if kinds["\x1b[K"] != c.bars || len(kinds) > 1 {
				t.Errorf("escape sequences: %v", kinds)
			}
			visible := left(text)
			for _, line := range visible {
				if n := len([]rune(escape.ReplaceAllString(line, ""))); n > 100 && !strings.HasPrefix(line, "official text, ") {
					t.Errorf("%d columns: %q", n, line)
				}
				if strings.Contains(line, "left") || strings.Contains(line, "[==") {
					t.Errorf("a bar stays behind: %q", line)
				}
			}
			if !strings.Contains(strings.Join(visible, "\n"), "\nscale 10: cpu: search: 64 roots, 0 invalid\n") {
				t.Errorf("what is left:\n%s", strings.Join(visible, "\n"))
			}
			nothingLeft(t, temp)
		})
	}
}

func TestCtrlCOnATerminalLeavesItClean(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	cmd, temp := teps(t, "run", "--engine", "cpu", "--scale", "12", "--roots", "4000", "--out", dir)
	cmd.Env = append(cmd.Env, "TERM=xterm")
	term := onTerminal(t, cmd)
	waitFor(t, "a bar with a time", func() bool { return strings.Contains(term.text(), " left") && rootsIn(dir) > 20 })
	if _, err := term.master.Write([]byte{3}); err != nil { // what the key sends
		t.Fatal(err)
	}
	text, code := term.end(t, cmd)
	must.Equal(t, code, exitInterrupted, "exit code")
	visible := left(text)
	must.Equal(t, visible[len(visible)-1], "", "the last line")
	for _, line := range visible {
		if strings.Contains(line, "[==") || strings.Contains(line, "^C") {
			t.Errorf("this stays behind: %q", line)
		}
	}
	if !strings.Contains(text, "finishing up") || !strings.Contains(text, "continue with: teps run --resume") {
		t.Errorf("what is left:\n%s", strings.Join(visible, "\n"))
	}
	nothingLeft(t, temp)
}

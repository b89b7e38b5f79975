package rpc

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tepsbench/teps/internal/child"
	"github.com/tepsbench/teps/plugins"
)

func TestProgramsThatCannotBeStartedAreRefused(t *testing.T) {
	s := newStage(t)
	folder := t.TempDir()
	write := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	// The header of an ELF program for an IBM S/390: 64 bits, little endian, without any segments.
	foreign := make([]byte, 64)
	copy(foreign, "\x7fELF\x02\x01\x01")
	foreign[16], foreign[18], foreign[20], foreign[52] = 2, 22, 1, 64
	fifo := filepath.Join(folder, "fifo")
	if err := syscall.Mkfifo(fifo, 0o755); err != nil {
		t.Fatal(err)
	}

	for name, c := range map[string]struct{ path, words string }{
		"no path":              {"", "no path is given"},
		"does not exist":       {filepath.Join(folder, "nothing"), "no such file"},
		"folder":               {folder, "is a directory"},
		"pipe":                 {fifo, "want a regular file"},
		"not executable":       {write("plain", "hello", 0o644), "chmod +x"},
		"text file":            {write("text", "hello", 0o755), "first line does not begin with #!"},
		"empty file":           {write("empty", "", 0o755), "first line does not begin with #!"},
		"missing interpreter":  {write("script", "#!/no/such/shell\n", 0o755), "interpreter or loader"},
		"another architecture": {write("foreign", string(foreign), 0o755), "built for another machine"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := s.Open(context.Background(), Program{Path: c.path})
			if !errors.Is(err, ErrProgram) {
				t.Fatalf("got %v, want ErrProgram", err)
			}
			mention(t, err, c.words)
		})
	}
	s.works(s.parents(3))
}

func TestProgramsThatFailTheHandshakeAreEnded(t *testing.T) {
	for act, c := range map[string]struct {
		want  error
		words []string
	}{
		"prints first":         {ErrHandshake, []string{`"Welcome to my engine!`, "print nothing before rpc.Serve"}},
		"prints binary":        {ErrHandshake, []string{`\x00`}},
		"says nothing":         {ErrHandshake, []string{"did not answer within 700ms", "killed"}},
		"closes its output":    {ErrHandshake, []string{"did not answer within 700ms"}},
		"exits at once":        {ErrHandshake, []string{"exit status 3", "these are my last words"}},
		"lies":                 {ErrHandshake, []string{"does not answer"}},
		"lies and exits":       {ErrHandshake, []string{"exit status 4"}},
		"has no certificate":   {ErrHandshake, []string{"certificate"}},
		"names another host":   {ErrHandshake, []string{`the address "tcp 192.0.2.1:80"; want a Unix socket`}},
		"speaks net/rpc":       {ErrHandshake, []string{"offers no gRPC"}},
		"speaks version 2":     {ErrHandshake, []string{"it implements version 2"}},
		"wants another cookie": {ErrHandshake, []string{"exit status 1", "This binary is a plugin"}},
	} {
		t.Run(act, func(t *testing.T) {
			s := newStage(t)
			p := s.program(act)
			usual := s.limits.start
			if act == "says nothing" || act == "closes its output" { // the others end by themselves
				s.limits.start = 700 * time.Millisecond
			}
			_, err := s.Open(context.Background(), p)
			if !errors.Is(err, c.want) {
				t.Fatalf("got %v, want %v", err, c.want)
			}
			mention(t, err, c.words...)
			s.limits.start = usual
			p = s.program("serial")
			if _, err := s.Open(context.Background(), p); err != nil {
				t.Errorf("another engine afterwards: %v", err)
			}
		})
	}
}

func TestOpenEndsWithItsContext(t *testing.T) {
	s := newStage(t)
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	if _, err := s.Open(ctx, s.program("says nothing")); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want DeadlineExceeded", err)
	}
	if _, err := s.Open(ctx, s.program("serial")); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want DeadlineExceeded", err)
	}
}

// A context may end while the system still starts the program.
func TestProcessKilledBeforeItHasStartedEnds(t *testing.T) {
	p := &process{cmd: exec.Command("sleep", "1000"), logger: slog.New(slog.DiscardHandler), tail: child.NewTail()}
	p.kill()
	if err := p.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !p.hasEnded(time.Minute) || !p.started().Killed() {
		t.Error("the process runs on")
	}
}

func TestProgramWithAnotherChecksumIsRefused(t *testing.T) {
	copied := filepath.Join(t.TempDir(), "engine") // first, because it must outlive the host
	s := newStage(t)
	client := s.open("serial")
	if out, err := exec.Command("cp", s.self, copied).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	p := s.program("serial")
	p.Path, p.SHA256 = copied, strings.ToUpper(client.Checksum())
	if same, err := s.Open(context.Background(), p); err != nil {
		t.Fatalf("a copy has the same checksum: %v", err)
	} else if same.Checksum() != client.Checksum() {
		t.Errorf("checksums of a file and its copy: %s and %s", client.Checksum(), same.Checksum())
	}
	file, err := os.OpenFile(copied+"2", os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	original, err := os.ReadFile(copied)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := file.Write(append(original, 0)); err != nil {
		t.Fatal(err)
	}
	file.Close()
	p.Path = copied + "2"
	_, err = s.Open(context.Background(), p)
	if !errors.Is(err, ErrChecksum) {
		t.Fatalf("got %v, want ErrChecksum", err)
	}
	mention(t, err, strings.ToUpper(client.Checksum()))
}

func TestProgramThatChangesWhileItStartsIsRefused(t *testing.T) {
	s := newStage(t)
	p := s.script("echo >>\"$0\"\nexec " + s.self)
	if _, err := s.Open(context.Background(), p); !errors.Is(err, ErrChecksum) {
		t.Errorf("got %v, want ErrChecksum", err)
	}
}

func TestFileThatChangesDuringTheRunIsNoticed(t *testing.T) {
	s := newStage(t)
	p := s.script("exec " + s.self)
	touch := func(seconds int64) {
		t.Helper()
		if err := os.Chtimes(p.Path, time.Time{}, time.Unix(seconds, 0)); err != nil {
			t.Fatal(err)
		}
	}
	touch(1e9)
	open := func() *Client {
		t.Helper()
		client, err := s.Open(context.Background(), p)
		if err != nil {
			t.Fatal(err)
		}
		return client
	}
	touched := open()
	touch(2e9)
	if err := touched.Close(); err != nil {
		t.Errorf("touched: %v", err)
	}
	changed, removed := open(), open()
	if err := os.WriteFile(p.Path, []byte("#!/bin/sh\nexec "+s.self+"\n# more\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	touch(1e9)
	if err := changed.Close(); !errors.Is(err, ErrChecksum) {
		t.Errorf("changed: got %v, want ErrChecksum", err)
	}
	if _, err := s.Open(context.Background(), p); !errors.Is(err, ErrChecksum) {
		t.Errorf("opened again: got %v, want ErrChecksum", err)
	}
	if err := os.Remove(p.Path); err != nil {
		t.Fatal(err)
	}
	if err := removed.Close(); !errors.Is(err, ErrChecksum) {
		t.Errorf("removed: got %v, want ErrChecksum", err)
	}
}

func TestWrapperScriptCanBeAnEngine(t *testing.T) {
	s := newStage(t)
	client, err := s.Open(context.Background(), s.script(s.self+" &\nwait"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Describe(context.Background()); err != nil {
		t.Error(err)
	}
	if err := client.Close(); err != nil {
		t.Error(err)
	}
}

func TestEngineRunByHandSaysWhatItIs(t *testing.T) {
	var stdout, stderr strings.Builder
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), actKey+"=serial")
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	var exit *exec.ExitError
	if err := cmd.Run(); !errors.As(err, &exit) || exit.ExitCode() != 2 {
		t.Errorf("got %v, want exit status 2", err)
	}
	text := stderr.String()
	if !strings.Contains(text, "this is an engine of teps") || !strings.Contains(text, "teps run: "+self) {
		t.Errorf("it says %q", stderr.String())
	}
	if stdout.Len() > 0 {
		t.Errorf("it prints %q on standard output", stdout.String())
	}
}

func TestEnvironmentIsInheritedWithoutThatOfAnOuterHost(t *testing.T) {
	s := newStage(t)
	t.Setenv("TEPS_TEST_INHERITED", "inherited")
	t.Setenv("PLUGIN_UNIX_SOCKET_GROUP", "no-such-group")
	t.Setenv(moreKey, "of the host")
	client := s.open("shows its environment")
	_, err := client.Search(context.Background(), 0, s.parents(1))
	if want := "of the host|inherited|"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestEngineIsInAProcessGroupOfItsOwn(t *testing.T) {
	s := newStage(t)
	client := s.open("serial")
	if group, err := syscall.Getpgid(client.PID()); err != nil || group != client.PID() {
		t.Errorf("engine %d is in group %d (%v)", client.PID(), group, err)
	}
}

func TestClosedHostOpensAndAllocatesNothing(t *testing.T) {
	s := newStage(t)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Open(context.Background(), s.program("serial")); !errors.Is(err, plugins.ErrClosed) {
		t.Errorf("Open: got %v, want ErrClosed", err)
	}
	if _, _, err := s.Tuples(1); !errors.Is(err, plugins.ErrClosed) {
		t.Errorf("Tuples: got %v, want ErrClosed", err)
	}
	if err := s.Close(); err != nil {
		t.Errorf("a second Close: %v", err)
	}
}

func TestUnwritableTemporaryDirectoryIsNamed(t *testing.T) {
	s := newStage(t)
	t.Setenv("TMPDIR", "/proc/1")
	_, err := s.Open(context.Background(), s.program("serial"))
	if err == nil {
		t.Fatal("want an error")
	}
	mention(t, err, "/proc/1", "TMPDIR", "33 bytes")
}

func TestLongTemporaryDirectoryIsReplaced(t *testing.T) {
	s := newStage(t)
	long := filepath.Join(t.TempDir(), strings.Repeat("long", 25))
	if err := os.Mkdir(long, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", long)
	s.works(s.parents(3))
}

func kill(t *testing.T, pid int) { signal(t, pid, syscall.SIGKILL) }

func signal(t *testing.T, pid int, s syscall.Signal) {
	t.Helper()
	if err := syscall.Kill(pid, s); err != nil {
		t.Fatal(err)
	}
}

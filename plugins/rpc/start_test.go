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
		check(t, os.WriteFile(path, []byte(text), mode))
		return path
	}
	// The header of an ELF program for an IBM S/390: 64 bits, little endian, without any segments.
	foreign := make([]byte, 64)
	copy(foreign, "\x7fELF\x02\x01\x01")
	foreign[16], foreign[18], foreign[20], foreign[52] = 2, 22, 1, 64
	fifo := filepath.Join(folder, "fifo")
	check(t, syscall.Mkfifo(fifo, 0o755))

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
			wantError(t, second(s.Open(context.Background(), Program{Path: c.path})), ErrProgram, c.words)
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
			wantError(t, second(s.Open(context.Background(), p)), c.want, c.words...)
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
	wantError(t, second(s.Open(ctx, s.program("says nothing"))), context.DeadlineExceeded)
	wantError(t, second(s.Open(ctx, s.program("serial"))), context.DeadlineExceeded)
}

// A context may end while the system still starts the program.
func TestProcessKilledBeforeItHasStartedEnds(t *testing.T) {
	p := &process{cmd: exec.Command("sleep", "1000"), logger: slog.New(slog.DiscardHandler), tail: child.NewTail()}
	p.kill()
	check(t, p.Start(t.Context()))
	if !p.hasEnded(time.Minute) || !p.started().Killed() {
		t.Error("the process runs on")
	}
}

func TestProgramWithAnotherChecksumIsRefused(t *testing.T) {
	s := newStage(t)
	p := s.program("serial")
	p.SHA256 = strings.ToUpper(s.open("serial").Checksum())
	must(s.Open(t.Context(), p))
	p.SHA256 = strings.Repeat("0", 64)
	wantError(t, second(s.Open(t.Context(), p)), ErrChecksum, p.SHA256)
}

func TestProgramThatChangesWhileItStartsIsRefused(t *testing.T) {
	s := newStage(t)
	p := s.script("echo >>\"$0\"\nexec " + s.self)
	wantError(t, second(s.Open(context.Background(), p)), ErrChecksum)
}

func TestFileThatChangesDuringTheRunIsNoticed(t *testing.T) {
	s := newStage(t)
	p := s.script("exec " + s.self)
	touch := func(seconds int64) {
		t.Helper()
		check(t, os.Chtimes(p.Path, time.Time{}, time.Unix(seconds, 0)))
	}
	touch(1e9)
	open := func() *Client { return must(s.Open(context.Background(), p)) }
	touched := open()
	touch(2e9)
	if err := touched.Close(); err != nil {
		t.Errorf("touched: %v", err)
	}
	changed, removed := open(), open()
	check(t, os.WriteFile(p.Path, []byte("#!/bin/sh\nexec "+s.self+"\n# more\n"), 0o755))
	touch(1e9)
	wantError(t, changed.Close(), ErrChecksum)
	wantError(t, second(s.Open(context.Background(), p)), ErrChecksum)
	check(t, os.Remove(p.Path))
	wantError(t, removed.Close(), ErrChecksum)
}

func TestEngineRunByHandSaysWhatItIs(t *testing.T) {
	self := must(os.Executable())
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), actKey+"=serial")
	stdout, err := cmd.Output()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 2 || len(stdout) > 0 {
		t.Fatalf("got %v and %q on standard output, want exit status 2", err, stdout)
	}
	mention(t, errors.New(string(exit.Stderr)), "this is an engine of teps", "teps run: "+self)
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

func TestClosedHostOpensAndAllocatesNothing(t *testing.T) {
	s := newStage(t)
	check(t, s.Close())
	wantError(t, second(s.Open(context.Background(), s.program("serial"))), plugins.ErrClosed)
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
	check(t, os.Mkdir(long, 0o700))
	t.Setenv("TMPDIR", long)
	s.works(s.parents(3))
}

func kill(t *testing.T, pid int) { signal(t, pid, syscall.SIGKILL) }

func signal(t *testing.T, pid int, s syscall.Signal) {
	t.Helper()
	check(t, syscall.Kill(pid, s))
}

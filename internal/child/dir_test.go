package child

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func newDir(t *testing.T) *Dir {
	t.Helper()
	d := must(NewDir("teps-test-"))
	return d
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func TestDirHasRoomForTheNamesOfSockets(t *testing.T) {
	t.Setenv("TMPDIR", "/tmp/"+strings.Repeat("x", maxBase))
	d := newDir(t)
	socket := filepath.Join(d.Path(), "plugin-dir1234567890", "plugin1234567890")
	if len(socket) > maxSocketPath {
		t.Errorf("%s has %d bytes", socket, len(socket))
	}
	if err := d.Remove(); err != nil || exists(d.Path()) {
		t.Errorf("%s is still there: %v", d.Path(), err)
	}
}

func TestDirInAMissingBase(t *testing.T) {
	t.Setenv("TMPDIR", "/nowhere")
	if _, err := NewDir("teps-test-"); err == nil || !strings.Contains(err.Error(), "set TMPDIR") {
		t.Errorf("got %v", err)
	}
}

func TestStaleDirsAreRemovedAndOthersAreNot(t *testing.T) {
	base := must(os.MkdirTemp("/tmp", "child-"))
	defer os.RemoveAll(base)
	t.Setenv("TMPDIR", base)
	dead := exec.Command("true")
	check(t, dead.Run())
	stale := filepath.Join(base, fmt.Sprintf("teps-test-%d-1", dead.Process.Pid))
	check(t, os.MkdirAll(filepath.Join(stale, "socket"), 0o700))
	check(t, os.Mkdir(filepath.Join(base, "teps-test-x"), 0o700))
	living := newDir(t)
	if exists(stale) {
		t.Error("the directory of a dead process is still there")
	}
	// That of a process in another container, which is not visible here but holds the lock.
	hidden := newDir(t)
	elsewhere := filepath.Join(base, fmt.Sprintf("teps-test-%d-2", dead.Process.Pid))
	check(t, os.Rename(hidden.Path(), elsewhere))
	third := newDir(t)
	for _, kept := range []string{living.Path(), elsewhere, filepath.Join(base, "teps-test-x")} {
		if !exists(kept) {
			t.Errorf("%s is gone", kept)
		}
	}
	_ = hidden.lock.Close()
	removeStale(base, "teps-test-")
	if exists(elsewhere) {
		t.Error("the unlocked directory of a dead process is still there")
	}
	for _, d := range []*Dir{living, third} {
		check(t, d.Remove())
	}
}

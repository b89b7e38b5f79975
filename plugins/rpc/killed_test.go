package rpc

// A host that is killed: its engines end with it, and it leaves no file behind, or at least none that the next host
// does not find.

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tepsbench/teps/graph"
)

// hostAct is a host that opens two engines, one of them behind a script, and is in a search when it is killed. It
// prints the numbers of the engines' processes.
func hostAct() {
	self, err := os.Executable()
	if err != nil {
		panic(err)
	}
	os.Unsetenv(actKey)
	h, err := NewHost(HostOptions{})
	if err != nil {
		panic(err)
	}
	parents, _, err := h.Parents(1000)
	if err != nil {
		panic(err)
	}
	script := os.Getenv(moreKey)
	for _, p := range []Program{
		{Path: self, Env: []string{actKey + "=hangs"}},
		{Path: script, Env: []string{actKey + "=hangs"}},
	} {
		client, err := h.Open(context.Background(), p)
		if err != nil {
			panic(err)
		}
		fmt.Println(client.PID())
		go client.Search(context.Background(), graph.Vertex(0), parents)
	}
	fmt.Println("ready")
	forever()
}

func TestAKilledHostLeavesNoEngineAndNoFile(t *testing.T) {
	temp, note := shortFolder(t), filepath.Join(t.TempDir(), "behind")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	script := filepath.Join(t.TempDir(), "engine")
	text := fmt.Sprintf("#!/bin/sh\n%s &\necho $! >%s\nwait\n", self, note)
	if err := os.WriteFile(script, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	host := exec.Command(self)
	host.Env = append(os.Environ(), actKey+"=host", moreKey+"="+script, "TMPDIR="+temp)
	host.Stderr = os.Stderr
	out, err := host.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := host.Start(); err != nil {
		t.Fatal(err)
	}
	var engines []int
	for lines := bufio.NewScanner(out); lines.Scan() && lines.Text() != "ready"; {
		pid, err := strconv.Atoi(lines.Text())
		if err != nil {
			t.Fatalf("the host says %q", lines.Text())
		}
		engines = append(engines, pid)
	}
	var behind []byte // which the shell may write later than the engine's first words come
	for start := time.Now(); len(behind) == 0 && time.Since(start) < 10*time.Second; time.Sleep(time.Millisecond) {
		behind, _ = os.ReadFile(note)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(behind)))
	if err != nil {
		t.Fatal(err)
	}
	if engines = append(engines, pid); len(engines) != 3 {
		t.Fatalf("engines %v, want 3", engines)
	}
	kill(t, host.Process.Pid)
	_ = host.Wait() // "signal: killed"
	for _, pid := range engines {
		if !diesWithin(pid, 2*time.Second) {
			t.Errorf("engine %d outlives its host", pid)
		}
	}
	if left := entries(temp); left != "" {
		t.Errorf("left in the temporary folder: %s", left)
	}
}

func TestTheFolderOfADeadHostIsSweptAndThatOfALivingOneIsNot(t *testing.T) {
	s := newStage(t, HostOptions{})
	dead := exec.Command("true")
	if err := dead.Run(); err != nil {
		t.Fatal(err)
	}
	temp := os.TempDir()
	stale := filepath.Join(temp, fmt.Sprintf("%s%d-1", folderPrefix, dead.Process.Pid))
	if err := os.MkdirAll(filepath.Join(stale, "plugin-dir1"), 0o700); err != nil {
		t.Fatal(err)
	}
	var living folder
	path, err := living.path()
	if err != nil {
		t.Fatal(err)
	}
	// A folder whose owner cannot be seen from here (another container), but holds the lock.
	var hidden folder
	if _, err := hidden.path(); err != nil {
		t.Fatal(err)
	}
	elsewhere := filepath.Join(temp, fmt.Sprintf("%s%d-2", folderPrefix, dead.Process.Pid))
	if err := os.Rename(hidden.lock.Name(), elsewhere); err != nil {
		t.Fatal(err)
	}
	s.open("serial")
	if _, err := os.Stat(stale); err == nil {
		t.Error("the folder of a dead host is still there")
	}
	for _, kept := range []string{path, elsewhere} {
		if _, err := os.Stat(kept); err != nil {
			t.Errorf("the folder of a living host is gone: %v", err)
		}
	}
	if err := living.remove(); err != nil {
		t.Error(err)
	}
	hidden.lock.Close()
	sweep(temp)
	if left := entries(temp); left != "" {
		t.Errorf("left: %s", left)
	}
}

package rpc

import (
	"bufio"
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tepsbench/teps/graph"
)

// hostAct is a host that opens two engines, one of them behind a script, and is killed during a search. It prints the
// process IDs of the engines.
func hostAct() {
	self := must(os.Executable())
	os.Setenv(actKey, "hangs")
	h := NewHost(slog.Default())
	parents := first(h.Parents(1000))
	script := os.Getenv(moreKey)
	for _, path := range []string{self, script} {
		client := must(h.Open(context.Background(), Program{Path: path}))
		fmt.Println(client.PID())
		go client.Search(context.Background(), graph.Vertex(0), parents)
	}
	fmt.Println("ready")
	forever()
}

func TestKilledHostLeavesNoEngineAndNoFile(t *testing.T) {
	temp, note := shortFolder(t), filepath.Join(t.TempDir(), "behind")
	self := must(os.Executable())
	script := filepath.Join(t.TempDir(), "engine")
	text := fmt.Sprintf("#!/bin/sh\n%s &\necho $! >%s\nwait\n", self, note)
	check(t, os.WriteFile(script, []byte(text), 0o755))
	host := exec.Command(self)
	host.Env = append(os.Environ(), actKey+"=host", moreKey+"="+script, "TMPDIR="+temp)
	host.Stderr = os.Stderr
	out := must(host.StdoutPipe())
	check(t, host.Start())
	var engines []int
	for lines := bufio.NewScanner(out); lines.Scan() && lines.Text() != "ready"; {
		pid, err := strconv.Atoi(lines.Text())
		if err != nil {
			t.Fatalf("the host says %q", lines.Text())
		}
		engines = append(engines, pid)
	}
	var behind []byte // which the shell may write after the engine's first output
	for start := time.Now(); len(behind) == 0 && time.Since(start) < time.Minute; time.Sleep(time.Millisecond) {
		behind, _ = os.ReadFile(note)
	}
	pid := must(strconv.Atoi(strings.TrimSpace(string(behind))))
	if engines = append(engines, pid); len(engines) != 3 {
		t.Fatalf("engines %v, want 3", engines)
	}
	kill(t, host.Process.Pid)
	_ = host.Wait() // "signal: killed"
	for _, pid := range engines {
		if !dies(pid) {
			t.Errorf("engine %d outlives its host", pid)
		}
	}
	if left := entries(temp); left != "" {
		t.Errorf("left in the temporary folder: %s", left)
	}
}

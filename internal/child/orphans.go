// SPDX-License-Identifier: Apache-2.0

package child

// Two things show which processes a program leaves behind outside its group:
//
//   - A variable in the environment names the program, so that only its own processes are killed while other programs
//     run. A process can clear its environment.
//   - This process is a subreaper (prctl(2), PR_SET_CHILD_SUBREAPER), so an orphan becomes its child. Nothing shows
//     whose orphan it is, so those without the variable are killed when no program is running any more.

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// family is the known children of this process.
var family struct {
	sync.Mutex              // held while a program starts, so that it is not taken for an orphan
	running    map[int]bool // process IDs of programs
	inherited  map[int]bool // from what this process was before its execve: not ours to kill
}

func begin(cmd *exec.Cmd) error {
	family.Lock()
	defer family.Unlock()
	if family.running == nil {
		family.running, family.inherited = map[int]bool{}, map[int]bool{}
		for _, r := range relatives() {
			family.inherited[r.pid] = r.parent == os.Getpid()
		}
		adoptOrphans()
	}
	err := cmd.Start()
	if err == nil {
		family.running[cmd.Process.Pid] = true
	}
	return err
}

// killOrphans kills the processes that the program has left behind, until they are gone, but at most for killTime.
func (p *Process) killOrphans() {
	family.Lock()
	defer family.Unlock()
	delete(family.running, p.PID())
	for end := time.Now().Add(killTime); p.killFound() > 0 && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
}

// killFound kills the orphans, reaps those that have ended, and returns how many are left.
func (p *Process) killFound() (n int) {
	for _, r := range relatives() {
		orphan := r.isOrphan()
		if orphan && r.ended {
			_, _ = syscall.Wait4(r.pid, nil, syscall.WNOHANG, nil)
			continue
		}
		found, err := os.FindProcess(r.pid) // this process, even if another one gets its ID later
		if err != nil {
			continue
		}
		// A process that has been killed has no environment.
		environment, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", r.pid))
		if orphan && (r.group == p.PID() || len(family.running) == 0) || bytes.Contains(environment, []byte(p.mark)) {
			_ = found.Kill()
			n++
		}
		_ = found.Release()
	}
	return n
}

type relative struct {
	pid, parent, group int
	ended              bool // and not yet reaped
}

// isOrphan reports whether this process has adopted r. Processes that this one starts without this package stay in its
// group. The first process of a container adopts all orphans.
func (r relative) isOrphan() bool {
	return r.parent == os.Getpid() && r.parent != 1 && r.group != syscall.Getpgrp() && !family.running[r.pid] &&
		!family.inherited[r.pid]
}

// relatives lists all processes; none where there is no /proc.
func relatives() (all []relative) {
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, file := range files {
		stat, _ := os.ReadFile(file)
		r, state := relative{}, ""
		r.pid, _ = strconv.Atoi(filepath.Base(filepath.Dir(file)))
		_, fields, _ := strings.Cut(string(stat[bytes.LastIndexByte(stat, ')')+1:]), " ") // the name may have anything
		if n, _ := fmt.Sscan(fields, &state, &r.parent, &r.group); n == 3 {
			r.ended = state == "Z"
			all = append(all, r)
		}
	}
	return all
}

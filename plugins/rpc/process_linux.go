package rpc

import (
	"bytes"
	"fmt"
	"os"
	"syscall"
)

// processAttributes puts an engine into a process group of its own, so that Ctrl-C at a terminal reaches the host
// alone and a kill reaches all that the engine has started; and lets the kernel kill it when the host dies, however.
func processAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// isStopped tells whether a process is stopped by a signal (state T). A process under a debugger (state t) is not.
func isStopped(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	// The state follows the name, which is in brackets and may itself hold brackets and blanks; see proc(5).
	rest := stat[bytes.LastIndexByte(stat, ')')+1:]
	return len(rest) > 1 && rest[1] == 'T'
}

//go:build !linux

package distributed

import "syscall"

// jobAttributes is the plain twin of the one for Linux: no other system tells mpirun that the engine has died, but rank 0
// finds its input closed then and ends the job.
func jobAttributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// SPDX-License-Identifier: Apache-2.0

//go:build unix && !linux

package child

import (
	"errors"
	"net"
	"syscall"
)

func attributes(syscall.Signal) *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// What else this package does needs Linux, apart from stopping the process group.

func adoptOrphans() {}

func (p *Process) Freeze()         { _ = p.Signal(syscall.SIGSTOP) }
func (p *Process) IsStopped() bool { return false }

func Peer(*net.UnixConn) (int, error)     { return 0, errors.ErrUnsupported }
func Adopt(int, func()) (*Process, error) { return nil, errors.ErrUnsupported }

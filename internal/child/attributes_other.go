// SPDX-License-Identifier: Apache-2.0

//go:build unix && !linux

package child

import "syscall"

// attributes cannot ask for a signal when the parent dies: only Linux has one.
func attributes(syscall.Signal) *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

func adoptOrphans() {}

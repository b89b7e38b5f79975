// SPDX-License-Identifier: Apache-2.0

//go:build unix && !linux

package child

import "syscall"

func attributes(syscall.Signal) *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

func adoptOrphans() {}

// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package team

import "runtime"

// YieldProcessor lets other work run on this processor. Through the Go scheduler this delays the next phase by some
// microseconds; yield_linux.go avoids that.
func YieldProcessor() { runtime.Gosched() }

// spread_linux.go moves workers that wake up on one processor apart.
type places struct{}

func (*places) spread() int { return 0 }
func (*places) leave(int)   {}

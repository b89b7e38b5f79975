// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package team

import (
	"errors"
	"runtime"
)

// YieldProcessor lets other work run on this processor.
func YieldProcessor() { runtime.Gosched() }

type places struct{}

func (*places) spread() int { return 0 }
func (*places) leave(int)   {}

type pins struct{}

// NewPinned needs Linux.
func NewPinned(int) (*Team, error) {
	return nil, errors.New("pinning workers to processors needs Linux")
}

func (*pins) pin(int) {}
func (*pins) unpin()  {}

// Bind needs Linux.
func Bind(_, _, _ int) bool { return false }

// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package team

import "errors"

// pins would hold each worker to a processor.
type pins struct{}

// NewPinned needs Linux.
func NewPinned(int) (*Team, error) {
	return nil, errors.New("pinning workers to processors needs Linux")
}

func (*pins) pin(int) {}
func (*pins) unpin()  {}

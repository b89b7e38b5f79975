// SPDX-License-Identifier: Apache-2.0

//go:build unix && !linux

package child

import (
	"errors"
	"net"
)

// Peer and Adopt need Linux.
func Peer(*net.UnixConn) (int, error)     { return 0, errors.ErrUnsupported }
func Adopt(int, func()) (*Process, error) { return nil, errors.ErrUnsupported }

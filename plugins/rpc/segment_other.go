// SPDX-License-Identifier: Apache-2.0

//go:build unix && !linux

package rpc

import "os"

func openBacking(_ string, size int64) (*os.File, string, func() error, error) {
	return openFile(os.TempDir(), size)
}

// Only Linux has seals, and asks for pages in advance; elsewhere they come with their first use.
func seal(*os.File, bool)         {}
func collapse([]byte)             {}
func populate([]byte, bool) error { return nil }

// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package mpi

import "os"

func system() string { return "" }

func shareMemory[T any](string, int) (memory []T, at string, file *os.File) {
	return nil, "", nil
}
func openMemory[T any](string, string, int) []T { return nil }

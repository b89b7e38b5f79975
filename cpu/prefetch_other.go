// SPDX-License-Identifier: Apache-2.0

//go:build !amd64

package cpu

func prefetch(*uint32, int, *uint64, int) {}

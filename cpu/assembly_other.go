// SPDX-License-Identifier: Apache-2.0

//go:build !amd64

package cpu

import "github.com/tepsbench/teps/cpu/layout"

func prefetch(*uint32, int, *uint64, int) {}

func prefetchNeighbors(*uint64, *layout.Head, int, *uint32, int) {}

func prefetchLines(*byte, int) {}

func (*paths) lookFirstVector(*pathWorker, []uint32) (n, rest, hard int) { return 0, 0, 0 }

// SPDX-License-Identifier: Apache-2.0

// Package driver has the parts that the engines for NVIDIA GPUs share: the driver, a GPU with kernels loaded, memory on
// it, sorting, and the clocks of both kernels. Kernels are in images that cuda/build.sh makes.
//
// Without the build tag cuda it only says that it is missing.
package driver

// Constants of kernels/tuning.cuh; a test of package cuda compares them.
const (
	Threads    = 256  // THREADS: threads of a block of every kernel that follows no other rule
	SumThreads = 1024 // SUM_THREADS: threads of the block of prefix_sums
	SortKeys   = 16   // SORT_KEYS: keys that a thread sorts at a time
)

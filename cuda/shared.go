// SPDX-License-Identifier: Apache-2.0

package cuda

import "github.com/tepsbench/teps/cuda/driver"

// Constants that host and device share; a test compares them. cuda/generate.py makes the structures that they share
// (structures.gen.go) and a function for each kernel that the host launches (kernels.gen.go); openGPU compares the
// sizes of the structures with those of the kernels that were compiled.

//go:generate python3 generate.py

const (
	maxRanks     = 16                    // MAX_RANKS: GPUs that search a graph together
	chunkWords   = 8                     // CHUNK_WORDS: words of consecutive vertices that have the same owner
	mailboxBytes = maxRanks * 2 * 10 * 8 // struct Mailbox

	maxRanges    = 4096           // MAX_RANGES: ranges of vertices that are counted separately before lists are sorted
	none         = 1<<32 - 1      // NONE: not a vertex, not a label
	launchLevels = 65536          // LEVELS: levels that one launch of the search runs
	blockThreads = driver.Threads // of a block of every kernel but search and prefix_sums
)

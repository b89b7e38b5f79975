// SPDX-License-Identifier: Apache-2.0

// Every constant that was chosen by measuring, in one place. None of them changes a result.
#pragma once

// The search.
constexpr int SEARCH_THREADS = 800;        // threads of a block that search; one block runs on each multiprocessor
constexpr int COPY_THREADS = 96;           // further threads of a block, which copy the output template
constexpr int CACHED_VERTICES = 1 << 19;   // vertices whose frontier bits a block caches in shared memory, if they fit
constexpr int WORDS_PER_THREAD = 2;        // bitmap words that a searching thread reads at a time
constexpr int PENDING_WORDS = 2400;        // words whose lists a block collects bottom-up before it scans them
constexpr int WORDS_PER_WARP = 2;          // words whose aligned blocks a bottom-up warp scans at a time
constexpr int SCAN_ENTRIES = 4;            // entries of a CSR list that a bottom-up lane reads before it tests one
constexpr int EDGES_PER_LANE = 4;          // edges that a top-down lane reads before it follows the first of them
constexpr int PIECES_PER_WARP = 4;         // pieces of a large level's edges that a warp takes
constexpr int MIN_EDGES = 128;             // edges in a piece at least
constexpr int ONE_BLOCK_EDGES = 2048;      // one block follows a sparse frontier with at most as many edges
constexpr int DENSE_SHARE = 8;             // a dense frontier becomes sparse below 1/DENSE_SHARE edges a word
constexpr int SPARSE_EDGES = 128;          // edges for each word of a bitmap beyond which no frontier is sparse
constexpr int SPARSE_EDGES_PER_LANE = 4;   // edges of a sparse frontier that a lane follows at a time
constexpr int EXCHANGE_ROWS = 4;           // rows of words that a warp reads before it pushes the first of them to other GPUs
constexpr int BITMAP_EDGES = 8;            // edges of a frontier for each own word beyond which a grid sends bitmaps
constexpr int WAKE_WORDS = 1 << 18;        // words that a GPU writes to each other one to wake all links between them
constexpr int WARP_LENGTH = 32;            // a list of a sparse frontier that is longer than this is shared by a warp
constexpr int SPARSE_LENGTH = 1024;        // a frontier with a list longer than this is made dense
constexpr int SPARSE_FOUND = 4096;         // vertices that a block finds from a sparse frontier before it appends them

// Top-down by dynamic parallelism.
constexpr int CHILD_THREADS = 128;         // threads of a block of a child grid
constexpr int CHILD_EDGES = 512;           // lists at least this long get a child grid

// Output.
constexpr int COPY_PAIRS = 8;              // pairs of parents that a copying thread reads at a time
constexpr int CORRECTIONS_PER_WARP = 64;   // corrections that a warp buffers before it adds them to the list
constexpr int CORRECTIONS_PER_THREAD = 2;  // corrections that a thread writes out at a time
constexpr int CORRECTIONS_PER_PART = 256;  // corrections that a block writes out at a time

// Shortest paths.
constexpr int PATH_THREADS = 1024;         // threads of a block; one block runs on each multiprocessor
constexpr int BLOCK_QUEUE = 2048;          // vertices that a block queues before it adds them to the queue of all
constexpr int ONE_BLOCK_ENTRIES = 2048;    // one block runs rounds with at most as many entries
constexpr int WARP_ACTIVE = 192;           // active vertices that a warp collects before it adds them to those of all
constexpr int FIRST_ENTRIES = 2;           // vertices whose first entries a thread looks at together
constexpr int LOOK_ENTRIES = 4;            // entries of its list that a vertex reads before it looks at the first
constexpr int ALONE_ENTRIES = 12;          // entries from which the lanes of a warp share a list
constexpr int PASSES = 6;                  // after that many, the rest is pushed over whole lists
constexpr int OUTPUT_LABELS = 4;           // labels whose results a thread writes at a time

// Kernel 1.
constexpr int ALIGNED_LANES = 8;           // a row is kept if at least this many of its 32 lanes have an entry
constexpr int THREADS = 256;               // threads of a block of every kernel but the search
constexpr int SORT_KEYS = 16;              // keys that a thread sorts at a time
constexpr int SUM_THREADS = 1024;          // threads of the block of prefix_sums

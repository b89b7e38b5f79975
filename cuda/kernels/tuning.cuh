// Every constant that was chosen by measuring, in one place. None of them changes a result.
#pragma once

constexpr int SEARCH_THREADS = 800;       // threads of a block that search; one block runs on each multiprocessor
constexpr int NEAR_VERTICES = 1 << 19;    // vertices whose frontier bits are kept in shared memory bottom-up (64 KiB), if there is room
constexpr int CLAIM_STEP = 2;             // words that a searching thread reads at a time
constexpr int WORDS_STEP = 2;             // words whose aligned blocks a bottom-up warp goes down at a time
constexpr int SCAN_STEP = 4;              // entries of a CSR list that a bottom-up lane reads before it looks at one
constexpr int EXPAND_STEP = 4;            // entries that a top-down lane reads before it looks at the first of them
constexpr int EXPAND_PIECES = 4;          // pieces of a large level's links that a warp takes
constexpr int LEAST_EDGES = 128;          // edges that a warp expands at least, top-down by scan
constexpr int COPY_STEP = 8;              // pairs of parents that a copying thread reads at a time
constexpr int COPY_THREADS = 96;          // further threads of a block, which copy the output template meanwhile
constexpr int FINDS_BUFFER = 64;          // finds that a warp keeps in shared memory before it adds them to the list
constexpr int FINDS_STEP = 2;             // finds whose parents a thread writes at a time
constexpr int OUTPUT_PART = 256;          // finds that a block writes at a time
constexpr int CHILD_THREADS = 128;        // threads of a block that a master thread launches
constexpr int CHILD_EDGES = 512;          // lists at least this long get a child grid; a master thread walks shorter ones
constexpr int ALIGNED_ROWS = 16;          // rows of 4 entries that an aligned block has at most: a scan rarely goes on that long
constexpr int ALIGNED_LANES = 8;          // a row is kept while so many of its 32 lanes have an entry
constexpr int THREADS = 256;              // threads of a block of every other kernel
constexpr int SORT_KEYS = 16;             // keys that a thread sorts at a time

/* SPDX-License-Identifier: Apache-2.0 */

/* The example in C with teps_repeat, to measure what a search costs in C alone. */
#include <time.h>

#include "../../examples/c/mine.c"

static int64_t now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ll + t.tv_nsec;
}

int teps_repeat(teps_call *call, const teps_graph *graph, const int64_t *roots, int64_t count, int64_t duration_ns,
                int64_t *parent, int64_t *searches) {
	int64_t end = now() + duration_ns;
	int code = TEPS_OK;
	for (*searches = 0; code == TEPS_OK && now() < end; ++*searches) code = teps_search(call, graph, roots[*searches % count], parent);
	return code;
}

/* SPDX-License-Identifier: Apache-2.0 */

/* The C side of package native: what cgo calls. */
#ifndef TEPS_BRIDGE_H
#define TEPS_BRIDGE_H

#include "teps_engine.h"

typedef struct {
	int (*describe)(teps_description *);
	int (*construct)(teps_call *, const teps_tuple *, int64_t, teps_graph *);
	int (*search)(teps_call *, const teps_graph *, int64_t, int64_t *);
	int (*repeat)(teps_call *, const teps_graph *, const int64_t *, int64_t, int64_t, int64_t *, int64_t *);
	void (*free)(teps_graph *);
	int (*shortest_paths)(teps_call *, const teps_graph *, int64_t, int64_t *, float *);
	int (*repeat_shortest_paths)(teps_call *, const teps_graph *, const int64_t *, int64_t, int64_t, int64_t *, float *, int64_t *);
} bridge_library;

/* Loads a library and reports its crashes under the given name from then on. After an error, message says why. */
int bridge_load(const char *path, const char *name, bridge_library *library, char *message, size_t room);

int bridge_describe(const bridge_library *library, teps_description *description);
int bridge_construct(const bridge_library *library, teps_call *call, const teps_tuple *tuples, int64_t count, teps_graph *graph);
/* Kernel 2 or, with distance, kernel 3. */
int bridge_search(const bridge_library *library, teps_call *call, const teps_graph *graph, int64_t root, int64_t *parent,
                  float *distance);
int bridge_repeat(const bridge_library *library, teps_call *call, const teps_graph *graph, const int64_t *roots, int64_t count,
                  int64_t duration_ns, int64_t *parent, float *distance, int64_t *searches);
void bridge_free(const bridge_library *library, teps_graph *graph);

/* What crash.c needs to know about the running function of the library. */
typedef struct {
	const char *volatile function; /* NULL: none is running */
	const teps_tuple *tuples;
	int64_t tuple_count;
	const int64_t *parent;
	const float *distance;
	int64_t count; /* of parents, and of distances */
} bridge_inside;

extern bridge_inside bridge_now;

/* Reports crashes from now on. name and the addresses [low, high) are the library's. */
void bridge_watch(const char *name, uintptr_t low, uintptr_t high);

#endif

/* The C side of package native: what cgo calls. */
#ifndef TEPS_BRIDGE_H
#define TEPS_BRIDGE_H

#include "teps_engine.h"

typedef struct {
	int (*describe)(teps_description *);
	int (*construct)(teps_call *, const teps_tuple *, int64_t, teps_graph *);
	int (*search)(teps_call *, const teps_graph *, int64_t, int64_t *);
	int (*repeat)(teps_call *, const teps_graph *, const int64_t *, int64_t, int64_t, int64_t *);
	void (*free)(teps_graph *);
} bridge_library;

/* Loads a library. After an error, message says why. */
int bridge_load(const char *path, bridge_library *library, char *message, size_t room);

int bridge_describe(const bridge_library *library, teps_description *description);
int bridge_construct(const bridge_library *library, teps_call *call, const teps_tuple *tuples, int64_t count, teps_graph *graph);
int bridge_search(const bridge_library *library, teps_call *call, const teps_graph *graph, int64_t root, int64_t *parent);
int bridge_repeat(const bridge_library *library, teps_call *call, const teps_graph *graph, const int64_t *roots, int64_t count,
                  int64_t duration_ns, int64_t *searches);
void bridge_free(const bridge_library *library, teps_graph *graph);

/* Everything that a crash inside of a library's function is described with (crash.c). */
typedef struct {
	const char *volatile function; /* NULL: not inside of the library */
	const teps_tuple *tuples;
	int64_t tuple_count;
	const int64_t *parent;
	int64_t parent_count;
} bridge_inside;

extern bridge_inside bridge_now;

/* Watches for crashes from now on. name is the library's, [low, high) where its code lies, both for messages. */
void bridge_watch(const char *name, uintptr_t low, uintptr_t high);

#endif

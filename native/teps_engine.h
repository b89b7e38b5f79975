/* SPDX-License-Identifier: Apache-2.0 */

/* teps_engine.h - shared libraries as engines of teps, version 2.
 *
 * An engine builds a graph from a list of tuples (kernel 1) and searches it breadth first (kernel 2) and, if it can, for
 * shortest paths (kernel 3). A library that defines the four functions below is one:
 *
 *     cc -O3 -shared -fPIC -o libmine.so mine.c
 *     teps conform ./libmine.so
 *     teps run --engine ./libmine.so
 *
 * teps loads the library into a separate process and makes all calls from one thread, one at a time:
 *
 *     teps_describe                     first
 *     teps_construct  teps_search ...   kernel 1 once for each graph, kernel 2 many times
 *     teps_free                         before the next graph, and at the end
 *
 * teps measures the time of each call, checks options, roots and arrays before the library sees them, and validates the
 * results. Every function returns TEPS_OK or one of the codes below; teps_fail adds a message.
 *
 * The header is C99 and C++. teps loads libraries that were compiled with its own TEPS_ABI.
 */
#ifndef TEPS_ENGINE_H
#define TEPS_ENGINE_H

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TEPS_ABI 2
#define TEPS_UNREACHED (-1)
#define TEPS_EXPORT __attribute__((visibility("default")))
#define TEPS_UNUSED __attribute__((unused))

/* Return values. */
enum {
	TEPS_OK = 0,
	TEPS_UNAVAILABLE = 1, /* the device, driver or launcher is missing */
	TEPS_OPTION = 2,      /* the value of an option cannot be used */
	TEPS_TUPLES = 3,      /* a label is beyond the engine's limits */
	TEPS_MEMORY = 4,      /* the graph does not fit */
	TEPS_CANCELED = 9,    /* because call->canceled was set */
	TEPS_FAILED = 100     /* anything else */
};

/* A tuple {u, v}: an undirected edge, possibly a self-loop or a duplicate. 12 bytes; labels have 48 bits. */
typedef struct {
	uint32_t low_u, low_v;
	uint32_t high; /* bits 32..47 of u in the low half, of v in the high half */
} teps_tuple;

TEPS_UNUSED static inline int64_t teps_u(teps_tuple t) { return (int64_t)t.low_u | (int64_t)(t.high & 0xffff) << 32; }
TEPS_UNUSED static inline int64_t teps_v(teps_tuple t) { return (int64_t)t.low_v | (int64_t)(t.high >> 16) << 32; }

/* An option of the engine: --set ENGINE.NAME=VALUE. */
enum { TEPS_INT = 1, TEPS_FLOAT = 2, TEPS_BOOL = 3, TEPS_CHOICE = 4, TEPS_TEXT = 5 };

typedef struct {
	char name[32];
	int32_t kind;       /* TEPS_INT ... TEPS_TEXT */
	int32_t bounded;    /* 1: min and max apply (TEPS_INT, TEPS_FLOAT) */
	double min, max;
	char value[64];     /* the default, as a user would write it */
	char choices[128];  /* of TEPS_CHOICE: "forward,backward" */
	char meaning[128];  /* one sentence, with its unit */
} teps_option;

/* A description of the engine. Texts end with a zero byte; unused fields are zero. */
typedef struct {
	int32_t abi;           /* TEPS_ABI */
	int32_t units;         /* hardware threads, multiprocessors, ...; 0: unknown */
	char name[32];         /* one lower-case word */
	char version[64];      /* of the engine */
	char summary[256];     /* one sentence: method and hardware */
	char unavailable[256]; /* one sentence that says what is missing on this machine; empty: ready to run */
	char device[128];      /* the device it runs on, as its maker calls it; empty: unknown */
	/* Upper bounds of host memory in bytes, without tuples and parents. A graph that does not fit is refused early. */
	double bytes_fixed, bytes_per_vertex, bytes_per_tuple;
	teps_option options[16]; /* ends before the first one without a name */
	double paths_per_vertex, paths_per_tuple; /* the same bounds for teps_shortest_paths, in addition */
} teps_description;

typedef struct {
	char name[32];
	char value[256];
} teps_setting;

/* One level of a search. */
typedef struct {
	int32_t bottom_up;  /* 0: top-down */
	int32_t reserved;
	int64_t frontier;   /* vertices in the frontier */
	int64_t edges;      /* adjacency entries read; -1: not counted */
	int64_t elapsed_ns; /* part of the search's time */
} teps_level;

/* Inputs and outputs of one call. */
typedef struct {
	volatile int32_t canceled; /* set to 1 when teps gives up: return TEPS_CANCELED within a second */
	int32_t setting_count;
	teps_setting settings[16];  /* all options of the description, with checked values or defaults */
	char message[512];          /* out: the error; see teps_fail */
	/* teps_search and teps_shortest_paths may set the following. */
	/* out: time of the search on the library's clock, for a library that leaves parents on a device when its clock stops
	 * and copies them afterwards; it needs teps_repeat for teps to confirm that time. 0 (for all others): the call. */
	int64_t elapsed_ns;
	int64_t level_count;        /* out: number of levels set; 0: not counted */
	int64_t level_room;         /* length of levels; a deeper search leaves level_count 0 */
	teps_level *levels;
	/* in, of teps_construct, for a library with teps_shortest_paths: the weights of the tuples, in their order, which must
	 * not be used after it returns; NULL: build for kernel 2 only. A weight is from 0 to 2^64; -0 counts as 0. */
	const float *weights;
} teps_call;

/* The result of teps_construct. */
typedef struct {
	void *state;         /* for the library; not NULL */
	int64_t vertices;    /* 1 + the largest label of the tuples; 0 without tuples */
	int64_t bytes;       /* in memory for searching: adjacency and everything else */
	int64_t entries;     /* adjacency entries; 0: not counted */
	int32_t vertex_bits; /* width of a vertex label in the library */
	int32_t reserved;
	char tuning[128];    /* the origin of thresholds, which must not be timed searches; empty: there are none */
} teps_graph;

/* Describes the engine, quickly and without using a device. A missing device is reported in unavailable. */
TEPS_EXPORT int teps_describe(teps_description *description);

/* Kernel 1: builds a graph from count tuples, which are read-only and must not be used after it returns. It finds the
 * number of vertices in the tuples. After an error there is no graph and nothing to free. */
TEPS_EXPORT int teps_construct(teps_call *call, const teps_tuple *tuples, int64_t count, teps_graph *graph);

/* Kernel 2: a breadth-first search from root, 0 <= root < graph->vertices. Writes all graph->vertices entries of
 * parent, whose old contents mean nothing: the predecessor of each reached vertex, root for root itself, TEPS_UNREACHED
 * for the others. A search must not use anything learned in another one and should not allocate memory. */
TEPS_EXPORT int teps_search(teps_call *call, const teps_graph *graph, int64_t root, int64_t *parent);

/* Optional, for measuring rate and energy: searches from roots[0], roots[1], ... and again from roots[0] until duration_ns
 * have passed, sets *searches to the number of searches, and writes the parents of the last one to parent, as teps_search
 * does. Without this function teps repeats teps_search. */
TEPS_EXPORT int teps_repeat(teps_call *call, const teps_graph *graph, const int64_t *roots, int64_t count,
                            int64_t duration_ns, int64_t *parent, int64_t *searches);

/* Optional, kernel 3: shortest paths from root, as teps_search; call->weights was not NULL. Writes all graph->vertices
 * entries of parent and of distance: sums of weights in float, added from the root outwards. The distance is 0 for root;
 * for each other vertex v the least distance[u] + w over the tuples {u, v} of weight w, and INFINITY if it is unreached.
 * The parent of v is one such u with exactly distance[u] + w == distance[v]; the parents form a tree, also where weights
 * are 0 or too small to change a sum. */
TEPS_EXPORT int teps_shortest_paths(teps_call *call, const teps_graph *graph, int64_t root, int64_t *parent, float *distance);

/* Optional: teps_repeat for kernel 3. Without this function teps repeats teps_shortest_paths. */
TEPS_EXPORT int teps_repeat_shortest_paths(teps_call *call, const teps_graph *graph, const int64_t *roots, int64_t count,
                                           int64_t duration_ns, int64_t *parent, float *distance, int64_t *searches);

/* Frees what teps_construct has allocated. */
TEPS_EXPORT void teps_free(teps_graph *graph);

/* ------ helpers for libraries ------ */

/* Sets the message of an error and returns its code: return teps_fail(call, TEPS_MEMORY, "%lld bytes", n); */
TEPS_UNUSED __attribute__((format(printf, 3, 4)))
static inline int teps_fail(teps_call *call, int code, const char *format, ...) {
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(call->message, sizeof call->message, format, arguments);
	va_end(arguments);
	return code;
}

/* The value of an option as text; "" for a name that is not an option. */
TEPS_UNUSED static inline const char *teps_set(const teps_call *call, const char *name) {
	for (int i = 0; i < call->setting_count; i++)
		if (strcmp(call->settings[i].name, name) == 0) return call->settings[i].value;
	return "";
}

/* The value of an option as a number. */
TEPS_UNUSED static inline int64_t teps_set_int(const teps_call *call, const char *name) {
	return strtoll(teps_set(call, name), NULL, 10);
}

/* 1 + the largest label, 0 without tuples, -1 if a label has more than the given bits. It reads all tuples. */
TEPS_UNUSED static inline int64_t teps_vertices(const teps_tuple *tuples, int64_t count, int bits) {
	int64_t largest = -1;
	for (int64_t i = 0; i < count; i++) {
		int64_t u = teps_u(tuples[i]), v = teps_v(tuples[i]);
		if (u > largest) largest = u;
		if (v > largest) largest = v;
	}
	return largest >> bits > 0 ? -1 : largest + 1;
}

#ifdef __cplusplus
}
#endif
#endif

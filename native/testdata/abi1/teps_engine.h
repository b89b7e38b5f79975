/* teps_engine.h - how a shared library is an engine of teps, version 1.
 *
 * An engine builds a graph from a list of tuples (kernel 1) and searches it breadth first (kernel 2). A library that
 * defines the four functions below is one:
 *
 *     cc -O3 -shared -fPIC -o libmine.so mine.c
 *     teps conform ./libmine.so
 *     teps run --engine ./libmine.so
 *
 * teps loads the library into a process of its own and makes all calls from one thread, one at a time:
 *
 *     teps_describe                     first
 *     teps_construct  teps_search ...   kernel 1 once for each graph, kernel 2 many times
 *     teps_free                         before the next graph, and at the end
 *
 * teps takes the time around each call, refuses options, roots and arrays that cannot be before the library sees them,
 * and validates what it returns. Every function returns TEPS_OK or one of the codes below; teps_fail says more.
 *
 * Plain C99, and C++. Structures may grow at their end with a new TEPS_ABI; teps loads libraries of every TEPS_ABI up
 * to its own.
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

#define TEPS_ABI 1
#define TEPS_UNREACHED (-1)
#define TEPS_EXPORT __attribute__((visibility("default")))
#define TEPS_UNUSED __attribute__((unused))

/* What a function returns. */
enum {
	TEPS_OK = 0,
	TEPS_UNAVAILABLE = 1, /* the device, driver or launcher is missing */
	TEPS_OPTION = 2,      /* the value of an option cannot be used here */
	TEPS_TUPLES = 3,      /* a label is beyond the engine's limits */
	TEPS_MEMORY = 4,      /* the graph does not fit */
	TEPS_CANCELLED = 9,   /* call->cancelled was seen */
	TEPS_FAILED = 100     /* anything else */
};

/* One tuple {u, v}: an undirected edge, perhaps a self-loop or a duplicate; 12 bytes, labels of 48 bits. */
typedef struct {
	uint32_t low_u, low_v;
	uint32_t high; /* bits 32..47 of u in the low half, of v in the high half */
} teps_tuple;

TEPS_UNUSED static inline int64_t teps_u(teps_tuple t) { return (int64_t)t.low_u | (int64_t)(t.high & 0xffff) << 32; }
TEPS_UNUSED static inline int64_t teps_v(teps_tuple t) { return (int64_t)t.low_v | (int64_t)(t.high >> 16) << 32; }

/* Something that a user can set: --set ENGINE.NAME=VALUE. */
enum { TEPS_INT = 1, TEPS_FLOAT = 2, TEPS_BOOL = 3, TEPS_CHOICE = 4, TEPS_TEXT = 5 };

typedef struct {
	char name[32];
	int32_t kind;       /* TEPS_INT ... TEPS_TEXT */
	int32_t bounded;    /* 1: min and max hold (TEPS_INT, TEPS_FLOAT) */
	double min, max;
	char value[64];     /* the default, as a user would write it */
	char choices[128];  /* of TEPS_CHOICE: "forward,backward" */
	char meaning[128];  /* one sentence, with its unit */
} teps_option;

/* What an engine says of itself. Texts end with a zero byte; what is not set stays zero. */
typedef struct {
	int32_t abi;           /* TEPS_ABI */
	int32_t units;         /* hardware threads, multiprocessors, ...; 0: not said */
	char name[32];         /* one lower-case word */
	char version[64];      /* of the engine */
	char summary[256];     /* one sentence: method and hardware */
	char unavailable[256]; /* what is missing here, in one sentence; empty: ready to run */
	char device[128];      /* what it runs on, as its maker calls it; empty: not said */
	/* Upper bound of host memory in bytes, beside tuples and parents: what does not fit is refused beforehand. */
	double bytes_fixed, bytes_per_vertex, bytes_per_tuple;
	teps_option options[16]; /* up to the first without a name */
} teps_description;

typedef struct {
	char name[32];
	char value[256];
} teps_setting;

/* One level of a search. */
typedef struct {
	int32_t bottom_up;  /* 0: top-down */
	int32_t reserved;
	int64_t frontier;   /* vertices that were expanded */
	int64_t edges;      /* adjacency entries looked at; -1: not counted */
	int64_t elapsed_ns; /* part of the search's time */
} teps_level;

/* What belongs to one call. */
typedef struct {
	volatile int32_t cancelled; /* becomes 1 when teps has given up: return TEPS_CANCELLED within a second */
	int32_t setting_count;
	teps_setting settings[16];  /* every option of the description, checked, with its value or default */
	char message[512];          /* out: what went wrong; see teps_fail */
	/* The rest may be filled in by teps_search. */
	int64_t elapsed_ns;         /* out: a time of the library's own, within the call; 0 (better): teps takes the call's */
	int64_t level_count;        /* out: levels filled in; 0: not counted */
	int64_t level_room;         /* elements of levels; a deeper search leaves level_count 0 */
	teps_level *levels;
} teps_call;

/* What teps_construct has made. */
typedef struct {
	void *state;         /* the library's own; not NULL */
	int64_t vertices;    /* 1 + the largest label of the tuples; 0 without tuples */
	int64_t bytes;       /* held for searching: adjacency and everything else */
	int64_t entries;     /* of the adjacency; 0: not counted */
	int32_t vertex_bits; /* width of a vertex label inside the library */
	int32_t reserved;
	char tuning[128];    /* where thresholds come from, never from timed searches; empty: there are none */
} teps_graph;

/* Says what the engine is. Quick, and without touching a device: what is missing goes into unavailable. */
TEPS_EXPORT int teps_describe(teps_description *description);

/* Kernel 1: builds a graph of count tuples, which cannot be written to and are gone when it returns. The number of
 * vertices is not given. After an error there is no graph, and nothing to free. */
TEPS_EXPORT int teps_construct(teps_call *call, const teps_tuple *tuples, int64_t count, teps_graph *graph);

/* Kernel 2: a breadth-first search from root, 0 <= root < graph->vertices. Writes all graph->vertices entries of
 * parent, which hold anything before: the predecessor of each vertex, root for root itself, TEPS_UNREACHED for others.
 * Nothing is learned from one search for another; nothing should be allocated. */
TEPS_EXPORT int teps_search(teps_call *call, const teps_graph *graph, int64_t root, int64_t *parent);

/* Optional, for measuring energy: searches from roots[0], roots[1], ... and around again, without handing parents over,
 * until duration_ns have passed; *searches is how many were done. Without it teps repeats teps_search. */
TEPS_EXPORT int teps_repeat(teps_call *call, const teps_graph *graph, const int64_t *roots, int64_t count,
                            int64_t duration_ns, int64_t *searches);

/* Gives back all that teps_construct has made. */
TEPS_EXPORT void teps_free(teps_graph *graph);

/* ------ what follows is here to be called ------ */

/* Sets the message of an error and returns its code: return teps_fail(call, TEPS_MEMORY, "%lld bytes", n); */
TEPS_UNUSED __attribute__((format(printf, 3, 4)))
static inline int teps_fail(teps_call *call, int code, const char *format, ...) {
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(call->message, sizeof call->message, format, arguments);
	va_end(arguments);
	return code;
}

/* The value of an option of the description, as text; "" for any other name. */
TEPS_UNUSED static inline const char *teps_set(const teps_call *call, const char *name) {
	for (int i = 0; i < call->setting_count; i++)
		if (strcmp(call->settings[i].name, name) == 0) return call->settings[i].value;
	return "";
}

/* The same as a number. */
TEPS_UNUSED static inline int64_t teps_set_int(const teps_call *call, const char *name) {
	return strtoll(teps_set(call, name), NULL, 10);
}

/* 1 + the largest label, 0 without tuples, or -1 if a label does not fit into bits. It reads all tuples. */
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

/* SPDX-License-Identifier: Apache-2.0 */

/* What the adapters have in common, in C99 and C++. */
#ifndef TEPS_PEERS_H
#define TEPS_PEERS_H

#include <math.h>

#include "teps_engine.h"

/* Describes an engine; bytes_per_tuple covers kernel 1. Options and missing devices are the adapter's to add. */
TEPS_UNUSED static void peers_describe(teps_description *description, const char *name, const char *version,
                                       const char *summary, const char *device, int units, double bytes_per_tuple) {
	memset(description, 0, sizeof *description);
	description->abi = TEPS_ABI;
	description->units = units;
	snprintf(description->name, sizeof description->name, "%s", name);
	snprintf(description->version, sizeof description->version, "%s", version);
	snprintf(description->summary, sizeof description->summary, "%s", summary);
	snprintf(description->device, sizeof description->device, "%s", device);
	description->bytes_fixed = 1 << 28;
	description->bytes_per_vertex = 64;
	description->bytes_per_tuple = bytes_per_tuple;
}

#ifdef _OPENMP
#include <omp.h>
#ifdef __x86_64__
#include <emmintrin.h>
#endif

/* Describes an engine of OpenMP. Its first option is the number of threads. */
TEPS_UNUSED static void peers_describe_openmp(teps_description *description, const char *name, const char *version,
                                              const char *summary, double bytes_per_tuple) {
	teps_option threads = {"threads", TEPS_INT, 1, 0, 1024, "0", "", "threads; 0: the default of OpenMP"};
	peers_describe(description, name, version, summary, "OpenMP threads", omp_get_max_threads(), bytes_per_tuple);
	description->options[0] = threads;
}

TEPS_UNUSED static void peers_set_threads(const teps_call *call) {
	int threads = (int)teps_set_int(call, "threads");
	if (threads > 0) omp_set_num_threads(threads);
}

/* Writes one of 32-bit parents, -1 at vertices that are not reached, to the 64-bit ones of teps. Stores past the caches
 * write 8 bytes a vertex; others would read them first, and push the graph out. */
TEPS_UNUSED static inline void peers_put(int64_t *parent, int32_t found) {
#ifdef __x86_64__
	_mm_stream_si64((long long *)parent, found);
#else
	*parent = found;
#endif
}

/* Completes what this thread has put: other threads may see such stores late. */
TEPS_UNUSED static inline void peers_put_all(void) {
#ifdef __x86_64__
	_mm_sfence();
#endif
}

/* Puts n parents, by all threads. */
TEPS_UNUSED static void peers_widen(const int32_t *found, int64_t n, int64_t *parent) {
#pragma omp parallel
	{
#pragma omp for nowait
		for (int64_t v = 0; v < n; v++) peers_put(parent + v, found[v]);
		peers_put_all();
	}
}
#endif

/* One direction of an edge. */
typedef struct {
	int32_t neighbor;
	float weight;
} peers_entry;

/* Adjacency lists: those of v are entry[begin[v]] ... entry[begin[v + 1] - 1], by rising neighbor, each neighbor once
 * with its least weight, without self-loops. */
typedef struct {
	int64_t vertices, *begin;
	peers_entry *entry;
} peers_lists;

TEPS_UNUSED static void peers_free_lists(peers_lists *lists) {
	free(lists->begin);
	free(lists->entry);
}

/* Kernel 1 for programs that take adjacency lists. Without call->weights all weights are 1. Labels have at most 31 bits.
 * It distributes the tuples over their vertices, and then the lists, from the first to the last, over their neighbors:
 * that sorts them. */
TEPS_UNUSED static int peers_make_lists(teps_call *call, const teps_tuple *tuples, int64_t count, peers_lists *lists) {
	int64_t n = teps_vertices(tuples, count, 31);
	if (n < 0) return teps_fail(call, TEPS_TUPLES, "a label has more than 31 bits");
	int64_t *begin = (int64_t *)calloc(n + 2, sizeof *begin), *end = (int64_t *)malloc((n + 1) * sizeof *end), kept = 0;
	peers_entry *by = (peers_entry *)malloc((2 * count + 1) * sizeof *by);
	peers_entry *entry = (peers_entry *)malloc((2 * count + 1) * sizeof *entry);
	int status = TEPS_OK;
	if (!begin || !end || !by || !entry) {
		status = teps_fail(call, TEPS_MEMORY, "no memory for the lists of %lld tuples", (long long)count);
		count = n = 0;
	}
	for (int64_t i = 0; i < count; i++)
		if (tuples[i].low_u != tuples[i].low_v) begin[tuples[i].low_u + 1]++, begin[tuples[i].low_v + 1]++;
	for (int64_t v = 0; v < n; v++) end[v] = begin[v], begin[v + 1] += begin[v];
	for (int64_t i = 0; i < count && !call->canceled; i++) {
		peers_entry u = {(int32_t)tuples[i].low_u, call->weights ? call->weights[i] : 1}, v = u;
		v.neighbor = (int32_t)tuples[i].low_v;
		if (u.neighbor == v.neighbor) continue;
		by[end[u.neighbor]++] = v;
		by[end[v.neighbor]++] = u;
	}
	if (status == TEPS_OK && call->canceled) status = TEPS_CANCELED;
	if (status == TEPS_OK) memcpy(end, begin, n * sizeof *end);
	for (int64_t v = 0; v < n && status == TEPS_OK; v++) {
		for (int64_t i = begin[v]; i < begin[v + 1]; i++) {
			peers_entry e = {(int32_t)v, by[i].weight};
			int64_t *last = &end[by[i].neighbor];
			if (*last == begin[by[i].neighbor] || entry[*last - 1].neighbor != v)
				entry[(*last)++] = e;
			else if (e.weight < entry[*last - 1].weight)
				entry[*last - 1] = e;
		}
		if (call->canceled) status = TEPS_CANCELED;
	}
	free(by);
	if (status != TEPS_OK) {
		free(begin), free(end), free(entry);
		return status;
	}
	for (int64_t v = 0; v < n; v++) { /* closes the gaps that duplicates left */
		int64_t length = end[v] - begin[v];
		memmove(entry + kept, entry + begin[v], length * sizeof *entry);
		begin[v] = kept;
		kept += length;
	}
	begin[n] = kept;
	free(end);
	lists->vertices = n;
	lists->begin = begin;
	lists->entry = entry;
	return TEPS_OK;
}

/* Shortest paths of programs that return only distances, INFINITY at vertices that are not reached. First, for each v in
 * any order and by any thread: sets its parent to a neighbor u with distance[u] + weight == distance[v] that is nearer to
 * the root, if there is one, and else adds 1 to *open. */
TEPS_UNUSED static inline void peers_find_parent(const int64_t *begin, const peers_entry *entry, int64_t root,
                                                 const float *distance, int64_t v, int64_t *parent, int64_t *open) {
	parent[v] = v == root ? root : TEPS_UNREACHED;
	if (v == root || distance[v] == INFINITY) return;
	for (int64_t i = begin[v]; i < begin[v + 1]; i++) {
		float d = distance[entry[i].neighbor];
		if (d < distance[v] && d + entry[i].weight == distance[v]) {
			parent[v] = entry[i].neighbor;
			return;
		}
	}
	__atomic_fetch_add(open, 1, __ATOMIC_RELAXED);
}

/* Then, if *open is not 0: there are weights that are 0 or lost in rounding. The parent of an open vertex is a neighbor
 * that is as near and has a parent already, so that the parents form a tree. */
TEPS_UNUSED static int peers_find_open_parents(teps_call *call, int64_t n, const int64_t *begin, const peers_entry *entry,
                                               const float *distance, int64_t *parent) {
	int64_t *queue = (int64_t *)malloc((n + 1) * sizeof *queue), found = 0; /* of vertices that have a parent */
	if (!queue) return teps_fail(call, TEPS_MEMORY, "no memory for a search");
	for (int64_t v = 0; v < n; v++)
		if (parent[v] >= 0) queue[found++] = v;
	for (int64_t done = 0; done < found; done++)
		for (int64_t u = queue[done], i = begin[u]; i < begin[u + 1]; i++) {
			int64_t v = entry[i].neighbor;
			if (parent[v] >= 0 || distance[v] != distance[u] || distance[u] + entry[i].weight != distance[v]) continue;
			parent[v] = u;
			queue[found++] = v;
		}
	free(queue);
	return TEPS_OK;
}
#endif

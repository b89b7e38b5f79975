/* SPDX-License-Identifier: Apache-2.0 */

/* An engine of teps in C with OpenMP: a level-synchronous top-down search. Threads set parents by compare-and-swap. Each
 * thread collects the vertices that it discovers in a private queue and then copies them to its part of the next
 * frontier, without locks. After Leiserson, Schardl: A work-efficient parallel breadth-first search algorithm, SPAA 2010,
 * section 2. */
#include "teps_engine.h"

#include <omp.h>

typedef struct {
	int threads;
	int64_t *offsets;  /* the neighbors of v are targets[offsets[v]] ... targets[offsets[v+1]-1] */
	uint32_t *targets; /* both directions of every tuple */
	uint32_t *frontier, *next;
	uint32_t **found;  /* of each thread: the vertices that it has discovered on this level */
	int64_t *starts;   /* of each thread: the index of its first vertex in the next frontier */
} csr;

int teps_describe(teps_description *description) {
	teps_description about = {
		.abi = TEPS_ABI, .name = "mine", .version = "1", .summary = "level-synchronous top-down search with OpenMP",
		.device = "OpenMP threads", .units = omp_get_max_threads(), .bytes_per_vertex = 24, .bytes_per_tuple = 8,
		.bytes_fixed = 1 << 20,
		.options = {{.name = "threads", .kind = TEPS_INT, .bounded = 1, .min = 0, .max = 1024, .value = "0",
		             .meaning = "threads; 0: the default of OpenMP"}},
	};
	*description = about;
	return TEPS_OK;
}

void teps_free(teps_graph *graph) {
	csr *g = graph->state;
	for (int t = 0; g->found != NULL && t < g->threads; t++) free(g->found[t]);
	free(g->found);
	free(g->starts);
	free(g->frontier);
	free(g->next);
	free(g->offsets);
	free(g->targets);
	free(g);
}

/* Allocates memory for searches; returns 0 if there is not enough. The queue of a thread has room for all vertices, but
 * takes memory only for those that were in it. */
static int allocate(csr *g, int64_t vertices, int64_t count) {
	g->offsets = calloc(vertices + 1, sizeof *g->offsets);
	g->targets = malloc((2 * count + 1) * sizeof *g->targets);
	g->frontier = malloc((vertices + 1) * sizeof *g->frontier);
	g->next = malloc((vertices + 1) * sizeof *g->next);
	g->found = calloc(g->threads, sizeof *g->found);
	g->starts = calloc(g->threads + 1, sizeof *g->starts);
	if (!g->offsets || !g->targets || !g->frontier || !g->next || !g->found || !g->starts) return 0;
	for (int t = 0; t < g->threads; t++)
		if ((g->found[t] = malloc((vertices + 1) * sizeof **g->found)) == NULL) return 0;
	return 1;
}

/* Kernel 1: stores every tuple at both of its ends. */
int teps_construct(teps_call *call, const teps_tuple *tuples, int64_t count, teps_graph *graph) {
	int64_t vertices = teps_vertices(tuples, count, 32);
	if (vertices < 0) return teps_fail(call, TEPS_TUPLES, "a label has more than 32 bits");
	csr *g = graph->state = calloc(1, sizeof *g);
	g->threads = (int)teps_set_int(call, "threads");
	if (g->threads == 0) g->threads = omp_get_max_threads();
	if (!allocate(g, vertices, count)) {
		teps_free(graph);
		return teps_fail(call, TEPS_MEMORY, "no memory for %lld vertices", (long long)vertices);
	}
	int64_t *offsets = g->offsets;
#pragma omp parallel for num_threads(g->threads)
	for (int64_t i = 0; i < count; i++) {
#pragma omp atomic
		offsets[tuples[i].low_u]++;
#pragma omp atomic
		offsets[tuples[i].low_v]++;
	}
	for (int64_t v = 0; v < vertices; v++) offsets[v + 1] += offsets[v];
#pragma omp parallel for num_threads(g->threads)
	for (int64_t i = 0; i < count; i++) { /* each list is filled from its end */
		g->targets[__atomic_sub_fetch(&offsets[tuples[i].low_u], 1, __ATOMIC_RELAXED)] = tuples[i].low_v;
		g->targets[__atomic_sub_fetch(&offsets[tuples[i].low_v], 1, __ATOMIC_RELAXED)] = tuples[i].low_u;
	}
	graph->vertices = vertices;
	graph->bytes = (16 + 4 * (int64_t)g->threads) * vertices + 8 * count;
	graph->vertex_bits = 32;
	return TEPS_OK;
}

/* Makes u the parent of its unvisited neighbors, adds them to found, and returns their number. */
static int64_t visit(const csr *g, uint32_t u, int64_t *parent, uint32_t *found) {
	int64_t count = 0;
	for (int64_t j = g->offsets[u]; j < g->offsets[u + 1]; j++) {
		uint32_t v = g->targets[j];
		int64_t unvisited = TEPS_UNREACHED;
		if (__atomic_load_n(&parent[v], __ATOMIC_RELAXED) == unvisited &&
		    __atomic_compare_exchange_n(&parent[v], &unvisited, (int64_t)u, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
			found[count++] = v;
	}
	return count;
}

/* One thread searches frontiers with fewer vertices, which take less time than a barrier. */
enum { SMALL = 64 };

/* Kernel 2. */
int teps_search(teps_call *call, const teps_graph *graph, int64_t root, int64_t *parent) {
	csr *g = graph->state;
	int64_t size = 1; /* of the frontier */
	uint32_t *frontier = g->frontier, *next = g->next;
	next[0] = (uint32_t)root;
#pragma omp parallel num_threads(g->threads)
	{
		int me = omp_get_thread_num();
		uint32_t *found = g->found[me];
#pragma omp for
		for (int64_t v = 0; v < graph->vertices; v++) parent[v] = v == root ? root : TEPS_UNREACHED;
		for (;;) {
#pragma omp single
			for (;;) { /* the next frontier becomes the frontier */
				uint32_t *swap = frontier;
				frontier = next;
				next = swap;
				if (call->canceled) size = 0; /* One thread decides for all, because all must reach the barriers. */
				if (size == 0 || size >= SMALL) break;
				int64_t count = 0;
				for (int64_t i = 0; i < size; i++) count += visit(g, frontier[i], parent, next + count);
				size = count;
			}
			if (size == 0) break;
			int64_t count = 0;
#pragma omp for schedule(dynamic, 64) nowait
			for (int64_t i = 0; i < size; i++) count += visit(g, frontier[i], parent, found + count);
			g->starts[me + 1] = count;
#pragma omp barrier
#pragma omp single
			{
				for (int t = 0; t < omp_get_num_threads(); t++) g->starts[t + 1] += g->starts[t];
				size = g->starts[omp_get_num_threads()];
			}
			memcpy(next + g->starts[me], found, count * sizeof *found);
#pragma omp barrier
		}
	}
	return call->canceled ? TEPS_CANCELED : TEPS_OK;
}

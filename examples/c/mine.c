/* SPDX-License-Identifier: Apache-2.0 */

/* An engine of teps: one queue on one thread over compressed sparse rows. */
#include "teps_engine.h"

#include <math.h>

typedef struct {
	int64_t *offsets;  /* the neighbors of v are targets[offsets[v]] ... targets[offsets[v+1]-1] */
	uint32_t *targets; /* both directions of every tuple */
	uint32_t *queue;
	float *weights;    /* of targets, for shortest paths, or NULL */
	uint32_t *waits;   /* how often each vertex was put into the queue since it left it */
} csr;

int teps_describe(teps_description *description) {
	static const teps_description about = {
		.abi = TEPS_ABI, .name = "mine", .version = "1", .summary = "one queue on one thread, in C",
		.bytes_per_vertex = 16, .bytes_per_tuple = 8, /* so that teps can refuse graphs that do not fit */
		.paths_per_vertex = 4, .paths_per_tuple = 8,
	};
	*description = about;
	return TEPS_OK;
}

void teps_free(teps_graph *graph) {
	csr *g = graph->state;
	free(g->offsets);
	free(g->targets);
	free(g->queue);
	free(g->weights);
	free(g->waits);
	free(g);
}

/* Kernel 1: stores every tuple at both of its ends. */
int teps_construct(teps_call *call, const teps_tuple *tuples, int64_t count, teps_graph *graph) {
	int64_t vertices = teps_vertices(tuples, count, 32);
	if (vertices < 0) return teps_fail(call, TEPS_TUPLES, "a label has more than 32 bits");
	csr *g = graph->state = calloc(1, sizeof *g);
	g->offsets = calloc(vertices + 1, sizeof *g->offsets);
	g->targets = malloc((2 * count + 1) * sizeof *g->targets);
	g->queue = malloc((vertices + 1) * sizeof *g->queue);
	if (call->weights != NULL) {
		g->weights = malloc((2 * count + 1) * sizeof *g->weights);
		g->waits = malloc((vertices + 1) * sizeof *g->waits);
	}
	if (!g->offsets || !g->targets || !g->queue || (call->weights && (!g->weights || !g->waits))) {
		teps_free(graph);
		return teps_fail(call, TEPS_MEMORY, "no memory for %lld vertices", (long long)vertices);
	}
	for (int64_t i = 0; i < count; i++) { /* count, ... */
		g->offsets[tuples[i].low_u]++;
		g->offsets[tuples[i].low_v]++;
	}
	for (int64_t v = 0; v < vertices; v++) g->offsets[v + 1] += g->offsets[v];
	for (int64_t i = 0; i < count; i++) { /* ... and fill each list from its end */
		int64_t at_u = --g->offsets[tuples[i].low_u];
		g->targets[at_u] = tuples[i].low_v;
		int64_t at_v = --g->offsets[tuples[i].low_v];
		g->targets[at_v] = tuples[i].low_u;
		if (g->weights) g->weights[at_u] = g->weights[at_v] = call->weights[i];
	}
	graph->vertices = vertices;
	graph->bytes = 12 * vertices + 8 * count;
	graph->vertex_bits = 32;
	return TEPS_OK;
}

/* Kernel 2: replace this. */
int teps_search(teps_call *call, const teps_graph *graph, int64_t root, int64_t *parent) {
	const csr *g = graph->state;
	for (int64_t v = 0; v < graph->vertices; v++) parent[v] = TEPS_UNREACHED;
	parent[root] = root;
	g->queue[0] = (uint32_t)root;
	for (int64_t head = 0, tail = 1; head < tail; head++) {
		if (call->canceled) return TEPS_CANCELED; /* teps no longer wants the result */
		uint32_t u = g->queue[head];
		for (int64_t i = g->offsets[u]; i < g->offsets[u + 1]; i++) {
			uint32_t v = g->targets[i];
			if (parent[v] != TEPS_UNREACHED) continue;
			parent[v] = u;
			g->queue[tail++] = v;
		}
	}
	return TEPS_OK;
}

/* Kernel 3, which is optional: a vertex whose distance has fallen waits in a ring until its edges are looked at (Bellman
 * and Ford's algorithm with a queue). Replace this, too. */
int teps_shortest_paths(teps_call *call, const teps_graph *graph, int64_t root, int64_t *parent, float *distance) {
	const csr *g = graph->state;
	int64_t ring = graph->vertices + 1;
	for (int64_t v = 0; v < graph->vertices; v++) {
		parent[v] = TEPS_UNREACHED;
		distance[v] = INFINITY;
		g->waits[v] = 0;
	}
	parent[root] = root;
	distance[root] = 0;
	g->queue[0] = (uint32_t)root;
	for (int64_t head = 0, tail = 1; head != tail; head = (head + 1) % ring) {
		if (call->canceled) return TEPS_CANCELED;
		uint32_t u = g->queue[head];
		g->waits[u] = 0;
		for (int64_t i = g->offsets[u]; i < g->offsets[u + 1]; i++) {
			uint32_t v = g->targets[i];
			float d = distance[u] + g->weights[i];
			if (!(d < distance[v])) continue; /* so that the parents form a tree, also with weights of 0 */
			parent[v] = u;
			distance[v] = d;
			if (g->waits[v]++ > 0) continue;
			g->queue[tail] = v;
			tail = (tail + 1) % ring;
		}
	}
	return TEPS_OK;
}

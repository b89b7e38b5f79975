/* SPDX-License-Identifier: Apache-2.0 */

/* The breadth-first search of igraph 0.10 as an engine of teps: igraph_create and igraph_bfs_simple, with one thread. The
 * graph has the tuples as they are, with duplicates. Its weights are float64, and so are its sums: they are not those of
 * kernel 3, which this engine leaves out. Everything is on the clock. */
#include <igraph/igraph.h>

#include "peers.h"

typedef struct {
	igraph_t graph;
	igraph_vector_int_t order, layers, parents;
} searcher;

static int failure(teps_call *call, igraph_error_t error) {
	return teps_fail(call, error == IGRAPH_ENOMEM ? TEPS_MEMORY : TEPS_FAILED, "igraph reports: %s", igraph_strerror(error));
}

int teps_describe(teps_description *description) {
	peers_describe(description, "igraph", IGRAPH_VERSION, "search of igraph", "one thread", 1, 96);
	return TEPS_OK;
}

int teps_construct(teps_call *call, const teps_tuple *tuples, int64_t count, teps_graph *graph) {
	igraph_set_error_handler(igraph_error_handler_ignore); /* it returns a code instead of ending the process */
	searcher *s = calloc(1, sizeof *s);
	igraph_vector_int_t edges = {0};
	igraph_error_t error = s ? igraph_vector_int_init(&edges, 2 * count) : IGRAPH_ENOMEM;
	if (error) goto failed;
	for (int64_t i = 0; i < count; i++) {
		VECTOR(edges)[2 * i] = teps_u(tuples[i]);
		VECTOR(edges)[2 * i + 1] = teps_v(tuples[i]);
	}
	graph->vertices = count > 0 ? igraph_vector_int_max(&edges) + 1 : 0;
	if ((error = igraph_vector_int_init(&s->order, 0)) || (error = igraph_vector_int_init(&s->layers, 0)) ||
	    (error = igraph_vector_int_init(&s->parents, 0)) ||
	    (error = igraph_create(&s->graph, &edges, graph->vertices, IGRAPH_UNDIRECTED)))
		goto failed;
	igraph_vector_int_destroy(&edges);
	graph->state = s;
	graph->entries = 2 * count;
	graph->bytes = 6 * 8 * count + 2 * 8 * graph->vertices; /* from, to, and both in two orders */
	graph->vertex_bits = 64;
	return TEPS_OK;
failed:
	if (s) {
		igraph_vector_int_destroy(&edges);
		igraph_vector_int_destroy(&s->order);
		igraph_vector_int_destroy(&s->layers);
		igraph_vector_int_destroy(&s->parents);
	}
	free(s);
	return failure(call, error);
}

int teps_search(teps_call *call, const teps_graph *graph, int64_t root, int64_t *parent) {
	searcher *s = graph->state;
	igraph_error_t error = igraph_bfs_simple(&s->graph, root, IGRAPH_ALL, &s->order, &s->layers, &s->parents);
	if (error) return failure(call, error);
	for (int64_t v = 0; v < graph->vertices; v++) { /* theirs are negative at the root and where nothing was reached */
		int64_t p = VECTOR(s->parents)[v];
		parent[v] = v == root ? root : p < 0 ? TEPS_UNREACHED : p;
	}
	return TEPS_OK;
}

void teps_free(teps_graph *graph) {
	searcher *s = graph->state;
	igraph_destroy(&s->graph);
	igraph_vector_int_destroy(&s->order);
	igraph_vector_int_destroy(&s->layers);
	igraph_vector_int_destroy(&s->parents);
	free(s);
}

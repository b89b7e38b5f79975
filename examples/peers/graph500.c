/* SPDX-License-Identifier: Apache-2.0 */

/* The Graph500 reference program as an engine of teps: its kernel 1 (csr_reference.c), breadth-first search
 * (bfs_reference.c) and shortest paths (sssp_reference.c) unchanged, from a checkout of
 * https://github.com/graph500/graph500, in one MPI process. With several processes run the program itself: teps starts one
 * process for an engine.
 *
 * The clock covers run_bfs or run_sssp, as in the reference, and the clearing of parents and distances, which the
 * reference does before its clock starts. Parents have 64 bits and original labels.
 *
 * It is compiled with weights, as graph500_reference_bfs_sssp; without kernel 3 they are 0. Its buckets are 0.1 wide, for
 * weights up to 1. Larger weights are divided by a power of two, and distances multiplied by it, which changes no bit. */
#include "common.h"

#include "aml.h"
#include "csr_reference.h"

#include "peers.h"

extern int64_t nverts_known;
extern oned_csr_graph g;
void make_graph_data_structure(const tuple_graph *tuples);
void free_graph_data_structure(void);
void run_bfs(int64_t root, int64_t *parent);
void setup_globals(void);
void run_sssp(int64_t root, int64_t *parent, float *distance);

static float unit;       /* of the weights */
static float *distances; /* the reference has one vertex more than the graph, and looks at its distance */

int teps_describe(teps_description *description) {
	peers_describe(description, "graph500", GRAPH500_VERSION,
	               "searches of the Graph500 reference program in one MPI process", "one MPI process", 1, 40);
	return TEPS_OK;
}

/* Kernel 1. */
int teps_construct(teps_call *call, const teps_tuple *tuples, int64_t count, teps_graph *graph) {
	static int started;
	static tuple_graph input; /* the reference keeps a pointer to it */
	int64_t vertices = teps_vertices(tuples, count, 31), edges = 0;
	if (vertices < 0) return teps_fail(call, TEPS_TUPLES, "a label has more than 31 bits");
	for (int64_t i = 0; i < count; i++) edges += tuples[i].low_u != tuples[i].low_v;
	float largest = 0;
	for (int64_t i = 0; call->weights && i < count; i++) largest = fmaxf(largest, call->weights[i]);
	for (unit = 1; unit < largest;) unit *= 2;
	if (2 * edges > UINT32_MAX) return teps_fail(call, TEPS_TUPLES, "the reference counts entries in 32 bits");
	if (!started) {
		char *arguments[] = {"graph500", NULL}, **argv = arguments;
		int argc = 1;
		if (aml_init(&argc, &argv) != 0) return teps_fail(call, TEPS_UNAVAILABLE, "MPI did not start");
		setup_globals();
		started = 1;
	}
	graph->state = NULL;
	if (edges > 0) {
		float *weight = calloc(count, sizeof *weight);
		distances = call->weights ? malloc((vertices + 1) * sizeof *distances) : NULL;
		if (!weight || (call->weights && !distances)) return teps_fail(call, TEPS_MEMORY, "no memory for weights");
		for (int64_t i = 0; call->weights && i < count; i++) weight[i] = call->weights[i] / unit;
		nverts_known = 0;
		input = (tuple_graph){
			.edgememory = (packed_edge *)tuples, .weightmemory = weight, .edgememory_size = count, .max_edgememory_size = count,
			.nglobaledges = count > 2 * vertices ? count : 2 * vertices, /* it takes half of this for the number of vertices */
		};
		make_graph_data_structure(&input);
		free(weight);
		graph->state = &g;
		graph->entries = g.rowstarts[g.nlocalverts];
	} else {
		graph->state = &input; /* nothing to free */
	}
	graph->vertices = vertices;
	graph->bytes = (BYTES_PER_VERTEX + 4) * graph->entries + (4 + 4 + 4) * vertices + vertices / 8;
	graph->vertex_bits = 64;
	return TEPS_OK;
}

/* Kernel 2. */
int teps_search(teps_call *call, const teps_graph *graph, int64_t root, int64_t *parent) {
	(void)call;
	for (int64_t v = 0; v < graph->vertices; v++) parent[v] = TEPS_UNREACHED;
	if (graph->state == &g && root < (int64_t)g.nlocalverts)
		run_bfs(root, parent);
	else
		parent[root] = root; /* only self-loops: the reference does not know the vertex */
	return TEPS_OK;
}

/* Kernel 3. */
int teps_shortest_paths(teps_call *call, const teps_graph *graph, int64_t root, int64_t *parent, float *distance) {
	(void)call;
	for (int64_t v = 0; v < graph->vertices; v++) parent[v] = TEPS_UNREACHED, distance[v] = INFINITY;
	if (graph->state != &g || root >= (int64_t)g.nlocalverts) {
		parent[root] = root, distance[root] = 0;
		return TEPS_OK;
	}
	for (int64_t v = 0; v <= graph->vertices; v++) distances[v] = -1;
	run_sssp(root, parent, distances);
	for (int64_t v = 0; v < graph->vertices; v++)
		if (distances[v] >= 0) distance[v] = distances[v] * unit;
	return TEPS_OK;
}

void teps_free(teps_graph *graph) {
	if (graph->state == &g) free_graph_data_structure();
	free(distances);
	distances = NULL;
}

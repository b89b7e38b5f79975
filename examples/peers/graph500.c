/* SPDX-License-Identifier: Apache-2.0 */

/* The Graph500 reference program as an engine of teps: its kernel 1 (csr_reference.c) and its breadth-first search
 * (bfs_reference.c) unchanged, from a checkout of https://github.com/graph500/graph500, in one MPI process. With several
 * processes run the program itself: teps starts one process for an engine.
 *
 * The clock covers run_bfs, as in the reference, and before it the clearing of the parents, which the reference does
 * before its clock starts. Parents have 64 bits and original labels. */
#include "common.h"

#include "aml.h"
#include "csr_reference.h"

#include "teps_engine.h"

extern int64_t nverts_known;
extern oned_csr_graph g;
void make_graph_data_structure(const tuple_graph *tuples);
void free_graph_data_structure(void);
void run_bfs(int64_t root, int64_t *parent);
void setup_globals(void);

int teps_describe(teps_description *description) {
	teps_description about = {
		.abi = TEPS_ABI, .name = "graph500", .version = GRAPH500_VERSION,
		.summary = "search of the Graph500 reference program in one MPI process", .device = "one MPI process", .units = 1,
		.bytes_fixed = 1 << 28, .bytes_per_vertex = 64, .bytes_per_tuple = 24,
	};
	*description = about;
	return TEPS_OK;
}

/* Kernel 1. */
int teps_construct(teps_call *call, const teps_tuple *tuples, int64_t count, teps_graph *graph) {
	static int started;
	static tuple_graph input; /* the reference keeps a pointer to it */
	int64_t vertices = teps_vertices(tuples, count, 31), edges = 0;
	if (vertices < 0) return teps_fail(call, TEPS_TUPLES, "a label has more than 31 bits");
	for (int64_t i = 0; i < count; i++) edges += tuples[i].low_u != tuples[i].low_v;
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
		nverts_known = 0;
		input = (tuple_graph){
			.edgememory = (packed_edge *)tuples, .edgememory_size = count, .max_edgememory_size = count,
			.nglobaledges = count > 2 * vertices ? count : 2 * vertices, /* it takes half of this for the number of vertices */
		};
		make_graph_data_structure(&input);
		graph->state = &g;
		graph->entries = g.rowstarts[g.nlocalverts];
	} else {
		graph->state = &input; /* nothing to free */
	}
	graph->vertices = vertices;
	graph->bytes = BYTES_PER_VERTEX * graph->entries + (4 + 4 + 4) * vertices + vertices / 8;
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

void teps_free(teps_graph *graph) {
	if (graph->state == &g) free_graph_data_structure();
}

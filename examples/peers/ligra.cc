// SPDX-License-Identifier: Apache-2.0

// The breadth-first search of Ligra (Shun and Blelloch, PPoPP 2013) as an engine of teps: apps/BFS.C and edgeMap unchanged,
// from a checkout of https://github.com/jshun/ligra, with OpenMP. Ligra reads its graphs from files, so kernel 1 is that of
// peers.h.
//
// The clock covers all that BFS.C does, which finds 32-bit parents in original labels, and their copy into teps's array.
#include <vector>

#define main ligra_main // of ligra.h
#include "BFS.C"
#undef main

#include "peers.h"

extern "C" {

int teps_describe(teps_description *description) {
	peers_describe_openmp(description, "ligra", LIGRA_VERSION,
		"direction-optimizing search with Ligra's edgeMap and OpenMP", 40);
	return TEPS_OK;
}

struct Lists {
	std::vector<uintE> targets, parents;
	std::vector<symmetricVertex> vertices;
};

int teps_construct(teps_call *call, const teps_tuple *tuples, int64_t count, teps_graph *graph) {
	peers_lists from;
	if (int code = peers_make_lists(call, tuples, count, &from)) return code;
	peers_set_threads(call);
	int64_t n = from.vertices, entries = from.begin[n];
	Lists *lists = new Lists{std::vector<uintE>(entries), std::vector<uintE>(n), std::vector<symmetricVertex>(n, {0, 0})};
	parallel_for(int64_t i = 0; i < entries; i++) lists->targets[i] = from.entry[i].neighbor;
	parallel_for(int64_t v = 0; v < n; v++) lists->vertices[v] =
		symmetricVertex(lists->targets.data() + from.begin[v], (uintT)(from.begin[v + 1] - from.begin[v]));
	peers_free_lists(&from);
	graph->state = lists;
	graph->vertices = n;
	graph->entries = entries;
	graph->bytes = 4 * entries + (4 + (int64_t)sizeof(symmetricVertex)) * n;
	graph->vertex_bits = 32;
	strcpy(graph->tuning, "Ligra's threshold: edges / 20");
	return TEPS_OK;
}

int teps_search(teps_call *call, const teps_graph *graph, int64_t root, int64_t *parent) {
	Lists *lists = (Lists *)graph->state;
	struct nothing : Deletable { void del() {} } nothing;
	::graph<symmetricVertex> g(lists->vertices.data(), graph->vertices, graph->entries, &nothing);
	uintE *parents = lists->parents.data();
	parallel_for(int64_t v = 0; v < graph->vertices; v++) parents[v] = UINT_E_MAX;
	parents[root] = (uintE)root;
	vertexSubset frontier(graph->vertices, (uintE)root);
	while (!frontier.isEmpty() && !call->canceled) {
		vertexSubset next = edgeMap(g, frontier, BFS_F(parents));
		frontier.del();
		frontier = next;
	}
	frontier.del();
	if (call->canceled) return TEPS_CANCELED;
	peers_widen((const int32_t *)parents, graph->vertices, parent); // UINT_E_MAX is -1
	return TEPS_OK;
}

void teps_free(teps_graph *graph) { delete (Lists *)graph->state; }
}

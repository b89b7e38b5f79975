// SPDX-License-Identifier: Apache-2.0

// The breadth-first search of Ligra (Shun and Blelloch, PPoPP 2013) as an engine of teps: apps/BFS.C and edgeMap unchanged,
// from a checkout of https://github.com/jshun/ligra, with OpenMP. Ligra reads its graphs from files, so kernel 1 is written
// here: sorted lists without duplicates and self-loops.
//
// The clock covers all that BFS.C does, which finds 32-bit parents in original labels, and their copy into teps's array.
#include <algorithm>
#include <vector>

#define main ligra_main // of ligra.h
#include "BFS.C"
#undef main

#include "openmp.hh"

extern "C" {

int teps_describe(teps_description *description) {
	describe_openmp(description, "ligra", LIGRA_VERSION, "direction-optimizing search with Ligra's edgeMap and OpenMP", 8);
	return TEPS_OK;
}

struct Lists {
	std::vector<uintE> targets, parents;
	std::vector<symmetricVertex> vertices;
	long entries = 0;
};

static void build(const teps_tuple *tuples, int64_t count, int64_t n, teps_graph *graph) {
	std::vector<int64_t> end(n + 1);
	for (int64_t i = 0; i < count; i++) end[tuples[i].low_u]++, end[tuples[i].low_v]++;
	for (int64_t v = 0; v < n; v++) end[v + 1] += end[v];
	Lists *lists = new Lists{std::vector<uintE>(2 * count), std::vector<uintE>(n), std::vector<symmetricVertex>(n, {0, 0})};
	for (int64_t i = 0; i < count; i++) { // each list is filled from its end
		lists->targets[--end[tuples[i].low_u]] = tuples[i].low_v;
		lists->targets[--end[tuples[i].low_v]] = tuples[i].low_u;
	}
	long entries = 0;
#pragma omp parallel for reduction(+ : entries) schedule(dynamic, 1024)
	for (int64_t v = 0; v < n; v++) {
		uintE *first = lists->targets.data() + end[v], *last = lists->targets.data() + (v + 1 < n ? end[v + 1] : 2 * count);
		std::sort(first, last);
		last = std::remove(first, std::unique(first, last), (uintE)v);
		lists->vertices[v] = symmetricVertex(first, (uintT)(last - first));
		entries += last - first;
	}
	lists->entries = entries;
	graph->state = lists;
	graph->vertices = n;
	graph->entries = entries;
	graph->bytes = 4 * 2 * count + (4 + (int64_t)sizeof(symmetricVertex)) * n;
	graph->vertex_bits = 32;
	strcpy(graph->tuning, "Ligra's threshold: edges / 20");
}

int teps_construct(teps_call *call, const teps_tuple *tuples, int64_t count, teps_graph *graph) {
	return build_openmp(call, tuples, count, [=](int64_t vertices) { build(tuples, count, vertices, graph); });
}

int teps_search(teps_call *call, const teps_graph *graph, int64_t root, int64_t *parent) {
	Lists *lists = (Lists *)graph->state;
	struct nothing : Deletable { void del() {} } nothing;
	::graph<symmetricVertex> g(lists->vertices.data(), graph->vertices, lists->entries, &nothing);
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
	parallel_for(int64_t v = 0; v < graph->vertices; v++)
		parent[v] = parents[v] == UINT_E_MAX ? TEPS_UNREACHED : (int64_t)parents[v];
	return TEPS_OK;
}

void teps_free(teps_graph *graph) { delete (Lists *)graph->state; }
}

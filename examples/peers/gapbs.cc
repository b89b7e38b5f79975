// SPDX-License-Identifier: Apache-2.0

// The breadth-first search of the GAP Benchmark Suite (Beamer, Asanović, Patterson, 2015) as an engine of teps. DOBFS and
// its builder are taken unchanged from a checkout of https://github.com/sbeamer/gapbs.
//
// The clock covers DOBFS, which finds 32-bit parents in original labels and allocates what it needs, and their copy into
// teps's 64-bit array, which takes a few per cent. GAPBS's own times leave out the copy.
#define main gapbs_main
#include "bfs.cc"
#undef main

#include "openmp.hh"

extern "C" {

int teps_describe(teps_description *description) {
	describe_openmp(description, "gapbs", GAPBS_VERSION,
		"direction-optimizing search of the GAP Benchmark Suite with OpenMP", 32);
	description->options[1] = {"alpha", TEPS_INT, 1, 1, 1 << 30, "15", "", "as in GAPBS: larger values go bottom-up sooner"};
	description->options[2] = {"beta", TEPS_INT, 1, 1, 1 << 30, "18", "", "as in GAPBS: larger values stay bottom-up longer"};
	return TEPS_OK;
}

struct Searcher {
	Graph graph;
	int alpha, beta;
};

static void build(teps_call *call, const teps_tuple *tuples, int64_t count, int64_t vertices, teps_graph *graph) {
	pvector<EdgePair<NodeID>> edges(count);
#pragma omp parallel for
	for (int64_t i = 0; i < count; i++) edges[i] = {(NodeID)tuples[i].low_u, (NodeID)tuples[i].low_v};
	std::cout.setstate(std::ios::failbit);
	const char *arguments[] = {"bfs", "-s", "-g1"}; // -s: each tuple is an edge in both directions
	optind = 1; // getopt begins again
	CLBase options(3, const_cast<char **>(arguments), "bfs");
	options.ParseArgs();
	BuilderBase<NodeID> builder(options);
	Searcher *searcher = new Searcher{Graph{}, (int)teps_set_int(call, "alpha"), (int)teps_set_int(call, "beta")};
	if (count > 0) {
		Graph built = builder.MakeGraphFromEL(edges);
		searcher->graph = builder.SquishGraph(built); // without duplicates and self-loops
	}
	graph->state = searcher;
	graph->vertices = vertices;
	graph->entries = count > 0 ? searcher->graph.num_edges_directed() : 0;
	graph->bytes = 4 * graph->entries + 8 * (vertices + 1);
	graph->vertex_bits = 32;
	strcpy(graph->tuning, "alpha and beta are GAPBS's defaults or set by the user");
}

int teps_construct(teps_call *call, const teps_tuple *tuples, int64_t count, teps_graph *graph) {
	return build_openmp(call, tuples, count, [=](int64_t vertices) { build(call, tuples, count, vertices, graph); });
}

int teps_search(teps_call *call, const teps_graph *graph, int64_t root, int64_t *parent) try {
	const Searcher *s = (const Searcher *)graph->state;
	pvector<NodeID> found = DOBFS(s->graph, (NodeID)root, false, s->alpha, s->beta);
#pragma omp parallel for
	for (int64_t v = 0; v < graph->vertices; v++) parent[v] = found[v];
	return TEPS_OK;
} catch (const std::bad_alloc &) {
	return teps_fail(call, TEPS_MEMORY, "no memory for a search");
}

void teps_free(teps_graph *graph) { delete (Searcher *)graph->state; }
}

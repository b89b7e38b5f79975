// SPDX-License-Identifier: Apache-2.0

// The searches of the GAP Benchmark Suite (Beamer, Asanović, Patterson, 2015) as an engine of teps. DOBFS, DeltaStep and
// their builder are taken unchanged from a checkout of https://github.com/sbeamer/gapbs. Its weights are int32_t or, with
// another definition of WeightT, float. Here they are float, so that distances are those of kernel 3, bit for bit.
//
// The clock covers DOBFS, which finds 32-bit parents in original labels and allocates what it needs, and their copy into
// teps's 64-bit array; in kernel 3 DeltaStep, which finds distances, and a pass over the edges that finds the parents.
// GAPBS's own times leave out the copies and that pass.
#include <memory>

#define main gapbs_bfs
#include "bfs.cc"
#undef main

typedef NodeWeight<NodeID, float> FloatNode;
typedef CSRGraph<NodeID, FloatNode> FloatGraph;
typedef BuilderBase<NodeID, FloatNode, float> FloatBuilder;
template <> struct Generator<NodeID, FloatNode, float> { // without weights: GAPBS's are random integers
	typedef pvector<EdgePair<NodeID, FloatNode>> EdgeList;
	Generator(int, int) {}
	EdgeList GenerateEL(bool) { return EdgeList(); }
	static void InsertWeights(EdgeList &) {}
};
#define WeightT float
#define WNode FloatNode
#define WGraph FloatGraph
#define WeightedBuilder FloatBuilder
#define main gapbs_sssp
#include "sssp.cc"
#undef main
#undef WeightT

#include "peers.h"

static_assert(sizeof(FloatNode) == sizeof(peers_entry) && offsetof(FloatNode, w) == offsetof(peers_entry, weight), "");

struct Searcher {
	Graph graph;
	FloatGraph weighted;
	pvector<SGOffset> offsets; // of weighted
	int alpha, beta;
	float delta;
};

static float power_of_two(float x) { return x > 0 ? std::exp2(std::ceil(std::log2(x))) : 1; }

template <typename Node, typename Weight, typename Edge>
static CSRGraph<NodeID, Node> build(int64_t count, Edge edge) {
	pvector<EdgePair<NodeID, Node>> edges(count);
#pragma omp parallel for
	for (int64_t i = 0; i < count; i++) edges[i] = edge(i);
	const char *arguments[] = {"gapbs", "-s", "-g1"}; // -s: each tuple is an edge in both directions
	optind = 1; // getopt begins again
	CLBase options(3, const_cast<char **>(arguments), "gapbs");
	options.ParseArgs();
	BuilderBase<NodeID, Node, Weight> builder(options);
	CSRGraph<NodeID, Node> built = builder.MakeGraphFromEL(edges);
	return builder.SquishGraph(built); // without duplicates and self-loops; of duplicates the least weight is kept
}

extern "C" {

int teps_describe(teps_description *description) {
	peers_describe_openmp(description, "gapbs", GAPBS_VERSION, "searches of the GAP Benchmark Suite with OpenMP", 32);
	description->paths_per_vertex = 16;
	description->paths_per_tuple = 48;
	description->options[1] = {"alpha", TEPS_INT, 1, 1, 1 << 30, "15", "", "as in GAPBS: larger values go bottom-up sooner"};
	description->options[2] = {"beta", TEPS_INT, 1, 1, 1 << 30, "18", "", "as in GAPBS: larger values stay bottom-up longer"};
	description->options[3] = {"delta", TEPS_FLOAT, 1, 1e-6, 1, "0.0078125", "",
		"width of a bucket over the greatest weight; both are rounded up to powers of two"};
	return TEPS_OK;
}

int teps_construct(teps_call *call, const teps_tuple *tuples, int64_t count, teps_graph *graph) try {
	int64_t vertices = teps_vertices(tuples, count, 31);
	if (vertices < 0) return teps_fail(call, TEPS_TUPLES, "a label has more than 31 bits");
	peers_set_threads(call);
	std::cout.setstate(std::ios::failbit);
	std::unique_ptr<Searcher> s(new Searcher{});
	s->alpha = (int)teps_set_int(call, "alpha");
	s->beta = (int)teps_set_int(call, "beta");
	const float *w = call->weights;
	if (count > 0) {
		s->graph = build<NodeID, NodeID>(count, [=](int64_t i) {
			return EdgePair<NodeID>((NodeID)tuples[i].low_u, (NodeID)tuples[i].low_v);
		});
		graph->entries = s->graph.num_edges_directed();
	}
	if (count > 0 && w != nullptr) {
		s->weighted = build<FloatNode, float>(count, [=](int64_t i) {
			return EdgePair<NodeID, FloatNode>((NodeID)tuples[i].low_u, FloatNode((NodeID)tuples[i].low_v, w[i]));
		});
		s->offsets = s->weighted.VertexOffsets();
		s->delta = power_of_two(*std::max_element(w, w + count)) * power_of_two(strtof(teps_set(call, "delta"), nullptr));
	}
	graph->state = s.release();
	graph->vertices = vertices;
	graph->bytes = (w ? 12 : 4) * graph->entries + (w ? 24 : 8) * (vertices + 1);
	graph->vertex_bits = 32;
	strcpy(graph->tuning, "alpha and beta are GAPBS's defaults or set by the user");
	return TEPS_OK;
} catch (const std::bad_alloc &) {
	return teps_fail(call, TEPS_MEMORY, "no memory for %lld tuples", (long long)count);
}

int teps_search(teps_call *call, const teps_graph *graph, int64_t root, int64_t *parent) try {
	const Searcher *s = (const Searcher *)graph->state;
	pvector<NodeID> found = DOBFS(s->graph, (NodeID)root, false, s->alpha, s->beta);
	peers_widen(found.data(), graph->vertices, parent);
	return TEPS_OK;
} catch (const std::bad_alloc &) {
	return teps_fail(call, TEPS_MEMORY, "no memory for a search");
}

int teps_shortest_paths(teps_call *call, const teps_graph *graph, int64_t root, int64_t *parent, float *distance) try {
	const Searcher *s = (const Searcher *)graph->state;
	if (graph->entries == 0) { // then there is no place for the root in GAPBS's frontier
		std::fill(parent, parent + graph->vertices, TEPS_UNREACHED);
		std::fill(distance, distance + graph->vertices, INFINITY);
		parent[root] = root;
		distance[root] = 0;
		return TEPS_OK;
	}
	pvector<float> found = DeltaStep(s->weighted, (NodeID)root, s->delta);
#pragma omp parallel for
	for (int64_t v = 0; v < graph->vertices; v++) distance[v] = found[v] == kDistInf ? INFINITY : found[v];
	const peers_entry *entries = (const peers_entry *)s->weighted.out_neigh(0).begin();
	int64_t open = 0;
#pragma omp parallel for schedule(dynamic, 1024)
	for (int64_t v = 0; v < graph->vertices; v++)
		peers_find_parent(s->offsets.data(), entries, root, distance, v, parent, &open);
	if (open == 0) return TEPS_OK;
	return peers_find_open_parents(call, graph->vertices, s->offsets.data(), entries, distance, parent);
} catch (const std::bad_alloc &) {
	return teps_fail(call, TEPS_MEMORY, "no memory for a search");
}

void teps_free(teps_graph *graph) { delete (Searcher *)graph->state; }
}

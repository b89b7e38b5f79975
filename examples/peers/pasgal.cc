// SPDX-License-Identifier: Apache-2.0

// The searches of PASGAL (Dong, Gu, Sun, Wang, SPAA 2024) as an engine of teps: its breadth-first search and rho-stepping
// (Dong, Gu, Sun, Zhang, SPAA 2021), unchanged, from a checkout of https://github.com/ucrparlay/PASGAL with its submodule
// parlaylib. PASGAL reads its graphs from files, so kernel 1 is that of peers.h.
//
// The clock covers BFS::bfs or SSSP::sssp, which find only distances, and a pass over the edges that finds the parents.
#include <memory>
#include <new>

#include "BFS/bfs.h"
#include "SSSP/sssp.h"

#include "peers.h"

using Unweighted = Graph<uint32_t, uint64_t>;
using Weighted = Graph<uint32_t, uint64_t, float>;

struct Searcher {
	peers_lists lists{};
	Unweighted graph;
	Weighted weighted;
	std::unique_ptr<BFS<Unweighted>> bfs;
	std::unique_ptr<Rho_Stepping<Weighted>> sssp; // none without weights
	~Searcher() { peers_free_lists(&lists); }
};

template <typename G>
static void fill(G &g, const peers_lists &from) {
	g.n = std::max<int64_t>(from.vertices, 1024); // its SSSP does not end on graphs of fewer than 100 vertices
	g.m = from.begin[from.vertices];
	g.symmetrized = true;
	g.weighted = !std::is_same_v<typename G::EdgeTy, Empty>;
	g.offsets = sequence<uint64_t>::from_function(g.n + 1, [&](int64_t v) { return from.begin[std::min(v, from.vertices)]; });
	g.edges = sequence<typename G::Edge>::from_function(g.m, [&](size_t i) {
		typename G::Edge e(from.entry[i].neighbor);
		if constexpr (!std::is_same_v<typename G::EdgeTy, Empty>) e.w = from.entry[i].weight;
		return e;
	});
}

extern "C" {

int teps_describe(teps_description *description) {
	peers_describe(description, "pasgal", PASGAL_VERSION, "searches of PASGAL with parlaylib", "threads of parlaylib", 0, 64);
	description->paths_per_vertex = 64;
	description->paths_per_tuple = 32;
	description->options[0] = {"threads", TEPS_INT, 1, 0, 1024, "0", "", "threads; 0: one for each processor"};
	return TEPS_OK;
}

int teps_construct(teps_call *call, const teps_tuple *tuples, int64_t count, teps_graph *graph) try {
	static int64_t threads = -1; // parlaylib starts them once
	int64_t wanted = teps_set_int(call, "threads");
	if (threads >= 0 && wanted != threads)
		return teps_fail(call, TEPS_OPTION, "parlaylib has started with threads=%lld and keeps them", (long long)threads);
	threads = wanted;
	if (threads > 0) setenv("PARLAY_NUM_THREADS", std::to_string(threads).c_str(), 1);
	auto s = std::make_unique<Searcher>();
	if (int code = peers_make_lists(call, tuples, count, &s->lists)) return code;
	int64_t n = s->lists.vertices;
	fill(s->graph, s->lists);
	s->bfs = std::make_unique<BFS<Unweighted>>(s->graph);
	if (call->weights) {
		fill(s->weighted, s->lists);
		s->sssp = std::make_unique<Rho_Stepping<Weighted>>(s->weighted);
	}
	graph->vertices = n;
	graph->entries = s->graph.m;
	graph->bytes = (call->weights ? 20 : 12) * graph->entries + (call->weights ? 64 : 48) * n;
	graph->vertex_bits = 32;
	strcpy(graph->tuning, "PASGAL's defaults");
	graph->state = s.release();
	return TEPS_OK;
} catch (const std::bad_alloc &) {
	return teps_fail(call, TEPS_MEMORY, "no memory for %lld tuples", (long long)count);
}

int teps_search(teps_call *, const teps_graph *graph, int64_t root, int64_t *parent) {
	Searcher *s = (Searcher *)graph->state;
	sequence<uint32_t> level = s->bfs->bfs(root);
	const auto &offsets = s->graph.offsets;
	parallel_for(0, graph->vertices, [&](size_t v) {
		parent[v] = v == (size_t)root ? root : TEPS_UNREACHED;
		if (level[v] == 0 || level[v] == std::numeric_limits<uint32_t>::max()) return;
		size_t i = offsets[v];
		while (level[s->graph.edges[i].v] != level[v] - 1) i++;
		parent[v] = s->graph.edges[i].v;
	});
	return TEPS_OK;
}

int teps_shortest_paths(teps_call *call, const teps_graph *graph, int64_t root, int64_t *parent, float *distance) {
	Searcher *s = (Searcher *)graph->state;
	sequence<float> found = s->sssp->sssp(root);
	parallel_for(0, graph->vertices, [&](size_t v) {
		distance[v] = found[v] == std::numeric_limits<float>::max() ? INFINITY : found[v];
	});
	const peers_lists &l = s->lists;
	int64_t open = 0;
	parallel_for(0, graph->vertices, [&](size_t v) {
		peers_find_parent(l.begin, l.entry, root, distance, v, parent, &open);
	});
	return open == 0 ? TEPS_OK : peers_find_open_parents(call, graph->vertices, l.begin, l.entry, distance, parent);
}

void teps_free(teps_graph *graph) { delete (Searcher *)graph->state; }
}

// SPDX-License-Identifier: Apache-2.0

// The search of Fugaku (Arai et al., SC24; Ueno et al.) as an engine of teps: BfsOnCPU and its kernel 1 unchanged, from a
// checkout of https://github.com/RIKEN-RCCS/Graph500-BFS, in one MPI process with OpenMP. With several processes run the
// program itself: teps starts one process for an engine.
//
// The clock covers run_bfs, which writes parents in original labels with their levels in the upper 16 bits, and their copy
// to teps's array without the levels. So a search of more than 65,535 levels does not end.
#include <ctime> // which it gets from the C++ bindings of some MPI only
#include <pthread.h>
#define main riken_main
#include "main.cc"
#undef main

#include "peers.h"

struct Searcher {
	std::unique_ptr<BfsOnCPU> bfs; // none without edges
	std::vector<int64_t> parents;
};

extern "C" {

int teps_describe(teps_description *description) {
	peers_describe_openmp(description, "riken", RIKEN_VERSION, "search of Graph500-BFS in one MPI process with OpenMP", 160);
	description->bytes_fixed = 1 << 30;
	description->options[1] = {"pruning", TEPS_BOOL, 0, 0, 0, "false", "", "its forest pruning in kernel 1, its option -C"};
	return TEPS_OK;
}

int teps_construct(teps_call *call, const teps_tuple *tuples, int64_t count, teps_graph *graph) try {
	static_assert(sizeof(teps_tuple) == sizeof(UnweightedPackedEdge), "the same 12 bytes");
	static bool started;
	int64_t vertices = teps_vertices(tuples, count, 31), edges = 0;
	if (vertices < 0) return teps_fail(call, TEPS_TUPLES, "a label has more than 31 bits");
	for (int64_t i = 0; i < count; i++) edges += tuples[i].low_u != tuples[i].low_v;
	peers_set_threads(call);
	if (!started) {
		static char name[] = "riken", *arguments[] = {name, nullptr};
		setenv("NO_AFFINITY", "1", 0); // teps has bound the threads
		setup_globals(1, arguments, 1, 16);
		started = true;
	}
	auto s = std::make_unique<Searcher>();
	if (edges > 0) {
		EdgeListStorage<UnweightedPackedEdge> list(count, nullptr), both(2 * count, nullptr);
		list.beginWrite();
		list.write((UnweightedPackedEdge *)tuples, count);
		list.endWrite();
		redistribute_edge_2d(&list);
		int scale = make_symmetry_edge_list(&list, &both);
		s->bfs.reset(new BfsOnCPU());
		bool pruning = strcmp(teps_set(call, "pruning"), "true") == 0;
		s->bfs->construct(scale, pruning, &both);
		s->parents.resize(std::max<int64_t>(s->bfs->graph_.pred_size(), vertices), -1);
		s->bfs->prepare_bfs(0, false, false, 16, DEFAULT_ALPHA, DEFAULT_BETA, s->parents.data());
	}
	graph->state = s.release();
	graph->vertices = vertices;
	graph->bytes = 2 * 8 * edges + 24 * vertices; // it does not say
	graph->vertex_bits = 32;
	strcpy(graph->tuning, "its defaults of alpha and beta");
	return TEPS_OK;
} catch (const std::bad_alloc &) {
	return teps_fail(call, TEPS_MEMORY, "no memory for %lld tuples", (long long)count);
}

int teps_search(teps_call *, const teps_graph *graph, int64_t root, int64_t *parent) {
	Searcher *s = (Searcher *)graph->state;
	bool known = s->bfs && root < s->bfs->graph_.pred_size() && s->bfs->has_edge(root);
	if (!known) {
		std::fill(parent, parent + graph->vertices, TEPS_UNREACHED);
		parent[root] = root;
		return TEPS_OK;
	}
	int64_t unused[AUTO_NUM];
	s->bfs->run_bfs(root, s->parents.data(), 16, DEFAULT_ALPHA, DEFAULT_BETA, unused);
#pragma omp parallel for
	for (int64_t v = 0; v < graph->vertices; v++) parent[v] = (int64_t)((uint64_t)s->parents[v] << 16) >> 16;
	return TEPS_OK;
}

void teps_free(teps_graph *graph) {
	Searcher *s = (Searcher *)graph->state;
	if (s->bfs) s->bfs->end_bfs();
	delete s;
}
}

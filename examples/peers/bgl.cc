// SPDX-License-Identifier: Apache-2.0

// The Boost Graph Library (Siek, Lee, Lumsdaine) as an engine of teps: breadth_first_search and dijkstra_shortest_paths on
// its compressed_sparse_row_graph, with one thread. Kernel 1 sorts the entries as peers.h does. Everything is on the clock.
#include <memory>
#include <new>

#include <boost/graph/breadth_first_search.hpp>
#include <boost/graph/compressed_sparse_row_graph.hpp>
#include <boost/graph/dijkstra_shortest_paths.hpp>
#include <boost/version.hpp>

#include "peers.h"

typedef boost::compressed_sparse_row_graph<boost::directedS, boost::no_property, float, boost::no_property, int64_t, int64_t> Graph;

extern "C" {

int teps_describe(teps_description *description) {
	peers_describe(description, "bgl", BOOST_LIB_VERSION, "searches of the Boost Graph Library", "one thread", 1, 96);
	return TEPS_OK;
}

int teps_construct(teps_call *call, const teps_tuple *tuples, int64_t count, teps_graph *graph) try {
	peers_lists lists;
	if (int code = peers_make_lists(call, tuples, count, &lists)) return code;
	std::unique_ptr<peers_lists, void (*)(peers_lists *)> freed(&lists, peers_free_lists);
	std::vector<std::pair<int64_t, int64_t>> edges;
	std::vector<float> weights;
	edges.reserve(lists.begin[lists.vertices]);
	weights.reserve(lists.begin[lists.vertices]);
	for (int64_t v = 0; v < lists.vertices; v++)
		for (int64_t i = lists.begin[v]; i < lists.begin[v + 1]; i++) {
			edges.emplace_back(v, lists.entry[i].neighbor);
			weights.push_back(lists.entry[i].weight);
		}
	graph->state = new Graph(boost::edges_are_sorted, edges.begin(), edges.end(), weights.begin(), lists.vertices);
	graph->vertices = lists.vertices;
	graph->entries = edges.size();
	graph->bytes = 12 * graph->entries + 8 * (graph->vertices + 1);
	graph->vertex_bits = 64;
	return TEPS_OK;
} catch (const std::bad_alloc &) {
	return teps_fail(call, TEPS_MEMORY, "no memory for %lld tuples", (long long)count);
}

int teps_search(teps_call *call, const teps_graph *graph, int64_t root, int64_t *parent) try {
	std::fill(parent, parent + graph->vertices, TEPS_UNREACHED);
	parent[root] = root;
	const Graph &g = *(const Graph *)graph->state;
	auto parents = boost::make_iterator_property_map(parent, boost::get(boost::vertex_index, g));
	auto record = boost::make_bfs_visitor(boost::record_predecessors(parents, boost::on_tree_edge()));
	boost::breadth_first_search(g, root, boost::visitor(record));
	return TEPS_OK;
} catch (const std::bad_alloc &) {
	return teps_fail(call, TEPS_MEMORY, "no memory for a search");
}

int teps_shortest_paths(teps_call *call, const teps_graph *graph, int64_t root, int64_t *parent, float *distance) try {
	const Graph &g = *(const Graph *)graph->state;
	auto index = boost::get(boost::vertex_index, g);
	boost::dijkstra_shortest_paths(g, root, boost::weight_map(boost::get(boost::edge_bundle, g))
		.distance_map(boost::make_iterator_property_map(distance, index))
		.predecessor_map(boost::make_iterator_property_map(parent, index)).distance_inf(INFINITY));
	for (int64_t v = 0; v < graph->vertices; v++)
		if (distance[v] == INFINITY) parent[v] = TEPS_UNREACHED;
	return TEPS_OK;
} catch (const std::bad_alloc &) {
	return teps_fail(call, TEPS_MEMORY, "no memory for a search");
}

void teps_free(teps_graph *graph) { delete (Graph *)graph->state; }
}

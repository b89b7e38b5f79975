// SPDX-License-Identifier: Apache-2.0

// An engine of teps: one queue on one thread over compressed sparse rows, and a heap for shortest paths.
#include "teps_engine.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <new>
#include <queue>
#include <utility>
#include <vector>

struct Edge {
	uint32_t target;
	float weight; // 0 without weights
};

struct Rows {
	std::vector<int64_t> begin; // the edges of v are edges[begin[v]] ... edges[begin[v + 1] - 1]
	std::vector<Edge> edges;    // both directions of every tuple
	std::vector<uint32_t> queue;
};

// Exceptions must not leave the functions that teps calls.
template <typename Body>
static int guarded(teps_call *call, Body body) {
	try {
		return body();
	} catch (const std::bad_alloc &) {
		return teps_fail(call, TEPS_MEMORY, "no memory left");
	}
}

int teps_describe(teps_description *description) {
	*description = teps_description{};
	description->abi = TEPS_ABI;
	strcpy(description->name, "mine");
	strcpy(description->version, "1");
	strcpy(description->summary, "one queue on one thread, in C++");
	description->bytes_per_vertex = 20; // so that teps can refuse graphs that do not fit
	description->bytes_per_tuple = 16;
	description->paths_per_tuple = 64; // of the heap
	return TEPS_OK;
}

// Kernel 1: stores every tuple at both of its ends.
int teps_construct(teps_call *call, const teps_tuple *tuples, int64_t count, teps_graph *graph) {
	return guarded(call, [&] {
		int64_t vertices = teps_vertices(tuples, count, 32);
		if (vertices < 0) return teps_fail(call, TEPS_TUPLES, "a label has more than 32 bits");
		auto rows = std::make_unique<Rows>();
		rows->begin.resize(vertices + 1);
		rows->edges.resize(2 * count);
		rows->queue.resize(vertices);
		for (int64_t i = 0; i < count; i++) { // count, ...
			rows->begin[tuples[i].low_u]++;
			rows->begin[tuples[i].low_v]++;
		}
		for (int64_t v = 0; v < vertices; v++) rows->begin[v + 1] += rows->begin[v];
		for (int64_t i = 0; i < count; i++) { // ... and fill each list from its end
			float weight = call->weights ? call->weights[i] : 0;
			rows->edges[--rows->begin[tuples[i].low_u]] = {tuples[i].low_v, weight};
			rows->edges[--rows->begin[tuples[i].low_v]] = {tuples[i].low_u, weight};
		}
		graph->state = rows.release();
		graph->vertices = vertices;
		graph->bytes = 12 * vertices + 16 * count;
		graph->vertex_bits = 32;
		return (int)TEPS_OK;
	});
}

// Kernel 2: replace this.
int teps_search(teps_call *call, const teps_graph *graph, int64_t root, int64_t *parent) {
	Rows &rows = *static_cast<Rows *>(graph->state);
	std::fill_n(parent, graph->vertices, TEPS_UNREACHED);
	parent[root] = root;
	rows.queue[0] = root;
	for (int64_t head = 0, tail = 1; head < tail; head++) {
		if (call->canceled) return TEPS_CANCELED; // teps no longer wants the result
		uint32_t u = rows.queue[head];
		for (int64_t i = rows.begin[u]; i < rows.begin[u + 1]; i++) {
			uint32_t v = rows.edges[i].target;
			if (parent[v] != TEPS_UNREACHED) continue;
			parent[v] = u;
			rows.queue[tail++] = v;
		}
	}
	return TEPS_OK;
}

// Kernel 3, which is optional: Dijkstra's search. Replace this, too.
int teps_shortest_paths(teps_call *call, const teps_graph *graph, int64_t root, int64_t *parent, float *distance) {
	return guarded(call, [&] {
		const Rows &rows = *static_cast<Rows *>(graph->state);
		using Entry = std::pair<float, uint32_t>;
		std::priority_queue<Entry, std::vector<Entry>, std::greater<Entry>> heap;
		std::fill_n(parent, graph->vertices, TEPS_UNREACHED);
		std::fill_n(distance, graph->vertices, INFINITY);
		parent[root] = root;
		distance[root] = 0;
		heap.push({0, root});
		while (!heap.empty()) {
			if (call->canceled) return (int)TEPS_CANCELED;
			auto [d, u] = heap.top();
			heap.pop();
			if (d > distance[u]) continue; // a shorter path was found
			for (int64_t i = rows.begin[u]; i < rows.begin[u + 1]; i++) {
				Edge e = rows.edges[i];
				if (!(d + e.weight < distance[e.target])) continue; // keeps a tree where weights are 0
				parent[e.target] = u;
				distance[e.target] = d + e.weight;
				heap.push({d + e.weight, e.target});
			}
		}
		return (int)TEPS_OK;
	});
}

void teps_free(teps_graph *graph) { delete static_cast<Rows *>(graph->state); }

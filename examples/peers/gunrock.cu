// SPDX-License-Identifier: Apache-2.0

// The breadth-first search of Gunrock (Wang et al., PPoPP 2016; version 2, "Essentials") as an engine of teps. It is taken
// unchanged from a checkout of https://github.com/gunrock/gunrock.
//
// Gunrock's search finds depths, not parents. So a kernel of this file gives every vertex a neighbor one level up as
// parent when the clock has stopped. The clock covers clearing the depths and Gunrock's loop over the levels.
#ifdef __CUDA_ARCH__
#define __HIP_DEVICE_COMPILE__ 1 // without it Gunrock v2.2.0-11 takes the host's code for atomics in NVIDIA's kernels, too
#endif
#include <gunrock/algorithms/bfs.hxx>

#include <thrust/sort.h>
#include <thrust/unique.h>

#include "teps_engine.h"

using vertex_t = int;
constexpr auto on_device = gunrock::memory::memory_space_t::device;
using csr_t = gunrock::format::csr_t<on_device, vertex_t, vertex_t, float>;
using graph_t = decltype(gunrock::graph::build<on_device>(std::declval<gunrock::graph::graph_properties_t>(), std::declval<csr_t &>()));
using param_t = gunrock::bfs::param_t<vertex_t>;
using result_t = gunrock::bfs::result_t<vertex_t>;
using problem_t = gunrock::bfs::problem_t<graph_t, param_t, result_t>;

struct searcher {
	csr_t csr;
	thrust::device_vector<vertex_t> depth;
	thrust::device_vector<int64_t> parent;
	std::shared_ptr<gunrock::gcuda::multi_context_t> context;
	std::unique_ptr<problem_t> problem; // as gunrock::bfs::run makes them for each search
	std::unique_ptr<gunrock::bfs::enactor_t<problem_t>> enactor;
};

__global__ void find_parents(int n, const int *begin, const int *neighbor, const int *depth, int root, int64_t *parent) {
	int v = blockIdx.x * blockDim.x + threadIdx.x;
	if (v >= n) return;
	int64_t found = v == root ? root : TEPS_UNREACHED;
	if (v != root && depth[v] != INT_MAX)
		for (int i = begin[v]; i < begin[v + 1] && found < 0; i++)
			if (depth[neighbor[i]] == depth[v] - 1) found = neighbor[i];
	parent[v] = found;
}

// Rows begin where the sources of the sorted edges, which are their upper halves, change.
__global__ void find_rows(int n, const uint64_t *edge, int count, int *begin) {
	for (int i = blockIdx.x * blockDim.x + threadIdx.x; i <= count; i += gridDim.x * blockDim.x) {
		int from = i == 0 ? -1 : int(edge[i - 1] >> 32), to = i == count ? n : int(edge[i] >> 32);
		for (int v = from + 1; v <= to; v++) begin[v] = i;
	}
}

static const gunrock::operators::load_balance_t balances[] = {gunrock::operators::load_balance_t::block_mapped,
	gunrock::operators::load_balance_t::merge_path, gunrock::operators::load_balance_t::thread_mapped};

extern "C" {

int teps_describe(teps_description *description) {
	*description = teps_description{};
	description->abi = TEPS_ABI;
	strcpy(description->name, "gunrock");
	strcpy(description->version, GUNROCK_VERSION);
	strcpy(description->summary, "search of Gunrock over frontiers of vertices, on the first GPU");
	int devices = 0;
	cudaDeviceProp properties;
	if (cudaGetDeviceCount(&devices) == cudaSuccess && devices > 0 && cudaGetDeviceProperties(&properties, 0) == cudaSuccess) {
		snprintf(description->device, sizeof description->device, "%s", properties.name);
		description->units = properties.multiProcessorCount;
	} else {
		strcpy(description->unavailable, "no NVIDIA GPU was found");
	}
	description->bytes_fixed = 1 << 28;
	description->bytes_per_tuple = 16;
	description->options[0] = {"balance", TEPS_CHOICE, 0, 0, 0, "block_mapped", "block_mapped,merge_path,thread_mapped",
		"how the edges of a frontier are divided among threads, as Gunrock names it"};
	description->options[1] = {"filter", TEPS_BOOL, 0, 0, 0, "false", "",
		"remove from each frontier the places of edges that found no new vertex, with Gunrock's filter"};
	return TEPS_OK;
}

int teps_construct(teps_call *call, const teps_tuple *tuples, int64_t count, teps_graph *graph) try {
	int64_t vertices = teps_vertices(tuples, count, 31);
	if (vertices < 0) return teps_fail(call, TEPS_TUPLES, "Gunrock's labels have 31 bits");
	if (count > INT_MAX / 2) return teps_fail(call, TEPS_TUPLES, "Gunrock's adjacency has at most 2^31 entries");
	std::vector<uint64_t> edges;
	edges.reserve(2 * count);
	for (int64_t i = 0; i < count; i++) {
		uint64_t u = tuples[i].low_u, v = tuples[i].low_v;
		if (u == v) continue;
		edges.push_back(u << 32 | v);
		edges.push_back(v << 32 | u);
	}
	thrust::device_vector<uint64_t> sorted(edges);
	std::vector<uint64_t>().swap(edges);
	thrust::sort(sorted.begin(), sorted.end());
	int entries = thrust::unique(sorted.begin(), sorted.end()) - sorted.begin();
	searcher *s = new searcher;
	s->csr.number_of_rows = s->csr.number_of_columns = vertices;
	s->csr.number_of_nonzeros = entries;
	s->csr.row_offsets.resize(vertices + 1);
	s->csr.column_indices.resize(entries);
	s->csr.nonzero_values.resize(entries, 1);
	thrust::transform(sorted.begin(), sorted.begin() + entries, s->csr.column_indices.begin(),
		[] __device__(uint64_t e) { return vertex_t(e & 0xffffffff); });
	find_rows<<<1024, 256>>>(vertices, sorted.data().get(), entries, s->csr.row_offsets.data().get());
	s->depth.resize(vertices);
	s->parent.resize(vertices);
	gunrock::graph::graph_properties_t properties;
	graph_t g = gunrock::graph::build<on_device>(properties, s->csr);
	param_t parameters(0);
	result_t result(s->depth.data().get(), nullptr);
	s->context = std::make_shared<gunrock::gcuda::multi_context_t>(0);
	const char *balance = teps_set(call, "balance");
	parameters.options.advance_load_balance = balances[strcmp(balance, "merge_path") == 0 ? 1 : strcmp(balance, "thread_mapped") == 0 ? 2 : 0];
	parameters.options.enable_filter = strcmp(teps_set(call, "filter"), "true") == 0;
	s->problem.reset(new problem_t(g, parameters, result, s->context));
	s->problem->init();
	s->enactor.reset(new gunrock::bfs::enactor_t<problem_t>(s->problem.get(), s->context));
	if (cudaDeviceSynchronize() != cudaSuccess) {
		delete s;
		return teps_fail(call, TEPS_FAILED, "CUDA reports: %s", cudaGetErrorString(cudaGetLastError()));
	}
	graph->state = s;
	graph->vertices = vertices;
	graph->entries = entries;
	graph->bytes = 8 * (int64_t)entries + 16 * vertices;
	graph->vertex_bits = 32;
	return TEPS_OK;
} catch (const std::bad_alloc &) {
	return teps_fail(call, TEPS_MEMORY, "no memory for %lld tuples", (long long)count);
} catch (const std::exception &e) {
	return teps_fail(call, TEPS_FAILED, "Gunrock reports: %s", e.what());
}

int teps_search(teps_call *call, const teps_graph *graph, int64_t root, int64_t *parent) try {
	using clock = std::chrono::steady_clock;
	searcher *s = (searcher *)graph->state;
	// The enactor of v2.2.0-11 sets the length of a frontier to 0, but adds the root to the end of its storage.
	for (auto &frontier : s->enactor->frontiers) frontier.resize(0);
	auto begin = clock::now();
	s->problem->param.single_source = (vertex_t)root;
	s->problem->reset();
	s->enactor->enact();
	s->context->get_context(0)->synchronize();
	auto end = clock::now();
	int n = (int)graph->vertices;
	find_parents<<<(n + 255) / 256, 256>>>(n, s->csr.row_offsets.data().get(), s->csr.column_indices.data().get(),
		s->depth.data().get(), (int)root, s->parent.data().get());
	if (cudaMemcpy(parent, s->parent.data().get(), n * sizeof *parent, cudaMemcpyDeviceToHost) != cudaSuccess)
		return teps_fail(call, TEPS_FAILED, "CUDA reports: %s", cudaGetErrorString(cudaGetLastError()));
	call->elapsed_ns = std::chrono::nanoseconds(end - begin).count();
	return TEPS_OK;
} catch (const std::bad_alloc &) {
	return teps_fail(call, TEPS_MEMORY, "no memory for a search");
} catch (const std::exception &e) {
	return teps_fail(call, TEPS_FAILED, "Gunrock reports: %s", e.what());
}

void teps_free(teps_graph *graph) { delete (searcher *)graph->state; }
}

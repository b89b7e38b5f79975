// SPDX-License-Identifier: Apache-2.0

// The breadth-first search and shortest paths of Gunrock (Wang et al., PPoPP 2016; version 2, "Essentials") as an engine of
// teps. They are taken unchanged from a checkout of https://github.com/gunrock/gunrock.
//
// Gunrock's searches find depths or distances, not parents: sssp::result_t has predecessors, but nothing writes them. So
// parents are found on the host when the clock has stopped. The clock covers clearing the depths or distances and
// Gunrock's loop over the frontiers.
#ifdef __CUDA_ARCH__
#define __HIP_DEVICE_COMPILE__ 1 // without it Gunrock v2.2.0-11 takes the host's code for atomics in NVIDIA's kernels, too
#endif
#include <gunrock/algorithms/bfs.hxx>
#include <gunrock/algorithms/sssp.hxx>

#include "peers.h"

using vertex_t = int;
constexpr auto on_device = gunrock::memory::memory_space_t::device;
using csr_t = gunrock::format::csr_t<on_device, vertex_t, vertex_t, float>;
using graph_t = decltype(gunrock::graph::build<on_device>(std::declval<gunrock::graph::graph_properties_t>(), std::declval<csr_t &>()));
using clock_type = std::chrono::steady_clock;
using context_t = std::shared_ptr<gunrock::gcuda::multi_context_t>;

// A search of Gunrock.
template <typename problem_t, template <typename> class enactor_t>
struct kernel {
	context_t context;
	problem_t problem; // and enactor: as gunrock's functions run make them for each search
	enactor_t<problem_t> enactor;

	template <typename param_t, typename result_t>
	kernel(graph_t &g, param_t &param, result_t device, context_t context)
		: context(context), problem(g, param, device, context), enactor((problem.init(), &problem), context) {}

	// Searches and returns the time in nanoseconds.
	int64_t run(vertex_t root) {
		// The enactor of v2.2.0-11 sets the length of a frontier to 0, but adds the root to the end of its storage.
		for (auto &frontier : enactor.frontiers) frontier.resize(0);
		auto begin = clock_type::now();
		problem.param.single_source = root;
		problem.reset();
		enactor.enact();
		context->get_context(0)->synchronize();
		return std::chrono::nanoseconds(clock_type::now() - begin).count();
	}
};

using bfs_problem = gunrock::bfs::problem_t<graph_t, gunrock::bfs::param_t<vertex_t>, gunrock::bfs::result_t<vertex_t>>;
using sssp_problem = gunrock::sssp::problem_t<graph_t, gunrock::sssp::param_t<vertex_t>, gunrock::sssp::result_t<vertex_t, float>>;
using bfs_kernel = kernel<bfs_problem, gunrock::bfs::enactor_t>;
using sssp_kernel = kernel<sssp_problem, gunrock::sssp::enactor_t>;

struct searcher {
	peers_lists lists{};
	csr_t csr;
	thrust::device_vector<vertex_t> depth;
	thrust::device_vector<float> distance;
	thrust::host_vector<vertex_t> host_depth;
	std::unique_ptr<bfs_kernel> bfs;
	std::unique_ptr<sssp_kernel> sssp; // none without weights
	~searcher() { peers_free_lists(&lists); }
};

static const gunrock::operators::load_balance_t balances[] = {gunrock::operators::load_balance_t::block_mapped,
	gunrock::operators::load_balance_t::merge_path, gunrock::operators::load_balance_t::thread_mapped};

extern "C" {

int teps_describe(teps_description *description) {
	peers_describe(description, "gunrock", GUNROCK_VERSION, "searches of Gunrock over frontiers, on the first GPU", "", 0, 40);
	int devices = 0;
	cudaDeviceProp properties;
	if (cudaGetDeviceCount(&devices) == cudaSuccess && devices > 0 && cudaGetDeviceProperties(&properties, 0) == cudaSuccess) {
		snprintf(description->device, sizeof description->device, "%s", properties.name);
		description->units = properties.multiProcessorCount;
	} else {
		strcpy(description->unavailable, "no NVIDIA GPU was found");
	}
	description->options[0] = {"balance", TEPS_CHOICE, 0, 0, 0, "block_mapped", "block_mapped,merge_path,thread_mapped",
		"how the edges of a frontier are divided among threads, as Gunrock names it"};
	description->options[1] = {"filter", TEPS_BOOL, 0, 0, 0, "false", "",
		"remove from each frontier the places of edges that found no new vertex, with Gunrock's filter"};
	return TEPS_OK;
}

int teps_construct(teps_call *call, const teps_tuple *tuples, int64_t count, teps_graph *graph) try {
	auto s = std::make_unique<searcher>();
	if (int code = peers_make_lists(call, tuples, count, &s->lists)) return code;
	int64_t vertices = s->lists.vertices, entries = s->lists.begin[vertices];
	if (entries > INT_MAX) return teps_fail(call, TEPS_TUPLES, "Gunrock's adjacency has at most 2^31 entries");
	std::vector<vertex_t> begin(s->lists.begin, s->lists.begin + vertices + 1), neighbor(entries);
	std::vector<float> weight(entries);
	for (int64_t i = 0; i < entries; i++) neighbor[i] = s->lists.entry[i].neighbor, weight[i] = s->lists.entry[i].weight;
	s->csr.number_of_rows = s->csr.number_of_columns = vertices;
	s->csr.number_of_nonzeros = entries;
	s->csr.row_offsets = begin;
	s->csr.column_indices = neighbor;
	s->csr.nonzero_values = weight;
	s->depth.resize(vertices);
	s->distance.resize(call->weights ? vertices : 0);
	gunrock::graph::graph_properties_t properties;
	graph_t g = gunrock::graph::build<on_device>(properties, s->csr);
	gunrock::options_t options;
	const char *balance = teps_set(call, "balance");
	options.advance_load_balance = balances[strcmp(balance, "merge_path") == 0 ? 1 : strcmp(balance, "thread_mapped") == 0 ? 2 : 0];
	options.enable_filter = strcmp(teps_set(call, "filter"), "true") == 0;
	auto context = std::make_shared<gunrock::gcuda::multi_context_t>(0);
	gunrock::bfs::param_t<vertex_t> bfs(0, options);
	s->bfs = std::make_unique<bfs_kernel>(g, bfs, gunrock::bfs::result_t<vertex_t>(s->depth.data().get(), nullptr), context);
	if (call->weights) {
		gunrock::sssp::param_t<vertex_t> sssp(0, options);
		gunrock::sssp::result_t<vertex_t, float> result(s->distance.data().get(), nullptr, vertices);
		s->sssp = std::make_unique<sssp_kernel>(g, sssp, result, context);
	}
	if (cudaDeviceSynchronize() != cudaSuccess)
		return teps_fail(call, TEPS_FAILED, "CUDA reports: %s", cudaGetErrorString(cudaGetLastError()));
	graph->state = s.release();
	graph->vertices = vertices;
	graph->entries = entries;
	graph->bytes = 8 * entries + (call->weights ? 16 : 8) * vertices;
	graph->vertex_bits = 32;
	return TEPS_OK;
} catch (const std::bad_alloc &) {
	return teps_fail(call, TEPS_MEMORY, "no memory for %lld tuples", (long long)count);
} catch (const std::exception &e) {
	return teps_fail(call, TEPS_FAILED, "Gunrock reports: %s", e.what());
}

int teps_search(teps_call *call, const teps_graph *graph, int64_t root, int64_t *parent) try {
	searcher *s = (searcher *)graph->state;
	call->elapsed_ns = s->bfs->run((vertex_t)root);
	s->host_depth = s->depth;
	const vertex_t *depth = s->host_depth.data();
	const peers_lists &l = s->lists;
	for (int64_t v = 0; v < graph->vertices; v++) {
		parent[v] = v == root ? root : TEPS_UNREACHED;
		if (v == root || depth[v] == INT_MAX) continue;
		for (int64_t i = l.begin[v]; i < l.begin[v + 1] && parent[v] < 0; i++)
			if (depth[l.entry[i].neighbor] == depth[v] - 1) parent[v] = l.entry[i].neighbor;
	}
	return TEPS_OK;
} catch (const std::bad_alloc &) {
	return teps_fail(call, TEPS_MEMORY, "no memory for a search");
} catch (const std::exception &e) {
	return teps_fail(call, TEPS_FAILED, "Gunrock reports: %s", e.what());
}

int teps_shortest_paths(teps_call *call, const teps_graph *graph, int64_t root, int64_t *parent, float *distance) try {
	searcher *s = (searcher *)graph->state;
	call->elapsed_ns = s->sssp->run((vertex_t)root);
	thrust::copy(s->distance.begin(), s->distance.end(), distance);
	const peers_lists &l = s->lists;
	int64_t open = 0;
	for (int64_t v = 0; v < graph->vertices; v++)
		if (distance[v] == std::numeric_limits<float>::max()) distance[v] = INFINITY;
	for (int64_t v = 0; v < graph->vertices; v++)
		peers_find_parent(l.begin, l.entry, root, distance, v, parent, &open);
	return open == 0 ? TEPS_OK : peers_find_open_parents(call, graph->vertices, l.begin, l.entry, distance, parent);
} catch (const std::bad_alloc &) {
	return teps_fail(call, TEPS_MEMORY, "no memory for a search");
} catch (const std::exception &e) {
	return teps_fail(call, TEPS_FAILED, "Gunrock reports: %s", e.what());
}

void teps_free(teps_graph *graph) { delete (searcher *)graph->state; }
}

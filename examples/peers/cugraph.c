/* SPDX-License-Identifier: Apache-2.0 */

/* The breadth-first search and shortest paths of cuGraph (RAPIDS) on one GPU as an engine of teps, through cuGraph's C
 * library, releases 24.10 to 26.08. Before, cugraph_graph_create_sg had other parameters.
 *
 * cuGraph numbers the vertices that have edges anew and returns its results in that order, as an array of vertices and
 * one of their predecessors, both in original labels, and one of distances. The clock covers all of cugraph_bfs or
 * cugraph_sssp, including their allocations of device memory. The arrays are copied from the device, and put in the order
 * of labels, after it. */
#include <cuda_runtime_api.h>
#include <cugraph_c/algorithms.h>
#include <cugraph_c/graph.h>
#include <cugraph_c/version_config.hpp> /* despite its name, nothing but macros */
#include <float.h>
#include <limits.h>
#include <time.h>

#include "peers.h"

typedef cugraph_type_erased_device_array_t array_t;
typedef cugraph_type_erased_device_array_view_t view_t;

typedef struct {
	cugraph_resource_handle_t *handle;
	cugraph_graph_t *graph; /* NULL: no edges but self-loops */
	array_t *root;
	view_t *root_view;
	uint8_t *linked;        /* whether a vertex has an edge; cuGraph does not know the others */
	int32_t *vertex, *predecessor;
	float *distance;
	bool_t direction_optimizing;
} searcher;

static int64_t now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

/* Frees an error of cuGraph and returns the code and message for teps. */
static int failed(teps_call *call, cugraph_error_code_t code, cugraph_error_t *error) {
	const char *message = error ? cugraph_error_message(error) : "an error without a message";
	int memory = code == CUGRAPH_ALLOC_ERROR || strstr(message, "bad_alloc") != NULL;
	teps_fail(call, 0, "cuGraph reports: %.400s", message);
	if (error) cugraph_error_free(error);
	return memory ? TEPS_MEMORY : TEPS_FAILED;
}

/* Copies an array from the device and frees its view. */
static int to_host(teps_call *call, searcher *s, void *to, view_t *from) {
	cugraph_error_t *error = NULL;
	cugraph_error_code_t code =
		cugraph_type_erased_device_array_view_copy_to_host(s->handle, (byte_t *)to, from, &error);
	cugraph_type_erased_device_array_view_free(from);
	return code == CUGRAPH_SUCCESS ? TEPS_OK : failed(call, code, error);
}

/* Allocates an array on the device. If values is not NULL, they are copied to it. */
static int to_device(teps_call *call, searcher *s, size_t n, cugraph_data_type_id_t type, const void *values,
                     array_t **array, view_t **view) {
	cugraph_error_t *error = NULL;
	cugraph_error_code_t code = cugraph_type_erased_device_array_create(s->handle, n, type, array, &error);
	if (code != CUGRAPH_SUCCESS) return failed(call, code, error);
	*view = cugraph_type_erased_device_array_view(*array);
	if (values == NULL) return TEPS_OK;
	code = cugraph_type_erased_device_array_view_copy_from_host(s->handle, *view, (const byte_t *)values, &error);
	return code == CUGRAPH_SUCCESS ? TEPS_OK : failed(call, code, error);
}

static void free_array(array_t *array, view_t *view) {
	if (view) cugraph_type_erased_device_array_view_free(view);
	if (array) cugraph_type_erased_device_array_free(array);
}

static void free_searcher(searcher *s) {
	if (s->graph) cugraph_graph_free(s->graph);
	free_array(s->root, s->root_view);
	if (s->handle) cugraph_free_resource_handle(s->handle);
	free(s->linked);
	free(s->vertex);
	free(s->predecessor);
	free(s->distance);
	free(s);
}

/* Builds cuGraph's graph from n entries; weight is NULL for kernel 2 only. */
static int build(teps_call *call, searcher *s, size_t n, const int32_t *from, const int32_t *to, const float *weight) {
	cugraph_graph_properties_t properties = {.is_symmetric = TRUE, .is_multigraph = FALSE};
	array_t *sources = NULL, *targets = NULL, *weights = NULL;
	view_t *source_view = NULL, *target_view = NULL, *weight_view = NULL;
	cugraph_error_t *error = NULL;
	int status = to_device(call, s, 1, INT32, NULL, &s->root, &s->root_view);
	if (status == TEPS_OK) status = to_device(call, s, n, INT32, from, &sources, &source_view);
	if (status == TEPS_OK) status = to_device(call, s, n, INT32, to, &targets, &target_view);
	if (status == TEPS_OK && weight) status = to_device(call, s, n, FLOAT32, weight, &weights, &weight_view);
	if (status == TEPS_OK) {
		bool_t transposed = FALSE, renumber = TRUE, drop_loops = FALSE, drop_duplicates = FALSE, symmetrize = FALSE;
		cugraph_error_code_t code = cugraph_graph_create_sg(s->handle, &properties, NULL, source_view, target_view,
			weight_view, NULL, NULL, transposed, renumber, drop_loops, drop_duplicates, symmetrize, FALSE, &s->graph, &error);
		if (code != CUGRAPH_SUCCESS) status = failed(call, code, error);
	}
	if (cudaDeviceSynchronize() != cudaSuccess && status == TEPS_OK)
		status = teps_fail(call, TEPS_FAILED, "CUDA reports: %s", cudaGetErrorString(cudaGetLastError()));
	free_array(sources, source_view);
	free_array(targets, target_view);
	free_array(weights, weight_view);
	return status;
}

int teps_describe(teps_description *description) {
	char version[64];
	snprintf(version, sizeof version, "%d.%02d.%02d", CUGRAPH_VERSION_MAJOR, CUGRAPH_VERSION_MINOR, CUGRAPH_VERSION_PATCH);
	peers_describe(description, "cugraph", version, "searches of cuGraph, on the first GPU", "", 0, 64);
	description->paths_per_tuple = 8;
	int devices = 0;
	struct cudaDeviceProp properties;
	if (cudaGetDeviceCount(&devices) == cudaSuccess && devices > 0 &&
		cudaGetDeviceProperties(&properties, 0) == cudaSuccess) {
		snprintf(description->device, sizeof description->device, "%.127s", properties.name);
		description->units = properties.multiProcessorCount;
	} else {
		strcpy(description->unavailable, "no NVIDIA GPU was found");
	}
	description->options[0] = (teps_option){"direction_optimizing", TEPS_BOOL, 0, 0, 0, "true", "",
		"switch between top-down and bottom-up steps; cuGraph's parameter of that name"};
	return TEPS_OK;
}

/* Kernel 1 on the host: the entries of sorted lists, by source, target and weight, and which vertices have any. */
static int load(teps_call *call, searcher *s, const peers_lists *lists) {
	int64_t vertices = lists->vertices, n = lists->begin[vertices];
	if (n >= INT_MAX) return teps_fail(call, TEPS_TUPLES, "cuGraph takes fewer than 2^30 edges with 32-bit labels");
	int32_t *from = malloc((n + 1) * sizeof *from), *to = malloc((n + 1) * sizeof *to);
	float *weight = call->weights ? malloc((n + 1) * sizeof *weight) : NULL;
	s->linked = malloc(vertices + 1);
	s->vertex = malloc((vertices + 1) * sizeof *s->vertex);
	s->predecessor = malloc((vertices + 1) * sizeof *s->predecessor);
	s->distance = malloc((vertices + 1) * sizeof *s->distance);
	int status = TEPS_OK;
	if (!from || !to || (call->weights && !weight) || !s->linked || !s->vertex || !s->predecessor || !s->distance) {
		status = teps_fail(call, TEPS_MEMORY, "no memory for %lld entries", (long long)n);
	} else if (!(s->handle = cugraph_create_resource_handle(NULL))) {
		status = teps_fail(call, TEPS_FAILED, "cuGraph did not create a handle on the GPU");
	} else {
		for (int64_t v = 0; v < vertices; v++) {
			s->linked[v] = lists->begin[v] < lists->begin[v + 1];
			for (int64_t i = lists->begin[v]; i < lists->begin[v + 1]; i++) {
				from[i] = (int32_t)v;
				to[i] = lists->entry[i].neighbor;
				if (weight) weight[i] = lists->entry[i].weight;
			}
		}
		if (n > 0) status = build(call, s, n, from, to, weight);
	}
	free(from);
	free(to);
	free(weight);
	return status;
}

int teps_construct(teps_call *call, const teps_tuple *tuples, int64_t count, teps_graph *graph) {
	peers_lists lists = {0};
	int status = peers_make_lists(call, tuples, count, &lists);
	if (status != TEPS_OK) return status;
	searcher *s = calloc(1, sizeof *s);
	status = s ? load(call, s, &lists) : teps_fail(call, TEPS_MEMORY, "no memory for a graph");
	graph->entries = lists.begin[lists.vertices];
	peers_free_lists(&lists);
	if (status != TEPS_OK) {
		if (s) free_searcher(s);
		return status;
	}
	s->direction_optimizing = strcmp(teps_set(call, "direction_optimizing"), "true") == 0 ? TRUE : FALSE;
	graph->state = s;
	graph->vertices = lists.vertices;
	graph->bytes = (call->weights ? 8 : 4) * graph->entries + 21 * lists.vertices;
	graph->vertex_bits = 32;
	return TEPS_OK;
}

/* Runs one kernel; kernel 3 if distance is not NULL. */
static int search(teps_call *call, const teps_graph *graph, int64_t root, int64_t *parent, float *distance) {
	searcher *s = graph->state;
	for (int64_t v = 0; v < graph->vertices; v++) parent[v] = TEPS_UNREACHED;
	for (int64_t v = 0; distance && v < graph->vertices; v++) distance[v] = INFINITY;
	parent[root] = root;
	if (distance) distance[root] = 0;
	if (!s->linked[root]) return TEPS_OK;
	cugraph_paths_result_t *result = NULL;
	cugraph_error_t *error = NULL;
	cugraph_error_code_t code = CUGRAPH_SUCCESS;
	int32_t label = (int32_t)root;
	int64_t begin = now();
	if (distance)
		code = cugraph_sssp(s->handle, s->graph, root, FLT_MAX, TRUE, FALSE, &result, &error);
	else
		code = cugraph_type_erased_device_array_view_copy_from_host(s->handle, s->root_view, (const byte_t *)&label, &error);
	if (!distance && code == CUGRAPH_SUCCESS)
		code = cugraph_bfs(s->handle, s->graph, s->root_view, s->direction_optimizing, INT32_MAX, TRUE, FALSE, &result,
			&error);
	cudaError_t cuda = cudaDeviceSynchronize();
	int64_t end = now();
	if (code != CUGRAPH_SUCCESS) return failed(call, code, error);
	if (cuda != cudaSuccess) {
		cugraph_paths_result_free(result);
		return teps_fail(call, TEPS_FAILED, "CUDA reports: %s", cudaGetErrorString(cuda));
	}
	view_t *vertices = cugraph_paths_result_get_vertices(result);
	int64_t n = (int64_t)cugraph_type_erased_device_array_view_size(vertices);
	int status = to_host(call, s, s->vertex, vertices);
	if (status == TEPS_OK) status = to_host(call, s, s->predecessor, cugraph_paths_result_get_predecessors(result));
	if (status == TEPS_OK && distance) status = to_host(call, s, s->distance, cugraph_paths_result_get_distances(result));
	cugraph_paths_result_free(result);
	if (status != TEPS_OK) return status;
	for (int64_t i = 0; i < n; i++) { /* the predecessor is -1 where nothing was reached, and at the root */
		if (s->predecessor[i] < 0) continue;
		parent[s->vertex[i]] = s->predecessor[i];
		if (distance) distance[s->vertex[i]] = s->distance[i];
	}
	call->elapsed_ns = end - begin;
	return TEPS_OK;
}

int teps_search(teps_call *call, const teps_graph *graph, int64_t root, int64_t *parent) {
	return search(call, graph, root, parent, NULL);
}

int teps_shortest_paths(teps_call *call, const teps_graph *graph, int64_t root, int64_t *parent, float *distance) {
	return search(call, graph, root, parent, distance);
}

void teps_free(teps_graph *graph) { free_searcher(graph->state); }

/* SPDX-License-Identifier: Apache-2.0 */

//go:build cgo

/* Loads a library and calls its functions. bridge_now says which one is running, in case it crashes. */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "bridge.h"

#include <dlfcn.h>

#if defined(__GLIBC__)
#include <malloc.h>

/* Whether memory that a library frees stays in the process, as while it searches: to give it back and to take it again
 * costs up to 1.7 us a page. Otherwise glibc's defaults after arrays of many sizes. */
static void keep_memory(int keep) {
	mallopt(M_MMAP_MAX, keep ? 0 : 65536);
	mallopt(M_MMAP_THRESHOLD, 1 << 25);
	mallopt(M_TRIM_THRESHOLD, keep ? -1 : 1 << 26);
}
#else
static void keep_memory(int keep) { (void)keep; }
#endif

#if defined(__linux__)
#include <link.h>

typedef struct {
	uintptr_t inside, low, high;
} range;

/* Finds the addresses of the loaded object that holds the address inside. Addresses in its file are relative to low. */
static int find_object(struct dl_phdr_info *info, size_t size, void *data) {
	(void)size;
	range *r = data;
	uintptr_t high = 0;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		uintptr_t end = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr + info->dlpi_phdr[i].p_memsz;
		if (info->dlpi_phdr[i].p_type == PT_LOAD && end > high) high = end;
	}
	if (r->inside < info->dlpi_addr || r->inside >= high) return 0;
	r->low = info->dlpi_addr;
	r->high = high;
	return 1;
}

static void watch_library(const char *name, const bridge_library *library) {
	range r = {.inside = (uintptr_t)library->describe};
	dl_iterate_phdr(find_object, &r);
	bridge_watch(name, r.low, r.high);
}
#else
static void watch_library(const char *name, const bridge_library *library) { (void)name, (void)library; }
#endif

static void *symbol(void *library, const char *path, const char *name, char *message, size_t room) {
	void *address = dlsym(library, name);
	if (address == NULL && message[0] == 0)
		snprintf(message, room, "%s: it has no function %s: is it an engine, and was it compiled with teps_engine.h?", path, name);
	return address;
}

int bridge_load(const char *path, const char *name, bridge_library *library, char *message, size_t room) {
	char ignored[8] = "";
	message[0] = 0;
	bridge_watch(name, 0, 0); /* its constructors run while it is loaded */
	bridge_now.function = "its own code while it was loaded";
	void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	bridge_now.function = NULL;
	if (handle == NULL) {
		snprintf(message, room, "%s", dlerror());
		return -1;
	}
	/* POSIX wants this detour from an object's address to a function's. */
	*(void **)&library->describe = symbol(handle, path, "teps_describe", message, room);
	*(void **)&library->construct = symbol(handle, path, "teps_construct", message, room);
	*(void **)&library->search = symbol(handle, path, "teps_search", message, room);
	*(void **)&library->free = symbol(handle, path, "teps_free", message, room);
	*(void **)&library->repeat = symbol(handle, path, "teps_repeat", ignored, 0);
	*(void **)&library->shortest_paths = symbol(handle, path, "teps_shortest_paths", ignored, 0);
	*(void **)&library->repeat_shortest_paths = symbol(handle, path, "teps_repeat_shortest_paths", ignored, 0);
	if (message[0] != 0) return -1;
	watch_library(name, library);
	return 0; /* It is never unloaded, because threads that it has started may run until the process ends. */
}

static void enter(const char *function, const teps_tuple *tuples, int64_t count, const teps_graph *graph, const int64_t *parent,
                  const float *distance) {
	bridge_now.tuples = tuples;
	bridge_now.tuple_count = count;
	bridge_now.parent = parent;
	bridge_now.distance = distance;
	bridge_now.count = parent != NULL ? graph->vertices : 0;
	bridge_now.function = function;
}

static void leave(void) {
	bridge_now.function = NULL;
	fflush(NULL); /* output of the library */
}

int bridge_describe(const bridge_library *library, teps_description *description) {
	enter("teps_describe", NULL, 0, NULL, NULL, NULL);
	int code = library->describe(description);
	leave();
	return code;
}

int bridge_construct(const bridge_library *library, teps_call *call, const teps_tuple *tuples, int64_t count, teps_graph *graph) {
	enter("teps_construct", tuples, count, NULL, NULL, NULL);
	keep_memory(0);
	int code = library->construct(call, tuples, count, graph);
	keep_memory(1);
	leave();
	return code;
}

int bridge_search(const bridge_library *library, teps_call *call, const teps_graph *graph, int64_t root, int64_t *parent,
                  float *distance) {
	enter(distance ? "teps_shortest_paths" : "teps_search", NULL, 0, graph, parent, distance);
	int code = distance ? library->shortest_paths(call, graph, root, parent, distance) : library->search(call, graph, root, parent);
	bridge_now.function = NULL;
	return code;
}

int bridge_repeat(const bridge_library *library, teps_call *call, const teps_graph *graph, const int64_t *roots, int64_t count,
                  int64_t duration_ns, int64_t *parent, float *distance, int64_t *searches) {
	enter(distance ? "teps_repeat_shortest_paths" : "teps_repeat", NULL, 0, graph, parent, distance);
	int code = distance ? library->repeat_shortest_paths(call, graph, roots, count, duration_ns, parent, distance, searches)
	                    : library->repeat(call, graph, roots, count, duration_ns, parent, searches);
	leave();
	return code;
}

void bridge_free(const bridge_library *library, teps_graph *graph) {
	enter("teps_free", NULL, 0, NULL, NULL, NULL);
	library->free(graph);
	leave();
}

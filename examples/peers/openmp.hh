// The common part of adapters of programs in C++ with OpenMP.
#ifndef TEPS_OPENMP_HH
#define TEPS_OPENMP_HH

#include <new>
#include <omp.h>

#include "teps_engine.h"

// Describes an engine whose first option is the number of threads.
static inline void describe_openmp(teps_description *description, const char *name, const char *version,
	const char *summary, double bytes_per_tuple) {
	*description = teps_description{};
	description->abi = TEPS_ABI;
	description->units = omp_get_max_threads();
	strcpy(description->name, name);
	strcpy(description->version, version);
	strcpy(description->summary, summary);
	strcpy(description->device, "OpenMP threads");
	description->bytes_fixed = 1 << 20;
	description->bytes_per_vertex = 64;
	description->bytes_per_tuple = bytes_per_tuple;
	description->options[0] = {"threads", TEPS_INT, 1, 0, 1024, "0", "", "threads; 0: the default of OpenMP"};
}

// Sets the number of threads and calls build(vertices), for labels of at most 31 bits.
template <typename Build>
int build_openmp(teps_call *call, const teps_tuple *tuples, int64_t count, Build build) try {
	int64_t vertices = teps_vertices(tuples, count, 31);
	if (vertices < 0) return teps_fail(call, TEPS_TUPLES, "a label has more than 31 bits");
	if (int64_t threads = teps_set_int(call, "threads")) omp_set_num_threads((int)threads);
	build(vertices);
	return TEPS_OK;
} catch (const std::bad_alloc &) {
	return teps_fail(call, TEPS_MEMORY, "no memory for %lld tuples", (long long)count);
}
#endif

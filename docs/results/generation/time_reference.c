/* Times the Graph500 reference's generator alone: one call that fills memory which has been touched before.
 *
 *   cc -O3 -fopenmp -Drestrict=__restrict__ -I$G time_reference.c $G/graph_generator.c $G/splittable_mrg.c $G/utils.c
 *   OMP_NUM_THREADS=1 ./a.out 20
 *
 * where G is the folder "generator" of github.com/graph500/graph500. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "graph_generator.h"
#include "utils.h"

int main(int argc, char **argv) {
	int scale = argc > 1 ? atoi(argv[1]) : 20;
	int64_t tuples = (int64_t)16 << scale;
	packed_edge *edges = malloc(tuples * sizeof *edges);
	uint_fast32_t seed[5];
	struct timespec begin, end;

	if (!edges)
		return 1;
	memset(edges, 1, tuples * sizeof *edges);
	make_mrg_seed(2, 3, seed);
	clock_gettime(CLOCK_MONOTONIC, &begin);
	generate_kronecker_range(seed, scale, 0, tuples, edges);
	clock_gettime(CLOCK_MONOTONIC, &end);
	double seconds = (end.tv_sec - begin.tv_sec) + 1e-9 * (end.tv_nsec - begin.tv_nsec);
	printf("scale %d: %.4f s, %.2f ns/tuple, %.3f Mtuples/s\n", scale, seconds, seconds / tuples * 1e9, tuples / seconds / 1e6);
	return 0;
}

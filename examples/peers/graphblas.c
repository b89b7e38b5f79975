/* SPDX-License-Identifier: Apache-2.0 */

/* Breadth-first search in the language of linear algebra as an engine of teps: SuiteSparse:GraphBLAS (Davis, ACM TOMS,
 * 2019; version 7 or later). A level multiplies the frontier, a sparse vector, by the adjacency matrix, and the mask
 * leaves out vertices that have a parent. It goes bottom-up by multiplying from the other side with the frontier as a
 * bitmap, by the rule that LAGraph uses (Beamer et al., 2012, with alpha 8 and beta 8 and 512).
 *
 * The clock covers everything, with the copy of the 32-bit parents, in original labels, into teps's array. */
#include <GraphBLAS.h>
#include <time.h>

#include "peers.h"

typedef struct {
	GrB_Index n, entries;
	GrB_Matrix adjacency;
	GrB_Vector degrees;
} matrix;

#define TRY(f) do { info = (f); if (info != GrB_SUCCESS) goto failed; } while (0)

static int failure(teps_call *call, GrB_Info info) {
	if (info == GrB_OUT_OF_MEMORY) return teps_fail(call, TEPS_MEMORY, "GraphBLAS has no memory left");
	return teps_fail(call, TEPS_FAILED, "GraphBLAS reports error %d", (int)info);
}

int teps_describe(teps_description *description) {
	char version[64];
	snprintf(version, sizeof version, "%d.%d.%d", GxB_IMPLEMENTATION_MAJOR, GxB_IMPLEMENTATION_MINOR, GxB_IMPLEMENTATION_SUB);
	peers_describe_openmp(description, "graphblas", version,
	                      "products of sparse vectors and matrices with SuiteSparse:GraphBLAS", 64);
	return TEPS_OK;
}

void teps_free(teps_graph *graph) {
	matrix *m = graph->state;
	GrB_free(&m->adjacency);
	GrB_free(&m->degrees);
	free(m);
}

/* Kernel 1: a matrix with an entry for each direction of each edge, without self-loops. */
int teps_construct(teps_call *call, const teps_tuple *tuples, int64_t count, teps_graph *graph) {
	static int initialized; /* GraphBLAS starts once in a process */
	GrB_Info info = GrB_SUCCESS;
	int64_t n = teps_vertices(tuples, count, 31);
	if (n < 0) return teps_fail(call, TEPS_TUPLES, "a label has more than 31 bits");
	if (!initialized && (info = GrB_init(GrB_NONBLOCKING)) != GrB_SUCCESS) return failure(call, info);
	initialized = 1;

	matrix *m = graph->state = calloc(1, sizeof *m);
	GrB_Index *row = malloc((2 * count + 1) * sizeof *row), *column = malloc((2 * count + 1) * sizeof *column), k = 0;
	GrB_Vector ones = NULL;
	GxB_Scalar one = NULL;
	m->n = n;
	if (!row || !column) TRY(GrB_OUT_OF_MEMORY);
	int64_t threads = teps_set_int(call, "threads");
	TRY(GxB_set(GxB_NTHREADS, (int)(threads > 0 ? threads : omp_get_max_threads())));
	for (int64_t i = 0; i < count; i++)
		if (tuples[i].low_u != tuples[i].low_v) {
			row[k] = column[k + 1] = tuples[i].low_u;
			column[k] = row[k + 1] = tuples[i].low_v;
			k += 2;
		}
	if (n > 0) {
		TRY(GrB_Scalar_new(&one, GrB_BOOL));
		TRY(GrB_Scalar_setElement(one, true));
		TRY(GrB_Matrix_new(&m->adjacency, GrB_BOOL, n, n));
		TRY(GxB_Matrix_build_Scalar(m->adjacency, row, column, one, k)); /* duplicates become one entry */
		TRY(GrB_Matrix_wait(m->adjacency, GrB_MATERIALIZE));
		TRY(GrB_Matrix_nvals(&m->entries, m->adjacency));
		TRY(GrB_Vector_new(&ones, GrB_INT64, n));
		TRY(GrB_assign(ones, NULL, NULL, (int64_t)1, GrB_ALL, n, NULL));
		TRY(GrB_Vector_new(&m->degrees, GrB_INT64, n));
		TRY(GrB_mxv(m->degrees, NULL, NULL, GxB_PLUS_PAIR_INT64, m->adjacency, ones, NULL));
		TRY(GrB_Vector_wait(m->degrees, GrB_MATERIALIZE));
	}
	graph->vertices = n;
	graph->entries = m->entries;
	graph->bytes = 8 * m->entries + 8 * (n + 1) + 8 * n; /* GraphBLAS 7 has 64-bit indices */
	graph->vertex_bits = 32;
	strcpy(graph->tuning, "alpha and beta are LAGraph's defaults");
failed:
	GrB_free(&ones);
	GrB_free(&one);
	free(row);
	free(column);
	if (info == GrB_SUCCESS) return TEPS_OK;
	teps_free(graph);
	return failure(call, info);
}

static int64_t now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Kernel 2. The frontier q has an entry for each of its vertices, the parent. */
int teps_search(teps_call *call, const teps_graph *graph, int64_t root, int64_t *parent) {
	const matrix *m = graph->state;
	const GrB_Index n = m->n;
	GrB_Vector q = NULL, found = NULL, work = NULL;
	GrB_Info info = GrB_SUCCESS;
	GrB_Index size = 1, before = 0, count, room, room_of_values;
	int8_t *reached;
	int32_t *values;
	bool iso;
	int64_t unexplored = m->entries, levels = 0;
	int bottom_up = 0, was_bottom_up = 0;

	TRY(GrB_Vector_new(&q, GrB_INT32, n));
	TRY(GrB_Vector_new(&found, GrB_INT32, n));
	TRY(GrB_Vector_new(&work, GrB_INT64, n));
	TRY(GrB_Vector_setElement(q, (int32_t)root, root));
	TRY(GxB_set(found, GxB_SPARSITY_CONTROL, GxB_BITMAP + GxB_FULL));
	TRY(GrB_Vector_setElement(found, (int32_t)root, root));
	while (size > 0) {
		int64_t start = now();
		if (call->canceled) {
			info = GrB_NO_VALUE;
			break;
		}
		if (bottom_up) {
			bottom_up = size >= before || size > n / 512;
		} else if (was_bottom_up) {
			bottom_up = size > before && size > n / 8;
		} else if (unexplored >= (int64_t)n) {
			int64_t edges = 0; /* of the frontier */
			TRY(GrB_assign(work, q, NULL, m->degrees, GrB_ALL, n, GrB_DESC_RS));
			TRY(GrB_reduce(&edges, NULL, GrB_PLUS_MONOID_INT64, work, NULL));
			unexplored -= edges;
			bottom_up = size > before && edges > unexplored / 8;
		}
		was_bottom_up |= bottom_up;
		if (levels < call->level_room)
			call->levels[levels] = (teps_level){.bottom_up = bottom_up, .frontier = (int64_t)size, .edges = -1};
		TRY(GxB_set(q, GxB_SPARSITY_CONTROL, bottom_up ? GxB_BITMAP : GxB_SPARSE));
		if (bottom_up)
			TRY(GrB_mxv(q, found, NULL, GxB_ANY_SECONDI_INT32, m->adjacency, q, GrB_DESC_RSC));
		else
			TRY(GrB_vxm(q, found, NULL, GxB_ANY_SECONDI_INT32, q, m->adjacency, GrB_DESC_RSC));
		TRY(GrB_assign(found, q, NULL, q, GrB_ALL, n, GrB_DESC_S));
		before = size;
		TRY(GrB_Vector_nvals(&size, q));
		if (levels < call->level_room) call->levels[levels].elapsed_ns = now() - start;
		levels++;
	}
	if (info == GrB_SUCCESS) {
		TRY(GxB_Vector_unpack_Bitmap(found, &reached, (void **)&values, &room, &room_of_values, &iso, &count, NULL));
#pragma omp parallel
		{
#pragma omp for nowait
			for (GrB_Index v = 0; v < n; v++) peers_put(parent + v, reached[v] ? values[iso ? 0 : v] : -1);
			peers_put_all();
		}
		TRY(GxB_Vector_pack_Bitmap(found, &reached, (void **)&values, room, room_of_values, iso, count, NULL));
		call->level_count = levels <= call->level_room ? levels : 0;
	}
failed:
	GrB_free(&q);
	GrB_free(&found);
	GrB_free(&work);
	if (info == GrB_NO_VALUE) return TEPS_CANCELED;
	return info == GrB_SUCCESS ? TEPS_OK : failure(call, info);
}

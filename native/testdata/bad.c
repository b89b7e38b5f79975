/* The example in C, made to misbehave as --set bad.fault=... says. For tests only. */
#include <signal.h>
#include <unistd.h>

#define teps_describe mine_describe
#define teps_construct mine_construct
#define teps_search mine_search
#include "../../examples/c/mine.c"
#undef teps_describe
#undef teps_construct
#undef teps_search

int teps_describe(teps_description *description) {
	mine_describe(description);
	strcpy(description->name, "bad");
	teps_option fault = {.name = "fault", .kind = TEPS_TEXT, .value = "none", .meaning = "what goes wrong"};
	description->options[0] = fault;
	return TEPS_OK;
}

static char fault[64];

static int is(const char *name) { return strcmp(fault, name) == 0; }

int teps_construct(teps_call *call, const teps_tuple *tuples, int64_t count, teps_graph *graph) {
	snprintf(fault, sizeof fault, "%s", teps_set(call, "fault"));
	if (is("tuple-write")) ((teps_tuple *)tuples)[3].low_u = 7;
	if (is("tuple-overrun")) return (int)((const volatile teps_tuple *)tuples)[count + 400].low_u;
	if (is("message")) return teps_fail(call, TEPS_UNAVAILABLE, "no such device");
	return mine_construct(call, tuples, count, graph);
}

static int64_t deep(volatile int64_t *n) {
	volatile int64_t here[512];
	here[*n & 511] = *n;
	++*n;
	return *n < 0 ? 0 : deep(n) + here[*n & 511];
}

int teps_search(teps_call *call, const teps_graph *graph, int64_t root, int64_t *parent) {
	static int64_t forever;
	if (is("null")) *(volatile int *)NULL = 1;
	if (is("overrun")) ((volatile int64_t *)parent)[graph->vertices] = 1;
	if (is("before")) ((volatile int64_t *)parent)[-1] = 1;
	if (is("underrun")) ((volatile int64_t *)parent)[-1 - (1 << 17)] = 1;
	if (is("stack")) return (int)deep(&forever);
	if (is("divide")) raise(SIGFPE);
	if (is("abort")) abort();
	if (is("exit")) exit(0);
	if (is("loop")) for (;;) forever++;
	int code = mine_search(call, graph, root, parent);
	if (is("cycle"))
		for (int64_t v = 0; v < graph->vertices; v++)
			if (parent[v] >= 0 && v != root && parent[parent[v]] != root && parent[v] != root) {
				parent[parent[v]] = v; /* v and its parent are each other's */
				break;
			}
	if (is("slow-clock")) call->elapsed_ns = 3600ll * 1000 * 1000 * 1000;
	if (is("fast-clock")) {
		usleep(3000);
		call->elapsed_ns = 1000;
	}
	return code;
}

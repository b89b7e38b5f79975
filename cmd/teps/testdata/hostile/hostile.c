/* The example in C, made to misbehave as --set ENGINE.fault=CALL-MODE says, or the variable TEPS_HOSTILE in Describe,
 * which has no options. For tests only. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#define teps_describe mine_describe
#define teps_construct mine_construct
#define teps_search mine_search
#define teps_free mine_free
#include "../../../../examples/c/mine.c"
#undef teps_describe
#undef teps_construct
#undef teps_search
#undef teps_free

static char fault[64];

static int is(const char *name) { return strcmp(fault, name) == 0; }

/* Does what can go wrong in any call. */
static void act(const char *call) {
	size_t n = strlen(call);
	if (strncmp(fault, call, n) != 0 || fault[n] != '-') return;
	const char *mode = fault + n + 1;
	if (strcmp(mode, "crash") == 0) *(volatile int *)NULL = 1;
	if (strcmp(mode, "abort") == 0) abort();
	if (strcmp(mode, "exit") == 0) exit(0);
	if (strcmp(mode, "divide") == 0) raise(SIGFPE);
	if (strcmp(mode, "hang") == 0)
		for (;;) pause();
	if (strcmp(mode, "loop") == 0)
		for (;;) fault[63] = 0;
	if (strcmp(mode, "flood") == 0)
		for (int i = 0; i < 20000; i++) {
			printf("%060d\n", i);
			fprintf(stderr, "%060d\n", i);
		}
	if (strcmp(mode, "fork") == 0 && fork() == 0) {
		char *none[] = {NULL};
		setsid();
		execle("/bin/sleep", getenv("TMPDIR"), "600", NULL, none); /* the test finds it by its name */
		_exit(1);
	}
}

/* Writes to every segment that the host has open. */
static void replace(void) {
	static const char zeros[4096];
	char path[64], name[64];
	for (int fd = 3; fd < 200; fd++) {
		snprintf(path, sizeof path, "/proc/%d/fd/%d", getppid(), fd);
		ssize_t n = readlink(path, name, sizeof name - 1);
		if (n < 0) continue;
		name[n] = 0;
		if (strncmp(name, "/memfd:teps-", 12) != 0) continue;
		int file = open(path, O_RDWR);
		if (file >= 0 && pwrite(file, zeros, sizeof zeros, 0) < 0) perror(name);
	}
}

int teps_describe(teps_description *description) {
	const char *wanted = getenv("TEPS_HOSTILE");
	mine_describe(description);
	strcpy(description->name, "hostile");
	teps_option option = {.name = "fault", .kind = TEPS_TEXT, .value = "none", .meaning = "what goes wrong"};
	description->options[0] = option;
	snprintf(fault, sizeof fault, "%s", wanted ? wanted : "");
	act("describe");
	if (is("describe-lie")) description->bytes_per_vertex = -1;
	return TEPS_OK;
}

int teps_construct(teps_call *call, const teps_tuple *tuples, int64_t count, teps_graph *graph) {
	snprintf(fault, sizeof fault, "%s", teps_set(call, "fault"));
	act("construct");
	if (is("construct-write")) ((teps_tuple *)tuples)[3].low_u = 7;
	if (is("construct-replace")) replace();
	if (is("construct-read")) return (int)((const volatile teps_tuple *)tuples)[count + 400].low_u;
	if (is("construct-refuse")) return teps_fail(call, TEPS_UNAVAILABLE, "no such device");
	int code = mine_construct(call, tuples, count, graph);
	if (is("construct-lie")) graph->bytes = -1;
	return code;
}

static int64_t deep(volatile int64_t *n) {
	volatile int64_t here[512];
	here[*n & 511] = *n;
	++*n;
	return *n < 0 ? 0 : deep(n) + here[*n & 511];
}

static void *scribble(void *parent) {
	for (;;) {
		((volatile int64_t *)parent)[0] = -77;
		usleep(10);
	}
	return NULL;
}

int teps_search(teps_call *call, const teps_graph *graph, int64_t root, int64_t *parent) {
	static int64_t forever;
	static pthread_t writer;
	act("search");
	if (is("search-write")) ((volatile int64_t *)parent)[graph->vertices] = 1;
	if (is("search-before")) ((volatile int64_t *)parent)[-1] = 1;
	if (is("search-far")) ((volatile int64_t *)parent)[-1 - (1 << 17)] = 1;
	if (is("search-stack")) return (int)deep(&forever);
	int code = mine_search(call, graph, root, parent);
	if (is("search-late")) {
		if (writer == 0) pthread_create(&writer, NULL, scribble, parent);
		while (((volatile int64_t *)parent)[0] != -77) usleep(10); /* it goes on after the call */
	}
	if (is("search-tree"))
		for (int64_t v = 0; v < graph->vertices; v++)
			if (parent[v] >= 0 && v != root && parent[parent[v]] != root && parent[v] != root) {
				parent[parent[v]] = v; /* v and its parent are each other's */
				break;
			}
	if (is("search-lie")) call->elapsed_ns = 3600ll * 1000 * 1000 * 1000;
	if (is("search-fast")) {
		usleep(3000);
		call->elapsed_ns = 1000;
	}
	if (is("search-levels")) call->level_count = 300000;
	return code;
}

int teps_repeat(teps_call *call, const teps_graph *graph, const int64_t *roots, int64_t count, int64_t duration_ns,
                int64_t *searches) {
	act("repeat");
	(void)call, (void)graph, (void)roots, (void)count;
	usleep(duration_ns / 1000);
	*searches = is("repeat-lie") ? -5 : 1000;
	return TEPS_OK;
}

void teps_free(teps_graph *graph) {
	act("close");
	mine_free(graph);
}

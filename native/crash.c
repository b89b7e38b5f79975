/* SPDX-License-Identifier: Apache-2.0 */

//go:build cgo

/* Reports in one line how a library crashed, before the process dies of it. Go's runtime would print the stacks of all
 * goroutines, but not that of the library. Signals outside the library's functions are left to Go. */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "bridge.h"

#include <signal.h>
#include <stdarg.h>
#include <unistd.h>

#if defined(__linux__)
#include <ucontext.h>
#endif

bridge_inside bridge_now;

static struct {
	char name[128];
	uintptr_t low, high;
} watched;

static const struct {
	int number;
	const char *meaning;
} signals[] = {
	{SIGSEGV, "segmentation fault"}, {SIGBUS, "bus error"}, {SIGFPE, "arithmetic error, such as a division by zero"},
	{SIGILL, "illegal instruction"}, {SIGABRT, "aborted"},
};
enum { signal_count = sizeof signals / sizeof signals[0] };
static struct sigaction former[signal_count];

/* A line that is built with functions that a signal handler may call. */
typedef struct {
	char text[400];
	size_t length;
} line;

static void add(line *l, const char *text) {
	while (*text != 0 && l->length < sizeof l->text - 1) l->text[l->length++] = *text++;
}

static void add_number(line *l, uint64_t n, unsigned base) {
	char digits[24];
	size_t i = sizeof digits - 1;
	digits[i] = 0;
	do digits[--i] = "0123456789abcdef"[n % base];
	while ((n /= base) > 0);
	add(l, base == 16 ? "0x" : "");
	add(l, digits + i);
}

/* The program counter and the stack pointer at the fault, or 0 if they are unknown. */
static void place(void *context, uintptr_t *pc, uintptr_t *sp) {
	*pc = *sp = 0;
#if defined(__linux__) && defined(__x86_64__)
	*pc = (uintptr_t)((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
	*sp = (uintptr_t)((ucontext_t *)context)->uc_mcontext.gregs[REG_RSP];
#elif defined(__linux__) && defined(__aarch64__)
	*pc = (uintptr_t)((ucontext_t *)context)->uc_mcontext.pc;
	*sp = (uintptr_t)((ucontext_t *)context)->uc_mcontext.sp;
#else
	(void)context;
#endif
}

static const uintptr_t near = 1 << 21;

/* Explains an address near an array that a search writes, if it is near that one; returns whether it is. */
static int add_array(line *l, uintptr_t at, const char *name, const void *array, uintptr_t size) {
	uintptr_t start = (uintptr_t)array, end = start + size * (uintptr_t)bridge_now.count;
	if (array == NULL || at >= end + near || at + near < start) return 0;
	if (at < start) {
		add(l, ": it used memory before ");
		add(l, name);
		add(l, "[0]");
	} else {
		add(l, ": it used ");
		add(l, name);
		add(l, "[");
		add_number(l, (uint64_t)((at - start) / size), 10);
		add(l, "], behind the end of the ");
		add_number(l, (uint64_t)bridge_now.count, 10);
		add(l, " ");
		add(l, name);
		add(l, "s");
	}
	return 1;
}

/* Explains the address of a memory fault. */
static void add_address(line *l, uintptr_t at, uintptr_t sp) {
	uintptr_t tuples = (uintptr_t)bridge_now.tuples;
	if (add_array(l, at, "parent", bridge_now.parent, 8) || add_array(l, at, "distance", bridge_now.distance, 4)) {
	} else if (tuples != 0 && at >= tuples && at - tuples < (uintptr_t)bridge_now.tuple_count * sizeof(teps_tuple)) {
		add(l, ": it wrote to tuple ");
		add_number(l, (at - tuples) / sizeof(teps_tuple), 10);
		add(l, ", and tuples can only be read");
	} else if (tuples != 0 && at - tuples < (uintptr_t)bridge_now.tuple_count * sizeof(teps_tuple) + near) {
		add(l, ": it used memory behind the end of the ");
		add_number(l, (uint64_t)bridge_now.tuple_count, 10);
		add(l, " tuples");
	} else if (at < 1 << 16) {
		add(l, ": it used a null pointer");
	} else if (sp != 0 && at + (1 << 16) > sp && at < sp + (1 << 12)) {
		add(l, ": the stack is full (a recursion that is too deep?)");
	} else {
		add(l, " at address ");
		add_number(l, at, 16);
	}
}

static void crashed(int number, siginfo_t *info, void *context) {
	size_t which = 0;
	while (which < signal_count - 1 && signals[which].number != number) which++;
	const char *function = bridge_now.function;
	if (function == NULL) { /* not in the library: do what would happen without this handler */
		if (former[which].sa_flags & SA_SIGINFO) {
			former[which].sa_sigaction(number, info, context);
			return;
		}
		sigaction(number, &former[which], NULL);
		raise(number);
		return;
	}
	bridge_now.function = NULL;
	uintptr_t pc, sp;
	place(context, &pc, &sp);
	line l = {.length = 0};
	add(&l, watched.name);
	add(&l, " crashed in ");
	add(&l, function);
	add(&l, ": ");
	add(&l, signals[which].meaning);
	if (number == SIGSEGV || number == SIGBUS) add_address(&l, (uintptr_t)info->si_addr, sp);
	if (pc >= watched.low && pc < watched.high) {
		add(&l, " (code at ");
		add_number(&l, pc - watched.low, 16);
		add(&l, ": addr2line -f -e the library)");
	}
	l.text[l.length++] = '\n';
	if (write(STDERR_FILENO, l.text, l.length) < 0) { /* it cannot be reported */
	}
	struct sigaction usual = {.sa_handler = SIG_DFL};
	sigaction(number, &usual, NULL);
	raise(number);
}

/* Without this, exit() in a library would end the process without a message. */
static void left(void) {
	if (bridge_now.function == NULL) return;
	line l = {.length = 0};
	add(&l, watched.name);
	add(&l, " called exit() in ");
	add(&l, bridge_now.function);
	add(&l, ", which ended its process\n");
	if (write(STDERR_FILENO, l.text, l.length) < 0) {
	}
}

void bridge_watch(const char *name, uintptr_t low, uintptr_t high) {
	static int watching;
	snprintf(watched.name, sizeof watched.name, "%s", name);
	watched.low = low;
	watched.high = high;
	if (watching++) return;
	atexit(left);
	struct sigaction action = {.sa_sigaction = crashed, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART};
	sigfillset(&action.sa_mask);
	for (size_t i = 0; i < signal_count; i++) sigaction(signals[i].number, &action, &former[i]);
}

// SPDX-License-Identifier: Apache-2.0

//go:build cgo && unix

package main

/*
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

// The runtimes of Go and C reserve more address space than they use. Under a limit they fail with pages of traces,
// often before main. This function runs earlier.
__attribute__((constructor)) static void check_address_space(void) {
	const rlim_t needed = (rlim_t)2 << 30;
	struct rlimit limit;
	if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur < needed) {
		fprintf(stderr, "teps: the address space is limited to %llu MiB here, and teps reserves up to 2 GiB; "
			"raise the limit (ulimit -v)\n", (unsigned long long)(limit.rlim_cur >> 20));
		exit(1);
	}
}
*/
import "C"

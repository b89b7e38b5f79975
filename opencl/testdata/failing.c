// SPDX-License-Identifier: Apache-2.0

// An OpenCL library whose calls fail as those of real drivers do. It is linked with the system's library, which has all
// other functions. The environment says what fails: FAIL_CALL is the name of a function, FAIL_CODE its error,
// FAIL_AFTER the number of calls that succeed, FAIL_LATE the seconds for which the call waits.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int calls, failed;

static int number(const char* name) { return getenv(name) ? atoi(getenv(name)) : 0; }

// code returns the error of a call of a function, or 0. A device that is lost answers no more calls.
static int code(const char* function) {
  const char* fails = getenv("FAIL_CALL");
  if (failed && number("FAIL_CODE") == -36) {
    fprintf(stderr, "%s: called after the device was lost\n", function);
    abort();
  }
  if (!fails || strcmp(fails, function) || calls++ < number("FAIL_AFTER")) return 0;
  sleep(number("FAIL_LATE"));
  failed = 1;
  return number("FAIL_CODE");
}

typedef void* p;
typedef int (*call)(p, p, p, p, p, p, p, p, p);

#define FORWARDED(name)                                       \
  int name(p a, p b, p c, p d, p e, p f, p g, p h, p i) {     \
    int failure = code(#name);                                \
    if (failure) return failure;                              \
    return ((call)dlsym(RTLD_NEXT, #name))(a, b, c, d, e, f, g, h, i); \
  }

FORWARDED(clFinish)
FORWARDED(clEnqueueReadBuffer)
FORWARDED(clEnqueueNDRangeKernel)
FORWARDED(clReleaseMemObject)

p clCreateBuffer(p context, unsigned long flags, size_t size, p host, int* failure) {
  if ((*failure = code("clCreateBuffer"))) return NULL;
  return ((p(*)(p, unsigned long, size_t, p, int*))dlsym(RTLD_NEXT, "clCreateBuffer"))(context, flags, size, host, failure);
}

// A compiler that fails does not see the names of some parameters.
int clBuildProgram(p program, unsigned n, p devices, const char* options, p notify, p data) {
  char all[1000];
  snprintf(all, sizeof all, "%s%s", options, code("clBuildProgram") ? " -Dkeys=" : "");
  return ((int (*)(p, unsigned, p, const char*, p, p))dlsym(RTLD_NEXT, "clBuildProgram"))(program, n, devices, all, notify,
                                                                                        data);
}

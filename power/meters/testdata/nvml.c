/* SPDX-License-Identifier: Apache-2.0 */

// The functions of NVML that teps uses, for a machine with three GPUs: one with a counter of energy, an older one
// without, and one that has fallen off the bus. TEPS_FAKE_NVML selects a failure.
#include <stdlib.h>
#include <string.h>

typedef struct { int number; } *device;
static struct { int number; } devices[3] = {{0}, {1}, {2}};
static unsigned long long energy = 1000000;

static int broken(const char *how) {
	const char *says = getenv("TEPS_FAKE_NVML");
	return says && strcmp(says, how) == 0;
}

int nvmlInit_v2(void) { return broken("no driver") ? 9 : broken("mismatch") ? 18 : 0; }
int nvmlShutdown(void) { return 0; }
int nvmlDeviceGetCount_v2(unsigned *n) { *n = 3; return 0; }
int nvmlDeviceGetHandleByIndex_v2(unsigned i, device *d) {
	if (i == 2) return 15;
	*d = (device)&devices[i];
	return 0;
}
int nvmlDeviceGetUUID(device d, char *text, unsigned length) {
	strncpy(text, d->number ? "GPU-11111111-1111-1111-1111-111111111111" : "GPU-00000000-0000-0000-0000-000000000000", length);
	return 0;
}
int nvmlDeviceGetName(device d, char *text, unsigned length) { strncpy(text, d->number ? "Tesla P100" : "NVIDIA H200", length); return 0; }
int nvmlDeviceGetTotalEnergyConsumption(device d, unsigned long long *millijoules) {
	if (d->number) return 3;
	*millijoules = energy += 2500;
	return 0;
}
int nvmlDeviceGetMigMode(device d, unsigned *current, unsigned *pending) { *current = !d->number; *pending = 0; return d->number ? 3 : 0; }

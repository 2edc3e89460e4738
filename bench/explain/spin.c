/* Work that only the CPU bounds: spin CPU SECONDS. Prints how much was done, and the CPU time that the scheduler says. */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double seconds(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return now.tv_sec + now.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	volatile unsigned long sum = 0;
	unsigned long done = 0;
	cpu_set_t cpus;
	double begun, took;
	int i;

	if (argc != 3) {
		fprintf(stderr, "usage: spin CPU SECONDS\n");
		return 2;
	}
	CPU_ZERO(&cpus);
	CPU_SET(atoi(argv[1]), &cpus);
	if (sched_setaffinity(0, sizeof cpus, &cpus)) {
		perror("spin");
		return 2;
	}
	begun = seconds(CLOCK_MONOTONIC);
	do {
		for (i = 0; i < 20000; i++)
			sum += i;
		done++;
		took = seconds(CLOCK_MONOTONIC) - begun;
	} while (took < atof(argv[2]));
	printf("{\"done_per_s\": %.0f, \"cpu_share\": %.3f}\n", done / took, seconds(CLOCK_PROCESS_CPUTIME_ID) / took);
	return 0;
}

/*
 * slept.c - a process on a machine that slept: LD_PRELOAD it, and once the file
 * SLEPT is there, the clock that runs through suspend is a day further.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t id, struct timespec *ts)
{
	int status = (int)syscall(SYS_clock_gettime, id, ts);
	const char *flag = getenv("SLEPT");

	if (status == 0 && id == CLOCK_BOOTTIME && flag &&
	    access(flag, F_OK) == 0)
		ts->tv_sec += 24L * 60 * 60;
	return status;
}

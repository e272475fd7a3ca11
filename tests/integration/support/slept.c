/*
 * slept.c - simulates a sleep of the machine by LD_PRELOAD: once the file SLEPT
 * exists, the clock that runs through suspend is a day ahead.
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

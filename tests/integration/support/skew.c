/*
 * skew.c - a process whose clock is wrong: LD_PRELOAD it, and the wall clock is
 * SKEW_SECONDS off.  Clocks that only count on (monotonic, boottime) are right,
 * as they are on such a host.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static long skew(void)
{
	const char *text = getenv("SKEW_SECONDS");

	return text ? atol(text) : 0;
}

int clock_gettime(clockid_t id, struct timespec *ts)
{
	int status = (int)syscall(SYS_clock_gettime, id, ts);

	if (status == 0 &&
	    (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE))
		ts->tv_sec += skew();
	return status;
}

int gettimeofday(struct timeval *restrict tv, void *restrict zone)
{
	struct timespec ts;

	(void)zone;
	if (clock_gettime(CLOCK_REALTIME, &ts))
		return -1;
	tv->tv_sec = ts.tv_sec;
	tv->tv_usec = ts.tv_nsec / 1000;
	return 0;
}

time_t time(time_t *ret)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	if (ret)
		*ret = ts.tv_sec;
	return ts.tv_sec;
}

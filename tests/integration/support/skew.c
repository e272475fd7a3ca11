/*
 * skew.c - gives a process a wrong clock, by LD_PRELOAD: the wall clock is
 * wrong by SKEW_SECONDS.  Clocks that only advance (monotonic, boottime) are
 * right, as on such a host.  With SKEW_FILE, the seconds are a `long` in that
 * file, so that a test can set the clock while the process runs.
 *
 * ClickHouse's engine has a C library of its own, which reads the kernel's
 * vDSO: with SKEW_VDSO the vDSO's functions are overwritten with a jump to
 * these here. (Other programs would then wait by one clock for a time of the
 * other.)
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

static const volatile long *file_of_skew;

__attribute__((constructor)) static void map_file(void)
{
	const char *path = getenv("SKEW_FILE");
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	void *map =
		fd < 0 ? MAP_FAILED
		       : mmap(NULL, sizeof(long), PROT_READ, MAP_SHARED, fd, 0);

	if (path && map == MAP_FAILED)
		abort();
	if (path)
		file_of_skew = map;
	close(fd);
}

static long skew_seconds(void)
{
	const char *text = getenv("SKEW_SECONDS");

	if (file_of_skew)
		return *file_of_skew;
	return text ? atol(text) : 0;
}

int clock_gettime(clockid_t id, struct timespec *ts)
{
	int status = (int)syscall(SYS_clock_gettime, id, ts);

	if (status == 0 &&
	    (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE))
		ts->tv_sec += skew_seconds();
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

int timespec_get(struct timespec *ts, int base)
{
	return clock_gettime(CLOCK_REALTIME, ts) ? 0 : base;
}

/* librdkafka computes the end of a wait from either of these; the kernel uses
 * the right clock. */
int cnd_timedwait(cnd_t *restrict condition, mtx_t *restrict lock,
		  const struct timespec *restrict until)
{
	static int (*next)(cnd_t *, mtx_t *, const struct timespec *);
	struct timespec at = *until;

	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "cnd_timedwait");
	at.tv_sec -= skew_seconds();
	return next(condition, lock, &at);
}

time_t time(time_t *ret)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	if (ret)
		*ret = ts.tv_sec;
	return ts.tv_sec;
}

#ifdef __x86_64__
static void redirect_function(void *vdso, const char *name, const void *to)
{
	unsigned char jump[] = {0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, /* rax = */
				0xff, 0xe0};			    /* jmp */
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	void *from = dlsym(vdso, name);
	uintptr_t first;

	if (!from)
		return;
	memcpy(jump + 2, &to, sizeof(to));
	first = (uintptr_t)from / page * page;
	if (mprotect((void *)first, 2 * page,
		     PROT_READ | PROT_WRITE | PROT_EXEC) &&
	    mprotect((void *)first, page, PROT_READ | PROT_WRITE | PROT_EXEC))
		return;
	memcpy(from, jump, sizeof(jump));
}

__attribute__((constructor)) static void redirect_all(void)
{
	void *vdso = dlopen("linux-vdso.so.1", RTLD_LAZY | RTLD_NOLOAD);

	if (!vdso || !getenv("SKEW_VDSO"))
		return;
	redirect_function(vdso, "__vdso_clock_gettime",
			  (const void *)clock_gettime);
	redirect_function(vdso, "__vdso_gettimeofday",
			  (const void *)gettimeofday);
	redirect_function(vdso, "__vdso_time", (const void *)time);
}
#endif

/*
 * slow_file.c - simulates a slow disk by LD_PRELOAD: while the file SLOW_WHILE
 * exists, nothing is read from SLOW_FILE.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	PAUSE_US = 10000
};

static int is_slow(int fd)
{
	const char *slow = getenv("SLOW_FILE");
	char link[64], path[4096];
	ssize_t len;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	len = slow ? readlink(link, path, sizeof(path) - 1) : -1;
	if (len < 0)
		return 0;
	path[len] = '\0';
	return !strcmp(path, slow);
}

ssize_t read(int fd, void *data, size_t size)
{
	const char *flag = getenv("SLOW_WHILE");

	if (flag && access(flag, F_OK) == 0 && is_slow(fd))
		while (access(flag, F_OK) == 0)
			usleep(PAUSE_US);
	return syscall(SYS_read, fd, data, size);
}

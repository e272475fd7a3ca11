/*
 * disk_full.c - simulates a full disk by LD_PRELOAD: while the file DISK_FULL
 * exists, nothing is written to files whose path contains DISK_FULL_UNDER
 * ("/spool/" by default), and no room is allocated for them.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static int is_full(int fd)
{
	const char *flag = getenv("DISK_FULL");
	const char *under = getenv("DISK_FULL_UNDER");
	char link[64], path[4096];
	ssize_t len;

	if (!flag || access(flag, F_OK) < 0)
		return 0;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	len = readlink(link, path, sizeof(path) - 1);
	if (len < 0)
		return 0;
	path[len] = '\0';
	return strstr(path, under ? under : "/spool/") != NULL;
}

static ssize_t fail_full(void)
{
	errno = ENOSPC;
	return -1;
}

ssize_t write(int fd, const void *data, size_t size)
{
	return is_full(fd) ? fail_full() : syscall(SYS_write, fd, data, size);
}

ssize_t writev(int fd, const struct iovec *parts, int count)
{
	return is_full(fd) ? fail_full()
			   : syscall(SYS_writev, fd, parts, count);
}

ssize_t pwrite(int fd, const void *data, size_t size, off_t at)
{
	return is_full(fd) ? fail_full()
			   : syscall(SYS_pwrite64, fd, data, size, at);
}

ssize_t pwrite64(int fd, const void *data, size_t size, off_t at)
{
	return pwrite(fd, data, size, at);
}

int posix_fallocate(int fd, off_t at, off_t size)
{
	if (is_full(fd))
		return ENOSPC;
	return syscall(SYS_fallocate, fd, 0, at, size) < 0 ? errno : 0;
}

int posix_fallocate64(int fd, off_t at, off_t size)
{
	return posix_fallocate(fd, at, size);
}

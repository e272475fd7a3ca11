/*
 * bad_disk.h - a disk that does not keep what was written: a test program
 * defines fdatasync with bad_disk_sync, in place of libc's.
 */
#ifndef TESTS_UNIT_BAD_DISK_H
#define TESTS_UNIT_BAD_DISK_H

#include <errno.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

static atomic_bool sync_fails;

static inline int bad_disk_sync(int fd)
{
	if (sync_fails) {
		errno = EIO;
		return -1;
	}
	return (int)syscall(SYS_fdatasync, fd);
}

#endif

/*
 * no_handover.c - makes a process unable to hand over, by LD_PRELOAD: while the
 * file NO_HANDOVER exists, no blocking eventfd can be made.  The eventfds of
 * event loops do not block.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

int eventfd(unsigned int count, int flags)
{
	const char *flag = getenv("NO_HANDOVER");

	if (!(flags & EFD_NONBLOCK) && flag && access(flag, F_OK) == 0) {
		errno = EMFILE;
		return -1;
	}
	return (int)syscall(SYS_eventfd2, count, flags);
}

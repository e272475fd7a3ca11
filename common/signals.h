/* signals.h - SIGINT, SIGTERM, SIGHUP and SIGUSR2 as a descriptor, never a
 * handler. */
#ifndef COMMON_SIGNALS_H
#define COMMON_SIGNALS_H

#include "common/error.h"

/*
 * Blocks the signals and opens a non-blocking signalfd for them; ignores
 * SIGPIPE and SIGXFSZ, so that the system call returns an error instead.  Call
 * it before any thread is created: threads inherit the mask.
 */
int signals_open(int *ret_fd, struct error *err);

/* Returns the next pending signal number, or 0. */
int signals_next(int fd);

/* Waits up to timeout_ms (-1: for ever) for a signal.  Returns it, or 0. */
int signals_wait(int fd, int timeout_ms);

/* Restores the default action, so that the next signal ends the process.
 * A negative fd is accepted. */
void signals_close(int fd);

#endif

#include "common/signals.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

static sigset_t handled_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGUSR2);
	return set;
}

int signals_open(int *ret_fd, struct error *err)
{
	sigset_t set = handled_signals();
	int fd;

	signal(SIGPIPE, SIG_IGN);
	/* Exceeding the file size limit is then an error of write, like a full
	 * disk. */
	signal(SIGXFSZ, SIG_IGN);
	errno = pthread_sigmask(SIG_BLOCK, &set, NULL);
	if (errno)
		return error_set_errno(err, "pthread_sigmask");
	fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	if (fd < 0)
		return error_set_errno(err, "signalfd");
	*ret_fd = fd;
	return 0;
}

int signals_next(int fd)
{
	struct signalfd_siginfo info;

	if (read(fd, &info, sizeof(info)) != sizeof(info))
		return 0;
	return (int)info.ssi_signo;
}

int signals_wait(int fd, int timeout_ms)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	if (poll(&p, 1, timeout_ms) <= 0)
		return 0;
	return signals_next(fd);
}

void signals_close(int fd)
{
	sigset_t set = handled_signals();

	if (fd < 0)
		return;
	close(fd);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

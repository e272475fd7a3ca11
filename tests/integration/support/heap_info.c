/*
 * heap_info.c - shows the heap of a process, by LD_PRELOAD: a client of the
 * Unix socket HEAP_INFO gets the output of malloc_info(3), and the end.  The
 * last of several programs answers, since one may have started another.
 */
#define _GNU_SOURCE
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static void *serve_heap_info(void *arg)
{
	int listener = (int)(intptr_t)arg;

	for (;;) {
		int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
		FILE *out = fd < 0 ? NULL : fdopen(fd, "w");

		if (!out)
			abort();
		malloc_info(0, out);
		fclose(out);
	}
	return NULL;
}

/* Signals are for the program's own threads. */
static void start_server_thread(int listener)
{
	sigset_t all, before;
	pthread_t thread;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	if (pthread_create(&thread, NULL, serve_heap_info,
			   (void *)(intptr_t)listener))
		abort();
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

__attribute__((constructor)) static void listen_for_questions(void)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	const char *path = getenv("HEAP_INFO");
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (!path || strlen(path) >= sizeof(at.sun_path))
		abort();
	strcpy(at.sun_path, path);
	unlink(path);
	if (bind(fd, (struct sockaddr *)&at, sizeof(at)) < 0 ||
	    listen(fd, 8) < 0)
		abort();
	start_server_thread(fd);
}

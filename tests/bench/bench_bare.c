/*
 * The minimum for a server: epoll, llhttp, one recv and one send a request, 302
 * to all.  No header is kept, only llhttp checks the request, no request may be
 * split, no connection times out.  Any further cost of our server is for what
 * it does beyond this.
 * usage: bench_bare PORT
 */
#include <errno.h>
#include <llhttp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/bench/bare.h"

#define EVENTS		64
#define DESCRIPTORS_MAX 65536

static llhttp_t parsers[DESCRIPTORS_MAX]; /* by descriptor */
static llhttp_settings_t settings;

static int on_complete(llhttp_t *parser)
{
	int fd = (int)(parser - parsers);
	bool keep = llhttp_should_keep_alive(parser);
	ssize_t n = keep ? send(fd, kept, sizeof(kept) - 1, MSG_NOSIGNAL)
			 : send(fd, last, sizeof(last) - 1, MSG_NOSIGNAL);

	return n > 0 && keep ? 0 : -1;
}

static void on_readable(int fd)
{
	char bytes[16384];
	ssize_t n = recv(fd, bytes, sizeof(bytes), 0);

	if (n < 0 && errno == EAGAIN)
		return;
	if (n <= 0 || llhttp_execute(&parsers[fd], bytes, (size_t)n) != HPE_OK)
		close(fd);
}

static void on_acceptable(int epoll, int listener)
{
	struct epoll_event event = {.events = EPOLLIN};

	while ((event.data.fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK)) >=
	       0) {
		if (event.data.fd >= DESCRIPTORS_MAX) {
			close(event.data.fd);
			continue;
		}
		llhttp_init(&parsers[event.data.fd], HTTP_REQUEST, &settings);
		epoll_ctl(epoll, EPOLL_CTL_ADD, event.data.fd, &event);
	}
}

int main(int argc, char **argv)
{
	struct epoll_event events[EVENTS], event = {.events = EPOLLIN};
	int epoll = epoll_create1(0), listener, n;

	if (argc != 2) {
		fprintf(stderr, "usage: bench_bare PORT\n");
		return 64;
	}
	listener = listen_on(argv[1], SOCK_NONBLOCK);
	if (listener < 0) {
		perror("bench_bare");
		return 1;
	}
	llhttp_settings_init(&settings);
	settings.on_message_complete = on_complete;
	event.data.fd = listener;
	epoll_ctl(epoll, EPOLL_CTL_ADD, listener, &event);
	for (;;) {
		n = epoll_wait(epoll, events, EVENTS, -1);
		for (int i = 0; i < n; i++) {
			if (events[i].data.fd == listener)
				on_acceptable(epoll, listener);
			else
				on_readable(events[i].data.fd);
		}
	}
}

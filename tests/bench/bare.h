/*
 * bare.h - the common part of the bare loops of epoll and of io_uring: the
 * listening socket and the answers.
 */
#ifndef TESTS_BENCH_BARE_H
#define TESTS_BENCH_BARE_H

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/socket.h>

static const char kept[] = "HTTP/1.1 302 Found\r\n"
			   "Date: Sat, 21 Nov 2026 01:02:03 GMT\r\n"
			   "Location: https://example.org/\r\n"
			   "Cache-Control: private, max-age=0\r\n"
			   "Content-Length: 0\r\n\r\n";
static const char last[] = "HTTP/1.1 302 Found\r\n"
			   "Date: Sat, 21 Nov 2026 01:02:03 GMT\r\n"
			   "Location: https://example.org/\r\n"
			   "Cache-Control: private, max-age=0\r\n"
			   "Content-Length: 0\r\n"
			   "Connection: close\r\n\r\n";

/* Listens at a port of 127.0.0.1; `flags` are added to the type for socket(2).
 * Returns -1 and sets errno on failure. */
static inline int listen_on(const char *port, int flags)
{
	struct sockaddr_in at = {.sin_family = AF_INET,
				 .sin_port = htons((uint16_t)atoi(port)),
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM | flags, 0), one = 1;

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	if (bind(fd, (struct sockaddr *)&at, sizeof(at)) < 0 ||
	    listen(fd, 4096) < 0)
		return -1;
	return fd;
}

#endif

/* free_address.h - finds an address that a unit test's server can listen at. */
#ifndef TESTS_UNIT_FREE_ADDRESS_H
#define TESTS_UNIT_FREE_ADDRESS_H

#include "tests/unit/unit.h"

#include <arpa/inet.h>

struct free_address {
	char host[16], port[8];
};

/* Each process takes a loopback host of its own, so that no other program takes
 * the port before it is bound again. */
static inline void free_address_find(struct free_address *ret)
{
	static unsigned found;
	const uint32_t number =
		((uint32_t)getpid() << 3 | found++ % 8) & 0xffffff;
	struct sockaddr_in at = {.sin_family = AF_INET,
				 .sin_addr.s_addr =
					 htonl(UINT32_C(127) << 24 | number)};
	socklen_t len = sizeof(at);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	assert_true(fd >= 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&at, len), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &len), 0);
	close(fd);
	inet_ntop(AF_INET, &at.sin_addr, ret->host, sizeof(ret->host));
	snprintf(ret->port, sizeof(ret->port), "%d", ntohs(at.sin_port));
}

#endif

#include "common/ip.h"

#include <arpa/inet.h>
#include <string.h>

bool ip_is_mapped(const uint8_t ip[16])
{
	static const uint8_t prefix[12] = {[10] = 0xff, [11] = 0xff};

	return !memcmp(ip, prefix, sizeof(prefix));
}

size_t ip_parse(const char *text, uint8_t ret_ip[16])
{
	if (inet_pton(AF_INET, text, ret_ip) == 1)
		return 4;
	if (inet_pton(AF_INET6, text, ret_ip) != 1)
		return 0;
	if (!ip_is_mapped(ret_ip))
		return 16;
	memmove(ret_ip, ret_ip + 12, 4);
	return 4;
}

static struct address address_v4(const void *bytes)
{
	struct address a = {.len = 4};

	memcpy(a.bytes, bytes, 4);
	return a;
}

static struct address address_v6(const uint8_t *bytes)
{
	struct address a = {.len = 16};

	if (ip_is_mapped(bytes))
		return address_v4(bytes + 12);
	memcpy(a.bytes, bytes, 16);
	return a;
}

struct address address_of_peer(const struct sockaddr_storage *peer)
{
	const void *p = peer;

	if (peer->ss_family == AF_INET)
		return address_v4(
			&((const struct sockaddr_in *)p)->sin_addr.s_addr);
	if (peer->ss_family == AF_INET6)
		return address_v6(
			((const struct sockaddr_in6 *)p)->sin6_addr.s6_addr);
	return (struct address){0};
}

const char *address_text(const struct address *address,
			 char ret_text[INET6_ADDRSTRLEN])
{
	if (!address->len)
		return NULL;
	return inet_ntop(address->len == 4 ? AF_INET : AF_INET6, address->bytes,
			 ret_text, INET6_ADDRSTRLEN);
}

void ip_unmap_peer(struct sockaddr_storage *peer)
{
	struct sockaddr_in6 six;
	struct sockaddr_in four = {.sin_family = AF_INET};

	if (peer->ss_family != AF_INET6)
		return;
	memcpy(&six, peer, sizeof(six));
	if (!ip_is_mapped(six.sin6_addr.s6_addr))
		return;
	four.sin_port = six.sin6_port;
	memcpy(&four.sin_addr, six.sin6_addr.s6_addr + 12, 4);
	memset(peer, 0, sizeof(*peer));
	memcpy(peer, &four, sizeof(four));
}

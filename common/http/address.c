#include "common/http/address.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define HOST_MAX 256

/* Splits "host:port", "[v6]:port" and ":port". */
static int split_host_port(const char *address, char host[HOST_MAX],
			   const char **ret_port, struct error *err)
{
	const char *colon = strrchr(address, ':');
	size_t len = colon ? (size_t)(colon - address) : 0;

	if (!colon || !colon[1] || len >= HOST_MAX)
		return error_set(err, ERROR_CONFIG,
				 "%s: expected host:port, such as "
				 "127.0.0.1:8080 or [::1]:8080",
				 address);
	if (len >= 2 && address[0] == '[' && address[len - 1] == ']') {
		address++;
		len -= 2;
	}
	memcpy(host, address, len);
	host[len] = '\0';
	*ret_port = colon + 1;
	return 0;
}

static int set_flag(int fd, int level, int name, int value)
{
	return setsockopt(fd, level, name, &value, sizeof(value));
}

/* Returns a socket bound to the address, not listening yet; or -1 with
 * errno. */
static int bind_one(const struct addrinfo *info, bool share)
{
	int fd = socket(info->ai_family,
			SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	int sys;

	if (fd < 0)
		return -1;
	set_flag(fd, SOL_SOCKET, SO_REUSEADDR, 1);
	if (share)
		set_flag(fd, SOL_SOCKET, SO_REUSEPORT, 1);
	if (info->ai_family == AF_INET6)
		set_flag(fd, IPPROTO_IPV6, IPV6_V6ONLY, 0);
	if (bind(fd, info->ai_addr, info->ai_addrlen) == 0 &&
	    listen(fd, SOCKET_BACKLOG) == 0)
		return fd;
	sys = errno;
	close(fd);
	errno = sys;
	return -1;
}

/* Resolves the address; free the result with freeaddrinfo. */
static int look_up(const char *address, struct addrinfo **ret,
		   struct error *err)
{
	const struct addrinfo hints = {.ai_flags = AI_PASSIVE | AI_NUMERICSERV,
				       .ai_socktype = SOCK_STREAM};
	char host[HOST_MAX] = "";
	const char *port = NULL;
	int status;

	if (split_host_port(address, host, &port, err) < 0)
		return -1;
	status = getaddrinfo(host[0] ? host : NULL, port, &hints, ret);
	if (status != 0)
		return error_set(err, ERROR_CONFIG, "%s: %s", address,
				 gai_strerror(status));
	return 0;
}

/* Binds to the first address of that family (AF_UNSPEC: of any) that can be
 * bound; or returns -1 with errno. */
static int bind_first(const struct addrinfo *found, int family, bool share)
{
	int fd = -1;

	errno = EAFNOSUPPORT;
	for (; found && fd < 0; found = found->ai_next)
		if (family == AF_UNSPEC || found->ai_family == family)
			fd = bind_one(found, share);
	return fd;
}

/* Binds to IPv6, which accepts IPv4 too, if this host has IPv6 at all. */
static int bind_every(const struct addrinfo *found, bool share)
{
	int fd = bind_first(found, AF_INET6, share);

	if (fd < 0 && (errno == EAFNOSUPPORT || errno == EADDRNOTAVAIL))
		fd = bind_first(found, AF_INET, share);
	return fd;
}

int address_bind(const char *address, bool share, int *ret_fd,
		 struct error *err)
{
	struct addrinfo *found = NULL;
	int fd;

	if (look_up(address, &found, err) < 0)
		return -1;
	if (address[0] == ':')
		fd = bind_every(found, share);
	else
		fd = bind_first(found, AF_UNSPEC, share);
	if (fd < 0)
		error_set_errno(err, "cannot listen on %s", address);
	freeaddrinfo(found);
	*ret_fd = fd;
	return fd < 0 ? -1 : 0;
}

/* Options such as IPV6_V6ONLY are ignored: to clients the address is the
 * same. */
static bool is_same(const struct sockaddr *a, const struct sockaddr_storage *b)
{
	const struct sockaddr_in *a4 = (const void *)a, *b4 = (const void *)b;
	const struct sockaddr_in6 *a6 = (const void *)a, *b6 = (const void *)b;

	if (a->sa_family != b->ss_family)
		return false;
	if (a->sa_family == AF_INET)
		return a4->sin_port == b4->sin_port &&
		       a4->sin_addr.s_addr == b4->sin_addr.s_addr;
	return a->sa_family == AF_INET6 && a6->sin6_port == b6->sin6_port &&
	       a6->sin6_scope_id == b6->sin6_scope_id &&
	       !memcmp(&a6->sin6_addr, &b6->sin6_addr, sizeof(a6->sin6_addr));
}

bool address_is(const char *address, const struct sockaddr_storage *bound)
{
	struct addrinfo *found = NULL;
	struct error ignored = {0};
	bool same = false;

	if (look_up(address, &found, &ignored) < 0)
		return false;
	for (const struct addrinfo *it = found; it && !same; it = it->ai_next)
		same = is_same(it->ai_addr, bound);
	freeaddrinfo(found);
	return same;
}

static bool is_loopback(const struct sockaddr *address)
{
	const struct sockaddr_in *v4 = (const void *)address;
	const struct sockaddr_in6 *v6 = (const void *)address;

	if (address->sa_family == AF_INET)
		return ntohl(v4->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
	return address->sa_family == AF_INET6 &&
	       (IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr) ||
		(IN6_IS_ADDR_V4MAPPED(&v6->sin6_addr) &&
		 v6->sin6_addr.s6_addr[12] == IN_LOOPBACKNET));
}

bool http_address_is_loopback(const char *address)
{
	struct addrinfo *found = NULL;
	struct error ignored = {0};
	bool loopback = true;

	if (look_up(address, &found, &ignored) < 0)
		return false;
	for (const struct addrinfo *it = found; it; it = it->ai_next)
		loopback = loopback && is_loopback(it->ai_addr);
	freeaddrinfo(found);
	return loopback;
}

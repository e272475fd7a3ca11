#include "redirector/client_address.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/ip.h"

/* The longest is "[" IPv6 with an embedded IPv4 "]:65535". */
#define ADDRESS_TEXT_MAX 64

struct network {
	struct address base;
	unsigned bits;
};

struct proxy_list {
	size_t count;
	struct network networks[];
};

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

static bool parse_bare(const char *text, struct address *ret)
{
	struct address a = {.len = 0};

	a.len = (uint8_t)ip_parse(text, a.bytes);
	if (a.len)
		*ret = a;
	return a.len != 0;
}

static bool is_port(const char *text)
{
	unsigned port = 0;
	size_t len = 0;

	for (; text[len] >= '0' && text[len] <= '9' && len < 5; len++)
		port = port * 10 + (unsigned)(text[len] - '0');
	return len && !text[len] && port <= UINT16_MAX;
}

bool address_parse(struct http_slice text, struct address *ret_address)
{
	char copy[ADDRESS_TEXT_MAX];
	char *colon, *bracket;

	if (text.len == 0 || text.len >= sizeof(copy) ||
	    memchr(text.data, '\0', text.len))
		return false;
	memcpy(copy, text.data, text.len);
	copy[text.len] = '\0';
	if (copy[0] == '[') {
		bracket = strchr(copy, ']');
		if (!bracket)
			return false;
		if (bracket[1] && (bracket[1] != ':' || !is_port(bracket + 2)))
			return false;
		*bracket = '\0';
		/* Brackets are for IPv6 only. */
		return strchr(copy, ':') && parse_bare(copy + 1, ret_address);
	}
	colon = strchr(copy, ':');
	if (colon && !strchr(colon + 1, ':')) {
		if (!is_port(colon + 1))
			return false;
		*colon = '\0';
	}
	return parse_bare(copy, ret_address);
}

static bool in_network(const struct network *net, const struct address *a)
{
	size_t whole = net->bits / 8;
	unsigned rest = net->bits % 8;

	if (net->base.len != a->len ||
	    memcmp(net->base.bytes, a->bytes, whole) != 0)
		return false;
	return !rest ||
	       ((net->base.bytes[whole] ^ a->bytes[whole]) >> (8 - rest)) == 0;
}

static bool has_host_bits(const struct network *net)
{
	for (unsigned bit = net->bits; bit < net->base.len * 8u; bit++) {
		if (net->base.bytes[bit / 8] & (0x80u >> bit % 8))
			return true;
	}
	return false;
}

static int bad_network(const char *text, const char *why, struct error *err)
{
	return error_set(err, ERROR_CONFIG,
			 "redirector.trusted_proxies: '%.80s' %s", text, why);
}

/* A mapped network ("::ffff:10.0.0.0/104") is an IPv4 network in disguise. */
static int read_prefix(const char *slash, const char *text, bool was_v6,
		       struct network *net, struct error *err)
{
	unsigned max = net->base.len * 8u;
	unsigned skipped = was_v6 && net->base.len == 4 ? 96 : 0;
	unsigned long bits;
	char *end;

	if (!slash) {
		net->bits = max;
		return 0;
	}
	errno = 0;
	bits = strtoul(slash + 1, &end, 10);
	if (slash[1] < '0' || slash[1] > '9' || *end || errno ||
	    bits < skipped || bits > max + skipped)
		return bad_network(text, "has a prefix length out of range",
				   err);
	net->bits = (unsigned)bits - skipped;
	if (has_host_bits(net))
		return bad_network(
			text, "has bits set beyond its prefix length", err);
	return 0;
}

static int network_parse(const char *text, struct network *net,
			 struct error *err)
{
	const char *slash = strchr(text, '/');
	char copy[INET6_ADDRSTRLEN];
	size_t len = slash ? (size_t)(slash - text) : strlen(text);

	if (len >= sizeof(copy))
		return bad_network(text, "is not a network", err);
	memcpy(copy, text, len);
	copy[len] = '\0';
	if (!parse_bare(copy, &net->base))
		return bad_network(text,
				   "is not a network: write 10.0.0.0/8, "
				   "fd00::/8 or one address",
				   err);
	return read_prefix(slash, text, strchr(copy, ':'), net, err);
}

struct proxy_list *proxy_list_new(const struct setting_strings *networks,
				  struct error *err)
{
	struct proxy_list *list;

	list = calloc(1, sizeof(*list) +
				 networks->count * sizeof(list->networks[0]));
	if (!list) {
		error_set_nomem(err);
		return NULL;
	}
	for (size_t i = 0; i < networks->count; i++) {
		if (network_parse(networks->items[i], &list->networks[i], err) <
		    0) {
			proxy_list_free(list);
			return NULL;
		}
		list->count++;
	}
	return list;
}

void proxy_list_free(struct proxy_list *list)
{
	free(list);
}

bool proxy_list_trusts(const struct proxy_list *list,
		       const struct address *address)
{
	for (size_t i = 0; i < list->count; i++) {
		if (in_network(&list->networks[i], address))
			return true;
	}
	return false;
}

static struct http_slice trim(struct http_slice s)
{
	while (s.len && (s.data[0] == ' ' || s.data[0] == '\t')) {
		s.data++;
		s.len--;
	}
	while (s.len && (s.data[s.len - 1] == ' ' || s.data[s.len - 1] == '\t'))
		s.len--;
	return s;
}

/*
 * Takes the last element off a list and shortens the list.  A separator inside
 * quotes cannot occur in a valid address, so quotes need no notice here: what
 * is split in the wrong place does not parse and ends the walk.
 */
static struct http_slice take_last(struct http_slice *list, char separator)
{
	const char *at = memrchr(list->data, separator, list->len);
	struct http_slice last = *list;

	if (!at) {
		list->len = 0;
		list->data = NULL;
		return trim(last);
	}
	last.data = at + 1;
	last.len = (size_t)(list->data + list->len - last.data);
	list->len = (size_t)(at - list->data);
	return trim(last);
}

/* The node of the `for` parameter of one Forwarded element; {NULL, 0} when it
 * has none or two. */
static struct http_slice forwarded_for(struct http_slice element)
{
	struct http_slice pair, found = {0};

	while (element.data) {
		pair = take_last(&element, ';');
		if (pair.len < 4 || strncasecmp(pair.data, "for=", 4) != 0)
			continue;
		if (found.data)
			return (struct http_slice){0};
		found.data = pair.data + 4;
		found.len = pair.len - 4;
	}
	if (found.len >= 2 && found.data[0] == '"' &&
	    found.data[found.len - 1] == '"') {
		found.data++;
		found.len -= 2;
	}
	return found;
}

struct address client_address(const struct proxy_list *list,
			      enum forwarded_style style,
			      const struct address *peer,
			      const struct http_slice *values, size_t count)
{
	struct address at = *peer;
	struct address next;
	struct http_slice rest, node;

	for (size_t i = count; i > 0; i--) {
		rest = values[i - 1];
		while (rest.data) {
			if (!proxy_list_trusts(list, &at))
				return at;
			node = take_last(&rest, ',');
			if (style == FORWARDED_RFC7239)
				node = forwarded_for(node);
			if (!address_parse(node, &next))
				return at;
			at = next;
		}
	}
	return at;
}

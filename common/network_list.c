#include "common/network_list.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The peers of a Unix socket: a prefix of no bits. */
#define UNIX_PEERS "unix"

struct network_list {
	size_t count;
	struct network networks[];
};

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

static const char *read_prefix(const char *slash, bool was_v6,
			       struct network *net)
{
	unsigned max = net->base.len * 8u;
	unsigned skipped = was_v6 && net->base.len == 4 ? 96 : 0;
	unsigned long bits;
	char *end;

	if (!slash) {
		net->bits = max;
		return NULL;
	}
	errno = 0;
	bits = strtoul(slash + 1, &end, 10);
	if (slash[1] < '0' || slash[1] > '9' || *end || errno ||
	    bits < skipped || bits > max + skipped)
		return "has a prefix length out of range";
	net->bits = (unsigned)bits - skipped;
	return has_host_bits(net) ? "has bits set beyond its prefix length"
				  : NULL;
}

const char *network_parse(const char *text, struct network *net)
{
	const char *slash = strchr(text, '/');
	char copy[INET6_ADDRSTRLEN];
	size_t len = slash ? (size_t)(slash - text) : strlen(text);

	if (len >= sizeof(copy))
		return "is not a network";
	memcpy(copy, text, len);
	copy[len] = '\0';
	net->base.len = (uint8_t)ip_parse(copy, net->base.bytes);
	if (!net->base.len)
		return "is not a network: write 10.0.0.0/8, fd00::/8 or one "
		       "address";
	return read_prefix(slash, strchr(copy, ':'), net);
}

static struct network_list *list_new(const struct setting_strings *networks,
				     bool of_peers, const char *setting,
				     struct error *err)
{
	struct network_list *list;
	const char *wrong;

	list = calloc(1, sizeof(*list) +
				 networks->count * sizeof(list->networks[0]));
	if (!list) {
		error_set_nomem(err);
		return NULL;
	}
	for (size_t i = 0; i < networks->count; i++) {
		list->count++;
		if (of_peers && !strcmp(networks->items[i], UNIX_PEERS))
			continue;
		wrong = network_parse(networks->items[i], &list->networks[i]);
		if (wrong) {
			error_set(err, ERROR_CONFIG, "%s: '%.80s' %s", setting,
				  networks->items[i], wrong);
			network_list_free(list);
			return NULL;
		}
	}
	return list;
}

struct network_list *network_list_new(const struct setting_strings *networks,
				      const char *setting, struct error *err)
{
	return list_new(networks, false, setting, err);
}

struct network_list *
network_list_new_of_peers(const struct setting_strings *networks,
			  const char *setting, struct error *err)
{
	return list_new(networks, true, setting, err);
}

void network_list_free(struct network_list *list)
{
	free(list);
}

bool network_list_has(const struct network_list *list,
		      const struct address *address)
{
	for (size_t i = 0; i < list->count; i++) {
		if (in_network(&list->networks[i], address))
			return true;
	}
	return false;
}

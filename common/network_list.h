/* network_list.h - networks as text, those of a setting, and whether an address
 * is in one. */
#ifndef COMMON_NETWORK_LIST_H
#define COMMON_NETWORK_LIST_H

#include <stdbool.h>

#include "common/config/setting.h"
#include "common/error.h"
#include "common/ip.h"

struct network {
	struct address base;
	unsigned bits;
};

/* Reads "10.0.0.0/8", "fd00::/8", or an address alone.  Returns NULL, or what
 * is wrong with it, to be put behind the text.  A mapped network
 * ("::ffff:10.0.0.0/104") is an IPv4 network in disguise. */
const char *network_parse(const char *text, struct network *net);

struct network_list;

/* `networks`: "10.0.0.0/8", "fd00::/8", or an address alone.  Bits set beyond
 * the prefix are an ERROR_CONFIG, since one of the two numbers is then
 * mistyped; it begins with `setting`, as "redirector.trusted_proxies". */
struct network_list *network_list_new(const struct setting_strings *networks,
				      const char *setting, struct error *err);

/* The same of peers: "unix" stands for those at a Unix socket, whose addresses
 * have length 0. */
struct network_list *
network_list_new_of_peers(const struct setting_strings *networks,
			  const char *setting, struct error *err);
void network_list_free(struct network_list *list); /* NULL accepted */

/* Read-only: from any thread.  An address of length 0 is in none but
 * "unix". */
bool network_list_has(const struct network_list *list,
		      const struct address *address);

#endif

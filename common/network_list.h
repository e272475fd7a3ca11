/* network_list.h - parses networks, such as those of a setting, and checks
 * whether an address is in one. */
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

/* Parses "10.0.0.0/8", "fd00::/8", or a single address.  Returns NULL, or the
 * error as a text to be put after the network.  A mapped network
 * ("::ffff:10.0.0.0/104") becomes the IPv4 network. */
const char *network_parse(const char *text, struct network *net);

struct network_list;

/* `networks`: "10.0.0.0/8", "fd00::/8", or a single address.  Bits set beyond
 * the prefix are an ERROR_CONFIG, since one of the two numbers is then
 * mistyped; its text begins with `setting`, such as
 * "redirector.trusted_proxies". */
struct network_list *network_list_new(const struct setting_strings *networks,
				      const char *setting, struct error *err);

/* The same for peers: "unix" means those at a Unix socket, whose addresses have
 * length 0. */
struct network_list *
network_list_new_of_peers(const struct setting_strings *networks,
			  const char *setting, struct error *err);
void network_list_free(struct network_list *list); /* NULL accepted */

/* Read-only: callable from any thread.  An address of length 0 is only in
 * "unix". */
bool network_list_has(const struct network_list *list,
		      const struct address *address);

#endif

/*
 * deny_list.h - networks that are denied, read from a file that may have tens
 * of thousands.
 *
 * The file has one network a line, in the usual form of such lists:
 *
 *	192.0.2.0/24 ; why it is there
 *	2001:db8::/32
 *	198.51.100.7		# or an address alone
 *
 * `#` and `;` start a comment.  Networks may overlap: they are kept as sorted
 * ranges without common addresses, in which a binary search finds an address in
 * as many steps as the number of ranges has bits.
 *
 * Read-only once loaded: any thread may use it.
 */
#ifndef REDIRECTOR_VISIT_DENY_LIST_H
#define REDIRECTOR_VISIT_DENY_LIST_H

#include <stdbool.h>
#include <stddef.h>

#include "common/error.h"
#include "common/ip.h"

enum {
	DENY_NETWORKS_MAX = 4000000
};

struct deny_list;

/* Returns ERROR_CONFIG for a line that is not valid ("file:line: what is
 * wrong"), a file that cannot be read, and one with more than DENY_NETWORKS_MAX
 * networks. */
struct deny_list *deny_list_load(const char *path, struct error *err);
void deny_list_free(struct deny_list *list); /* NULL accepted */

/* False for an address of length 0. */
bool deny_list_has(const struct deny_list *list, const struct address *address);

/* Returns the number of networks in the file. */
size_t deny_list_count(const struct deny_list *list);

#endif

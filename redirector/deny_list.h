/*
 * deny_list.h - networks that are not to be answered, out of a file, by the ten
 * thousand.
 *
 * One network a line, as lists of this kind have them:
 *
 *	192.0.2.0/24 ; why it is there
 *	2001:db8::/32
 *	198.51.100.7		# or an address alone
 *
 * `#` and `;` start a comment.  Networks may overlap: they are kept as ranges
 * without a common address, in order, where a binary search finds an address in
 * as many steps as the number of ranges has bits.
 *
 * Read-only once loaded: from any thread.
 */
#ifndef REDIRECTOR_DENY_LIST_H
#define REDIRECTOR_DENY_LIST_H

#include <stdbool.h>
#include <stddef.h>

#include "common/error.h"
#include "common/ip.h"

enum {
	DENY_NETWORKS_MAX = 4000000
};

struct deny_list;

/* A line that makes no sense is ERROR_CONFIG, "file:line: what is wrong"; so is
 * a file that cannot be read or has more than DENY_NETWORKS_MAX networks. */
struct deny_list *deny_list_load(const char *path, struct error *err);
void deny_list_free(struct deny_list *list); /* NULL accepted */

/* An address of length 0 is in none. */
bool deny_list_has(const struct deny_list *list, const struct address *address);

/* Networks that the file has. */
size_t deny_list_count(const struct deny_list *list);

#endif

/*
 * domain_list.h - a set of domains out of a file, with millions of entries.
 *
 * One domain a line:
 *
 *	example.com	that name and no other
 *	.example.com	that name and everything below it
 *	192.0.2.7	an address
 *
 * Case does not matter, international names may be written as such, `#` starts
 * a comment.
 *
 * The texts lie end to end in one pool; a hash table of 32-bit offsets, three
 * quarters full, is probed line by line through a byte of the hash (as in
 * Abseil's Swiss tables), so that most of what is not there costs one access to
 * memory.  The hash is keyed: names chosen by others cannot crowd.
 *
 * Read-only once loaded.
 */
#ifndef ALLOCATOR_POLICY_DOMAIN_LIST_H
#define ALLOCATOR_POLICY_DOMAIN_LIST_H

#include <stdbool.h>
#include <stddef.h>

#include "common/error.h"
#include "common/host.h"

struct domain_list;

/* A line that makes no sense is ERROR_CONFIG, "file:line: what was expected";
 * so is a file that cannot be read.  At most 4 GiB of names. */
struct domain_list *domain_list_load(const char *path, struct error *err);
void domain_list_free(struct domain_list *list); /* NULL accepted */

/* Is the host there, or below one that is there with all below it? */
bool domain_list_has(const struct domain_list *list, const struct host *host);

size_t domain_list_count(const struct domain_list *list);
size_t domain_list_bytes(const struct domain_list *list); /* of memory */

#endif

/*
 * domain_list.h - a set of domains from a file, with millions of entries.
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
 * The texts lie end to end in one pool.  A hash table of 32-bit offsets, three
 * quarters full, is probed linearly by one byte of the hash (as in Abseil's
 * Swiss tables), so that most look-ups of absent names cost one access to
 * memory.  The hash is keyed, so that clients cannot choose names that collide.
 *
 * The list is read-only after loading.
 */
#ifndef ALLOCATOR_POLICY_DOMAIN_LIST_H
#define ALLOCATOR_POLICY_DOMAIN_LIST_H

#include <stdbool.h>
#include <stddef.h>

#include "common/error.h"
#include "common/host.h"

struct domain_list;

/* Returns ERROR_CONFIG for an invalid line, "file:line: what was expected", and
 * for a file that cannot be read.  At most 4 GiB of names. */
struct domain_list *domain_list_load(const char *path, struct error *err);
void domain_list_free(struct domain_list *list); /* NULL accepted */

/* Returns whether the host is on the list, or below a listed domain that covers
 * all names below it. */
bool domain_list_has(const struct domain_list *list, const struct host *host);

size_t domain_list_count(const struct domain_list *list);

#endif

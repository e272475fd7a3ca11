/*
 * domain_list.h - a set of domains, with millions of entries.
 *
 * A domain is written so:
 *
 *	example.com	that name and no other
 *	.example.com	that name and everything below it
 *	192.0.2.7	an address
 *
 * Case does not matter, international names may be written as such.  A file has
 * one domain a line, and `#` starts a comment.
 *
 * The texts lie end to end in one pool.  A hash table of 32-bit offsets, three
 * quarters full, is probed linearly by one byte of the hash (as in Abseil's
 * Swiss tables), so that most look-ups of absent names cost one access to
 * memory.  The hash is keyed, so that clients cannot choose names that collide.
 *
 * The list is read-only after loading.
 */
#ifndef COMMON_DOMAIN_LIST_H
#define COMMON_DOMAIN_LIST_H

#include <stdbool.h>
#include <stddef.h>

#include "common/error.h"
#include "common/host.h"

/* The longest text of a domain, with its dot and its NUL. */
#define DOMAIN_TEXT_MAX (HOST_TEXT_MAX + 1)

/* A domain as it is written on a list. */
struct listed_domain {
	struct host host;
	bool and_below; /* written with a dot before it */
};

/* ERROR_INPUT says what is wrong with the text, which need not end in a
 * NUL. */
int listed_domain_parse(const char *text, size_t len, struct listed_domain *ret,
			struct error *err);
/* Writes it in its one form: lower case, A-labels. */
void listed_domain_put(const struct listed_domain *domain,
		       char ret[DOMAIN_TEXT_MAX]);
/* Parses a text and writes the domain in that form. */
int listed_domain_normalise(const char *text, char ret[DOMAIN_TEXT_MAX],
			    struct error *err);

struct domain_list;

/* Makes the set of these texts.  ERROR_INPUT: one of them is no domain. */
struct domain_list *domain_list_of(const char *const *texts, size_t count,
				   struct error *err);
/* Returns ERROR_CONFIG for an invalid line, "file:line: what was expected", and
 * for a file that cannot be read.  At most 4 GiB of names. */
struct domain_list *domain_list_load(const char *path, struct error *err);
void domain_list_free(struct domain_list *list); /* NULL accepted */

/* Returns whether the host is on the list, or below a listed domain that covers
 * all names below it. */
bool domain_list_has(const struct domain_list *list, const struct host *host);

size_t domain_list_count(const struct domain_list *list);

#endif

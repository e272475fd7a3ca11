/*
 * access.h - what the caller of the API may see, by the rule that all programs
 * share (common/keys/key_access.h).
 *
 * Without a file of keys, every caller sees everything.  The owner of a link is
 * read from its newest version in the archive, or from Redis while the archive
 * does not have the link yet.
 *
 * A link that a caller may not see is answered with the same bytes as a link
 * that does not exist.  link_finder.h ensures this: it takes an access and
 * finds no other links.
 */
#ifndef AGGREGATOR_API_ACCESS_H
#define AGGREGATOR_API_ACCESS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/error.h"
#include "common/keys/api_keyring.h"
#include "common/keys/key_access.h"

struct access {
	struct api_keyring *keys; /* NULL: every caller sees everything */
	struct api_key_info who;  /* needs API_READ_OWN to see anything */
};

/* The number by which the caller takes turns with others
 * (common/loop/workers.h).  0: no key. */
uint64_t access_turn(const struct access *a);

bool access_sees_link(const struct access *a, const struct key_link *link);

/*
 * Bounds around what the caller sees, for questions about many links: the links
 * of these owners, and of this account.  Not everything within them is visible:
 * access_sees_link decides.
 */
struct access_bounds {
	struct buf owners;   /* the names, one per line */
	bool has_owners;     /* false: any owner */
	const char *account; /* borrowed from the access; NULL: any account */
};
int access_bounds_fill(struct access_bounds *ret, const struct access *a,
		       struct error *err);
void access_bounds_release(struct access_bounds *bounds);

/* Checks whether the caller may see data about all links.  ERROR_NOT_OWNER if
 * not; `hint` ends the text. */
int access_check_all(const struct access *a, const char *hint,
		     struct error *err);

/* The same check for rows that hold the owner at the time of the click: a key
 * of some owners may see their rows, and *ret_owners says that it is limited to
 * them. */
int access_check_rows(const struct access *a, bool *ret_owners,
		      const char *hint, struct error *err);

/* Checks whether the caller may see data about the installation.
 * ERROR_NOT_OWNER: only the role `admin` may. */
int access_check_admin(const struct access *a, struct error *err);

/* The hint where the same can be asked about single links. */
#define ACCESS_ASK_OF_ONE "ask with code or link_id"

#endif

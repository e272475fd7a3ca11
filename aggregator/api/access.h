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

struct share;

struct access {
	struct api_keyring *keys; /* NULL: every caller sees everything */
	struct api_key_info who;  /* needs API_READ to see anything */
	/* The share that the request presents: `who` is its maker's key,
	 * narrowed (shares/share_access.h).  NULL: the key itself. */
	const struct share *share;
};

/* The number by which the caller takes turns with others
 * (common/loop/workers.h); shares take those of their key.  0: no key. */
uint64_t access_turn(const struct access *a);

bool access_sees_link(const struct access *a, const struct key_link *link);

/* Returns whether a link that the key may see is one that the caller asks
 * about: a share of a link is of no other. */
bool access_is_about_link(const struct access *a, uint64_t link_id);

/*
 * Bounds around what the caller sees, for questions about many links: the links
 * of this account, and of these owners in it.  Not everything within them is
 * visible: access_sees_link decides.  Clicks within them by account and owner
 * at the click are all visible.
 */
struct access_bounds {
	const char *account; /* borrowed from the access; NULL: any account */
	struct buf owners;   /* the names, one per line */
	bool has_owners;     /* false: any owner */
};
int access_bounds_fill(struct access_bounds *ret, const struct access *a,
		       struct error *err);
void access_bounds_release(struct access_bounds *bounds);

/* Returns true if the caller sees the links of all accounts. */
bool access_sees_all(const struct access *a);

/* Checks that.  ERROR_NOT_OWNER if not; `hint` ends the text. */
int access_check_all(const struct access *a, const char *hint,
		     struct error *err);

/* An owner belongs to an account.  So a caller that sees all accounts has to
 * name one where it names owners: `named` says that it did.  ERROR_INPUT if
 * not; the text begins with `what`, the parameter that names owners. */
int access_check_owner(const struct access *a, bool named, const char *what,
		       struct error *err);

/* Checks whether the caller may see data about the installation.
 * ERROR_NOT_OWNER: only the role `admin` may. */
int access_check_admin(const struct access *a, struct error *err);

/* Checks whether the caller may tell visitors apart in the clicks of the links
 * that it sees.  ERROR_NOT_OWNER: only the role `visitors` may; it names
 * `parameter`, which asks for that. */
int access_check_visitors(const struct access *a, const char *parameter,
			  struct error *err);

#endif

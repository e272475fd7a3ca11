/*
 * access.h - what the caller of the API may see, by the rule of all programs
 * (common/keys/key_access.h).
 *
 * Everybody sees all where the aggregator has no file of keys.  The newest
 * version of a link in the archive says whose the link is, or Redis where the
 * archive does not have it yet.
 *
 * A link that a caller may not see is answered like one that does not exist, by
 * the same bytes.  link_finder.h sees to that: it asks for an access, and finds
 * no other links.
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
	struct api_keyring *keys; /* NULL: anybody sees all */
	struct api_key_info who;  /* has API_READ_OWN; else nothing is seen */
};

/* The caller's number among those who take turns (common/loop/workers.h); 0:
 * anybody. */
uint64_t access_turn(const struct access *a);

bool access_sees_link(const struct access *a, const struct key_link *link);

/*
 * What the caller sees lies within this, for questions about many links: those
 * of the owners, and of the account.  Not all of it is seen: access_sees_link
 * decides.
 */
struct access_bounds {
	struct buf owners;   /* the names, a line each */
	bool has_owners;     /* false: of any owner */
	const char *account; /* of the access; NULL: of any account */
};
int access_bounds_fill(struct access_bounds *ret, const struct access *a,
		       struct error *err);
void access_bounds_release(struct access_bounds *bounds);

/* May the caller see what is about all links?  ERROR_NOT_OWNER: no; `hint`
 * ends the text. */
int access_check_all(const struct access *a, const char *hint,
		     struct error *err);

/* The same where rows have the owner that they had at the click: a key of some
 * owners may see theirs, and *ret_owners says that it is confined to them. */
int access_check_rows(const struct access *a, bool *ret_owners,
		      const char *hint, struct error *err);

/* May the caller see what is about the installation?  ERROR_NOT_OWNER: no, only
 * `admin` may. */
int access_check_admin(const struct access *a, struct error *err);

/* For what can be asked of single links, too. */
#define ACCESS_ASK_OF_ONE "ask with code or link_id"

#endif

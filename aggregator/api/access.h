/*
 * access.h - what the caller of the API may see.
 *
 * All of it decides who has `admin`, or `read` without owners=, and everybody
 * where the aggregator has no file of keys.  Others see single links: with
 * owners= those of these owners, with `read-own` those of the key's account (of
 * both, if the key has both).  Whose a link is, says its newest version in the
 * archive.
 *
 * A link that a caller may not see is answered like one that does not exist, by
 * the same bytes.  archive.h sees to that: it asks for an access, and finds no
 * other links.
 */
#ifndef AGGREGATOR_API_ACCESS_H
#define AGGREGATOR_API_ACCESS_H

#include <stdbool.h>

#include "common/error.h"
#include "common/keys/api_keyring.h"

struct access {
	struct api_keyring *keys; /* NULL: anybody sees all */
	struct api_key_info who;  /* has API_READ_OWN; else nothing is seen */
};

/* Whose a link is.  `account` is "" for links from before there were accounts,
 * whose creator tells (api_keyring_owns). */
struct access_link {
	const char *owner, *account, *creator;
};
bool access_sees_link(const struct access *a, const struct access_link *link);

/* May the caller see what is about all links?  ERROR_NOT_OWNER: no; `hint`
 * ends the text. */
int access_check_all(const struct access *a, const char *hint,
		     struct error *err);

/* For what can be asked of single links, too. */
#define ACCESS_ASK_OF_ONE "ask with code or link_id"

#endif

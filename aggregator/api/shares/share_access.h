/*
 * share_access.h - what a request with a share may see: what the key that made
 * the share may see at present, within the share's bounds.
 *
 * The result is a caller like any other (access.h), so that every route obeys
 * it: a role that only reads, the account and the owners of the filters as the
 * caller's own, the link as the only one there is.  The other filters and the
 * range are put on each question (statistics/shared_question.h).
 */
#ifndef AGGREGATOR_API_SHARES_SHARE_ACCESS_H
#define AGGREGATOR_API_SHARES_SHARE_ACCESS_H

#include <stdbool.h>

#include "aggregator/api/access.h"
#include "aggregator/api/share.h"
#include "common/error.h"

/*
 * Takes over the rights of `maker`, a key that reads, to a share that has its
 * link's account and owner (`link`, NULL for filters) or its filters: sets key,
 * account, owners and where it is listed.  ERROR_NOT_OWNER: the key may not
 * read what would be shared.
 */
int share_access_begin(struct share *share, const struct access *maker,
		       const struct key_link *link, struct error *err);

/*
 * Fills in the caller; the share has to outlive it.  ERROR_NOTFOUND: the key is
 * gone, or another one has its name.  ERROR_NOT_OWNER: the key may not read the
 * share's account or owners any more.
 */
int share_access_narrow(struct access *ret, struct share *share,
			struct api_keyring *keys, struct error *err);

/* Returns whether the caller may see the share, and end it: everything that it
 * may show. */
bool share_is_seen(const struct access *caller, const struct share *share);

#endif

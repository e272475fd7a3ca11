/*
 * link_filter.h - the links that one edit is for: a question to the archive
 * (ClickHouse, table `links`), and a check of each link as Redis has it.
 *
 * The archive may be some seconds old, and it may have a link that has another
 * owner or URL by now.  So it only proposes codes.
 */
#ifndef ALLOCATOR_FILTER_LINK_FILTER_H
#define ALLOCATOR_FILTER_LINK_FILTER_H

#include <stdbool.h>
#include <stdint.h>

#include "allocator/batch/edit_line.h"
#include "common/clickhouse/clickhouse.h"
#include "common/domain_list.h"
#include "common/http/url.h"
#include "common/keys/api_keyring.h"
#include "schemas/link.pb-c.h"

/* A NULL text matches all links. */
struct link_filter {
	struct url_params params; /* the texts point into it */
	const char *account, *owner, *campaign, *domain, *tag;
	char host[DOMAIN_TEXT_MAX]; /* as on a list of domains */
	struct domain_list *hosts;  /* the same; NULL: none was given */
	bool deleted;	   /* only deleted links, in place of the others */
	int64_t from, to;  /* of creation, ms since 1970; to 0: no bounds */
	const char *after; /* a code; "": from the first on */
	/* The bounds of the caller; NULL: none. */
	const char *bound_account;
	const struct key_names *bound_owners;
};

/*
 * Reads the filter of a query string, and the options of an edit.  ERROR_INPUT:
 * a wrong parameter, or no filter; ERROR_NOT_OWNER: the caller may not change
 * links of that account or owner.  `caller` outlives the filter.  End with
 * link_filter_release, also after a failure.
 */
int link_filter_parse(struct link_filter *f, struct http_slice query,
		      const struct api_key_info *caller,
		      struct edit_options *options, struct error *err);
void link_filter_release(struct link_filter *f);

/* Returns whether the filter, without the caller's bounds, matches a link. */
bool link_filter_matches(const struct link_filter *f,
			 const Shortloop__Link *link);

#define LINK_FILTER_PARAMS 14

/* The parameters of the condition. */
struct link_filter_params {
	struct clickhouse_param items[LINK_FILTER_PARAMS + 1];
	struct buf texts[LINK_FILTER_PARAMS];
	size_t count;
};

/* Appends the condition of the archive's rows, without those of `after`. */
void link_filter_put_sql(const struct link_filter *f, struct buf *sql);
int link_filter_fill(struct link_filter_params *p, const struct link_filter *f,
		     const char *after, struct error *err);
void link_filter_params_release(struct link_filter_params *p);

#endif

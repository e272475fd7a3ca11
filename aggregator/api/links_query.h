/*
 * links_query.h - what a request for a list of links asks, and the cursors that
 * lead from one page to the next.  Pure: no I/O.
 */
#ifndef AGGREGATOR_API_LINKS_QUERY_H
#define AGGREGATOR_API_LINKS_QUERY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "aggregator/aggregator_config.h"
#include "aggregator/api/access.h"
#include "common/buf.h"
#include "common/error.h"
#include "common/http/http_server.h"

enum links_filter {
	LINKS_TEXT, /* q */
	LINKS_TAG,
	LINKS_OWNER,
	LINKS_CAMPAIGN,
	LINKS_DOMAIN,
	LINKS_STATE,
	LINKS_URL,
	LINKS_FILTER_COUNT,
};

/* A list is one sequence, or two, of which the second follows the first. */
enum links_part {
	LINKS_BY_CREATION, /* all there is of sort=created */
	LINKS_CLICKED,	   /* of sort=clicks: those with clicks, most first */
	LINKS_UNCLICKED,   /* and then those without, newest first */
};

/*
 * A place in a list: what comes next is behind it.  Numbers are clicks in
 * LINKS_CLICKED, elsewhere when a link was created, ms; the greatest comes
 * first, and of equal ones the greatest link_id.
 */
struct links_place {
	enum links_part part;
	uint64_t number;
	uint64_t link_id;
	uint32_t until_day; /* days since 1970, not counted; of sort=clicks */
};

/* Where a part begins: DateTime64(3) holds nothing later, 2299-12-31. */
#define LINKS_LATEST_MS UINT64_C(10413791999999)

struct links_query {
	char *filters[LINKS_FILTER_COUNT]; /* owned; NULL: not asked */
	int64_t created_from, created_to;  /* ms, half-open; -1: not asked */
	/* Of who asks; the caller's to set, who has parsed.  NULL: none. */
	const struct access_bounds *bounds;
	bool by_clicks;
	size_t limit;
	/* Where the page begins.  Of the first page of sort=clicks `until_day`
	 * is 0, and the caller's to fill. */
	struct links_place at;
	/* The first day that is counted, since 1970; the caller's to set. */
	uint32_t since_day;
};

/*
 * Reads a query string.  A parameter that is unknown, comes twice or makes no
 * sense, and a cursor that another question made, is ERROR_INPUT; the text
 * names it.  Release also after a failure.
 */
int links_query_parse(struct links_query *q, struct http_slice query,
		      const struct aggregator_settings *settings,
		      struct error *err);
void links_query_release(struct links_query *q);

/* Whether it is about some links only: by a filter, a time of creation, or
 * since its caller sees no others. */
bool links_query_filters(const struct links_query *q);

/* Whether it is about links of some owners, and says nothing that the
 * projection by_owner_and_creation lacks: what has an index, which may find
 * fewer than the owners have. */
bool links_query_is_by_owner(const struct links_query *q);

/* The first place of a part. */
struct links_place links_place_first(enum links_part part, uint32_t until_day);

/* A cursor (see cursor.h) names a place; it is of all that was asked but
 * `limit`.
 */
void links_cursor_put(struct buf *out, const struct links_query *q,
		      const struct links_place *place);
int links_cursor_parse(const struct links_query *q, const char *text,
		       struct links_place *ret, struct error *err);

#endif

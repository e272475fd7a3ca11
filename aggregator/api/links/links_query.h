/*
 * links_query.h - the question of a request for a list of links, and the
 * cursors that lead from one page to the next.  Pure: no I/O, but for the file
 * of a time zone.
 */
#ifndef AGGREGATOR_API_LINKS_LINKS_QUERY_H
#define AGGREGATOR_API_LINKS_LINKS_QUERY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "aggregator/aggregator_config.h"
#include "aggregator/api/access.h"
#include "aggregator/api/parameters.h"
#include "common/buf.h"
#include "common/error.h"
#include "common/http/http_server.h"

enum links_filter {
	LINKS_TEXT, /* q */
	LINKS_TAG,
	LINKS_ACCOUNT,
	LINKS_OWNER,
	LINKS_CAMPAIGN,
	LINKS_DOMAIN,
	LINKS_STATE,
	LINKS_URL,
	LINKS_HOST, /* a domain of a list, in its one form */
	LINKS_CODE, /* what the code begins with */
	LINKS_FILTER_COUNT,
};

enum links_sort {
	LINKS_SORT_CREATED,
	LINKS_SORT_CLICKS,
	LINKS_SORT_ENDS,
};

/* A list is one sequence, or two, of which the second follows the first.  These
 * are in descending order; an ascending list is the exact reverse. */
enum links_part {
	LINKS_BY_CREATION, /* sort=created: the whole list */
	LINKS_CLICKED,	   /* sort=clicks: links with clicks, most first */
	LINKS_UNCLICKED,   /* then those without clicks, newest first */
	LINKS_ENDLESS,	   /* sort=ends: those that never end, by link_id */
	LINKS_ENDING,	   /* then the others, the latest end first */
};

/*
 * A place in a list: the next link is behind it.  `number` is the clicks in
 * LINKS_CLICKED, the end in LINKS_ENDING, 0 in LINKS_ENDLESS, otherwise the
 * time of creation (ms).  The greatest comes first, and of equal ones the
 * greatest link_id.
 */
struct links_place {
	enum links_part part;
	uint64_t number;
	uint64_t link_id;
	/* The ends of the days, and of the quarters of an hour after them, that
	 * are counted (since 1970); only for lists with clicks. */
	uint32_t until_day, until_slot;
};

/* Most quarters of an hour that are counted after the days: today, and
 * yesterday while it is not settled. */
#define LINKS_SLOTS_MAX 192
#define LINKS_DAY_SLOTS 96

/* The clicks that are counted beside whole days of UTC: those from `head_from`
 * to `head_to` before them, and from `tail_from` to `tail_to` after them
 * (seconds since 1970, half-open; equal: none). */
struct links_range {
	uint32_t since_day; /* the first whole day, since 1970 */
	uint32_t head_from, head_to, tail_from, tail_to;
};

/* The start of a part: DateTime64(3) holds nothing later, 2299-12-31. */
#define LINKS_LATEST_MS UINT64_C(10413791999999)

struct links_query {
	char *filters[LINKS_FILTER_COUNT]; /* owned; NULL: not given */
	int64_t created_from, created_to;  /* ms, half-open; -1: not given */
	/* The bounds of the API's caller; set after parsing.  NULL: none. */
	const struct access_bounds *bounds;
	enum links_sort sort;
	bool ascending;
	bool has_total;	 /* the answer has their number */
	bool has_clicks; /* each link has its clicks of a range */
	enum bots_mode bots;
	int64_t from, to; /* the range (seconds); -1: not given */
	size_t limit;
	/* The place where the page begins.  `until_day` and `until_slot` are 0
	 * on a first page, and set after parsing. */
	struct links_place at;
	struct links_range range; /* set after parsing */
	/* Set after parsing: the spaces, and the time (ms, ClickHouse's) at
	 * which links have ended or not. */
	const struct links_config *spaces;
	int64_t now;
};

/* States that a link has by what became of it, beside those that it was given
 * (LinkState). */
#define LINKS_STATE_EXPIRED   "expired"
#define LINKS_STATE_RECLAIMED "reclaimed"

/*
 * Reads a query string.  A parameter that is unknown, repeated or invalid, and
 * a cursor of another question, is ERROR_INPUT; the text names it.  Release
 * also after a failure.
 */
int links_query_parse(struct links_query *q, struct http_slice query,
		      const struct aggregator_settings *settings,
		      struct error *err);
void links_query_release(struct links_query *q);

/* Returns whether the question is about some links only: by a filter, by a time
 * of creation, or by the caller's bounds. */
bool links_query_filters(const struct links_query *q);

/* Returns whether the question is about links of some owners and has no
 * condition that the projection by_owner_and_creation lacks.  Those conditions
 * have indexes, which may find fewer rows than the owners have. */
bool links_query_is_by_owner(const struct links_query *q);

/* Returns whether clicks are only those that the caller had: then single ones
 * are counted in rows, since hours do not know whose they are. */
bool links_query_is_bounded(const struct links_query *q);

/* Returns the first place of a part; both ends are 0. */
struct links_place links_place_first(enum links_part part, bool ascending);

/* Returns the first part of the list, in its order. */
enum links_part links_query_first_part(const struct links_query *q);
/* Returns false if no part follows. */
bool links_query_next_part(const struct links_query *q, enum links_part part,
			   enum links_part *ret);

/* A cursor (see cursor.h) names a place; its digest covers all parameters but
 * `limit` and `total`. */
void links_cursor_put(struct buf *out, const struct links_query *q,
		      const struct links_place *place);
int links_cursor_parse(const struct links_query *q, const char *text,
		       struct links_place *ret, struct error *err);

#endif

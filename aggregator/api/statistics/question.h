/*
 * question.h - the question of a request, read from its query string.
 */
#ifndef AGGREGATOR_API_STATISTICS_QUESTION_H
#define AGGREGATOR_API_STATISTICS_QUESTION_H

#include <stdbool.h>
#include <stdint.h>

#include "aggregator/aggregator_config.h"
#include "aggregator/api/parameters.h"
#include "aggregator/api/statistics/filter.h"
#include "aggregator/api/statistics/period.h"
#include "aggregator/dimension.h"
#include "aggregator/zone/buckets.h"
#include "aggregator/zone/zone.h"
#include "common/error.h"
#include "common/http/http_server.h"

#define GROUPS_BY_MAX  2
#define BREAKDOWNS_MAX 12

struct question {
	char code[CODE_MAX + 1]; /* "": no code was given */
	uint64_t link_id;	 /* 0: no link_id was given */
	int64_t from, to;	 /* seconds since 1970, UTC; half-open */
	bool has_from, has_to;	 /* were given */
	/* PERIOD_ALL begins where counts do: see question_begin. */
	enum period period;
	bool has_interval; /* was given */
	enum comparison compare;
	bool compare_groups; /* the groups of the compared range, too */
	enum bucket_interval interval;
	bool whole; /* interval=total: the range is one bucket */
	/* Another part of the question has the visitors of the total. */
	bool apart;
	struct zone *zone;
	const struct dimension *group_by[GROUPS_BY_MAX];
	size_t group_by_count;
	/* Dimensions that are counted each by itself.  NULL: another part of
	 * the question has that one. */
	const struct dimension *breakdowns[BREAKDOWNS_MAX];
	size_t breakdown_count;
	enum bots_mode bots;
	bool by_growth;	  /* sort=growth */
	bool marked;	  /* see clicks_sql_put_once */
	int64_t earliest; /* start of the search, see repeats_earliest */
	struct filters filters;
	bool csv;
	size_t limit;
};

/* Returns the dimensions that are counted each by itself: those of
 * `breakdowns`, of which some may be NULL, or the only one of `group_by`. */
const struct dimension *const *question_singles(const struct question *q,
						size_t *ret_count);

/* Returns whether it has groups, of any kind. */
bool question_has_groups(const struct question *q);

/* Returns whether it groups by a dimension, alone, that hours do not have. */
bool question_groups_daily(const struct question *q);

/* Returns whether it groups by a dimension of which a click may have several
 * values.  Groups then exceed the total. */
bool question_groups_many(const struct question *q);

/* Returns whether one of its dimensions has digests of URLs as values. */
bool question_groups_urls(const struct question *q);

/* The parameters that a route knows, as bits. */
#define ASK_LINK     (1U << 0) /* code, link_id */
#define ASK_RANGE    (1U << 1) /* from, to, tz */
#define ASK_INTERVAL (1U << 2)
#define ASK_GROUP    (1U << 3) /* group_by, limit */
#define ASK_BOTS     (1U << 4)
#define ASK_FORMAT   (1U << 5)
#define ASK_LIMIT    (1U << 6)
#define ASK_LIVE     (1U << 7) /* account, owner, domain, country, verdict */
#define ASK_FILTER   (1U << 8) /* every dimension that has a filter */
#define ASK_SORT     (1U << 9)
/* Links created: interval=total, one group_by, and filters, of other dimensions
 * (creation_dimension_find). */
#define ASK_CREATIONS (1U << 10)
#define ASK_PAGE      (1U << 11) /* breakdowns, compare */
#define ASK_PERIOD    (1U << 12)

/*
 * Reads a query string.  A parameter that the route does not know, or that is
 * repeated or invalid, is ERROR_INPUT, and the text names it.  `now` returns
 * the time, in ms since 1970, at which the default range ends: it is called if
 * no end is given.  Release also after a failure.
 */
typedef int question_now(void *arg, int64_t *ret_ms, struct error *err);
int question_parse(struct question *q, struct http_slice query, unsigned known,
		   const struct aggregator_settings *settings,
		   question_now *now, void *arg, struct error *err);
void question_release(struct question *q);

/*
 * For routes that answer by whole hours or days of UTC: `unit` is 3600 or 86400
 * (seconds).  The default end is that of the present unit; the default start is
 * `units` before the end.  A time that is no start of a unit is ERROR_INPUT,
 * which names the parameter.
 */
int question_take_whole(struct question *q, int64_t unit, int64_t units,
			struct error *err);

/* Sets the beginning of a range, from which the settings follow, and the
 * interval if none was given. */
void question_begin(struct question *q,
		    const struct aggregator_settings *settings, int64_t from);

#endif

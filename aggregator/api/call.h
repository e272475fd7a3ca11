/*
 * call.h - one request of the API while a worker answers it.
 *
 * A route fills in the answer.  It runs on a worker thread, with that worker's
 * own connection to ClickHouse.
 */
#ifndef AGGREGATOR_API_CALL_H
#define AGGREGATOR_API_CALL_H

#include <jansson.h>

#include "aggregator/aggregator_config.h"
#include "aggregator/api/access.h"
#include "aggregator/api/freshness.h"
#include "aggregator/api/links/link_finder.h"
#include "aggregator/api/published_days.h"
#include "common/buf.h"
#include "common/clickhouse/clickhouse.h"
#include "common/clock.h"
#include "common/error.h"
#include "common/field_mistakes.h"
#include "common/http/http_server.h"
#include "common/log.h"
#include "linkstore/domains.h"

/* The precision of the counts of a CSV, for its headers. */
struct csv_quality {
	char unique_error[16]; /* "": it has no visitors */
	bool lower_bound;
};

/* How far an answer is complete, for its headers: the ETag does not cover it.
 */
struct completeness {
	char until[RFC3339_TEXT_MAX];	/* "": not known, or not said */
	const char *complete, *waiting; /* "true", "false"; NULL: not said */
};

/* The facts that completeness depends on, of an answer that polls may repeat.
 */
struct polled {
	bool may_be;	  /* the answer may be remembered (polls.h) */
	bool of_rows;	  /* it has rows that are not settled yet */
	int64_t from, to; /* what waits there is waited for; seconds */
	int64_t until;	  /* the end of the range; seconds */
	size_t len;	  /* bytes of the answer, not encoded */
};

struct answer_cache;

struct call {
	const struct aggregator_config *config;
	struct freshness *freshness;
	const struct access *access; /* the caller's */
	struct clickhouse *ch;
	struct answer_cache *answers; /* cache of settled counts */
	int64_t deadline;	      /* clock_monotonic_ms */
	struct redis_links *redis;    /* NULL: no spaces are configured */
	struct log *log;
	/* NULL: those in Redis were not found yet. */
	const struct domains *domains;
	struct http_slice query; /* the URL's query string */
	struct http_slice sent;	 /* the request's body */
	char code[128];		 /* from the path; "" if the route has none */
	bool marked;		 /* see clicks_sql_put_once */

	/* The answer. */
	int status; /* 0: it is 200; others have no ETag, and are not kept */
	struct field_mistakes mistakes; /* in the body of a refused request */
	struct buf body;
	char etag[40];
	bool csv;
	struct csv_quality quality;
	struct completeness completeness;
	struct polled polled;
};

/* Returns -1 with ERROR_INPUT (400), ERROR_NOT_OWNER (403), ERROR_NOTFOUND
 * (404), a retriable error (503) or any other error (500). */
typedef int route_fn(struct call *call, struct error *err);

/* Each route is defined in the source file of its name: clicks.c, top.c, ... */
route_fn route_clicks;		 /* GET /v1/clicks */
route_fn route_creations;	 /* GET /v1/creations */
route_fn route_top;		 /* GET /v1/top */
route_fn route_summary;		 /* GET /v1/summary, /v1/links/{code}/summary */
route_fn route_visit_statistics; /* GET /v1/visit-statistics */
route_fn route_pipeline;	 /* GET /v1/pipeline */
route_fn route_reconciliation;	 /* GET /v1/reconciliation */
route_fn route_links;		 /* GET /v1/links */
route_fn route_values;		 /* GET /v1/values */
route_fn route_history;		 /* GET /v1/links/{code}/history */
route_fn route_reclaim_runs;	 /* GET /v1/reclaim-runs */
route_fn route_spaces;	  /* GET /v1/archived-spaces, in reclaim_runs.c */
route_fn route_shares;	  /* GET /v1/shares */
route_fn route_share;	  /* POST /v1/shares, in shares.c */
route_fn route_end_share; /* DELETE /v1/shares/{id}, in shares.c */

/* Returns a finder of links that is limited to what the caller may see. */
struct link_finder call_finder(const struct call *call);

/* Returns the time up to which a link's rows are complete, in ms since 1970, 0
 * for unknown: what was settled, or what collectors have reported since.  Call
 * it before the rows are read. */
int call_complete_until(struct call *call, int64_t *ret_ms, struct error *err);

/* Returns how far counts are settled.  Call it before the counts are read. */
int call_published(struct call *call, struct progress *ret, struct error *err);

/* Reads what links' days are compared with.  Call it before they are read. */
int call_days_reading(struct call *call, struct days_reading *ret,
		      struct error *err);

/* For answers that come from rows only: ERROR_INPUT, which names the first day
 * kept, if rows of `clicks` at `from` (seconds) or later were dropped. */
int call_check_rows(struct call *call, int64_t from, struct error *err);

/* The same check of settled counts, for answers that come from them. */
int call_check_counts(struct call *call, int64_t from, struct error *err);

/* Returns the start of the settled counts that are kept, in seconds since 1970,
 * or 0 if none were dropped. */
int call_counts_from(struct call *call, int64_t *ret, struct error *err);

/* Returns the start of the first settled hour, in seconds since 1970; 0: there
 * is none. */
int call_first_counted(struct call *call, int64_t *ret, struct error *err);

/* Returns whether the last query failed because it would have read more rows
 * than its max_rows_to_read. */
bool call_exceeded_rows(const struct call *call);

/* For the error of a query: if it took too much memory, the caller sees `text`,
 * which says what takes less. */
void call_explain_memory(struct call *call, const char *text,
			 struct error *err);

/* The clock for question_parse: ClickHouse's.  This host's clock may be slow,
 * and the answer would end before the time up to which it claims to be
 * complete.  `arg` is a call. */
int call_now(void *arg, int64_t *ret_ms, struct error *err);

/*
 * Ends an answer: adds the member "revision", a digest of all others, which is
 * also the ETag.  It does not cover `complete_until`, and `complete` and
 * `waiting` beside it: these become headers, and so an answer whose counts stay
 * the same is a 304 while the watermark goes on.  Takes the reference to
 * `object`, which may be NULL (out of memory).
 */
int call_finish_json(struct call *call, json_t *object, struct error *err);

/* Sets the headers that say what the members `unique_error`, `approximate` and
 * `lower_bound` say in JSON.  For CSV, before call_finish_csv. */
void call_set_quality(struct call *call, double unique_error, bool lower_bound);

/* Sets the headers that call_finish_json takes from the members; for CSV.
 * `to`: the end of the range, in seconds. */
void call_set_completeness(struct call *call, int64_t until_ms, int64_t to,
			   bool complete, bool waiting);

/* Ends an answer whose body is written: sets the ETag, which covers those
 * headers, too. */
int call_finish_csv(struct call *call, struct error *err);

/* A time in RFC 3339 with milliseconds; null for 0. */
json_t *json_time(int64_t real_ms);

/* The member complete_until of an answer: at most the end of the requested
 * range, `to` (seconds), so that the answer for a past range does not change.
 */
json_t *json_complete_until(int64_t real_ms, int64_t to);

/* A number below 2^53. */
json_t *json_count(uint64_t n);

/* A 64-bit number as a string, because JavaScript cannot hold it. */
json_t *json_id(uint64_t id);

#endif

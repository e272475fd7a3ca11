/*
 * call.h - one request of the API while a worker answers it.
 *
 * A route fills the answer; it runs on a worker thread, with that worker's own
 * connection to ClickHouse.
 */
#ifndef AGGREGATOR_API_CALL_H
#define AGGREGATOR_API_CALL_H

#include <jansson.h>

#include "aggregator/aggregator_config.h"
#include "aggregator/api/access.h"
#include "aggregator/api/freshness.h"
#include "aggregator/api/link_finder.h"
#include "common/buf.h"
#include "common/clickhouse/clickhouse.h"
#include "common/error.h"
#include "common/http/http_server.h"

/* How good the counts of a CSV are, for its headers. */
struct csv_quality {
	char unique_error[16]; /* "": it has no visitors */
	bool lower_bound;
};

struct answer_cache;

struct call {
	const struct aggregator_config *config;
	struct freshness *freshness;
	const struct access *access; /* what the caller may see */
	struct clickhouse *ch;
	struct answer_cache *answers; /* of settled counts */
	int64_t deadline;	      /* of clock_monotonic_ms */
	struct redis_links *redis;    /* NULL: no spaces are configured */
	struct http_slice query;      /* of the URL */
	char code[128]; /* from the path; "" when the route has none */
	bool marked;	/* see clicks_sql_put_once */

	/* The answer, which is a 200. */
	struct buf body;
	char etag[40];
	bool csv;
	struct csv_quality quality;
};

/* Returns -1 with ERROR_INPUT (400), ERROR_NOT_OWNER (403), ERROR_NOTFOUND
 * (404), one that is retriable (503) or another (500). */
typedef int route_fn(struct call *call, struct error *err);

/* Each is defined in the source of its name: clicks.c, top.c, ... */
route_fn route_clicks;		 /* GET /v1/clicks */
route_fn route_top;		 /* GET /v1/top */
route_fn route_summary;		 /* GET /v1/summary, /v1/links/{code}/summary */
route_fn route_visit_statistics; /* GET /v1/visit-statistics */
route_fn route_pipeline;	 /* GET /v1/pipeline */
route_fn route_reconciliation;	 /* GET /v1/reconciliation */
route_fn route_links;		 /* GET /v1/links */
route_fn route_reclaim_runs;	 /* GET /v1/reclaim-runs */
route_fn route_spaces;		 /* GET /v1/spaces, in reclaim_runs.c */

/* The link that the caller asks about, by what it may see. */
struct link_finder call_finder(const struct call *call);

/* Up to when a link's rows are complete, in ms since 1970, 0 for unknown: what
 * was settled, or what collectors have reported since.  Ask before the rows. */
int call_complete_until(struct call *call, int64_t *ret_ms, struct error *err);

/* How far settled counts have come.  Ask before them. */
int call_published(struct call *call, struct progress *ret, struct error *err);

/* ERROR_INPUT, which names the first day kept, when rows of `clicks` are
 * dropped that were there at `from` (seconds) or later: for what is answered
 * from rows only. */
int call_check_rows(struct call *call, int64_t from, struct error *err);

/* The same of settled counts, for what is answered from them. */
int call_check_counts(struct call *call, int64_t from, struct error *err);

/* Where settled counts begin that were not dropped, seconds since 1970; 0: none
 * were. */
int call_counts_from(struct call *call, int64_t *ret, struct error *err);

/* For question_parse: ClickHouse's clock.  This host's may be slow: the answer
 * would end before the time until which it claims to be complete.  `arg` is a
 * call. */
int call_now(void *arg, int64_t *ret_ms, struct error *err);

/*
 * Ends an answer: a member "revision" over all the others, which is also its
 * ETag.  Takes the reference to `object`, which may be NULL (out of memory).
 */
int call_finish_json(struct call *call, json_t *object, struct error *err);

/* Says by headers what JSON says by members: `unique_error`, `approximate` and
 * `lower_bound`.  For CSV, before it is ended. */
void call_set_quality(struct call *call, double unique_error, bool lower_bound);

/* Ends an answer whose body is written: adds the ETag, which is of those
 * headers, too. */
int call_finish_csv(struct call *call, struct error *err);

/* RFC 3339 in milliseconds, or null for 0. */
json_t *json_time(int64_t real_ms);

/* An answer's member complete_until: at most the end of the range that was
 * asked for, `to` (seconds), so that the answer for a range that is over stays
 * what it is. */
json_t *json_complete_until(int64_t real_ms, int64_t to);

/* A 64-bit number as a string, as JavaScript cannot hold it. */
json_t *json_id(uint64_t id);

#endif

#include "aggregator/api/export/export_reader.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aggregator/api/api_keys.h"
#include "aggregator/api/export/export_links.h"
#include "aggregator/settle/repeats.h"
#include "common/clock.h"

/* An answer is complete at this size, or after this time. */
#define ANSWER_BYTES 32768
#define ANSWER_MS    500

void export_reader_release(struct export_reader *r)
{
	export_scan_release(&r->scan);
	free(r->query);
}

/* The range has all of its rows.  But both rows of an event that was sent twice
 * may count as clicks until its hour is settled, which is soon: see repeats.h.
 */
static int check_repeats(const struct export_range *range, struct call *call,
			 struct error *err)
{
	static const char text[] =
#include "aggregator/sql/export_repeats.sql.inc"
		;
	static const char scope[] =
#include "aggregator/sql/parts/exported_rows.sql.inc"
		;
	char from[24], to[24], earliest[24];
	const struct clickhouse_param params[] = {{"param_from", from},
						  {"param_to", to},
						  {"param_earliest", earliest},
						  {NULL, NULL}};
	struct buf sql = {0};
	uint64_t found = 0;
	int status;

	snprintf(from, sizeof(from), "%" PRId64, range->from_ms);
	snprintf(to, sizeof(to), "%" PRId64, range->to_ms);
	snprintf(earliest, sizeof(earliest), "%" PRId64,
		 repeats_earliest(&call->config->aggregator.clicks,
				  range->from_ms / CLOCK_SECOND));
	repeats_put_search(&sql, text, scope, "{earliest:UInt32}");
	status = buf_cstr(&sql) ? clickhouse_numbers(call->ch, sql.data, params,
						     &found, 1, err)
				: error_set_nomem(err);
	buf_free(&sql);
	if (status < 0)
		return -1;
	return found ? error_set_retriable(err, ERROR_REMOTE,
					   "events that were sent twice are "
					   "not yet recognised; try again when "
					   "their hours are settled")
		     : 0;
}

/* Finds the range: the cursor's, which the first export of the series fixed, or
 * one that ends where counts are complete now. */
static int find_range(struct export_reader *r, struct call *call,
		      struct error *err)
{
	const struct export_question *q = &r->question;
	struct export_range *range = &r->scan.range;
	int64_t complete;

	if (q->has_cursor) {
		*range = q->cursor.range;
		return 0;
	}
	if (call_complete_until(call, &complete, err) < 0)
		return -1;
	if (!complete)
		return error_set_retriable(err, ERROR_REMOTE,
					   "collectors' reports do not say yet "
					   "up to when clicks are complete");
	range->to_ms =
		q->to_ms >= 0 && q->to_ms < complete ? q->to_ms : complete;
	range->from_ms = q->from_ms >= 0	    ? q->from_ms
			 : range->to_ms > CLOCK_DAY ? range->to_ms - CLOCK_DAY
						    : 0;
	if (range->to_ms < range->from_ms)
		range->to_ms = range->from_ms;
	range->append_before_ms =
		complete + call->config->aggregator.clicks.edge_delay;
	return check_repeats(range, call, err);
}

/* A code may belong to another link by now, which makes another export. */
static int find_link(struct export_reader *r, struct call *call,
		     struct error *err)
{
	const struct export_question *q = &r->question;
	struct link_finder finder = call_finder(call);
	struct archived_link link = {0};
	uint64_t before = r->scan.range.link_id;
	int status = link_find(&finder, q->code, q->link_id, &link, err);

	archived_link_release(&link);
	if (status < 0)
		return -1;
	if (q->has_cursor && link.link_id != before)
		return error_set_field(err, "cursor",
				       "the code %s has another link by now",
				       q->code);
	r->scan.links.ids = malloc(sizeof(*r->scan.links.ids));
	if (!r->scan.links.ids)
		return error_set_nomem(err);
	r->scan.links.ids[0] = r->scan.range.link_id = link.link_id;
	r->scan.links.count = 1;
	return 0;
}

static int find_links(struct export_reader *r, struct call *call,
		      struct error *err)
{
	const struct export_question *q = &r->question;

	if (*q->code || q->link_id)
		return find_link(r, call, err);
	if (q->has_owner &&
	    access_check_owner(call->access, q->has_account, "owner", err) < 0)
		return -1;
	if (!q->has_account && access_sees_all(call->access)) {
		r->scan.all_links = true;
		return 0;
	}
	return export_links_read(
		&r->scan.links, call->ch, call->access,
		q->has_account ? q->account : NULL,
		q->has_owner ? q->owner : NULL,
		(size_t)call->config->aggregator.export_links_max, err);
}

/* Checks whether the key may tell visitors apart, if the question does. */
static int check_rights(const struct export_reader *r, struct error *err)
{
	const struct export_question *q = &r->question;

	if (*q->visitor &&
	    access_check_visitors(&r->access, "visitor", err) < 0)
		return -1;
	return q->also ? access_check_visitors(&r->access, "also", err) : 0;
}

static int prepare_export(struct export_reader *r, struct call *call,
			  struct error *err)
{
	struct export_question *q = &r->question;

	r->scan.access = &r->access;
	r->scan.url = q->url;
	r->scan.visitor = q->visitor;
	if (export_question_parse(
		    q, (struct http_slice){r->query, strlen(r->query)},
		    r->likes, err) < 0 ||
	    check_rights(r, err) < 0)
		return -1;
	r->scan.also = q->also;
	if (find_range(r, call, err) < 0 || find_links(r, call, err) < 0)
		return -1;
	export_scan_start(&r->scan, q->has_cursor ? &q->cursor.after : NULL);
	r->prepared = true;
	return 0;
}

/* The keys may have been reloaded since the export began. */
static int check_access(struct export_reader *r, struct error *err)
{
	struct api_key_info *who = &r->access.who, before = *who;

	if (!r->access.keys ||
	    (api_keyring_still_may(r->access.keys, who, API_READ) &&
	     key_reads_alike(who, &before)))
		return 0;
	return error_set(err, ERROR_NOT_OWNER,
			 "what this key sees was changed meanwhile");
}

static bool is_full(const struct export_reader *r)
{
	return r->question.limit && r->total == r->question.limit;
}

static size_t rows_wanted(const struct export_reader *r, size_t max)
{
	uint64_t limit = r->question.limit;

	return limit && limit - r->total < max ? (size_t)(limit - r->total)
					       : max;
}

/* The next day may have been dropped since the export began. */
static int read_answer_rows(struct export_reader *r, struct call *call,
			    size_t max, struct export_answer *answer,
			    struct error *err)
{
	size_t rows;

	if (call_check_rows(call, r->scan.day / CLOCK_SECOND, err) < 0 ||
	    export_scan_next(&r->scan, call->ch, rows_wanted(r, max),
			     &answer->rows, &rows, err) < 0)
		return -1;
	answer->count += rows;
	r->total += rows;
	return 0;
}

static bool is_done(const struct export_reader *r)
{
	return r->head || export_scan_is_done(&r->scan);
}

/* CSV has its cursors in its rows: without a row it would look like the end of
 * the export. */
static int end_early(const struct export_reader *r,
		     struct export_answer *answer, struct error *err)
{
	if (r->question.format == EXPORT_CSV && !r->total)
		return error_set_retriable(
			err, ERROR_REMOTE,
			"the aggregator was stopped before the first row");
	answer->end = EXPORT_ENDED_EARLY;
	answer->place = export_scan_place(&r->scan);
	return 0;
}

int export_reader_next(struct export_reader *r, struct call *call, size_t max,
		       struct export_answer *answer, struct error *err)
{
	int64_t start = clock_monotonic_ms();

	call->access = &r->access;
	if (check_access(r, err) < 0 ||
	    (!r->prepared && prepare_export(r, call, err) < 0))
		return -1;
	while (!is_done(r) && !is_full(r) && !atomic_load(&r->stop) &&
	       answer->rows.len < ANSWER_BYTES &&
	       clock_monotonic_ms() - start < ANSWER_MS) {
		if (read_answer_rows(r, call, max, answer, err) < 0)
			return -1;
	}
	answer->total = r->total;
	answer->end = is_done(r) ? EXPORT_COMPLETE : EXPORT_GOES_ON;
	return answer->end == EXPORT_GOES_ON &&
			       (is_full(r) || atomic_load(&r->stop))
		       ? end_early(r, answer, err)
		       : 0;
}

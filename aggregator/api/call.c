#include "aggregator/api/call.h"

#include <inttypes.h>
#include <openssl/evp.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aggregator/progress.h"
#include "aggregator/settle/settling.h"
#include "common/clickhouse/rows.h"
#include "common/clock.h"

#define REVISION_BYTES 8

/* Errors of ClickHouse. */
#define TOO_MANY_ROWS	      158
#define MEMORY_LIMIT_EXCEEDED 241
/* 0.0081 is no exact double, and 17 digits would show that. */
#define JSON_FORMAT (JSON_COMPACT | JSON_REAL_PRECISION(6))

static void digest_of(const void *data, size_t len, char hex[40])
{
	unsigned char digest[EVP_MAX_MD_SIZE] = {0};

	EVP_Digest(data, len, digest, NULL, EVP_sha256(), NULL);
	sodium_bin2hex(hex, 40, digest, REVISION_BYTES);
}

static void set_etag(struct call *call, const char *revision)
{
	snprintf(call->etag, sizeof(call->etag), "\"%.32s\"", revision);
}

static const char *bool_text(bool value)
{
	return value ? "true" : "false";
}

static const char *member_text(json_t *object, const char *name)
{
	json_t *member = json_object_get(object, name);

	return json_is_boolean(member) ? bool_text(json_is_true(member)) : NULL;
}

/* Takes the headers from the members. */
static void note_completeness(struct call *call, json_t *object)
{
	struct completeness *c = &call->completeness;
	const char *until =
		json_string_value(json_object_get(object, "complete_until"));

	snprintf(c->until, sizeof(c->until), "%s", until ? until : "");
	c->complete = member_text(object, "complete");
	c->waiting = member_text(object, "waiting");
}

void call_set_completeness(struct call *call, int64_t until_ms, int64_t to,
			   bool complete, bool waiting)
{
	struct completeness *c = &call->completeness;
	int64_t end = to * CLOCK_SECOND;

	*c->until = '\0';
	if (until_ms)
		rfc3339_format(until_ms < end ? until_ms : end, c->until);
	c->complete = bool_text(complete);
	c->waiting = bool_text(waiting);
}

/* A member of the same name that has counts stays. */
static void leave_out_bool(json_t *counts, const char *name)
{
	if (json_is_boolean(json_object_get(counts, name)))
		json_object_del(counts, name);
}

/* Returns the text that the revision covers; NULL when out of memory. */
static char *dump_counts(struct call *call, json_t *object)
{
	json_t *counts;
	char *text;

	if (!json_object_get(object, "complete_until"))
		return json_dumps(object, JSON_FORMAT);
	note_completeness(call, object);
	counts = json_copy(object);
	json_object_del(counts, "complete_until");
	leave_out_bool(counts, "complete");
	leave_out_bool(counts, "waiting");
	text = counts ? json_dumps(counts, JSON_FORMAT) : NULL;
	json_decref(counts);
	return text;
}

static int write_json_body(struct call *call, json_t *object)
{
	char revision[40] = "";
	char *text = dump_counts(call, object);

	if (!text)
		return -1;
	digest_of(text, strlen(text), revision);
	free(text);
	if (json_object_set_new(object, "revision", json_string(revision)) < 0)
		return -1;
	text = json_dumps(object, JSON_FORMAT);
	if (!text)
		return -1;
	buf_puts(&call->body, text);
	buf_putc(&call->body, '\n');
	free(text);
	set_etag(call, revision);
	return call->body.failed ? -1 : 0;
}

int call_finish_json(struct call *call, json_t *object, struct error *err)
{
	int status = object ? write_json_body(call, object) : -1;

	json_decref(object);
	return status < 0 ? error_set_nomem(err) : 0;
}

void call_set_quality(struct call *call, double unique_error, bool lower_bound)
{
	struct csv_quality *q = &call->quality;

	snprintf(q->unique_error, sizeof(q->unique_error), "%.6g",
		 unique_error);
	q->lower_bound = lower_bound;
}

int call_finish_csv(struct call *call, struct error *err)
{
	char revision[40] = "", both[64];
	int len;

	call->csv = true;
	if (call->body.failed)
		return error_set_nomem(err);
	digest_of(call->body.data, call->body.len, revision);
	len = snprintf(both, sizeof(both), "%s %s%s", revision,
		       call->quality.unique_error,
		       call->quality.lower_bound ? " lower" : "");
	digest_of(both, (size_t)len, revision);
	set_etag(call, revision);
	return 0;
}

struct link_finder call_finder(const struct call *call)
{
	return (struct link_finder){
		.ch = call->ch, .redis = call->redis, .access = call->access};
}

int call_complete_until(struct call *call, int64_t *ret_ms, struct error *err)
{
	struct progress last;
	struct fresh fresh;

	if (freshness_get(call->freshness, &fresh)) {
		*ret_ms =
			fresh_complete_until(&fresh, &call->config->aggregator);
		return 0;
	}
	if (progress_read_last(call->ch, &last, err) < 0)
		return -1;
	*ret_ms = last.complete_until;
	return 0;
}

int call_published(struct call *call, struct progress *ret, struct error *err)
{
	struct fresh fresh;

	if (!freshness_get(call->freshness, &fresh))
		return progress_read_last(call->ch, ret, err);
	*ret = fresh.published;
	return 0;
}

int call_days_reading(struct call *call, struct days_reading *ret,
		      struct error *err)
{
	ret->overlap_ms = call->config->aggregator.progress_overlap;
	if (call_published(call, &ret->last, err) < 0)
		return -1;
	return call_now(call, &ret->now, err);
}

/* Reads from when on rows and counts are kept; seconds. */
static int read_kept(struct call *call, int64_t *ret_rows, int64_t *ret_counts,
		     struct error *err)
{
	struct copied_days days;

	if (freshness_days(call->freshness, COPIED_LINKS, call->ch, 0, 0, &days,
			   err) < 0)
		return -1;
	*ret_rows = days.rows_from;
	*ret_counts = days.kept_from;
	copied_days_release(&days);
	return 0;
}

int call_counts_from(struct call *call, int64_t *ret, struct error *err)
{
	int64_t rows;

	return read_kept(call, &rows, ret, err);
}

int call_check_counts(struct call *call, int64_t from, struct error *err)
{
	char text[RFC3339_TEXT_MAX];
	int64_t counts;

	if (call_counts_from(call, &counts, err) < 0)
		return -1;
	if (from >= counts)
		return 0;
	return error_set_field(err, "from",
			       "counts are kept from %s on (setting "
			       "settled_days)",
			       rfc3339_format(counts * 1000, text));
}

int call_check_rows(struct call *call, int64_t from, struct error *err)
{
	char text[RFC3339_TEXT_MAX];
	int64_t first, counts;

	if (read_kept(call, &first, &counts, err) < 0)
		return -1;
	if (from >= first)
		return 0;
	return error_set_field(
		err, "from",
		"single clicks are kept from %s on (setting "
		"raw_days). Of older days there are counts of one "
		"link, and of all links by one settled dimension, "
		"without filters",
		rfc3339_format(first * 1000, text));
}

int call_first_counted(struct call *call, int64_t *ret, struct error *err)
{
	static const char sql[] =
#include "aggregator/sql/first_counted.sql.inc"
		;
	uint64_t first = 0;

	if (clickhouse_numbers(call->ch, sql, NULL, &first, 1, err) < 0)
		return -1;
	*ret = (int64_t)first;
	return 0;
}

bool call_exceeded_rows(const struct call *call)
{
	return clickhouse_last_code(call->ch) == TOO_MANY_ROWS;
}

void call_explain_memory(struct call *call, const char *text, struct error *err)
{
	if (clickhouse_last_code(call->ch) == MEMORY_LIMIT_EXCEEDED)
		error_keep_inside(err, text);
}

int call_now(void *arg, int64_t *ret_ms, struct error *err)
{
	const struct call *call = arg;
	struct server_clock clock;
	struct fresh fresh;

	if (freshness_get(call->freshness, &fresh)) {
		*ret_ms = fresh_now(&fresh);
		return 0;
	}
	if (settling_read_clock(call->ch, &clock, err) < 0)
		return -1;
	*ret_ms = clock.server_ms;
	return 0;
}

json_t *json_time(int64_t real_ms)
{
	char text[RFC3339_TEXT_MAX];

	return real_ms ? json_string(rfc3339_format(real_ms, text))
		       : json_null();
}

json_t *json_complete_until(int64_t real_ms, int64_t to)
{
	return json_time(real_ms < to * 1000 ? real_ms : to * 1000);
}

json_t *json_count(uint64_t n)
{
	return json_integer((json_int_t)n);
}

json_t *json_id(uint64_t id)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, id);
	return json_string(text);
}

#include "aggregator/api/export/export_question.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "aggregator/api/cursor.h"
#include "aggregator/api/parameters.h"
#include "aggregator/api/statistics/filter.h"
#include "common/clock.h"
#include "common/http/url.h"
#include "common/http/weighted.h"
#include "common/unseen.h"

#define TIME_MAX_MS (DATETIME_MAX * CLOCK_SECOND)

static const char *const names[] = {
	"code", "link_id", "account", "owner", "url",	 "visitor",
	"also", "from",	   "to",      "limit", "format", "cursor",
};
#define NAME_COUNT (sizeof(names) / sizeof(*names))

const char *const export_also_names[EXPORT_ALSO_COUNT] = {
	[EXPORT_COOKIES] = "cookies",
	[EXPORT_TRACE_ID] = "trace_id",
};

/* --- cursors -----------------------------------------------------------------
 *
 * The place is the members in this order, and the topic, whose length is what
 * is left.
 */

#define FIXED_BYTES (7 * 8 + 2 * 4)
_Static_assert(FIXED_BYTES + EXPORT_TOPIC_MAX <= CURSOR_PLACE_MAX, "they fit");

static size_t put_place(const struct export_cursor *c,
			unsigned char out[CURSOR_PLACE_MAX])
{
	size_t topic = strlen(c->after.topic);
	unsigned char *at = out;

	at = cursor_put_number(at, (uint64_t)c->range.from_ms, 8);
	at = cursor_put_number(at, (uint64_t)c->range.to_ms, 8);
	at = cursor_put_number(at, (uint64_t)c->range.append_before_ms, 8);
	at = cursor_put_number(at, c->range.link_id, 8);
	at = cursor_put_number(at, (uint64_t)c->after.ts_ms, 8);
	at = cursor_put_number(at, c->after.link_id, 8);
	at = cursor_put_number(at, c->after.offset, 8);
	at = cursor_put_number(at, c->after.partition, 4);
	at = cursor_put_number(at, c->after.epoch, 4);
	memcpy(at, c->after.topic, topic);
	return FIXED_BYTES + topic;
}

static void take_place(const unsigned char *in, size_t len,
		       struct export_cursor *ret)
{
	memset(ret, 0, sizeof(*ret));
	ret->range.from_ms = (int64_t)cursor_take_number(&in, 8);
	ret->range.to_ms = (int64_t)cursor_take_number(&in, 8);
	ret->range.append_before_ms = (int64_t)cursor_take_number(&in, 8);
	ret->range.link_id = cursor_take_number(&in, 8);
	ret->after.ts_ms = (int64_t)cursor_take_number(&in, 8);
	ret->after.link_id = cursor_take_number(&in, 8);
	ret->after.offset = cursor_take_number(&in, 8);
	ret->after.partition = (uint32_t)cursor_take_number(&in, 4);
	ret->after.epoch = (uint32_t)cursor_take_number(&in, 4);
	memcpy(ret->after.topic, in, len - FIXED_BYTES);
}

/* Writes the question, each text with its length, so that no two questions are
 * the same bytes. */
static void put_question(struct buf *out, const struct export_question *q)
{
	buf_printf(out,
		   "export 1 %zu:%s %" PRIu64
		   " %d:%zu:%s %d:%zu:%s %s %s %u %" PRId64 " %" PRId64,
		   strlen(q->code), q->code, q->link_id, q->has_account,
		   strlen(q->account), q->account, q->has_owner,
		   strlen(q->owner), q->owner, q->url, q->visitor, q->also,
		   q->from_ms, q->to_ms);
}

void export_cursor_put(struct buf *out, const struct export_question *q,
		       const struct export_cursor *cursor)
{
	unsigned char place[CURSOR_PLACE_MAX];
	struct buf question = {0};

	put_question(&question, q);
	cursor_put(out, &question, place, put_place(cursor, place));
	buf_free(&question);
}

/* A matching digest may be forged: the place is checked all the same. */
static bool makes_sense(const struct export_question *q,
			const struct export_cursor *c)
{
	const struct export_range *r = &c->range;

	return r->from_ms >= 0 && r->from_ms <= c->after.ts_ms &&
	       c->after.ts_ms < r->to_ms && r->to_ms <= TIME_MAX_MS &&
	       r->append_before_ms >= 0 && r->append_before_ms <= TIME_MAX_MS &&
	       (q->from_ms < 0 || r->from_ms == q->from_ms) &&
	       (q->to_ms < 0 || r->to_ms <= q->to_ms) &&
	       (!q->link_id || r->link_id == q->link_id) &&
	       (!r->link_id || r->link_id == c->after.link_id) &&
	       !r->link_id == (!*q->code && !q->link_id);
}

int export_cursor_parse(const struct export_question *q, const char *text,
			struct export_cursor *ret, struct error *err)
{
	unsigned char place[CURSOR_PLACE_MAX];
	struct export_cursor cursor = {0};
	struct buf question = {0};
	size_t len = 0;
	int status;

	put_question(&question, q);
	status = cursor_parse(text, &question, place, &len, err);
	buf_free(&question);
	if (status < 0)
		return -1;
	if (len >= FIXED_BYTES && len <= FIXED_BYTES + EXPORT_TOPIC_MAX &&
	    !memchr(place + FIXED_BYTES, '\0', len - FIXED_BYTES))
		take_place(place, len, &cursor);
	/* Zeroes never make sense. */
	if (!makes_sense(q, &cursor))
		return error_set_field(err, "cursor", "not one of an export");
	*ret = cursor;
	return 0;
}

/* --- Accept -----------------------------------------------------------------
 */

static const char *const types[EXPORT_FORMAT_COUNT] = {
	[EXPORT_NDJSON] = "application/x-ndjson",
	[EXPORT_CSV] = "text/csv",
};

static const char *const ranges[EXPORT_FORMAT_COUNT] = {
	[EXPORT_NDJSON] = "application/*",
	[EXPORT_CSV] = "text/*",
};

const struct export_accept export_accept_none = {
	.types = {EXPORT_UNSAID, EXPORT_UNSAID},
	.ranges = {EXPORT_UNSAID, EXPORT_UNSAID},
	.any = EXPORT_UNSAID,
};

static int16_t *weight_of(struct export_accept *accept, struct http_slice type)
{
	if (http_slice_is(type, "*/*"))
		return &accept->any;
	for (size_t i = 0; i < EXPORT_FORMAT_COUNT; i++) {
		if (http_slice_is_nocase(type, types[i]))
			return &accept->types[i];
		if (http_slice_is_nocase(type, ranges[i]))
			return &accept->ranges[i];
	}
	return NULL;
}

void export_accept_add(struct export_accept *accept, struct http_slice line)
{
	struct weighted element;
	int16_t *of;

	while (weighted_next(&line, &element)) {
		of = weight_of(accept, http_slice_cut(&element.value, ';'));
		if (of)
			*of = element.weight;
	}
}

/* The most specific element counts. */
static int weigh_format(const struct export_accept *accept,
			enum export_format format)
{
	if (accept->types[format] != EXPORT_UNSAID)
		return accept->types[format];
	if (accept->ranges[format] != EXPORT_UNSAID)
		return accept->ranges[format];
	return accept->any != EXPORT_UNSAID ? accept->any : 0;
}

enum export_format export_accept_choose(const struct export_accept *accept)
{
	int csv = weigh_format(accept, EXPORT_CSV);
	int ndjson = weigh_format(accept, EXPORT_NDJSON);
	bool named = accept->types[EXPORT_CSV] > 0;

	return csv > ndjson || (csv == ndjson && named) ? EXPORT_CSV
							: EXPORT_NDJSON;
}

/* --- parameters -------------------------------------------------------------
 */

static bool is_known(const char *key)
{
	for (size_t i = 0; i < NAME_COUNT; i++) {
		if (!strcmp(names[i], key))
			return true;
	}
	return false;
}

static int check_names(const struct url_params *params, struct error *err)
{
	for (size_t i = 0; i < params->count; i++) {
		const char *key = params->items[i].key;

		if (!is_known(key))
			return error_set_field(
				err, key,
				"no such parameter; known "
				"here: code, link_id, account, owner, url, "
				"visitor, also, from, to, limit, format, "
				"cursor");
		if (parameter_check_once(params, &params->items[i], err) < 0)
			return -1;
	}
	return 0;
}

static int read_number(const char *name, const char *text, uint64_t most,
		       uint64_t *ret, struct error *err)
{
	char *end;

	if (!text)
		return 0;
	errno = 0;
	*ret = strtoull(text, &end, 10);
	if (!isdigit((unsigned char)*text) || *end || errno || !*ret ||
	    *ret > most)
		return error_set_field(err, name,
				       "expected a number from 1 to %" PRIu64,
				       most);
	return 0;
}

/* Reads the name of an account or owner. */
static int read_name(const struct url_params *params, const char *name,
		     bool *ret_has, char ret[KEY_LISTED_NAME_MAX + 1],
		     struct error *err)
{
	const char *text = url_param_get(params, name);
	enum unseen kind = UNSEEN_NONE;
	size_t len = text ? strlen(text) : 0;

	*ret_has = text != NULL;
	if (!text)
		return 0;
	if (len <= KEY_LISTED_NAME_MAX)
		unseen_find(text, len, UNSEEN_INVALID | UNSEEN_CONTROL, &kind);
	if (len > KEY_LISTED_NAME_MAX || kind != UNSEEN_NONE)
		return error_set_field(err, name,
				       "expected at most %d bytes of UTF-8 "
				       "without control characters",
				       KEY_LISTED_NAME_MAX);
	strcpy(ret, text);
	return 0;
}

static int read_which(struct export_question *q,
		      const struct url_params *params, struct error *err)
{
	const char *code = url_param_get(params, "code");

	if (read_number("link_id", url_param_get(params, "link_id"), UINT64_MAX,
			&q->link_id, err) < 0 ||
	    read_name(params, "account", &q->has_account, q->account, err) <
		    0 ||
	    read_name(params, "owner", &q->has_owner, q->owner, err) < 0)
		return -1;
	if ((code != NULL) + (q->has_account || q->has_owner) +
		    (q->link_id != 0) >
	    1) {
		error_set(err, ERROR_INPUT,
			  "code, link_id, account or owner: give one of "
			  "them");
		return error_name_field(err, code ? "code" : "link_id");
	}
	if (code && !code_is_valid(code))
		return error_set_field(err, "code",
				       "expected 1 to %d letters, digits, '_' "
				       "or '-'",
				       CODE_MAX);
	if (code)
		strcpy(q->code, code);
	return 0;
}

static int read_url(struct export_question *q, const char *text,
		    struct error *err)
{
	size_t len = text ? strlen(text) : 0;
	struct buf digest = {0};
	int status = 0;

	if (!text)
		return 0;
	if (len > FILTER_URL_MAX ||
	    (!url_digest_is(text, len) && !memchr(text, ':', len)))
		return error_set_field(
			err, "url",
			"expected a URL of up to %d bytes, or "
			"the digest of one: 32 hexadecimal digits",
			FILTER_URL_MAX);
	if (url_digest_is(text, len))
		buf_puts(&digest, text);
	else
		url_digest_put(&digest, text, len);
	if (buf_cstr(&digest))
		memcpy(q->url, digest.data, sizeof(q->url));
	else
		status = error_set_nomem(err);
	buf_free(&digest);
	return status;
}

/* The identity of forgotten visitors is zeros, and of nobody. */
static int read_visitor(struct export_question *q, const char *text,
			struct error *err)
{
	if (!text)
		return 0;
	if (strlen(text) != EXPORT_VISITOR_TEXT - 1 ||
	    strspn(text, "0123456789abcdefABCDEF") != EXPORT_VISITOR_TEXT - 1 ||
	    strspn(text, "0") == EXPORT_VISITOR_TEXT - 1)
		return error_set_field(err, "visitor",
				       "expected %d hexadecimal digits, not "
				       "all of them 0",
				       EXPORT_VISITOR_TEXT - 1);
	for (size_t i = 0; i < EXPORT_VISITOR_TEXT; i++)
		q->visitor[i] = (char)tolower((unsigned char)text[i]);
	return 0;
}

static int find_also(const char *name, size_t len)
{
	for (int i = 0; i < EXPORT_ALSO_COUNT; i++)
		if (strlen(export_also_names[i]) == len &&
		    !memcmp(export_also_names[i], name, len))
			return i;
	return -1;
}

static int read_also(struct export_question *q, const char *text,
		     struct error *err)
{
	size_t len;
	int found;

	for (; text; text = text[len] ? text + len + 1 : NULL) {
		len = strcspn(text, ",");
		found = find_also(text, len);
		if (found < 0 || q->also & 1U << found)
			return error_set_field(err, "also",
					       "expected cookies, trace_id, or "
					       "both with a comma between");
		q->also |= 1U << found;
	}
	return 0;
}

static int read_times(struct export_question *q,
		      const struct url_params *params, struct error *err)
{
	if (parameter_read_time(params, "from", TIME_MAX_MS, 2106, &q->from_ms,
				err) < 0 ||
	    parameter_read_time(params, "to", TIME_MAX_MS, 2106, &q->to_ms,
				err) < 0)
		return -1;
	if (q->to_ms >= 0 && q->from_ms >= q->to_ms)
		return error_set_field(err, "from",
				       "expected a time before `to`");
	return 0;
}

static int read_format(struct export_question *q, const char *text,
		       struct error *err)
{
	if (!text)
		return 0;
	q->format = strcmp(text, "csv") == 0 ? EXPORT_CSV : EXPORT_NDJSON;
	if (q->format == EXPORT_NDJSON && strcmp(text, "ndjson") != 0)
		return error_set_field(err, "format", "expected ndjson or csv");
	return 0;
}

int export_question_parse(struct export_question *q, struct http_slice query,
			  enum export_format likes, struct error *err)
{
	struct url_params params = {0};
	const char *cursor;
	int status = -1;

	*q = (struct export_question){.format = likes};
	if (url_params_parse(&params, query, err) < 0 ||
	    check_names(&params, err) < 0 || read_which(q, &params, err) < 0 ||
	    read_url(q, url_param_get(&params, "url"), err) < 0 ||
	    read_visitor(q, url_param_get(&params, "visitor"), err) < 0 ||
	    read_also(q, url_param_get(&params, "also"), err) < 0 ||
	    read_times(q, &params, err) < 0 ||
	    read_number("limit", url_param_get(&params, "limit"),
			EXPORT_LIMIT_MAX, &q->limit, err) < 0 ||
	    read_format(q, url_param_get(&params, "format"), err) < 0)
		goto out;
	/* The cursor is read last: its digest covers all that makes up the
	 * export. */
	cursor = url_param_get(&params, "cursor");
	q->has_cursor = cursor != NULL;
	status = cursor ? export_cursor_parse(q, cursor, &q->cursor, err) : 0;
out:
	url_params_free(&params);
	return status;
}

#include "collector/enrich/live_event.h"

#include <inttypes.h>
#include <string.h>

#include "common/agent/verdict.h"
#include "common/clickhouse/rowbinary.h"
#include "common/clock.h"
#include "common/json_text.h"
#include "schemas/click.pb-c.h"

/* The columns of a row, in order. */
enum click_column {
#define COLUMN(name, type, left, write) COLUMN_##name,
#define RUN(name, type, left, write)	COLUMN_##name,
#define PLACE(name, type, left, write)	COLUMN_##name,
#define AGENT(name, type, left, write)	COLUMN_##name,
#include "schemas/click_columns.inc"
	COLUMN_COUNT
};

static const char *const types[] = {
#define COLUMN(name, type, left, write) type,
#define RUN(name, type, left, write)	type,
#define PLACE(name, type, left, write)	type,
#define AGENT(name, type, left, write)	type,
#include "schemas/click_columns.inc"
};

struct event_value {
	const char *data;
	size_t len;
};

/* --- row ------------------------------------------------------------------ */

static bool read_text(const char **at, const char *end, struct event_value *ret)
{
	uint64_t len;

	if (!rowbinary_read_count(at, end, &len) || len > (size_t)(end - *at))
		return false;
	*ret = (struct event_value){*at, (size_t)len};
	*at += len;
	return true;
}

/* An array has one text per element, a map two. */
static bool skip_texts(const char **at, const char *end, unsigned each)
{
	struct event_value skipped;
	uint64_t count;

	if (!rowbinary_read_count(at, end, &count))
		return false;
	for (uint64_t i = 0; i < count * each; i++)
		if (!read_text(at, end, &skipped))
			return false;
	return true;
}

static bool read_value(const char **at, const char *end, const char *type,
		       struct event_value *ret)
{
	size_t width = rowbinary_width(type);

	if (!width && type[0] == 'A')
		return skip_texts(at, end, 1);
	if (!width && type[0] == 'M')
		return skip_texts(at, end, 2);
	if (!width)
		return read_text(at, end, ret);
	if (width > (size_t)(end - *at))
		return false;
	*ret = (struct event_value){*at, width};
	*at += width;
	return true;
}

static bool read_row(const void *row, size_t len, struct event_value *values)
{
	const char *at = row, *end = at + len;

	for (int i = 0; i < COLUMN_COUNT; i++) {
		values[i] = (struct event_value){"", 0};
		if (!read_value(&at, end, types[i], &values[i]))
			return false;
	}
	return at == end;
}

static uint64_t number_of(struct event_value v)
{
	uint64_t number = 0;

	for (size_t i = 0; i < v.len; i++)
		number |= (uint64_t)(unsigned char)v.data[i] << (8 * i);
	return number;
}

/* --- object --------------------------------------------------------------- */

static void put_text(struct buf *out, const char *name, struct event_value v)
{
	buf_puts(out, ",\"");
	buf_puts(out, name);
	buf_puts(out, "\":");
	json_put_lossy(out, v.data, v.len);
}

/* ClickHouse stores a UUID as two numbers. */
static void put_id(struct buf *out, struct event_value v)
{
	uint64_t high = number_of((struct event_value){v.data, 8});
	uint64_t low = number_of((struct event_value){v.data + 8, 8});

	buf_printf(out,
		   "{\"id\":\"%08" PRIx64 "-%04" PRIx64 "-%04" PRIx64
		   "-%04" PRIx64 "-%012" PRIx64 "\"",
		   high >> 32, high >> 16 & 0xffff, high & 0xffff, low >> 48,
		   low & UINT64_C(0xffffffffffff));
}

static void put_verdict(struct buf *out, enum verdict_kind kind)
{
	buf_printf(out, ",\"verdict\":\"%s\"", verdict_name(kind));
}

static void put_object(struct buf *out, const struct event_value *v)
{
	enum verdict_kind kind =
		(enum verdict_kind)number_of(v[COLUMN_verdict]);
	char text[RFC3339_TEXT_MAX];

	put_id(out, v[COLUMN_event_id]);
	buf_printf(out, ",\"ts\":\"%s\"",
		   rfc3339_format((int64_t)number_of(v[COLUMN_ts]), text));
	put_text(out, "code", v[COLUMN_code]);
	/* The number is sent as text, since JavaScript has no such numbers. */
	buf_printf(out, ",\"link_id\":\"%" PRIu64 "\"",
		   number_of(v[COLUMN_link_id]));
	put_text(out, "domain", v[COLUMN_domain]);
	put_text(out, "account", v[COLUMN_account]);
	put_text(out, "owner", v[COLUMN_owner]);
	put_text(out, "campaign", v[COLUMN_campaign]);
	put_text(out, "country", v[COLUMN_country]);
	put_text(out, "device_class", v[COLUMN_device_class]);
	put_text(out, "os_family", v[COLUMN_os_family]);
	put_text(out, "ua_family", v[COLUMN_ua_family]);
	put_text(out, "channel", v[COLUMN_channel]);
	put_text(out, "referrer_host", v[COLUMN_referrer_host]);
	put_text(out, "referrer_site", v[COLUMN_referrer_site]);
	put_verdict(out, kind);
	put_text(out, "reason", v[COLUMN_verdict_reason]);
	buf_puts(out, kind == VERDICT_HUMAN ? ",\"human\":true}"
					    : ",\"human\":false}");
}

static bool is_old(const struct event_value *v, int64_t since_ms)
{
	return (int64_t)number_of(v[COLUMN_ts]) < since_ms ||
	       (int64_t)number_of(v[COLUMN_append_time]) < since_ms;
}

bool live_event_put(struct buf *out, const void *row, size_t len,
		    int64_t since_ms, bool *ret_old)
{
	struct event_value values[COLUMN_COUNT];

	*ret_old = false;
	if (!read_row(row, len, values) ||
	    number_of(values[COLUMN_outcome]) !=
		    SHORTLOOP__OUTCOME__OUTCOME_REDIRECTED ||
	    number_of(values[COLUMN_verdict]) >= VERDICT_KIND_COUNT)
		return false;
	*ret_old = is_old(values, since_ms);
	if (*ret_old)
		return false;
	put_object(out, values);
	return true;
}

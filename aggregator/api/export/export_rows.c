#include "aggregator/api/export/export_rows.h"

#include <stdio.h>
#include <string.h>

#include "aggregator/api/csv.h"
#include "aggregator/dimension.h"
#include "common/clickhouse/rows.h"
#include "common/clock.h"
#include "common/json_text.h"

/* Name, letter for clickhouse_rows, kind, in the order of
 * aggregator/sql/export_page.sql.  The dimensions that are not among them
 * follow.  docs/aggregator.md and the OpenAPI description list the columns. */
#define COLUMNS(X)                                                             \
	X("time", "n", KIND_TIME)                                              \
	X("link_id", "n", KIND_ID)                                             \
	X("event_id", "s", KIND_TEXT)                                          \
	X("code", "s", KIND_TEXT)                                              \
	X("domain", "s", KIND_TEXT)                                            \
	X("account", "s", KIND_TEXT)                                           \
	X("owner", "s", KIND_TEXT)                                             \
	X("campaign", "s", KIND_TEXT)                                          \
	X("tags", "s", KIND_JSON)                                              \
	X("outcome", "s", KIND_TEXT)                                           \
	X("status", "n", KIND_NUMBER)                                          \
	X("verdict", "s", KIND_TEXT)                                           \
	X("country", "s", KIND_TEXT)                                           \
	X("city", "s", KIND_TEXT)                                              \
	X("device_class", "s", KIND_TEXT)                                      \
	X("os_family", "s", KIND_TEXT)                                         \
	X("ua_family", "s", KIND_TEXT)                                         \
	X("language", "s", KIND_TEXT)                                          \
	X("channel", "s", KIND_TEXT)                                           \
	X("referrer_host", "s", KIND_TEXT)                                     \
	X("referrer_site", "s", KIND_TEXT)                                     \
	X("edge", "s", KIND_TEXT)

#define IS_COLUMN(name, letter, kind) {name, (letter)[0], kind},
static const struct fixed_column {
	const char *name;
	char letter;
	enum export_kind kind;
} fixed[] = {COLUMNS(IS_COLUMN)};
#define FIXED_COUNT (sizeof(fixed) / sizeof(*fixed))

/* A JSON object has text of UTF-8 only. */
#define COOKIES                                                                \
	"toJSONString(mapApply((k, v) -> (toValidUTF8(k), toValidUTF8(v)), "   \
	"cookies))"

static const struct also_column {
	enum export_kind kind;
	const char *expression;
} also_columns[EXPORT_ALSO_COUNT] = {
	[EXPORT_COOKIES] = {KIND_JSON, COOKIES},
	[EXPORT_TRACE_ID] = {KIND_TEXT, "trace_id"},
};

/* The fields of a row's place, in addition to its first two columns. */
enum {
	FIELD_PARTITION,
	FIELD_OFFSET,
	FIELD_EPOCH,
	FIELD_TOPIC,
};
#define PLACE_LETTERS "nnns"

/* The columns link_id and tags have these dimensions. */
static bool has_own_column(const struct dimension *d)
{
	if (!strcmp(d->name, "total") || !strcmp(d->name, "link") ||
	    d->kind == DIMENSION_MANY)
		return true;
	for (size_t i = 0; i < FIXED_COUNT; i++)
		if (!strcmp(fixed[i].name, d->name))
			return true;
	return false;
}

static void add_column(struct export_columns *to, const char *name, char letter,
		       enum export_kind kind)
{
	if (to->count == EXPORT_COLUMNS_MAX)
		return;
	to->names[to->count] = name;
	to->letters[to->count] = letter;
	to->kinds[to->count++] = kind;
}

void export_columns_fill(struct export_columns *ret, unsigned also)
{
	*ret = (struct export_columns){.count = 0};
	for (size_t i = 0; i < FIXED_COUNT; i++)
		add_column(ret, fixed[i].name, fixed[i].letter, fixed[i].kind);
	for (size_t i = 0; i < dimension_count; i++)
		if (!has_own_column(&dimensions[i]))
			add_column(ret, dimensions[i].name, 's', KIND_TEXT);
	for (size_t i = 0; i < EXPORT_ALSO_COUNT; i++)
		if (also & 1U << i)
			add_column(ret, export_also_names[i], 's',
				   also_columns[i].kind);
	strcpy(ret->letters + ret->count, PLACE_LETTERS);
}

void export_columns_put_more(struct buf *sql, unsigned also)
{
	for (size_t i = 0; i < dimension_count; i++)
		if (!has_own_column(&dimensions[i]))
			buf_printf(sql, "%s, ", dimensions[i].expression);
	for (size_t i = 0; i < EXPORT_ALSO_COUNT; i++)
		if (also & 1U << i)
			buf_printf(sql, "%s, ", also_columns[i].expression);
}

void export_rows_place(const struct export_columns *columns,
		       char *const *fields, struct export_place *ret)
{
	char *const *place = fields + columns->count;

	ret->ts_ms = tsv_i64(fields[0]);
	ret->link_id = tsv_u64(fields[1]);
	ret->partition = (uint32_t)tsv_u64(place[FIELD_PARTITION]);
	ret->offset = tsv_u64(place[FIELD_OFFSET]);
	ret->epoch = (uint32_t)tsv_u64(place[FIELD_EPOCH]);
	snprintf(ret->topic, sizeof(ret->topic), "%s", place[FIELD_TOPIC]);
}

void export_rows_head(struct buf *out, enum export_format format, unsigned also)
{
	struct export_columns columns;

	if (format != EXPORT_CSV)
		return;
	export_columns_fill(&columns, also);
	for (size_t i = 0; i < columns.count; i++)
		buf_printf(out, "%s,", columns.names[i]);
	buf_puts(out, "cursor\r\n");
}

static void put_time(struct buf *out, const char *field)
{
	char text[RFC3339_TEXT_MAX];

	buf_puts(out, rfc3339_format(tsv_i64(field), text));
}

static bool is_plain(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if ((unsigned char)text[i] >= 0x80)
			return false;
	}
	return true;
}

static void put_json_text(struct buf *out, const char *text)
{
	size_t len = strlen(text);

	if (is_plain(text, len))
		json_put_string(out, text, len);
	else
		json_put_lossy(out, text, len);
}

static void put_json(struct buf *out, enum export_kind kind, const char *field)
{
	switch (kind) {
	case KIND_TIME:
		buf_putc(out, '"');
		put_time(out, field);
		buf_putc(out, '"');
		break;
	case KIND_ID:
		buf_putc(out, '"');
		buf_puts(out, field);
		buf_putc(out, '"');
		break;
	case KIND_NUMBER:
	case KIND_JSON:
		buf_puts(out, field);
		break;
	case KIND_TEXT:
		put_json_text(out, field);
		break;
	}
}

static void put_csv(struct buf *out, enum export_kind kind, const char *field)
{
	if (kind == KIND_TIME)
		put_time(out, field);
	else
		csv_put_text(out, field);
	buf_putc(out, ',');
}

void export_rows_put(struct buf *out, enum export_format format,
		     const struct export_columns *columns, char *const *fields)
{
	for (size_t i = 0; i < columns->count; i++) {
		if (format == EXPORT_CSV) {
			put_csv(out, columns->kinds[i], fields[i]);
			continue;
		}
		buf_puts(out, i ? ",\"" : "{\"");
		buf_puts(out, columns->names[i]);
		buf_puts(out, "\":");
		put_json(out, columns->kinds[i], fields[i]);
	}
}

void export_rows_end(struct buf *out, enum export_format format,
		     const char *cursor)
{
	if (format == EXPORT_CSV) {
		buf_puts(out, cursor ? cursor : "");
		buf_puts(out, "\r\n");
		return;
	}
	if (cursor) {
		buf_puts(out, ",\"cursor\":\"");
		buf_puts(out, cursor);
		buf_putc(out, '"');
	}
	buf_puts(out, "}\n");
}

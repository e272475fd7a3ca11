#include "stack/clickhouse/reply.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "stack/clickhouse/failure.h"

#define SUMMARY_MAX 512

static const struct {
	const char *start; /* of the format's name */
	const char *type;
} content_types[] = {
	{"JSONEachRow", "application/x-ndjson; charset=UTF-8"},
	{"JSONCompactEachRow", "application/x-ndjson; charset=UTF-8"},
	{"JSONStringsEachRow", "application/x-ndjson; charset=UTF-8"},
	{"JSON", "application/json; charset=UTF-8"},
	{"CSVWithNames", "text/csv; charset=UTF-8; header=present"},
	{"CSV", "text/csv; charset=UTF-8; header=absent"},
	{"TabSeparated", "text/tab-separated-values; charset=UTF-8"},
	{"TSV", "text/tab-separated-values; charset=UTF-8"},
	{"XML", "application/xml; charset=UTF-8"},
	{"RowBinary", "application/octet-stream"},
	{"Native", "application/octet-stream"},
	{"Arrow", "application/octet-stream"},
	{"Parquet", "application/octet-stream"},
};

static const char *content_type(const char *format)
{
	for (size_t i = 0; i < sizeof(content_types) / sizeof(*content_types);
	     i++)
		if (strncmp(format, content_types[i].start,
			    strlen(content_types[i].start)) == 0)
			return content_types[i].type;
	return "text/plain; charset=UTF-8";
}

/* Numbers as strings, as ClickHouse writes them.  What an INSERT was sent
 * counts as read. */
static void write_summary(char out[SUMMARY_MAX], const struct query *q)
{
	const struct engine_result *r = &q->result;
	bool insert = q->statement.has_data;
	uint64_t read_rows = insert ? r->written_rows : r->read_rows;
	uint64_t read_bytes = insert ? r->written_bytes : r->read_bytes;
	uint64_t rows = insert ? r->written_rows : r->result_rows;
	uint64_t bytes = insert ? r->written_bytes : r->result_bytes;

	snprintf(out, SUMMARY_MAX,
		 "{\"read_rows\":\"%" PRIu64 "\",\"read_bytes\":\"%" PRIu64
		 "\",\"written_rows\":\"%" PRIu64
		 "\",\"written_bytes\":\"%" PRIu64
		 "\",\"total_rows_to_read\":\"%" PRIu64
		 "\",\"result_rows\":\"%" PRIu64
		 "\",\"result_bytes\":\"%" PRIu64 "\",\"elapsed_ns\":\"%.0f\"}",
		 read_rows, read_bytes, r->written_rows, r->written_bytes,
		 read_rows, rows, bytes, r->seconds * 1e9);
}

static void reply_result(struct http_request *http,
			 const struct reply_identity *id,
			 const struct query_request *r, const struct query *q)
{
	const char *format = query_format(q, r);
	struct http_slice answer = query_answer(q);
	char summary[SUMMARY_MAX];
	struct http_field fields[] = {
		{"Content-Type", content_type(format)},
		{"X-ClickHouse-Server-Display-Name", id->display_name},
		{"X-ClickHouse-Query-Id", r->query_id},
		{"X-ClickHouse-Format", format},
		{"X-ClickHouse-Timezone", id->time_zone},
		{"X-ClickHouse-Summary", summary},
		{NULL, NULL}, /* Content-Encoding */
		{NULL, NULL},
	};

	write_summary(summary, q);
	if (r->answer_coding != CODING_IDENTITY)
		fields[6] = (struct http_field){"Content-Encoding",
						coding_name(r->answer_coding)};
	http_reply(http, 200, fields, answer.data, answer.len);
}

void reply_failure(struct http_request *http, const struct reply_identity *id,
		   const char *query_id, const char *text)
{
	int code = failure_code_of(text);
	struct buf body = {0};
	char number[16];
	struct http_field fields[] = {
		{"Content-Type", "text/plain; charset=UTF-8"},
		{"X-ClickHouse-Server-Display-Name", id->display_name},
		{"X-ClickHouse-Query-Id", query_id},
		{"X-ClickHouse-Timezone", id->time_zone},
		{"X-ClickHouse-Exception-Code", number},
		{NULL, NULL},
	};

	snprintf(number, sizeof(number), "%d", code);
	if (strncmp(text, "Code: ", 6) != 0)
		buf_printf(&body, "Code: %d. DB::Exception: ", code);
	buf_puts(&body, text);
	if (!strstr(text, "(version "))
		buf_printf(&body, " (version %s)", id->version);
	buf_putc(&body, '\n');
	http_reply(http, failure_http_status(code), fields, body.data,
		   body.len);
	buf_free(&body);
}

void reply_query(struct http_request *http, const struct reply_identity *id,
		 const struct query_request *r, const struct query *q)
{
	struct buf text = {0};

	if (!q->failed) {
		reply_result(http, id, r, q);
		return;
	}
	buf_append(&text, q->failure.data, q->failure.len);
	buf_cstr(&text);
	reply_failure(http, id, r->query_id,
		      text.failed ? "out of memory" : text.data);
	buf_free(&text);
}

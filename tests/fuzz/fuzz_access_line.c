/* Any bytes of a client in lines of the access log: each entry is one line that
 * the importer can read; from the combined format it reads the bytes that were
 * sent. */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "collector/tools/access_log/access_format.h"
#include "redirector/visit/access_line.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct access_rules rules;

static void read_line(const char *format, const struct buf *line,
		      struct access_visit *ret_visit,
		      struct access_format **ret_format)
{
	struct error err = {0};
	struct access_format *f = access_format_new(format, NULL, &rules, &err);

	assert(f && !line->failed && line->len);
	assert(memchr(line->data, '\n', line->len) ==
	       line->data + line->len - 1);
	assert(access_format_read(f, line->data, line->len - 1, ret_visit,
				  &err) == 0);
	assert(ret_visit->status == 302 && ret_visit->ip_len == 4);
	*ret_format = f;
}

/* A single dash means that the value is absent. */
static void check_same_text(struct access_text read, struct http_slice sent)
{
	if (sent.len == 1 && *sent.data == '-')
		sent.len = 0;
	assert(read.len == sent.len);
	assert(!sent.len || !memcmp(read.data, sent.data, sent.len));
}

static void check_combined(const struct access_entry *e)
{
	struct access_format *format;
	struct access_visit v;
	struct buf line = {0};

	access_line_put_combined(&line, e);
	read_line("combined", &line, &v, &format);
	check_same_text(v.user_agent, e->user_agent);
	check_same_text(v.referrer, e->referrer);
	access_format_free(format);
	buf_free(&line);
}

static void check_json(const struct access_entry *e)
{
	struct access_format *format;
	struct access_visit v;
	struct buf line = {0};

	access_line_put_json(&line, e);
	read_line("json", &line, &v, &format);
	/* Each byte is written as one byte, whatever it becomes. */
	assert(v.user_agent.len == e->user_agent.len ||
	       (e->user_agent.len == 1 && !v.user_agent.len));
	access_format_free(format);
	buf_free(&line);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	size_t half = size / 2;
	struct access_entry e = {
		.time_ms = INT64_C(1431857103456),
		.client = {4, {192, 0, 2, 7}},
		.status = 302,
		.method = {"GET", 3},
		.path = {"/a", 2},
		.user_agent = {text, half},
		.referrer = {text + half, size - half},
		.host = {text, half},
	};

	/* A field never contains a NUL, since the parser refuses it. */
	if (memchr(data, '\0', size))
		return 0;
	check_combined(&e);
	check_json(&e);
	return 0;
}

/*
 * Any bytes as an event: it becomes a row that can be read back to its end, or
 * is refused with a reason and leaves nothing behind.  The first byte chooses
 * between clicks and links.
 */
#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collector/enrich/enricher.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A few rules of each kind: the decoder is what is tried here. */
static const char rules[] =
	"user_agent_parsers:\n  - regex: '(\\w+)/(\\d+)\\.?(\\d*)'\n"
	"os_parsers:\n  - regex: '\\((\\w+) (\\d*)'\n"
	"device_parsers:\n  - regex: '; *([^;)]+)'\n"
	"    device_replacement: 'x$1 $2'\n    brand_replacement: '$1'\n";

static struct enricher *some_enricher(void)
{
	static char english[] = "en", sha1[] = "sha1", whole[] = "whole";
	static struct collector_settings settings = {
		.epoch = 1,
		.late_window = 86400000,
		.ua_cache = 1 << 20,
		.geo_language = english,
		.visitor_identity = sha1,
		.store_ip = whole,
		.geo_cache = 1 << 20,
		.max_text = 256,
	};
	static struct enricher *e;
	char path[] = "/tmp/shortloop-fuzz-XXXXXX";
	struct error err = {0};
	int fd;

	if (e)
		return e;
	fd = mkstemp(path);
	if (fd < 0 || write(fd, rules, sizeof(rules) - 1) < 0)
		abort();
	close(fd);
	settings.ua_rules = path;
	e = enricher_new(&settings, &err);
	unlink(path);
	if (!e) {
		fprintf(stderr, "%s\n", err.text);
		abort();
	}
	return e;
}

/* --- reading a row back ----------------------------------------------------
 */

struct reader {
	const uint8_t *at, *end;
};

static void skip(struct reader *r, uint64_t n)
{
	assert((uint64_t)(r->end - r->at) >= n);
	r->at += n;
}

static uint64_t read_count(struct reader *r)
{
	uint64_t n = 0;

	for (unsigned shift = 0;; shift += 7) {
		assert(r->at < r->end && shift < 64);
		n |= (uint64_t)(*r->at & 0x7f) << shift;
		if (!(*r->at++ & 0x80))
			return n;
	}
}

/*
 * The columns of a table: a digit is so many bytes, s a string, a an array of
 * strings, m a map of strings, i an identity of 20 bytes, u 16 bytes.
 */
static void read_row(struct reader *r, const char *columns)
{
	for (; *columns; columns++) {
		uint64_t n;

		switch (*columns) {
		case 's':
			skip(r, read_count(r));
			break;
		case 'a':
		case 'm':
			n = read_count(r) * (*columns == 'm' ? 2 : 1);
			for (; n; n--)
				skip(r, read_count(r));
			break;
		case 'i':
			skip(r, 20);
			break;
		case 'u':
			skip(r, 16);
			break;
		default:
			skip(r, (uint64_t)(*columns - '0'));
		}
	}
}

static const char click_columns[] = "4s488u88sss8ssa121uisssss442s4s"
				    "sssssssss1s4"
				    "ssssssssssms";
static const char link_columns[] = "s84s4sss888s2ssassssm884s48";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct event_origin origin = {.topic = "clicks",
				      .partition = 3,
				      .offset = 7,
				      .append_ms = 1700000000000};
	struct enricher *e = some_enricher();
	struct buf rows = {0};
	struct error err = {0};
	int64_t ts = 0;
	bool link = size && (*data & 1);
	struct reader r;
	int status;

	if (!size)
		return 0;
	buf_puts(&rows, "before");
	status = link ? enricher_link(e, &origin, data + 1, size - 1, &rows,
				      &ts, &err)
		      : enricher_click(e, &origin, data + 1, size - 1, &rows,
				       &ts, &err);
	if (status < 0) {
		assert(err.code == ERROR_INPUT && err.text[0]);
		assert(rows.len == 6);
	} else {
		r = (struct reader){(uint8_t *)rows.data + 6,
				    (uint8_t *)rows.data + rows.len};
		read_row(&r, link ? link_columns : click_columns);
		assert(r.at == r.end);
	}
	buf_free(&rows);
	return 0;
}

/*
 * Any bytes as an event: it becomes a row that can be read back to its end, or
 * is refused with a reason and leaves nothing behind.  The live event of a
 * click is JSON.  The first byte chooses between clicks and links.
 */
#include <assert.h>
#include <jansson.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collector/enrich/enricher.h"
#include "collector/enrich/live_event.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

/* A few rules of each kind suffice: the decoder is under test here. */
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
		.clicks = {.late_window = 86400000},
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

static void skip_bytes(struct reader *r, uint64_t n)
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

/* The types of a row, from the collector's own list. */
static const char *const click_types[] = {
#define COLUMN(name, type, left, write) type,
#define RUN(name, type, left, write)	type,
#define PLACE(name, type, left, write)	type,
#define AGENT(name, type, left, write)	type,
#include "schemas/click_columns.inc"
	NULL};
static const char *const link_types[] = {
#define COLUMN(name, type, left, write) type,
#include "schemas/link_columns.inc"
	NULL};

/* Returns the width of a value of this type; 0: no fixed width. */
static uint64_t width_of(const char *type)
{
	static const struct {
		const char *type;
		uint64_t width;
	} fixed[] = {
		{"Bool", 1},	   {"Int8", 1},	  {"UInt16", 2},
		{"UInt32", 4},	   {"UInt64", 8}, {"Float32", 4},
		{"DateTime64", 8}, {"UUID", 16},  {"IPv6", 16},
	};

	if (!strncmp(type, "FixedString(", 12))
		return strtoull(type + 12, NULL, 10);
	for (size_t i = 0; i < sizeof(fixed) / sizeof(*fixed); i++) {
		if (!strncmp(type, fixed[i].type, strlen(fixed[i].type)))
			return fixed[i].width;
	}
	return 0;
}

static void read_row(struct reader *r, const char *const *types)
{
	for (; *types; types++) {
		uint64_t width = width_of(*types), n = 1;

		if (width) {
			skip_bytes(r, width);
			continue;
		}
		if (!strncmp(*types, "Array(", 6))
			n = read_count(r);
		else if (!strncmp(*types, "Map(", 4))
			n = read_count(r) * 2;
		else
			assert(strstr(*types, "String"));
		for (; n; n--)
			skip_bytes(r, read_count(r));
	}
}

/* A recent click is shown if it was a redirect. */
static void check_shown(const struct buf *rows)
{
	struct buf text = {0};
	json_t *object;
	bool old;

	if (live_event_put(&text, rows->data + 6, rows->len - 6, 0, &old)) {
		object = json_loadb(text.data, text.len, JSON_REJECT_DUPLICATES,
				    NULL);
		assert(json_is_object(object));
		json_decref(object);
	} else {
		assert(!text.len);
	}
	buf_free(&text);
}

/* The row of created_links is whole, and its slot is what was returned. */
static void check_creation(const struct buf *row, int64_t created)
{
	static const char *const types[] = {
		"UInt32", "UInt64", "String", "Bool",	"String",
		"String", "String", "String", "String", NULL};
	struct reader r;
	uint32_t slot;

	if (!row->len)
		return;
	r = (struct reader){(uint8_t *)row->data,
			    (uint8_t *)row->data + row->len};
	memcpy(&slot, row->data, sizeof(slot));
	assert((int64_t)slot * 1000 == created && slot % 900 == 0);
	read_row(&r, types);
	assert(r.at == r.end);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct event_origin origin = {.topic = "clicks",
				      .partition = 3,
				      .offset = 7,
				      .append_ms = 1700000000000};
	struct enricher *e = some_enricher();
	struct buf rows = {0}, creations = {0};
	const struct link_rows of_link = {&rows, &creations};
	struct error err = {0};
	int64_t ts = 0;
	bool link = size && (*data & 1);
	struct reader r;
	int status;

	if (!size)
		return 0;
	buf_puts(&rows, "before");
	status = link ? enricher_link(e, &origin, data + 1, size - 1, &of_link,
				      &ts, &err)
		      : enricher_click(e, &origin, data + 1, size - 1, &rows,
				       &ts, &err);
	if (status < 0) {
		assert(err.code == ERROR_INPUT && err.text[0]);
		assert(rows.len == 6 && !creations.len);
	} else {
		r = (struct reader){(uint8_t *)rows.data + 6,
				    (uint8_t *)rows.data + rows.len};
		read_row(&r, link ? link_types : click_types);
		assert(r.at == r.end);
		if (!link)
			check_shown(&rows);
		check_creation(&creations, ts);
	}
	buf_free(&rows);
	buf_free(&creations);
	return 0;
}

/* --- before the first input --------------------------------------------------
 *
 * Tests whole events of both kinds, which a fuzzer rarely finds: if they were
 * refused, it would read nothing back and report success.
 */

static void try_whole(uint8_t kind, const ProtobufCMessage *event)
{
	uint8_t input[1024] = {kind};
	size_t len = protobuf_c_message_get_packed_size(event);
	struct event_origin origin = {.topic = "clicks"};
	struct buf rows = {0}, creations = {0};
	const struct link_rows of_link = {&rows, &creations};
	struct error err = {0};
	int64_t ts;
	int status;

	assert(len < sizeof(input));
	protobuf_c_message_pack(event, input + 1);
	status = kind ? enricher_link(some_enricher(), &origin, input + 1, len,
				      &of_link, &ts, &err)
		      : enricher_click(some_enricher(), &origin, input + 1, len,
				       &rows, &ts, &err);
	assert(status == 0 && !creations.len == !kind);
	buf_free(&rows);
	buf_free(&creations);
	LLVMFuzzerTestOneInput(input, len + 1);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	static char text[] = "word", url[] = "https://example.com/";
	char *tags[] = {text, url};
	Shortloop__Target target;
	Shortloop__Target *targets[] = {&target};
	Shortloop__Link link;
	Shortloop__LinkEvent made;
	Shortloop__Click click;

	(void)argc;
	(void)argv;
	shortloop__target__init(&target);
	shortloop__link__init(&link);
	shortloop__link_event__init(&made);
	shortloop__click__init(&click);
	target.url = url;
	link.url = url;
	link.link_id = 7;
	link.owner = link.account = link.creator = link.description = text;
	link.n_tags = 2;
	link.tags = tags;
	link.n_targets = 1;
	link.targets = targets;
	made.code = made.space = text;
	made.link = &link;
	made.change = SHORTLOOP__LINK_CHANGE__LINK_CREATED;
	made.time_ms = UINT64_C(1700000000000);
	try_whole(1, &made.base);
	click.time_ms = made.time_ms;
	click.code = text;
	click.n_tags = 2;
	click.tags = tags;
	try_whole(0, &click.base);
	return 0;
}

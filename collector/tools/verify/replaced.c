/* replaced.c - events of links whose row gave way to a newer version's. */
#include <inttypes.h>

#include "collector/enrich/event.h"
#include "collector/tools/verify/verify.h"
#include "common/kafka/record.h"

#define AT_ONCE 500 /* in one question */

struct batch_of_links {
	struct arena arena;
	struct buf list; /* of tuples */
	size_t count;
};

static void put_hex(struct buf *out, const char *text)
{
	for (; *text; text++)
		buf_printf(out, "%02x", (unsigned char)*text);
}

/* What is no event of a link is left for what it is. */
static void add_event(struct batch_of_links *b, const struct kafka_record *r)
{
	const Shortloop__LinkEvent *e;
	struct error why;

	arena_reset(&b->arena);
	e = event_link(&b->arena, r->payload, r->len, &why);
	if (!e)
		return;
	buf_printf(&b->list, "%s(%" PRId64 ", unhex('", b->count ? ", " : "",
		   r->offset);
	put_hex(&b->list, e->code);
	buf_printf(&b->list, "'), %" PRIu64 ", %" PRIu32 ")", e->link->link_id,
		   e->link->version);
	b->count++;
}

static int ask_batch(struct verify *v, struct span *span,
		     struct batch_of_links *b, struct error *err)
{
	struct buf *sql = ask_begin(&v->ask);
	const uint64_t *offsets;
	size_t count;

	if (!b->count)
		return 0;
	if (!buf_cstr(&b->list))
		return error_set_nomem(err);
	buf_puts(sql, "WITH wanted AS (SELECT arrayJoin([");
	buf_append(sql, b->list.data, b->list.len);
	buf_puts(sql, "]) AS t, toUInt64(t.1) AS o, toString(t.2) AS c, "
		      "toUInt64(t.3) AS i, toUInt64(t.4) AS v) "
		      "SELECT DISTINCT o FROM wanted INNER JOIN (SELECT code, "
		      "link_id, max(version) AS newest FROM links WHERE (code, "
		      "link_id) IN (SELECT c, i FROM wanted) GROUP BY code, "
		      "link_id) AS l ON c = l.code AND i = l.link_id "
		      "WHERE newest >= v");
	buf_reset(&b->list);
	b->count = 0;
	if (ask_numbers(&v->ask, 1, &offsets, &count, err) < 0)
		return -1;
	for (size_t i = 0; i < count; i++)
		window_clear_range(&v->window, LEFT, offsets[i], offsets[i]);
	span->replaced += count;
	return 0;
}

static bool is_left(const struct window *w, const struct kafka_record *r)
{
	uint64_t offset = (uint64_t)r->offset;

	return window_count_in(w, LEFT, offset, offset) != 0;
}

static int read_run(struct verify *v, struct span *span, uint64_t first,
		    uint64_t last, struct batch_of_links *b, struct error *err)
{
	struct kafka_record record;
	int status;

	if (verify_read_again(v, span, first, last, err) < 0)
		return -1;
	while ((status = kafka_reader_next(v->again, &record, err)) > 0) {
		if (is_left(&v->window, &record))
			add_event(b, &record);
		kafka_record_release(&record);
		if (b->count >= AT_ONCE && ask_batch(v, span, b, err) < 0)
			return -1;
	}
	return status;
}

int verify_replaced(struct verify *v, struct span *span, struct error *err)
{
	struct batch_of_links b = {0};
	uint64_t at = v->window.first, first, last, end;
	int status;

	if (!window_next_run(&v->window, LEFT, &at, &first, &last))
		return 0;
	/* From the first to the last of them in one go. */
	while (window_next_run(&v->window, LEFT, &at, &end, &last))
		;
	status = read_run(v, span, first, last, &b, err);
	if (status == 0)
		status = ask_batch(v, span, &b, err);
	arena_free(&b.arena);
	buf_free(&b.list);
	return status;
}

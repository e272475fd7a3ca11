#include "collector/tools/import/block.h"

#include <stdlib.h>
#include <string.h>

#include "collector/enrich/row.h"
#include "collector/tools/import/owners.h"
#include "common/clock.h"
#include "common/unconst.h"

void block_release(struct block *b)
{
	arena_free(&b->arena);
	free(b->clicks);
	batch_release(&b->batch);
	*b = (struct block){0};
}

void block_reset(struct block *b)
{
	arena_reset(&b->arena);
	batch_reset(&b->batch);
	b->count = b->bytes = b->day_count = 0;
	b->lines = b->unreadable = b->stored = 0;
}

void block_note_line(struct block *b, uint64_t offset, size_t len)
{
	if (!b->lines++)
		b->first = offset;
	b->last = offset;
	b->bytes += len;
}

void block_note_unreadable(struct block *b)
{
	b->unreadable++;
}

static bool grow(struct block *b)
{
	size_t cap = b->cap ? b->cap * 2 : 1024;
	struct block_click *clicks;

	if (b->count < b->cap)
		return true;
	clicks = realloc(b->clicks, cap * sizeof(*clicks));
	if (!clicks)
		return false;
	b->clicks = clicks;
	b->cap = cap;
	return true;
}

static void note_day(struct block *b, int64_t time_ms)
{
	uint32_t day = (uint32_t)(time_ms / CLOCK_DAY);

	/* Nearly always it is that of the line before. */
	for (size_t i = b->day_count; i > 0; i--)
		if (b->days[i - 1] == day)
			return;
	if (b->day_count < BLOCK_DAYS_MAX)
		b->days[b->day_count++] = day;
}

enum visit_kind block_take(struct block *b, const struct access_visit *visit,
			   const struct visit_rules *rules)
{
	enum visit_kind kind;

	if (!grow(b))
		return VISIT_NO_MEMORY;
	kind = visit_click(visit, rules, b->last, &b->arena,
			   &b->clicks[b->count].click);
	if (kind != VISIT_CLICK)
		return kind;
	b->clicks[b->count++].offset = b->last;
	b->last_ms = visit->time_ms;
	note_day(b, visit->time_ms);
	return kind;
}

static size_t held(const struct block *b)
{
	return b->arena.held + b->count * sizeof(*b->clicks);
}

bool block_is_full(const struct block *b, const struct block_bounds *max)
{
	return b->lines >= max->rows || b->bytes >= max->bytes ||
	       held(b) >= max->held || b->day_count == BLOCK_DAYS_MAX;
}

/* --- whose links? ----------------------------------------------------------
 */

static bool has_link(const Shortloop__Click *c)
{
	return c->outcome != SHORTLOOP__OUTCOME__OUTCOME_NOT_FOUND;
}

/* Texts of the archive live as long as the answers; clicks need them longer. */
static char *keep(struct arena *arena, const char *text)
{
	char *copy = arena_alloc(arena, strlen(text) + 1);

	return copy ? strcpy(copy, text) : NULL;
}

static void give(struct arena *arena, Shortloop__Click *c,
		 const struct owner *o)
{
	c->link_id = o->link_id;
	c->owner = keep(arena, o->owner);
	c->campaign = keep(arena, o->campaign);
	if (!o->tag_count)
		return;
	c->tags = arena_alloc(arena, o->tag_count * sizeof(*c->tags));
	c->n_tags = c->tags ? o->tag_count : 0;
	for (size_t i = 0; i < c->n_tags; i++)
		c->tags[i] = keep(arena, o->tags[i]);
}

int block_find_owners(struct block *b, struct clickhouse *ch, struct error *err)
{
	const char **codes = malloc((b->count + 1) * sizeof(*codes));
	struct owners owners = {0};
	size_t count = 0;
	int status;

	if (!codes)
		return error_set_nomem(err);
	for (size_t i = 0; i < b->count; i++)
		if (has_link(&b->clicks[i].click))
			codes[count++] = b->clicks[i].click.code;
	status = owners_find(&owners, ch, codes, count, err);
	for (size_t i = 0; status == 0 && i < b->count; i++) {
		Shortloop__Click *c = &b->clicks[i].click;
		const struct owner *o =
			owners_at(&owners, c->code, (int64_t)c->time_ms);

		if (o && has_link(c))
			give(&b->arena, c, o);
	}
	owners_release(&owners);
	free(codes);
	if (status == 0 && b->arena.failed)
		status = error_set_nomem(err);
	return status;
}

/* --- rows ------------------------------------------------------------------
 */

static int build_row(struct block *b, const struct block_click *c,
		     struct enricher *enricher, const char *topic, bool stored,
		     struct error *err)
{
	const struct event_origin origin = {
		.topic = topic,
		.offset = c->offset,
		/* The log is what it came from, and is trusted: its time is not
		 * moved. */
		.append_ms = (int64_t)c->click.time_ms,
	};
	struct buf *rows = &b->batch.rows;
	size_t before = rows->len;
	int64_t ts;

	if (enricher_click_row(enricher, &origin, &c->click, rows, &ts, err) <
	    0)
		return -1;
	if (stored) {
		rows->len = before;
		b->stored++;
	}
	return batch_note_row(&b->batch, c->offset, origin.append_ms, ts,
			      !stored, err);
}

int block_build(struct block *b, struct enricher *enricher,
		const struct journal *journal,
		const struct journal_state *state, struct error *err)
{
	batch_reset(&b->batch);
	b->stored = 0;
	for (size_t i = 0; i < b->count; i++) {
		const struct block_click *c = &b->clicks[i];

		if (build_row(b, c, enricher, journal->topic,
			      journal_is_stored(state, c->offset), err) < 0)
			return -1;
	}
	/* Lines that are no clicks are part of it, too. */
	b->batch.first = b->batch.name_first = b->first;
	b->batch.last = b->last;
	b->batch.dead_lettered = b->unreadable;
	b->batch.append_ms = b->last_ms;
	return 0;
}

#include "aggregator/settle/open_hours.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clickhouse/rows.h"
#include "common/clock.h"
#include "schemas/ingest_progress.h"

#define HOUR 3600
/* An hour is settled by what arrived until this many seconds after its end. */
#define LINGERS 600
/* Hours that can be known: one that is over, one that is not, and one by a
 * clock that is ahead. */
#define KNOWN_MAX 3
/* The conditions would cost more than they save with more than these. */
#define PARTITIONS_MAX 4096
#define GROUPS_MAX     16

/* Sources are in ascending order. */
struct source {
	uint32_t epoch, partition;
	char *topic;
	uint64_t next; /* the offset after the last that is counted */
};

struct frontier {
	struct source *items;
	size_t count;
};

/* The reports that an hour's attempt was settled from. */
struct known_hour {
	int64_t start; /* 0: none */
	uint64_t attempt, blocks, rows;
	bool has_rest;
	struct frontier frontier;
};

struct open_hours {
	struct known_hour known[KNOWN_MAX];
	struct known_hour planned;
	struct buf upto, added;
	/* While reports are read: counts of those behind the known frontier. */
	uint64_t below_blocks, below_rows;
	bool differs;  /* the reports behind the frontier have changed */
	bool too_many; /* more sources than conditions can have */
};

static void frontier_clear(struct frontier *f)
{
	for (size_t i = 0; i < f->count; i++)
		free(f->items[i].topic);
	free(f->items);
	*f = (struct frontier){0};
}

static void known_clear(struct known_hour *k)
{
	frontier_clear(&k->frontier);
	*k = (struct known_hour){0};
}

struct open_hours *open_hours_new(struct error *err)
{
	struct open_hours *o = calloc(1, sizeof(*o));

	if (!o)
		error_set_nomem(err);
	return o;
}

void open_hours_free(struct open_hours *o)
{
	if (!o)
		return;
	for (size_t i = 0; i < KNOWN_MAX; i++)
		known_clear(&o->known[i]);
	known_clear(&o->planned);
	buf_free(&o->upto);
	buf_free(&o->added);
	free(o);
}

bool open_hours_takes(const struct settling *s, const struct stale *hour)
{
	int64_t over = settling_now(s) / CLOCK_SECOND - hour->start - HOUR;

	return !hour->dropped && over < LINGERS &&
	       !(hour->provisional && over >= PROGRESS_CLOSES);
}

/* --- conditions ------------------------------------------------------------
 */

static bool is_same_group(const struct source *a, const struct source *b)
{
	return a->epoch == b->epoch && !strcmp(a->topic, b->topic);
}

static void put_text(struct buf *sql, const char *text)
{
	buf_putc(sql, '\'');
	for (; *text; text++) {
		if (*text == '\'' || *text == '\\')
			buf_putc(sql, '\\');
		buf_putc(sql, *text);
	}
	buf_putc(sql, '\'');
}

/* Writes the partitions of one topic and epoch as an array, 0 where there is
 * none.  Returns the first source of the next group. */
static size_t put_group(struct buf *sql, const struct frontier *f, size_t i)
{
	const struct source *first = &f->items[i];
	uint32_t partition = 0;

	buf_printf(sql, "epoch = %" PRIu32 " AND topic = ", first->epoch);
	put_text(sql, first->topic);
	buf_puts(sql, ", [");
	for (; i < f->count && is_same_group(first, &f->items[i]); i++) {
		for (; partition < f->items[i].partition; partition++)
			buf_puts(sql, "0, ");
		buf_printf(sql, "%" PRIu64 ", ", f->items[i].next);
		partition++;
	}
	buf_puts(sql, "0][partition + 1], ");
	return i;
}

/* SQL: the frontier's next offset for the source of a row, 0 if it has none. */
static void put_next(struct buf *sql, const struct frontier *f)
{
	if (!f->count) {
		buf_puts(sql, "toUInt64(0)");
		return;
	}
	buf_puts(sql, "multiIf(");
	for (size_t i = 0; i < f->count;)
		i = put_group(sql, f, i);
	buf_puts(sql, "0)");
}

static bool is_too_long(const struct frontier *f)
{
	size_t groups = 0;

	for (size_t i = 0; i < f->count; i++) {
		if (f->items[i].partition >= PARTITIONS_MAX)
			return true;
		groups += !i || !is_same_group(&f->items[i - 1], &f->items[i]);
	}
	return groups > GROUPS_MAX;
}

/* --- reports ---------------------------------------------------------------
 */

static int add_source(struct frontier *f, char *const *field, struct error *err)
{
	struct source *more = realloc(f->items, (f->count + 1) * sizeof(*more));
	char *topic;

	if (!more)
		return error_set_nomem(err);
	f->items = more;
	topic = strdup(field[1]);
	if (!topic)
		return error_set_nomem(err);
	more[f->count++] = (struct source){
		.epoch = (uint32_t)tsv_u64(field[0]),
		.topic = topic,
		.partition = (uint32_t)tsv_u64(field[2]),
		.next = tsv_u64(field[3]) + 1,
	};
	return 0;
}

/* A row is: epoch, topic, partition; last; blocks and rows; blocks and rows
 * behind the known frontier; blocks that lie on both sides of it. */
static int take_source(void *arg, char **f, struct error *err)
{
	struct open_hours *o = arg;
	uint64_t blocks = tsv_u64(f[4]), below = tsv_u64(f[6]);

	o->planned.blocks += blocks;
	o->planned.rows += tsv_u64(f[5]);
	o->below_blocks += below;
	o->below_rows += tsv_u64(f[7]);
	/* Rescored rows can be anywhere. */
	if (tsv_u64(f[8]) ||
	    (!strcmp(f[1], PROGRESS_TOPIC_RESCORE) && blocks != below))
		o->differs = true;
	if (tsv_u64(f[3]) == UINT64_MAX)
		o->too_many = true;
	return add_source(&o->planned.frontier, f, err);
}

static int read_reports(struct open_hours *o, struct clickhouse *ch,
			const struct frontier *known, struct error *err)
{
	struct buf sql = {0};
	char start[24], since[24];
	const struct clickhouse_param params[] = {
		{"param_start", start}, {"param_since", since}, {NULL, NULL}};
	int status;

	snprintf(start, sizeof(start), "%" PRId64, o->planned.start);
	snprintf(since, sizeof(since), "%" PRId64,
		 (o->planned.start - PROGRESS_EARLY) * CLOCK_SECOND);
	buf_puts(&sql,
		 "SELECT epoch, topic, partition, max(last), sum(times), "
		 "sum(n_block), sumIf(times, last < known), "
		 "sumIf(n_block, last < known), "
		 "countIf(first < known AND last >= known) FROM (SELECT "
		 "epoch, topic, partition, first, last, count() AS times, "
		 "max(hours[{start:UInt32}]) AS n_block, ");
	put_next(&sql, known);
	buf_puts(&sql, " AS known FROM ingest_progress WHERE inserted_at >= "
		       "fromUnixTimestamp64Milli({since:Int64}, 'UTC') AND "
		       "mapContains(hours, {start:UInt32}) "
		       "GROUP BY epoch, topic, partition, first, last) "
		       "GROUP BY epoch, topic, partition "
		       "ORDER BY epoch, topic, partition FORMAT TabSeparated");
	status = buf_cstr(&sql)
			 ? clickhouse_rows(ch, sql.data, params, "nsnnnnnnn",
					   take_source, o, err)
			 : error_set_nomem(err);
	buf_free(&sql);
	return status;
}

/* --- plans -----------------------------------------------------------------
 */

static struct known_hour *find_known_hour(struct open_hours *o, int64_t start)
{
	for (size_t i = 0; i < KNOWN_MAX; i++)
		if (o->known[i].start == start)
			return &o->known[i];
	return NULL;
}

static int put_conditions(struct open_hours *o, const struct known_hour *base,
			  struct error *err)
{
	buf_reset(&o->upto);
	buf_reset(&o->added);
	buf_puts(&o->upto, "offset < ");
	put_next(&o->upto, &o->planned.frontier);
	buf_append(&o->added, o->upto.data, o->upto.len);
	if (base) {
		buf_puts(&o->added, " AND offset >= ");
		put_next(&o->added, &base->frontier);
	}
	return buf_cstr(&o->upto) && buf_cstr(&o->added) ? 0
							 : error_set_nomem(err);
}

int open_hours_plan(struct open_hours *o, const struct settling *s,
		    const struct stale *hour, struct open_plan *ret,
		    struct error *err)
{
	static const struct frontier none = {0};
	struct known_hour *base = find_known_hour(o, hour->start);

	if (base && base->attempt != hour->was_attempt) {
		known_clear(base);
		base = NULL;
	}
	known_clear(&o->planned);
	o->planned.start = hour->start;
	o->below_blocks = o->below_rows = 0;
	o->differs = o->too_many = false;
	if (read_reports(o, s->ch, base ? &base->frontier : &none, err) < 0)
		return error_wrap(err, "ingest_progress");
	/*
	 * Some reports are from before the hour, by a clock that was set back.
	 */
	if (o->planned.blocks < hour->blocks || o->planned.rows < hour->rows)
		return 0;
	if (o->too_many || is_too_long(&o->planned.frontier))
		return 0;
	if (base && (o->differs || o->below_blocks != base->blocks ||
		     o->below_rows != base->rows))
		base = NULL;
	if (put_conditions(o, base, err) < 0)
		return -1;
	*ret = (struct open_plan){
		.what = *hour,
		.upto = o->upto.data,
		.added = o->added.data,
		.base = base ? base->attempt : 0,
		.has_rest = base && base->has_rest,
	};
	ret->what.blocks = o->planned.blocks;
	ret->what.rows = o->planned.rows;
	return 1;
}

void open_hours_published(struct open_hours *o, uint64_t attempt, bool has_rest)
{
	struct known_hour *known = find_known_hour(o, o->planned.start),
			  *at = known;

	/* Otherwise replaces the oldest hour; a free entry has the start 0. */
	for (size_t i = 0; !known && i < KNOWN_MAX; i++)
		if (!at || o->known[i].start < at->start)
			at = &o->known[i];
	known_clear(at);
	*at = o->planned;
	at->attempt = attempt;
	at->has_rest = has_rest;
	o->planned = (struct known_hour){0};
}

void open_hours_forget(struct open_hours *o, int64_t start)
{
	struct known_hour *known = find_known_hour(o, start);

	if (known)
		known_clear(known);
	known_clear(&o->planned);
}

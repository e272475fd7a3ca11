#include "collector/tools/verify/stored.h"

#include <inttypes.h>
#include <stdlib.h>

/* --- surveys -------------------------------------------------------------- */

int known_list_ask(struct ask *a, struct known_list *ret, struct error *err)
{
	const uint64_t *n;
	size_t count;

	*ret = (struct known_list){0};
	if (ask_numbers(a, 5, &n, &count, err) < 0)
		return -1;
	ret->items = calloc(count + 1, sizeof(*ret->items));
	if (!ret->items)
		return error_set_nomem(err);
	for (size_t i = 0; i < count; i++, n += 5)
		ret->items[i] = (struct known){
			.partition = (uint32_t)n[0],
			.epoch = (uint32_t)n[1],
			.first = n[2],
			.last = n[3],
			.events = n[4],
		};
	ret->count = count;
	return 0;
}

void known_list_free(struct known_list *list)
{
	free(list->items);
	*list = (struct known_list){0};
}

int stored_survey(struct ask *a, int64_t from, int64_t to,
		  struct known_list *ret, struct error *err)
{
	struct buf *sql = ask_begin(a);

	buf_printf(sql,
		   "SELECT toUInt64(partition), toUInt64(epoch), min(offset), "
		   "max(offset), count() FROM %s WHERE topic = {topic:String}",
		   a->table);
	if (a->timed)
		ask_put_times(a, "append_time", from, to);
	buf_puts(sql, " GROUP BY partition, epoch ORDER BY partition, epoch");
	return known_list_ask(a, ret, err);
}

static void put_where(struct ask *a, const struct stretch *s)
{
	buf_printf(&a->sql,
		   " FROM %s WHERE topic = {topic:String} AND partition = "
		   "%" PRIu32 " AND epoch = %" PRIu32 " AND offset >= %" PRIu64,
		   a->table, s->partition, s->epoch, s->first);
	if (a->timed)
		ask_put_times(a, "append_time", s->since_ms, s->until_ms);
}

int stored_extent(struct ask *a, const struct stretch *s, struct known *ret,
		  struct error *err)
{
	const uint64_t *n;
	size_t count;

	buf_puts(ask_begin(a), "SELECT min(offset), max(offset), count()");
	put_where(a, s);
	buf_printf(&a->sql, " AND offset < %" PRIu64, s->end);
	if (ask_numbers(a, 3, &n, &count, err) < 0)
		return -1;
	*ret = (struct known){.partition = s->partition, .epoch = s->epoch};
	if (count) {
		ret->first = n[0];
		ret->last = n[1];
		ret->events = n[2];
	}
	return 0;
}

/* --- a window ------------------------------------------------------------- */

int stored_read(struct ask *a, const struct stretch *s, struct window *w,
		struct stored_twice *ret_twice, struct error *err)
{
	struct buf *sql = ask_begin(a);
	const uint64_t *n;
	uint64_t distinct;
	size_t count;

	*ret_twice = (struct stored_twice){0};
	buf_printf(sql,
		   "SELECT intDiv(offset - %" PRIu64 ", 64) AS word, "
		   "groupBitOr(bitShiftLeft(toUInt64(1), offset %% 64)), "
		   "count(), %s",
		   w->base,
		   a->timed ? "toUInt64(sum(toUnixTimestamp64Milli("
			      "append_time)))"
			    : "toUInt64(0)");
	put_where(a, s);
	buf_printf(sql, " AND offset < %" PRIu64 " GROUP BY word", s->end);
	if (ask_numbers(a, 4, &n, &count, err) < 0)
		return -1;
	for (size_t i = 0; i < count; i++, n += 4) {
		window_add_word(w, IN_ROWS, n[0], n[1]);
		distinct = (uint64_t)__builtin_popcountll(n[1]);
		window_add_time(w, TIMES_OF_ROWS, n[0],
				n[2] == distinct ? n[3] : WINDOW_TIME_UNKNOWN);
		if (n[2] == distinct)
			continue;
		ret_twice->surplus += n[2] - distinct;
		if (ret_twice->count < STORED_WORDS_MAX)
			ret_twice->words[ret_twice->count++] = n[0];
	}
	return 0;
}

int stored_times(struct ask *a, const struct stretch *s, uint64_t first,
		 int64_t ret_ms[64], struct error *err)
{
	const uint64_t *n;
	size_t count;

	buf_puts(
		ask_begin(a),
		"SELECT offset, toUInt64(toUnixTimestamp64Milli(append_time))");
	put_where(a, s);
	buf_printf(&a->sql,
		   " AND offset < %" PRIu64
		   " AND intDiv(offset, 64) = %" PRIu64,
		   s->end, first / 64);
	if (ask_numbers(a, 2, &n, &count, err) < 0)
		return -1;
	for (int i = 0; i < 64; i++)
		ret_ms[i] = -1;
	for (size_t i = 0; i < count; i++, n += 2)
		ret_ms[n[0] % 64] = (int64_t)n[1];
	return 0;
}

static void put_words(struct buf *sql, const struct stored_twice *twice)
{
	for (size_t i = 0; i < twice->count; i++)
		buf_printf(sql, "%s%" PRIu64, i ? ", " : "", twice->words[i]);
}

int stored_name_twice(struct ask *a, const struct stretch *s,
		      const struct window *w, const struct stored_twice *twice,
		      struct findings *findings, struct error *err)
{
	struct buf *sql = ask_begin(a);
	struct finding f = {FINDING_TWICE, s->partition, s->epoch, 0, 0, 0};
	uint64_t named = 0;
	const uint64_t *n;
	size_t count;

	buf_puts(sql, "SELECT offset, count() - 1 AS more");
	put_where(a, s);
	buf_printf(sql,
		   " AND offset < %" PRIu64 " AND intDiv(offset - %" PRIu64
		   ", 64) IN (",
		   s->end, w->base);
	put_words(sql, twice);
	buf_puts(sql, ") GROUP BY offset HAVING more > 0 ORDER BY offset");
	if (ask_numbers(a, 2, &n, &count, err) < 0)
		return -1;
	for (size_t i = 0; i < count; i++, n += 2) {
		f.first = f.last = n[0];
		f.events = n[1];
		named += n[1];
		if (findings_note(findings, &f, err) < 0)
			return -1;
	}
	/* Those in words that were not asked for. */
	if (twice->surplus > named) {
		findings->events[FINDING_TWICE] += twice->surplus - named;
		findings->untold++;
	}
	return 0;
}

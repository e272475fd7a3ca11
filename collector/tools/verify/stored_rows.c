#include "collector/tools/verify/stored_rows.h"

#include <inttypes.h>
#include <stdlib.h>

/* --- surveys -------------------------------------------------------------- */

int stored_rows_survey(struct ask *a, int64_t from, int64_t to,
		       struct offset_survey *ret, struct error *err)
{
	struct buf *sql = ask_begin(a);

	buf_printf(sql,
		   "SELECT toUInt64(partition), toUInt64(epoch), min(offset), "
		   "max(offset), count() FROM %s WHERE topic = {topic:String}",
		   a->table);
	if (a->timed)
		ask_put_times(a, "append_time", from, to);
	buf_puts(sql, " GROUP BY partition, epoch ORDER BY partition, epoch");
	return offset_survey_query(ret, a, err);
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

int stored_rows_extent(struct ask *a, const struct stretch *s,
		       struct offset_survey_entry *ret, struct error *err)
{
	const uint64_t *n;
	size_t count;

	buf_puts(ask_begin(a), "SELECT min(offset), max(offset), count()");
	put_where(a, s);
	buf_printf(&a->sql, " AND offset < %" PRIu64, s->end);
	if (ask_numbers(a, 3, &n, &count, err) < 0)
		return -1;
	*ret = (struct offset_survey_entry){.partition = s->partition,
					    .epoch = s->epoch};
	if (count) {
		ret->first = n[0];
		ret->last = n[1];
		ret->events = n[2];
	}
	return 0;
}

/* --- window --------------------------------------------------------------- */

int stored_rows_read(struct ask *a, const struct stretch *s, struct window *w,
		     struct stored_rows_twice *ret_twice, struct error *err)
{
	struct buf *sql = ask_begin(a);
	const uint64_t *n;
	uint64_t distinct;
	size_t count;

	*ret_twice = (struct stored_rows_twice){0};
	buf_printf(sql,
		   "SELECT intDiv(offset - %" PRIu64 ", 64) AS word, "
		   "groupBitOr(bitShiftLeft(toUInt64(1), offset %% 64)), %s",
		   w->base,
		   a->timed ? "count(), toUInt64(sum(toUnixTimestamp64Milli("
			      "append_time)))"
			    : "uniqExact(offset), toUInt64(0)");
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
		if (ret_twice->count < STORED_ROWS_WORDS_MAX)
			ret_twice->words[ret_twice->count++] = n[0];
	}
	return 0;
}

int stored_rows_times(struct ask *a, const struct stretch *s, uint64_t first,
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

static void put_words(struct buf *sql, const struct stored_rows_twice *twice)
{
	for (size_t i = 0; i < twice->count; i++)
		buf_printf(sql, "%s%" PRIu64, i ? ", " : "", twice->words[i]);
}

int stored_rows_name_twice(struct ask *a, const struct stretch *s,
			   const struct window *w,
			   const struct stored_rows_twice *twice,
			   struct event_findings *findings, struct error *err)
{
	struct buf *sql = ask_begin(a);
	struct event_finding f = {
		FINDING_TWICE, s->partition, s->epoch, 0, 0, 0};
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
		if (event_findings_note(findings, &f, err) < 0)
			return -1;
	}
	/* The other surplus rows are in words that were not queried. */
	if (twice->surplus > named) {
		findings->events[FINDING_TWICE] += twice->surplus - named;
		findings->unnamed++;
	}
	return 0;
}

/* --- events stored again in a later epoch --------------------------------- */

static bool has_two(const struct offset_survey *stored, uint32_t partition)
{
	unsigned epochs = 0;

	for (size_t i = 0; i < stored->count; i++)
		epochs += stored->entries[i].partition == partition;
	return epochs > 1;
}

/* Appends " AND partition IN (0, 3)" for the partitions with rows of several
 * epochs; returns false if there is none. */
static bool put_partitions(struct buf *sql, const struct offset_survey *stored)
{
	uint32_t last = UINT32_MAX;
	bool any = false;

	for (size_t i = 0; i < stored->count; i++) {
		uint32_t partition = stored->entries[i].partition;

		if (partition == last || !has_two(stored, partition))
			continue;
		buf_printf(sql, "%s%" PRIu32,
			   any ? ", " : " AND partition IN (", partition);
		any = true;
		last = partition;
	}
	buf_puts(sql, any ? ")" : "");
	return any;
}

static int ask_reread(struct ask *a, int64_t from, int64_t to,
		      const struct offset_survey *stored,
		      struct offset_survey *ret, struct error *err)
{
	struct buf *sql = ask_begin(a);

	buf_puts(sql, "SELECT toUInt64(partition), toUInt64(later), "
		      "min(later_offset), max(later_offset), sum(more) FROM "
		      "(SELECT partition, max(epoch) AS later, "
		      "argMax(offset, epoch) AS later_offset, "
		      "uniqExact(epoch) - 1 AS more FROM clicks "
		      "WHERE topic = {topic:String}");
	ask_put_times(a, "append_time", from, to);
	if (!put_partitions(sql, stored)) {
		*ret = (struct offset_survey){0};
		return 0;
	}
	buf_puts(sql, " GROUP BY partition, event_id, append_time "
		      "HAVING more > 0) GROUP BY partition, later "
		      "ORDER BY partition, later");
	return offset_survey_query(ret, a, err);
}

int stored_rows_name_reread(struct ask *a, int64_t from, int64_t to,
			    const struct offset_survey *stored,
			    struct event_findings *findings, struct error *err)
{
	struct offset_survey found;
	int status = ask_reread(a, from, to, stored, &found, err);

	for (size_t i = 0; status == 0 && i < found.count; i++) {
		const struct offset_survey_entry *k = &found.entries[i];
		struct event_finding f = {FINDING_REREAD, k->partition,
					  k->epoch,	  k->first,
					  k->last,	  k->events};

		status = event_findings_note(findings, &f, err);
	}
	offset_survey_free(&found);
	return status;
}

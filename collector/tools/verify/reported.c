#include "collector/tools/verify/reported.h"

#include <inttypes.h>

#include "common/clock.h"

/* Brokers' clocks differ, and a new leader's clock may be behind. */
#define MARGIN (10 * CLOCK_MINUTE)

/* Reports of batches; idle reports are left out. */
#define FROM_BATCHES                                                           \
	" FROM ingest_progress WHERE topic = {topic:String} "                  \
	"AND rows + dead_lettered + lost > 0"

#define SELECT_KNOWN                                                           \
	"SELECT toUInt64(partition), toUInt64(epoch), min(first), "            \
	"max(last), sum(rows + dead_lettered + lost)"
#define GROUP_KNOWN " GROUP BY partition, epoch ORDER BY partition, epoch"

int reported_survey(struct ask *a, int64_t from, int64_t to,
		    struct offset_survey *ret, struct error *err)
{
	buf_puts(ask_begin(a), SELECT_KNOWN FROM_BATCHES);
	/* The time of lost events in Kafka is unknown. */
	ask_put_times(a, "if(lost > 0, inserted_at, append_time)", from, to);
	buf_puts(&a->sql, GROUP_KNOWN);
	return offset_survey_query(ret, a, err);
}

int reported_reach(struct ask *a, struct offset_survey *ret, struct error *err)
{
	buf_puts(ask_begin(a), SELECT_KNOWN FROM_BATCHES GROUP_KNOWN);
	return offset_survey_query(ret, a, err);
}

int reported_lives(struct ask *a, struct offset_survey *ret, struct error *err)
{
	/* An epoch that begins anew begins at 0, even if another decision at
	 * the same time has another offset. */
	buf_puts(ask_begin(a),
		 "SELECT toUInt64(partition), toUInt64(epoch), min(gap), "
		 "min(next), count() FROM ingest_epochs WHERE "
		 "topic = {topic:String} AND decision NOT IN ('same', "
		 "'pass')" GROUP_KNOWN);
	return offset_survey_query(ret, a, err);
}

int reported_batches(struct ask *a, const struct stretch *s, uint64_t after,
		     enum reported_which which,
		     const struct reported_batch **ret_batches,
		     size_t *ret_count, struct error *err)
{
	static const char *const only[] = {
		[REPORTED_ALL] = "",
		[REPORTED_DEAD] = " AND dead_lettered > 0",
		[REPORTED_LOST] = " AND lost > 0",
	};
	const uint64_t *n;
	size_t count;

	buf_printf(ask_begin(a),
		   "SELECT first, last, rows, dead_lettered, lost" FROM_BATCHES
		   " AND partition = %" PRIu32 " AND epoch = %" PRIu32
		   " AND last >= %" PRIu64 " AND first < %" PRIu64
		   " AND first >= %" PRIu64
		   "%s ORDER BY first LIMIT %d WITH TIES",
		   s->partition, s->epoch, s->first, s->end, after, only[which],
		   REPORTED_PAGE);
	if (ask_numbers(a, 5, &n, &count, err) < 0)
		return -1;
	/* The struct has five numbers, in this order. */
	*ret_batches = (const struct reported_batch *)(const void *)n;
	*ret_count = count;
	return 0;
}

int reported_part(struct ask *a, struct stretch *s, struct error *err)
{
	uint64_t reach = window_reach(s->first, s->end);
	const uint64_t *n;
	size_t count;

	buf_printf(ask_begin(a),
		   "SELECT maxIf(last, first >= %" PRIu64 " AND last < %" PRIu64
		   "), toUInt64(toUnixTimestamp64Milli(maxIf(append_time, last "
		   "< %" PRIu64 "))), "
		   "toUInt64(toUnixTimestamp64Milli(maxIf(append_time, last >= "
		   "%" PRIu64 " AND first < %" PRIu64 "))), "
		   "countIf(last >= %" PRIu64 " AND first < %" PRIu64
		   ")" FROM_BATCHES " AND partition = %" PRIu32
		   " AND epoch = %" PRIu32,
		   s->first, reach, s->first, s->first, reach, s->first, reach,
		   s->partition, s->epoch);
	if (ask_numbers(a, 4, &n, &count, err) < 0)
		return -1;
	/* The part ends between two batches, unless one is longer than a
	 * window. */
	s->end = reach < s->end && n[0] >= s->first ? n[0] + 1 : reach;
	if (n[3]) {
		s->since_ms = n[1] ? (int64_t)n[1] - MARGIN : 0;
		s->until_ms = (int64_t)n[2] + MARGIN;
	}
	return 0;
}

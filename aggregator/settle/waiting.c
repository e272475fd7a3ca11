#include "aggregator/settle/waiting.h"

#include <inttypes.h>
#include <stdio.h>

#include "aggregator/settle/promise.h"
#include "common/clickhouse/rows.h"
#include "common/clock.h"

/* Time over which the rate is measured. */
#define LATELY (10 * CLOCK_MINUTE)

const char *const waiting_names[WAITING_UNITS] = {"hours", "days"};

struct lately {
	int64_t now;
	struct waiting *all;
};

static void set_list(struct waiting *w, struct stale_list *list)
{
	w->count = list->count;
	w->oldest = list->count ? list->items[0].start : 0;
	stale_list_release(list);
}

/* A row is: whether it is about hours, when the first was settled, how many
 * were settled after it. */
static int take_lately(void *arg, char **f, struct error *err)
{
	const struct lately *lately = arg;
	struct waiting *w =
		&lately->all[tsv_u64(f[0]) ? WAITING_HOURS : WAITING_DAYS];
	double passed = (double)(lately->now - tsv_i64(f[1]));
	double settled = (double)tsv_u64(f[2]);

	(void)err;
	if (passed <= 0 || settled <= 0)
		return 0;
	w->per_hour = settled * (double)CLOCK_HOUR / passed;
	if (w->count)
		w->done_at = lately->now +
			     (int64_t)((double)w->count * passed / settled);
	return 0;
}

static int read_lately(struct clickhouse *ch, int64_t now,
		       struct waiting all[WAITING_UNITS], struct error *err)
{
	static const char sql[] =
#include "aggregator/sql/settled_lately.sql.inc"
		;
	char since_text[24], now_text[24];
	const struct clickhouse_param params[] = {{"param_since", since_text},
						  {"param_now", now_text},
						  {NULL, NULL}};
	struct lately lately = {now, all};

	snprintf(since_text, sizeof(since_text), "%" PRId64, now - LATELY);
	snprintf(now_text, sizeof(now_text), "%" PRId64, now);
	return clickhouse_rows(ch, sql, params, "nnn", take_lately, &lately,
			       err);
}

int waiting_list_hours(struct clickhouse *ch,
		       const struct aggregator_settings *settings,
		       const struct progress *last, int64_t now,
		       struct stale_list *ret, struct error *err)
{
	return progress_waiting_hours(
		ch, promise_read_from(last, now, settings->progress_overlap), 0,
		UINT32_MAX, ret, err);
}

int waiting_read(struct clickhouse *ch,
		 const struct aggregator_settings *settings,
		 const struct progress *last, int64_t now,
		 struct waiting ret[WAITING_UNITS], struct error *err)
{
	const struct days_due due = {.closed_before = now - settings->day_grace,
				     .not_since = PROGRESS_LAST,
				     .corrected_since = PROGRESS_LAST};
	struct stale_list list;

	for (size_t i = 0; i < WAITING_UNITS; i++)
		ret[i] = (struct waiting){0};
	if (waiting_list_hours(ch, settings, last, now, &list, err) < 0)
		return -1;
	set_list(&ret[WAITING_HOURS], &list);
	if (progress_stale_days(ch, &due, false, &list, err) < 0)
		return -1;
	set_list(&ret[WAITING_DAYS], &list);
	if (read_lately(ch, now, ret, err) < 0)
		return error_wrap(err, "settled");
	return 0;
}

/*
 * freshness.h - up to when counts are complete, for all answers.
 *
 * A thread asks every `watermark_every`; answers take what it found last.  What
 * was promised then is still true: clicks before it do not go away.
 */
#ifndef AGGREGATOR_API_FRESHNESS_H
#define AGGREGATOR_API_FRESHNESS_H

#include "aggregator/aggregator_config.h"
#include "aggregator/settle/copied_days.h"
#include "aggregator/settle/progress.h"
#include "aggregator/settle/settling.h"
#include "aggregator/settle/watermark_reader.h"
#include "common/app/health.h"
#include "common/error.h"

struct freshness;

/* As of one look at ClickHouse. */
struct fresh {
	struct progress published;
	struct watermark reported;
	int64_t promised; /* the greatest of reported.complete_until until now
			   */
	struct server_clock clock;
	struct partition_mark *marks; /* owned; NULL unless asked for */
	size_t mark_count;
};

/* `health` outlives it: it is told when the first reading succeeded, before
 * which some answers are refused. */
struct freshness *freshness_new(const struct aggregator_config *config,
				struct health *health, struct error *err);
int freshness_start(struct freshness *f, struct error *err);
void freshness_free(struct freshness *f); /* NULL accepted */

/* What was found last, from any thread.  False: nothing was found yet, or for
 * so long that it is better to ask. */
bool freshness_get(struct freshness *f, struct fresh *ret);

/* The days between from and to (seconds) that are copied, also in part.  Where
 * nothing was found lately, `ch` is asked.  Release with copied_days_release.
 */
int freshness_days(struct freshness *f, enum copied which,
		   struct clickhouse *ch, int64_t from, int64_t to,
		   struct copied_days *ret, struct error *err);

/* The same with what each partition reported, however long ago; an error when
 * nothing was found yet.  Release with fresh_release. */
int freshness_get_marks(struct freshness *f, struct fresh *ret,
			struct error *err);
void fresh_release(struct fresh *fresh);

/* Counts before it (ms since 1970) are in the rows of `clicks`; 0: not known.
 */
int64_t fresh_complete_until(const struct fresh *fresh,
			     const struct aggregator_settings *settings);

/* ClickHouse's clock, ms since 1970. */
int64_t fresh_now(const struct fresh *fresh);

#endif

/*
 * freshness.h - the time up to which counts are complete, for all answers.
 *
 * A thread reads it every `watermark_every`; answers use the last result.  A
 * promise stays true: clicks before it do not disappear.
 */
#ifndef AGGREGATOR_API_FRESHNESS_H
#define AGGREGATOR_API_FRESHNESS_H

#include "aggregator/aggregator_config.h"
#include "aggregator/progress.h"
#include "aggregator/settle/copied_days.h"
#include "aggregator/settle/settling.h"
#include "aggregator/settle/watermark_reader.h"
#include "common/app/health.h"
#include "common/error.h"

struct freshness;

/* The result of one reading of ClickHouse. */
struct fresh {
	struct progress published;
	struct watermark reported;
	int64_t promised; /* greatest reported.complete_until so far */
	struct server_clock clock;
	/* Differs when anything that answers are made of has changed, but not
	 * when the watermark alone goes on; 0: not known.  It is older than the
	 * rest of the result. */
	uint64_t version;
	struct partition_mark *marks; /* owned; NULL unless requested */
	size_t mark_count;
};

/* `health` must outlive it.  Its check is up once the first reading has
 * succeeded; before that, some answers are refused. */
struct freshness *freshness_new(const struct aggregator_config *config,
				struct health *health, struct error *err);
int freshness_start(struct freshness *f, struct error *err);
void freshness_free(struct freshness *f); /* NULL accepted */

/* Returns the last result, from any thread.  False: there is none yet, or it is
 * so old that a query of one's own is better. */
bool freshness_get(struct freshness *f, struct fresh *ret);

/* Returns the days between from and to (seconds) that are copied, including
 * those that are partly in the range.  Without a recent result, `ch` is
 * queried.  Release with copied_days_release. */
int freshness_days(struct freshness *f, enum copied which,
		   struct clickhouse *ch, int64_t from, int64_t to,
		   struct copied_days *ret, struct error *err);

/*
 * Returns whether an hour that is over and touches [from, to) (seconds) waits
 * to be settled: then counts of that range lack clicks that are stored.  It was
 * found before the last result, so that hours which were settled in between
 * wait, too.  Without a recent result, `ch` is queried.
 */
int freshness_waits(struct freshness *f, struct clickhouse *ch, int64_t from,
		    int64_t to, bool *ret, struct error *err);

/* Like freshness_get with what each partition reported, of any age; an error
 * before the first result.  Release with fresh_release. */
int freshness_get_marks(struct freshness *f, struct fresh *ret,
			struct error *err);
void fresh_release(struct fresh *fresh);

/* Returns the time before which all counts are in the rows of `clicks` (ms
 * since 1970); 0: not known. */
int64_t fresh_complete_until(const struct fresh *fresh,
			     const struct aggregator_settings *settings);

/* ClickHouse's clock, ms since 1970. */
int64_t fresh_now(const struct fresh *fresh);

#endif

/*
 * day_settler.h - the thread that settles days, beside the thread of hours: one
 * statement about a day may take as long as hundreds about the present hour,
 * which must not wait for it.
 */
#ifndef AGGREGATOR_SETTLE_DAY_SETTLER_H
#define AGGREGATOR_SETTLE_DAY_SETTLER_H

#include <pthread.h>
#include <stdbool.h>

#include "aggregator/aggregator_config.h"
#include "aggregator/settle/lease.h"
#include "aggregator/settle/repeats.h"
#include "aggregator/settle/settling.h"
#include "common/error.h"
#include "common/log.h"
#include "common/metrics/metrics.h"

struct day_settler;

/* The state that it shares with the thread of hours, which must outlive it. */
struct day_settler_env {
	const struct aggregator_config *config;
	/* For statements that may take as long as settle_timeout allows. */
	const struct clickhouse_config *clickhouse;
	struct log *log;
	struct lease *lease;
	pthread_mutex_t *turn; /* settling_take_turn */
	struct metric *failures;
	/* Called in the thread of days, with `arg`. */
	void (*on_shortage)(void *arg, const struct shortage *s);
	void *arg;
};

/* Registers its metrics. */
struct day_settler *day_settler_new(const struct day_settler_env *env,
				    struct metrics *metrics, struct error *err);

/* Starts the thread.  It does nothing until day_settler_allow is called. */
int day_settler_start(struct day_settler *d, struct error *err);

/*
 * Reports that the tables exist, and whether days are settled.  They are not
 * while many hours wait to be settled, since each of these would have its day
 * settled again.  `news`: hours were settled.  From any thread.
 */
void day_settler_allow(struct day_settler *d, bool allowed, bool news);

/* Counts and logs rows that are no longer clicks.  From any thread. */
void day_settler_report_repeats(const struct day_settler *d,
				const struct repeats_removed *removed);

/* Makes the thread end after the current statement. */
void day_settler_end(struct day_settler *d);

/* Ends the current pass between two statements, joins the thread.  NULL
 * accepted. */
void day_settler_free(struct day_settler *d);

#endif

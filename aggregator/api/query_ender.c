#include "aggregator/api/query_ender.h"

#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/loop/workers.h"

/* A query beyond this limit ends by itself, when its connection is closed or
 * its time is over. */
#define QUEUE_MAX 1000
/* ms; a query that takes longer to end is left to the server. */
#define KILL_TIMEOUT 10000

struct query_ender {
	struct clickhouse_config config; /* the connection's */
	struct log *log;
	struct clickhouse *ch; /* the thread's */
	struct workers *thread;
	struct metric *cancelled;
	uint64_t run; /* distinguishes this process from others */
	atomic_uint_least64_t named;
	atomic_bool stopping;
	bool failed; /* the last attempt; the thread's */
};

struct query_ending {
	struct work work; /* has to be first */
	struct query_ender *ender;
	char id[sizeof(((struct clickhouse_task *)0)->id)];
};

struct query_ender *query_ender_new(const struct clickhouse_config *config,
				    struct log *log, struct metrics *metrics,
				    struct error *err)
{
	struct query_ender *e = calloc(1, sizeof(*e));

	if (!e) {
		error_set_nomem(err);
		return NULL;
	}
	e->log = log;
	e->cancelled = metrics_counter(
		metrics, "shortloop_aggregator_cancelled_total", NULL,
		"Questions whose client went before they were answered.");
	randombytes_buf(&e->run, sizeof(e->run));
	e->config = *config;
	if (e->config.query_timeout > KILL_TIMEOUT)
		e->config.query_timeout = KILL_TIMEOUT;
	e->ch = clickhouse_new(&e->config, err);
	if (e->ch)
		e->thread = workers_new(1, QUEUE_MAX, err);
	if (!e->thread) {
		query_ender_free(e);
		return NULL;
	}
	return e;
}

void query_ender_free(struct query_ender *e)
{
	if (!e)
		return;
	atomic_store(&e->stopping, true);
	workers_free(e->thread);
	clickhouse_free(e->ch);
	free(e);
}

void query_ender_name(struct query_ender *e, struct clickhouse_task *task)
{
	snprintf(task->id, sizeof(task->id),
		 "aggregator-%016" PRIx64 "-%" PRIu64, e->run,
		 (uint64_t)atomic_fetch_add(&e->named, 1));
}

static void end_query(struct work *work, unsigned index)
{
	struct query_ending *ending = (struct query_ending *)work;
	struct query_ender *e = ending->ender;
	struct error err = {0};

	(void)index;
	if (e->failed && atomic_load(&e->stopping)) {
		free(ending);
		return;
	}
	e->failed = clickhouse_end_queries(e->ch, ending->id, &err) < 0;
	if (e->failed)
		log_warn(e->log, "cannot end a query",
			 log_str("query_id", ending->id), log_err(&err));
	free(ending);
}

/* Returns NULL if memory is short; the query then ends by itself. */
static struct query_ending *ending_new(struct query_ender *e,
				       const struct clickhouse_task *task)
{
	struct query_ending *ending = calloc(1, sizeof(*ending));

	if (!ending)
		return NULL;
	ending->work.run = end_query;
	ending->ender = e;
	memcpy(ending->id, task->id, sizeof(ending->id));
	return ending;
}

static void push_ending(struct query_ender *e, struct query_ending *ending)
{
	if (ending && !workers_push(e->thread, &ending->work))
		free(ending);
}

void query_ender_cancel(struct query_ender *e, struct clickhouse_task *task)
{
	struct query_ending *ending = ending_new(e, task);

	metric_add(e->cancelled, 1);
	atomic_store(&task->cancelled, true);
	push_ending(e, ending);
}

void query_ender_finish(struct query_ender *e,
			const struct clickhouse_task *task)
{
	/* The query of a cancelled task was ended already. */
	if (task->unanswered && !atomic_load(&task->cancelled))
		push_ending(e, ending_new(e, task));
}

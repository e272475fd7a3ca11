/*
 * live_reader.h - a thread that reads the topic kafka.topic_live from its end
 * on, while anybody listens.
 *
 * While nobody does, nothing is read: the brokers are asked where the topic
 * ends when the first one comes.
 */
#ifndef AGGREGATOR_API_LIVE_LIVE_READER_H
#define AGGREGATOR_API_LIVE_LIVE_READER_H

#include <stdbool.h>
#include <stdint.h>

#include "aggregator/aggregator_config.h"
#include "aggregator/api/live/live_event.h"
#include "aggregator/api/query_ender.h"
#include "common/clickhouse/clickhouse.h"
#include "common/error.h"
#include "common/keys/key_names.h"
#include "common/log.h"
#include "common/loop/workers.h"
#include "common/metrics/metrics.h"

struct live_reader;

/* Whom an event goes to: those who see all links are not kept waiting for what
 * the archive says of others. */
enum live_audience {
	SEES_ALL,
	SEES_SOME, /* the event's `whose` is known */
	LIVE_AUDIENCES,
};

/* One who listens. */
struct live_listener {
	enum live_audience audience;
	/* Of SEES_SOME: of clicks of others not even the link is looked for;
	 * NULL: any's.  They live as long as it listens. */
	const struct key_names *owners;
	/* The reader's. */
	struct live_listener *next, *prev;
};

struct live_reader_options {
	const struct aggregator_config *config; /* with a topic_live */
	struct log *log;
	struct metrics *metrics;
	struct workers *workers;
	struct clickhouse *const *connections; /* one a worker */
	struct query_ender *ender;
	/* All of these from any thread. */
	void (*on_event)(void *arg, struct live_event *e,
			 enum live_audience audience);
	/* So many events did not get as far as that. */
	void (*on_lost)(void *arg, uint64_t events,
			enum live_audience audience);
	/* What is clicked from now on will be told. */
	void (*on_ready)(void *arg);
	void *arg;
};

/* Does not wait for a broker. */
struct live_reader *live_reader_new(const struct live_reader_options *options,
				    struct error *err);
int live_reader_start(struct live_reader *r, struct error *err);
/* Ends the thread; the workers may still call. */
void live_reader_stop(struct live_reader *r);
/* Once the workers have ended.  NULL accepted. */
void live_reader_free(struct live_reader *r);

/* One more listens, or one less; it must not move, nor change, in between. From
 * any thread. */
void live_reader_join(struct live_reader *r, struct live_listener *listener);
void live_reader_leave(struct live_reader *r, struct live_listener *listener);

/* Is what is clicked from now on told?  From any thread. */
bool live_reader_is_ready(struct live_reader *r);

#endif

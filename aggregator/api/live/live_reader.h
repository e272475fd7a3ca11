/*
 * live_reader.h - a thread that reads the topic kafka.topic_live from its end
 * on, while there are listeners.
 *
 * Without listeners nothing is read: the brokers are queried for the end of the
 * topic when the first one joins.
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
#include "common/keys/key_line.h"
#include "common/keys/key_names.h"
#include "common/log.h"
#include "common/loop/workers.h"
#include "common/metrics/metrics.h"

struct live_reader;

/* The listeners that an event goes to.  Those that see all links do not wait
 * for what the archive knows of the owner. */
enum live_audience {
	SEES_ALL,
	SEES_SOME, /* the event's `whose` is known */
	LIVE_AUDIENCES,
};

struct live_listener {
	enum live_audience audience;
	/* For SEES_SOME only: the link of a click of another account, or of
	 * other owners in it, is not looked up.  `owners` NULL: any owner; the
	 * names live as long as the listener is joined. */
	char account[API_KEY_NAME_MAX];
	const struct key_names *owners;
	/* Used by the reader. */
	struct live_listener *next, *prev;
};

struct live_reader_options {
	const struct aggregator_config *config; /* with a topic_live */
	struct log *log;
	struct metrics *metrics;
	struct workers *workers;
	struct clickhouse *const *connections; /* one per worker */
	struct query_ender *ender;
	/* The callbacks below run on any thread. */
	void (*on_event)(void *arg, struct live_event *e,
			 enum live_audience audience);
	/* This number of events was lost before on_event. */
	void (*on_lost)(void *arg, uint64_t events,
			enum live_audience audience);
	/* Clicks from now on are reported. */
	void (*on_ready)(void *arg);
	void *arg;
};

/* live_reader_new does not wait for a broker. */
struct live_reader *live_reader_new(const struct live_reader_options *options,
				    struct error *err);
int live_reader_start(struct live_reader *r, struct error *err);
/* Ends the thread; the workers may still call back. */
void live_reader_stop(struct live_reader *r);
/* Call it after the workers have ended.  NULL accepted. */
void live_reader_free(struct live_reader *r);

/* Add and remove a listener, which must not move, nor change, in between.  From
 * any thread. */
void live_reader_join(struct live_reader *r, struct live_listener *listener);
void live_reader_leave(struct live_reader *r, struct live_listener *listener);

/* Returns whether clicks from now on are reported.  From any thread. */
bool live_reader_is_ready(struct live_reader *r);

#endif

#include "redirector/event_sink.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#include "common/kafka/producer.h"
#include "redirector/event_spool.h"
#include "redirector/replay.h"

struct event_sink {
	struct event_sink_options options;
	struct health_check *kafka;
	struct kafka_producer *producer;
	struct event_spool *spool; /* NULL: there is none */
	/* What comes goes into the spool rather than into memory. */
	atomic_bool kafka_away;
};

/* --- what a message is ------------------------------------------------------
 *
 * The producer keeps a pointer with each message.  Of one from the spool it is
 * the replay's; of any other it is no pointer, but the event's time, made odd
 * so that it is not taken for one.
 */

_Static_assert(sizeof(void *) >= sizeof(int64_t), "a time fits a pointer");

static void *opaque_of(int64_t time_ms)
{
	return (void *)(intptr_t)((uint64_t)time_ms << 1 | 1);
}

static bool is_replayed(const void *opaque)
{
	return ((uintptr_t)opaque & 1) == 0;
}

static int64_t time_of(const void *opaque)
{
	return (int64_t)((uintptr_t)opaque >> 1);
}

/* --- on the producer's threads -------------------------------------------- */

static void on_kafka(void *arg, bool up, const char *reason)
{
	struct event_sink *sink = arg;

	atomic_store(&sink->kafka_away, !up);
	if (sink->spool)
		event_spool_kafka_changed(sink->spool, up);
	if (up && health_up(sink->kafka))
		log_info(sink->options.log, "Kafka connected");
	else if (!up && health_down(sink->kafka, reason))
		log_warn(sink->options.log, "Kafka disconnected",
			 log_str("reason", reason));
}

static void on_delivery(void *arg, void *opaque, const struct error *err)
{
	struct event_sink *sink = arg;

	if (is_replayed(opaque))
		replay_on_delivery(opaque, err);
	else
		hour_writer_count_now(sink->options.hours,
				      time_of(opaque) / HOUR_MS,
				      HOUR_ACKNOWLEDGED);
}

static void on_failure(void *arg, void *opaque, const void *event, size_t len,
		       const struct error *err)
{
	struct event_sink *sink = arg;

	if (is_replayed(opaque)) {
		replay_on_delivery(opaque, err);
	} else if (sink->spool && err->code != ERROR_INPUT) {
		event_spool_put(sink->spool, time_of(opaque), !err->retriable,
				event, len);
	} else {
		metric_add(sink->options.metrics
				   ->counters[COUNTER_DROPPED_EXPIRED],
			   1);
		hour_writer_count_now(sink->options.hours,
				      time_of(opaque) / HOUR_MS,
				      HOUR_UNDELIVERED);
	}
}

/* --- making --------------------------------------------------------------- */

static int make_spool(struct event_sink *sink, struct error *err)
{
	const struct event_sink_options *o = &sink->options;
	const struct event_spool_options options = {
		.settings = &o->config->redirector,
		.metrics = o->metrics,
		.hours = o->hours,
		.health = health_register(o->health, "spool"),
		.log = o->log,
		.awaits_folder = o->succeeds,
	};

	sink->spool = event_spool_new(&options, err);
	return sink->spool ? 0 : -1;
}

static int make_producer(struct event_sink *sink, struct error *err)
{
	const struct redirector_config *config = sink->options.config;
	const struct redirector_settings *s = &config->redirector;
	const struct kafka_producer_options options = {
		.client_id = "shortloop-redirector",
		.topic = config->kafka.topic_clicks,
		.compression = s->compression,
		.linger = s->linger,
		.delivery_timeout = s->delivery_timeout,
		.on_delivery = on_delivery,
		.on_failure = on_failure,
		.on_state = on_kafka,
		.arg = sink,
	};

	sink->producer = kafka_producer_new(&config->kafka, &options,
					    sink->options.registry, err);
	return sink->producer ? 0 : -1;
}

struct event_sink *event_sink_new(const struct event_sink_options *options,
				  struct error *err)
{
	struct event_sink *sink = calloc(1, sizeof(*sink));

	if (!sink) {
		error_set_nomem(err);
		return NULL;
	}
	sink->options = *options;
	sink->kafka = health_register(options->health, "kafka");
	if ((options->config->redirector.spool_dir &&
	     make_spool(sink, err) < 0) ||
	    make_producer(sink, err) < 0 ||
	    (sink->spool &&
	     event_spool_start(sink->spool, sink->producer, err) < 0)) {
		event_sink_free(sink);
		return NULL;
	}
	return sink;
}

void event_sink_end(struct event_sink *sink)
{
	if (sink->spool)
		event_spool_stop_replay(sink->spool);
	/* Tells of what it gives up before it is gone. */
	kafka_producer_free(sink->producer);
	sink->producer = NULL;
	/* Its folder may be another process' now. */
	event_spool_free(sink->spool);
	sink->spool = NULL;
}

void event_sink_free(struct event_sink *sink)
{
	if (!sink)
		return;
	event_sink_end(sink);
	free(sink);
}

void event_sink_flush(struct event_sink *sink, int64_t timeout_ms)
{
	struct error err;

	if (sink->spool)
		event_spool_stop_replay(sink->spool);
	if (kafka_producer_flush(sink->producer, timeout_ms, &err) == 0)
		return;
	if (sink->spool)
		log_warn(sink->options.log, "click events spooled",
			 log_err(&err));
	else
		log_error(sink->options.log, "click events dropped",
			  log_err(&err));
}

/* --- from any thread ------------------------------------------------------ */

static enum event_taken spool_event(struct event_sink *sink, int64_t time_ms,
				    const void *event, size_t len)
{
	return event_spool_offer(sink->spool, time_ms, false, event, len)
		       ? EVENT_TAKEN
		       : EVENT_NO_ROOM;
}

enum event_taken event_sink_take(struct event_sink *sink, int64_t time_ms,
				 const void *event, size_t len)
{
	struct error err;

	if (sink->spool &&
	    atomic_load_explicit(&sink->kafka_away, memory_order_relaxed) &&
	    event_spool_is_open(sink->spool))
		return spool_event(sink, time_ms, event, len);
	if (kafka_produce(sink->producer, NULL, 0, event, len,
			  opaque_of(time_ms), &err) == 0)
		return EVENT_TAKEN;
	if (sink->spool && err.code != ERROR_INPUT)
		return spool_event(sink, time_ms, event, len);
	return err.code == ERROR_FULL ? EVENT_NO_ROOM : EVENT_REFUSED;
}

#include "collector/ingest/live.h"

#include <stdlib.h>

#include "collector/enrich/live_event.h"
#include "common/buf.h"
#include "common/clock.h"
#include "common/kafka/producer.h"

enum {
	LINGER_MS = 20,
	DELIVERY_MS = 5000, /* a later click is not live any more */
	FLUSH_MS = 500,	    /* at shutdown */
	/* librdkafka stores more per message than its text, and does not count
	 * that in the bytes of its queue. */
	MESSAGE_SHARE = 1024,
};

struct live {
	struct kafka_producer *producer;
	int64_t max_age; /* ms */
	struct log *log;
	struct buf text; /* the event being written */
	struct metric *shown, *full, *failed, *old;
};

/* Called on the producer's thread. */
static void on_delivery(void *arg, void *opaque, const struct error *err)
{
	struct live *l = arg;

	(void)opaque;
	metric_add(err ? l->failed : l->shown, 1);
}

static void on_state(void *arg, bool up, const char *reason)
{
	struct live *l = arg;

	if (up)
		log_info(l->log, "live topic connected");
	else
		log_warn(l->log,
			 "live topic disconnected: clicks are dropped "
			 "from it",
			 log_str("reason", reason));
}

static void register_metrics(struct live *l, struct metrics *m)
{
	static const char name[] = "shortloop_collector_live_dropped_total";
	static const char help[] = "Clicks that were not shown live";

	l->shown = metrics_counter(m, "shortloop_collector_live_total", NULL,
				   "Clicks shown live");
	l->full = metrics_counter(m, name, "reason=\"full\"", help);
	l->failed = metrics_counter(m, name, "reason=\"failed\"", help);
	l->old = metrics_counter(m, name, "reason=\"old\"", help);
}

int live_open(const struct collector_config *config, size_t bytes,
	      struct metrics *metrics, struct log *log, struct live **ret,
	      struct error *err)
{
	struct kafka_producer_options options = {
		.client_id = "shortloop-collector-live",
		.topic = config->kafka.topic_live,
		.compression = "lz4",
		.linger = LINGER_MS,
		.delivery_timeout = DELIVERY_MS,
		.queue_bytes = (int64_t)(bytes / 2),
		.queue_messages = (int64_t)(bytes / MESSAGE_SHARE),
		.on_delivery = on_delivery,
		.on_state = on_state,
	};
	struct live *l;

	*ret = NULL;
	if (!options.topic)
		return 0;
	l = calloc(1, sizeof(*l));
	if (!l)
		return error_set_nomem(err);
	l->max_age = config->collector.live_max_age;
	l->log = log;
	register_metrics(l, metrics);
	options.arg = l;
	l->producer =
		kafka_producer_new(&config->kafka, &options, metrics, err);
	if (!l->producer) {
		live_free(l);
		return -1;
	}
	*ret = l;
	return 0;
}

void live_free(struct live *l)
{
	struct error ignored;

	if (!l)
		return;
	if (l->producer && kafka_producer_is_up(l->producer))
		(void)kafka_producer_flush(l->producer, FLUSH_MS, &ignored);
	kafka_producer_free(l->producer);
	buf_free(&l->text);
	free(l);
}

void live_show(struct live *l, const void *row, size_t len)
{
	struct error ignored;
	bool old;

	if (!l)
		return;
	buf_reset(&l->text);
	if (!live_event_put(&l->text, row, len, clock_real_ms() - l->max_age,
			    &old)) {
		metric_add(l->old, old);
		return;
	}
	/* Messages have no key, so that a busy link does not fill one
	 * partition. */
	if (l->text.failed || kafka_produce(l->producer, NULL, 0, l->text.data,
					    l->text.len, NULL, &ignored) < 0)
		metric_add(l->full, 1);
}

#include "allocator/link_events.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/drop_const.h"
#include "common/kafka/producer.h"

enum {
	LINGER_MS = 20,
	EVENT_ON_STACK = 2048
};

struct link_events {
	struct kafka_producer *producer;
	struct log *log;
	struct health_check *check;
	struct metric *lost_total;
	atomic_uint_least64_t lost; /* events lost in this series */
	atomic_bool lost_any;	    /* since the start */
	atomic_bool full;	    /* reported by /readyz */
	atomic_bool refused;	    /* reported by /readyz, with 200 */
	atomic_bool up;
};

/* --- callbacks, on the producer's threads --------------------------------- */

static void count_lost_event(struct link_events *e, const char *reason)
{
	metric_add(e->lost_total, 1);
	atomic_store(&e->lost_any, true);
	if (atomic_fetch_add(&e->lost, 1) == 0)
		log_error(e->log, "link event dropped",
			  log_str("reason", reason));
}

static void report_end_of_losses(struct link_events *e)
{
	uint64_t lost = atomic_exchange(&e->lost, 0);

	if (lost)
		log_error(e->log, "link events dropped",
			  log_int("events", (int64_t)lost));
}

static void on_state(void *arg, bool up, const char *reason)
{
	struct link_events *e = arg;

	atomic_store(&e->up, up);
	if (!up) {
		if (health_down(e->check, reason))
			log_warn(e->log, "Kafka disconnected",
				 log_str("reason", reason));
		return;
	}
	atomic_store(&e->full, false);
	atomic_store(&e->refused, false);
	report_end_of_losses(e);
	if (health_up(e->check))
		log_info(e->log, "Kafka connected");
}

/* /readyz stays 200: with 503 no request would come, so no event would show
 * whether Kafka takes events again. */
static void tell_refused(struct link_events *e, const struct error *err)
{
	char text[sizeof(err->text) + 32];

	if (!atomic_load(&e->up) || atomic_load(&e->full) ||
	    atomic_exchange(&e->refused, true))
		return;
	snprintf(text, sizeof(text), "link events are being lost: %s",
		 err->text);
	health_say(e->check, text);
}

static bool is_told(const struct link_events *e)
{
	return atomic_load(&e->full) || atomic_load(&e->refused);
}

static void on_delivery(void *arg, void *opaque, const struct error *err)
{
	struct link_events *e = arg;

	(void)opaque;
	if (err) {
		count_lost_event(e, err->text);
		tell_refused(e, err);
	} else if (atomic_load(&e->up) && is_told(e)) {
		atomic_store(&e->full, false);
		atomic_store(&e->refused, false);
		report_end_of_losses(e);
		health_up(e->check);
	}
}

/* --- start and stop ------------------------------------------------------- */

struct link_events *link_events_new(const struct allocator_config *config,
				    struct log *log, struct health *health,
				    struct metrics *metrics, struct error *err)
{
	struct link_events *e = calloc(1, sizeof(*e));
	struct kafka_producer_options options = {
		.client_id = "allocator",
		.topic = config->kafka.topic_links,
		.compression = "lz4",
		.linger = LINGER_MS,
		.delivery_timeout = config->allocator.delivery_timeout,
		.on_delivery = on_delivery,
		.on_state = on_state,
		.arg = e,
	};

	if (!e) {
		error_set_nomem(err);
		return NULL;
	}
	e->log = log;
	e->check = health_register(health, "kafka");
	e->lost_total = metrics_counter(
		metrics, "shortloop_allocator_events_lost_total", NULL,
		"Link events that Kafka did not get");
	e->producer =
		kafka_producer_new(&config->kafka, &options, metrics, err);
	if (e->producer)
		return e;
	free(e);
	return NULL;
}

int link_events_flush(struct link_events *e, int64_t timeout_ms,
		      struct error *err)
{
	if (kafka_producer_flush(e->producer, timeout_ms, err) < 0) {
		err->retriable = true;
		return error_wrap(err, "link events");
	}
	if (!atomic_load(&e->lost_any))
		return 0;
	return error_set_retriable(err, ERROR_REMOTE,
				   "link events: Kafka does not have all of "
				   "them");
}

void link_events_free(struct link_events *e, int64_t timeout_ms)
{
	struct error err = {0};

	if (!e)
		return;
	if (kafka_producer_flush(e->producer, timeout_ms, &err) < 0)
		log_error(e->log, "link events not flushed in time",
			  log_err(&err));
	kafka_producer_free(e->producer);
	report_end_of_losses(e);
	free(e);
}

/* --- events --------------------------------------------------------------- */

static void send_event(struct link_events *e, const char *code,
		       const uint8_t *data, size_t len)
{
	struct error err = {0};

	if (kafka_produce(e->producer, code, strlen(code), data, len, NULL,
			  &err) == 0)
		return;
	count_lost_event(e, err.text);
	if (!atomic_exchange(&e->full, true))
		health_down(e->check, "link events are being lost: the queue "
				      "is full or refuses them");
}

void link_events_send(struct link_events *e, Shortloop__LinkChange change,
		      const char *space, const char *code,
		      const Shortloop__Link *link, int64_t expires)
{
	Shortloop__LinkEvent event;
	uint8_t small[EVENT_ON_STACK], *data = small;
	size_t len;

	shortloop__link_event__init(&event);
	event.change = change;
	event.time_ms = (uint64_t)clock_real_ms();
	event.space = drop_const(space);
	event.code = drop_const(code);
	event.link = drop_const(link);
	event.expires_ms = expires == DURATION_NEVER ? 0 : (uint64_t)expires;
	len = shortloop__link_event__get_packed_size(&event);
	if (len > sizeof(small))
		data = malloc(len);
	if (!data) {
		count_lost_event(e, "out of memory");
		return;
	}
	shortloop__link_event__pack(&event, data);
	send_event(e, code, data, len);
	if (data != small)
		free(data);
}

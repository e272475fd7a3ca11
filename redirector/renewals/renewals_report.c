#include "redirector/renewals/renewals_report.h"

#include <stdlib.h>

#include "common/buf.h"
#include "common/kafka/producer.h"
#include "schemas/renewal.pb-c.h"

/* Limit of what waits while Kafka is away: about a million renewals. */
#define QUEUE_BYTES (INT64_C(16) << 20)

#define UNREPORTED	"shortloop_redirector_renewals_unreported_total"
#define UNREPORTED_HELP "Renewals that did not reach Kafka, by reason"

struct renewals_report {
	struct kafka_producer *producer;
	struct log *log;
	struct log_pace failures;
	struct metric *reported, *refused, *undelivered;
};

struct renewals_writer {
	struct renewals_report *report;
	struct loop_timer *timer;
	struct buf record;
	size_t count;
	uint64_t link_ids[RENEWALS_MAX];
	uint32_t versions[RENEWALS_MAX];
	uint64_t ends[RENEWALS_MAX];
};

/* --- the report ----------------------------------------------------------- */

static void note_failure(struct renewals_report *r, struct metric *metric,
			 size_t count, const struct error *err)
{
	int64_t left_out;

	metric_add(metric, count);
	if (log_pace_allows(&r->failures, &left_out))
		log_warn(r->log, "renewals not reported",
			 log_int("renewals", (int64_t)count), log_err(err),
			 log_int("left_out", left_out));
}

/* Called on the producer's thread; `opaque` is the number of renewals. */
static void on_delivery(void *arg, void *opaque, const struct error *err)
{
	struct renewals_report *r = arg;
	size_t count = (uintptr_t)opaque;

	if (err)
		note_failure(r, r->undelivered, count, err);
	else
		metric_add(r->reported, count);
}

static void register_metrics(struct renewals_report *r,
			     struct metrics *registry)
{
	r->reported = metrics_counter(
		registry, "shortloop_redirector_renewals_reported_total", NULL,
		"Renewals of links that Kafka has");
	r->refused = metrics_counter(registry, UNREPORTED, "reason=\"refused\"",
				     UNREPORTED_HELP);
	r->undelivered =
		metrics_counter(registry, UNREPORTED, "reason=\"undelivered\"",
				UNREPORTED_HELP);
}

struct renewals_report *renewals_report_new(const struct kafka_config *kafka,
					    struct metrics *registry,
					    struct log *log, struct error *err)
{
	struct renewals_report *r = calloc(1, sizeof(*r));
	const struct kafka_producer_options options = {
		.client_id = "shortloop-redirector-renewals",
		.topic = kafka->topic_renewals,
		.compression = "lz4",
		.linger = 5,
		.delivery_timeout = 0, /* never: the brokers will be back */
		.queue_bytes = QUEUE_BYTES,
		.on_delivery = on_delivery,
		.arg = r,
	};

	if (!r) {
		error_set_nomem(err);
		return NULL;
	}
	r->log = log;
	register_metrics(r, registry);
	r->producer = kafka_producer_new(kafka, &options, registry, err);
	if (r->producer)
		return r;
	renewals_report_free(r);
	return NULL;
}

void renewals_report_end(struct renewals_report *r, int64_t timeout_ms)
{
	struct error err = {0};

	if (kafka_producer_flush(r->producer, timeout_ms, &err) < 0)
		log_warn(r->log, "renewals dropped", log_err(&err));
}

void renewals_report_free(struct renewals_report *r)
{
	if (!r)
		return;
	kafka_producer_free(r->producer);
	free(r);
}

/* --- a thread's renewals -------------------------------------------------- */

/* Fills the writer's buffer, which fails when there is no memory. */
static void pack_record(struct renewals_writer *w)
{
	Shortloop__Renewals m;
	size_t len;
	char *to;

	shortloop__renewals__init(&m);
	m.n_link_ids = m.n_versions = m.n_ends_ms = w->count;
	m.link_ids = w->link_ids;
	m.versions = w->versions;
	m.ends_ms = w->ends;
	len = shortloop__renewals__get_packed_size(&m);
	buf_reset(&w->record);
	to = buf_reserve(&w->record, len);
	if (!to)
		return;
	shortloop__renewals__pack(&m, (uint8_t *)to);
	w->record.len += len;
}

static void send_record(struct renewals_writer *w)
{
	struct renewals_report *r = w->report;
	void *count = (void *)(uintptr_t)w->count;
	struct error err = {0};
	int status;

	if (!w->count)
		return;
	pack_record(w);
	status = w->record.failed
			 ? error_set_nomem(&err)
			 : kafka_produce(r->producer, NULL, 0, w->record.data,
					 w->record.len, count, &err);
	if (status < 0)
		note_failure(r, r->refused, w->count, &err);
	w->count = 0;
}

static void on_timer(void *arg)
{
	send_record(arg);
}

struct renewals_writer *renewals_writer_new(struct renewals_report *report,
					    struct loop *loop,
					    struct error *err)
{
	struct renewals_writer *w = calloc(1, sizeof(*w));

	if (!w) {
		error_set_nomem(err);
		return NULL;
	}
	w->report = report;
	w->timer = loop_timer_new(loop, on_timer, w, err);
	if (w->timer)
		return w;
	free(w);
	return NULL;
}

void renewals_writer_add(struct renewals_writer *w, uint64_t link_id,
			 uint32_t version, int64_t end_ms)
{
	if (!w->count)
		loop_timer_set(w->timer, RENEWALS_WAIT_MS);
	w->link_ids[w->count] = link_id;
	w->versions[w->count] = version;
	w->ends[w->count] = (uint64_t)end_ms;
	if (++w->count < RENEWALS_MAX)
		return;
	loop_timer_stop(w->timer);
	send_record(w);
}

void renewals_writer_free(struct renewals_writer *w)
{
	if (!w)
		return;
	send_record(w);
	loop_timer_free(w->timer);
	buf_free(&w->record);
	free(w);
}

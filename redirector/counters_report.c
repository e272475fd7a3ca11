#include "redirector/counters_report.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "common/clock.h"
#include "common/host_name.h"
#include "common/kafka/producer.h"
#include "common/periodic.h"
#include "schemas/counters.pb-c.h"

enum {
	AGAIN_MS = 50, /* a thread has not come to the end of its turn */
	INSTANCE_MAX = HOST_NAME_SIZE + 8,
	KEY_MAX = 24,
};

struct counters_report {
	const struct redirector_settings *settings;
	struct log *log;
	struct hour_writer *writers;
	size_t servers;
	struct kafka_producer *producer;
	struct periodic *thread;

	struct counters_origin origin;
	char instance[INSTANCE_MAX];
	char key[KEY_MAX]; /* all records of one start in one partition */

	/* On the thread; after it, of who ends it. */
	struct hour_table table;
	int64_t changed[HOUR_TABLE_SIZE]; /* monotonic ms, as told last */
	struct hour_table told;		  /* what was sent */
	uint64_t sequence;
	int64_t told_until, told_at; /* real; monotonic */
	struct buf record;
};

/* --- a record ------------------------------------------------------------- */

static char *text_of(const char *text)
{
	char *to;

	/* protobuf-c's type is not const, though packing only reads. */
	memcpy(&to, &text, sizeof(to));
	return to;
}

static void fill_counts(Shortloop__RedirectorCounters *m, const uint64_t *n)
{
	m->redirected = n[HOUR_REDIRECTED];
	m->not_found = n[HOUR_NOT_FOUND];
	m->expired = n[HOUR_EXPIRED];
	m->blocked = n[HOUR_BLOCKED];
	m->head = n[HOUR_HEAD];
	m->silent = n[HOUR_SILENT];
	m->produced = n[HOUR_PRODUCED];
	m->refused = n[HOUR_REFUSED];
	m->acknowledged = n[HOUR_ACKNOWLEDGED];
	m->undelivered = n[HOUR_UNDELIVERED];
	m->spooled = n[HOUR_SPOOLED];
	m->replayed = n[HOUR_REPLAYED];
	m->withheld = n[HOUR_WITHHELD];
}

void counters_record_put(struct buf *out, const struct counters_origin *origin,
			 const struct counters_state *state,
			 const struct hour_counts *counts)
{
	Shortloop__RedirectorCounters m;
	size_t len;
	char *to;

	shortloop__redirector_counters__init(&m);
	m.boot = origin->boot;
	m.instance = text_of(origin->instance);
	m.edge = text_of(origin->edge);
	m.started_ms = (uint64_t)origin->started_ms;
	m.sequence = state->sequence;
	m.hour_ms = (uint64_t)counts->hour * (uint64_t)HOUR_MS;
	m.until_ms = (uint64_t)state->until_ms;
	m.ended = state->ended;
	m.inexact = state->inexact;
	fill_counts(&m, counts->n);
	len = shortloop__redirector_counters__get_packed_size(&m);
	to = buf_reserve(out, len);
	if (!to)
		return;
	shortloop__redirector_counters__pack(&m, (uint8_t *)to);
	out->len += len;
}

/* --- sending -------------------------------------------------------------- */

/* Adds up what the writers have, and returns until when it is all. */
static int64_t collect(struct counters_report *r)
{
	int64_t least = INT64_MAX;

	for (size_t i = 0; i <= r->servers; i++) {
		int64_t until = hour_writer_take(&r->writers[i], &r->table);

		if (i < r->servers && until < least)
			least = until;
	}
	return least;
}

static void send_hour(struct counters_report *r,
		      const struct hour_counts *counts, int64_t until_ms,
		      bool ended)
{
	const struct counters_state state = {++r->sequence, until_ms, ended,
					     r->table.inexact};
	struct error err = {0};
	int status;

	buf_reset(&r->record);
	counters_record_put(&r->record, &r->origin, &state, counts);
	status = r->record.failed
			 ? error_set_nomem(&err)
			 : kafka_produce(r->producer, r->key, strlen(r->key),
					 r->record.data, r->record.len, NULL,
					 &err);
	if (status < 0)
		log_warn(r->log,
			 "counters of an hour dropped; told again later",
			 log_err(&err));
}

/* Has the hour changed within the last one? */
static bool is_recent(struct counters_report *r, size_t i, int64_t now)
{
	if (memcmp(&r->told.items[i], &r->table.items[i],
		   sizeof(r->told.items[i])) != 0) {
		r->told.items[i] = r->table.items[i];
		r->changed[i] = now;
	}
	return r->changed[i] && now - r->changed[i] < HOUR_MS;
}

static void tell(struct counters_report *r, int64_t until_ms, bool ended)
{
	int64_t now = clock_monotonic_ms();
	const struct hour_counts present = {.hour = (until_ms - 1) / HOUR_MS};

	/* The present one is told of also when nothing was counted in it. */
	hour_table_add(&r->table, &present);
	for (size_t i = 0; i < HOUR_TABLE_SIZE; i++) {
		const struct hour_counts *counts = &r->table.items[i];

		if (is_recent(r, i, now) || counts->hour == present.hour)
			send_hour(r, counts, until_ms, ended);
	}
	r->told_until = until_ms;
	r->told_at = now;
}

int64_t counters_report_wait(int64_t now_ms, int64_t every)
{
	return every - now_ms % every + 1;
}

/* True where all threads have counted beyond the last time that a report was
 * due.  A clock that goes back stops none. */
static bool is_due(const struct counters_report *r, int64_t until_ms)
{
	int64_t every = r->settings->counters_every;

	return until_ms / every > r->told_until / every ||
	       clock_monotonic_ms() - r->told_at > 2 * every;
}

static int64_t step(struct periodic *self, void *arg)
{
	struct counters_report *r = arg;
	int64_t every = r->settings->counters_every;
	int64_t until_ms = collect(r), now = clock_real_ms();

	(void)self;
	if (until_ms && is_due(r, until_ms))
		tell(r, until_ms, false);
	return now / every > r->told_until / every
		       ? AGAIN_MS
		       : counters_report_wait(now, every) + AGAIN_MS;
}

/* --- making --------------------------------------------------------------- */

static int make_origin(struct counters_report *r, const char *edge,
		       struct error *err)
{
	const struct redirector_settings *s = r->settings;
	const char *colon = strrchr(s->listen, ':');
	char host[HOST_NAME_SIZE];

	r->origin.edge = edge;
	r->origin.started_ms = clock_real_ms();
	while (!r->origin.boot)
		if (getrandom(&r->origin.boot, sizeof(r->origin.boot), 0) !=
		    sizeof(r->origin.boot))
			return error_set_errno(err, "random bytes");
	snprintf(r->key, sizeof(r->key), "%016" PRIx64, r->origin.boot);
	if (s->instance) {
		r->origin.instance = s->instance;
		return 0;
	}
	host_name(host, sizeof(host), "unnamed");
	snprintf(r->instance, sizeof(r->instance), "%s%.7s", host,
		 colon ? colon : "");
	r->origin.instance = r->instance;
	return 0;
}

struct counters_report *
counters_report_new(const struct kafka_config *kafka,
		    const struct redirector_settings *settings,
		    const char *edge, struct hour_writer *writers,
		    size_t servers, struct metrics *metrics, struct log *log,
		    struct error *err)
{
	const struct kafka_producer_options options = {
		.client_id = "shortloop-redirector-counters",
		.topic = kafka->topic_counters,
		.compression = "none",
		.linger = 5,
		.delivery_timeout = 0, /* never: the brokers will be back */
	};
	struct counters_report *r = calloc(1, sizeof(*r));

	if (!r) {
		error_set_nomem(err);
		return NULL;
	}
	r->settings = settings;
	r->log = log;
	r->writers = writers;
	r->servers = servers;
	if (make_origin(r, edge, err) < 0)
		goto fail;
	/* The first record says so much, so that one that is killed soon is
	 * missed. */
	for (size_t i = 0; i < servers; i++)
		hour_writer_flush(&writers[i], r->origin.started_ms);
	r->producer = kafka_producer_new(kafka, &options, metrics, err);
	if (!r->producer)
		goto fail;
	return r;
fail:
	counters_report_free(r);
	return NULL;
}

int counters_report_start(struct counters_report *r, struct error *err)
{
	r->thread = periodic_new(step, r, err);
	return r->thread ? periodic_start(r->thread, err) : -1;
}

void counters_report_end(struct counters_report *r, int64_t timeout_ms)
{
	struct error err;

	if (!r->thread)
		return;
	periodic_stop(r->thread);
	collect(r);
	tell(r, clock_real_ms(), true);
	if (kafka_producer_flush(r->producer, timeout_ms, &err) < 0)
		log_error(r->log, "counters dropped", log_err(&err));
}

void counters_report_free(struct counters_report *r)
{
	if (!r)
		return;
	periodic_free(r->thread);
	kafka_producer_free(r->producer);
	buf_free(&r->record);
	free(r);
}

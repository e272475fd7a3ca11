#include "redirector/counters/counters_report.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "common/clock.h"
#include "common/host_name.h"
#include "common/kafka/producer.h"
#include "common/periodic.h"
#include "redirector/counters/disk_failure.h"
#include "redirector/counters/told_hours.h"
#include "schemas/counters.pb-c.h"

enum {
	AGAIN_MS = 50,	/* retry while a thread has not ended its turn */
	LEFT_MS = 1000, /* between checks whether left ones were stored */
	INSTANCE_MAX = HOST_NAME_SIZE + 8,
	KEY_MAX = 24,
};

/* The counters that another start left. */
struct left {
	struct counters_file *file; /* NULL: this place is free */
	int64_t ended_ms;	    /* a time at which it had ended */
	struct receipt receipt;
	bool told;
};

struct counters_report {
	struct counters_report_options options;
	struct kafka_producer *producer;
	struct periodic *thread;
	char instance[INSTANCE_MAX];
	struct counters_file *file;
	struct left left[COUNTERS_FILES_MAX];
	pthread_mutex_t lock; /* protects `refusal` */
	struct error refusal; /* why Kafka refused the last refused record */

	/* Used by the thread; after it, by the caller that ends it. */
	struct hour_table table;
	struct told_hours hours;
	struct hour_table left_table;
	int64_t told_until, told_at; /* real time; monotonic */
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

/* Adds up the counters of all writers, and returns the time until which they
 * are complete. */
static int64_t sum_counters(struct counters_report *r)
{
	const struct counters_report_options *o = &r->options;
	int64_t least = INT64_MAX;

	memset(&r->table, 0, sizeof(r->table));
	for (size_t i = 0; i <= o->servers; i++) {
		int64_t until =
			hour_totals_add_to(o->writers[i].totals, &r->table);

		if (i < o->servers && until < least)
			least = until;
	}
	return least;
}

/* Called on the producer's thread. */
static void on_delivery(void *arg, void *opaque, const struct error *err)
{
	struct counters_report *r = arg;

	if (err) {
		pthread_mutex_lock(&r->lock);
		r->refusal = *err;
		pthread_mutex_unlock(&r->lock);
	}
	receipt_note(opaque, !err);
}

static struct error last_refusal(struct counters_report *r)
{
	struct error err;

	pthread_mutex_lock(&r->lock);
	err = r->refusal;
	pthread_mutex_unlock(&r->lock);
	return err;
}

static void put_record(struct counters_report *r, struct counters_file *file,
		       struct counters_state state,
		       const struct hour_counts *counts)
{
	state.sequence = counters_file_next_sequence(file);
	buf_reset(&r->record);
	counters_record_put(&r->record, counters_file_origin(file), &state,
			    counts);
}

/* The receipt gets the result of the record, also if it cannot be sent. */
static void send_record(struct counters_report *r, struct counters_file *file,
			struct counters_state state,
			const struct hour_counts *counts,
			struct receipt *receipt)
{
	struct error err = {0};
	char key[KEY_MAX]; /* puts all records of a start in one partition */
	int status;

	snprintf(key, sizeof(key), "%016" PRIx64,
		 counters_file_origin(file)->boot);
	put_record(r, file, state, counts);
	receipt_expect(receipt);
	status = r->record.failed ? error_set_nomem(&err)
				  : kafka_produce(r->producer, key, strlen(key),
						  r->record.data, r->record.len,
						  receipt, &err);
	if (status < 0)
		on_delivery(r, receipt, &err);
}

static void warn_of_failures(struct counters_report *r)
{
	size_t hours = told_hours_count_failed(&r->hours);
	struct error err;

	if (!hours)
		return;
	err = last_refusal(r);
	log_warn(r->options.log, "counters not stored; sent again",
		 log_int("hours", (int64_t)hours), log_err(&err));
}

static void report_hours(struct counters_report *r, int64_t until_ms,
			 bool ended)
{
	const struct counters_state state = {0, until_ms, ended,
					     r->table.inexact};
	int64_t now = clock_monotonic_ms();
	const struct hour_counts present = {.hour = (until_ms - 1) / HOUR_MS};

	warn_of_failures(r);
	/* The present hour is reported even if nothing was counted in it. */
	hour_table_add(&r->table, &present);
	for (size_t i = 0; i < HOUR_TABLE_SIZE; i++) {
		const struct hour_counts *counts = &r->table.items[i];

		if (told_hours_take(&r->hours, i, counts, now) ||
		    counts->hour == present.hour)
			send_record(r, r->file, state, counts,
				    &r->hours.receipts[i]);
	}
	r->told_until = until_ms;
	r->told_at = now;
}

int64_t counters_report_wait(int64_t now_ms, int64_t every)
{
	return every - now_ms % every + 1;
}

/* True if all threads have counted beyond the time when the next report was
 * due.  A clock that goes back does not stop the reports. */
static bool is_due(const struct counters_report *r, int64_t until_ms)
{
	int64_t every = r->options.settings->counters_every;

	return until_ms / every > r->told_until / every ||
	       clock_monotonic_ms() - r->told_at > 2 * every;
}

/* --- counters of other starts --------------------------------------------- */

static bool has_counts(const struct hour_counts *counts)
{
	for (size_t i = 0; i < HOUR_COUNTERS; i++)
		if (counts->n[i])
			return true;
	return false;
}

/* Reports all hours, since it is unknown which records have arrived.  The
 * counts are complete up to the end of that process. */
static void tell_left_file(struct counters_report *r, struct left *left)
{
	struct hour_table *table = &r->left_table;
	struct counters_state state = {
		.until_ms = left->ended_ms,
		.ended = true,
	};
	const struct hour_counts last = {.hour = (state.until_ms - 1) /
						 HOUR_MS};

	memset(table, 0, sizeof(*table));
	counters_file_add_to(left->file, table);
	hour_table_add(table, &last);
	state.inexact = table->inexact;
	left->told = true;
	for (size_t i = 0; i < HOUR_TABLE_SIZE; i++) {
		const struct hour_counts *counts = &table->items[i];

		if (has_counts(counts) || counts->hour == last.hour)
			send_record(r, left->file, state, counts,
				    &left->receipt);
	}
}

static void drop_left(struct counters_report *r, struct left *left)
{
	const struct counters_origin *origin = counters_file_origin(left->file);
	char boot[KEY_MAX];

	snprintf(boot, sizeof(boot), "%016" PRIx64, origin->boot);
	log_info(r->options.log, "counters of an earlier start sent",
		 log_str("instance", origin->instance), log_str("boot", boot));
	counters_file_remove(left->file);
	counters_file_free(left->file);
	left->file = NULL;
}

static void tell_left_again(struct counters_report *r, struct left *left)
{
	struct error err = last_refusal(r);

	log_warn(
		r->options.log,
		"counters of an earlier start not stored; sent again",
		log_str("instance", counters_file_origin(left->file)->instance),
		log_err(&err));
	receipt_take_failure(&left->receipt);
	tell_left_file(r, left);
}

/* Drops counters that Kafka has; those that it did not store are sent again
 * with the next report. */
static void look_after(struct counters_report *r, struct left *left,
		       bool reports)
{
	if (!left->told)
		tell_left_file(r, left);
	else if (!receipt_is_complete(&left->receipt))
		return;
	else if (!receipt_has_failed(&left->receipt))
		drop_left(r, left);
	else if (reports)
		tell_left_again(r, left);
}

static void tell_left(struct counters_report *r, bool reports)
{
	for (size_t i = 0; i < COUNTERS_FILES_MAX; i++)
		if (r->left[i].file)
			look_after(r, &r->left[i], reports);
}

static bool has_left(const struct counters_report *r)
{
	for (size_t i = 0; i < COUNTERS_FILES_MAX; i++)
		if (r->left[i].file)
			return true;
	return false;
}

static struct left *free_place(struct counters_report *r)
{
	for (size_t i = 0; i < COUNTERS_FILES_MAX; i++)
		if (!r->left[i].file)
			return &r->left[i];
	return NULL;
}

/* A file cannot be locked, and is skipped, if its owner is alive or if it is
 * open here already. */
static void open_left(struct counters_report *r, const char *name)
{
	struct left *left = free_place(r);
	struct error err;

	if (!left)
		return;
	left->file =
		counters_file_open(r->options.settings->spool_dir, name, &err);
	if (left->file) {
		left->ended_ms = clock_real_ms();
		left->told = false;
		return;
	}
	if (err.code == ERROR_BUSY || err.code == ERROR_NOTFOUND)
		return;
	if (err.code != ERROR_LATE)
		metric_add(r->options.metrics->files_rejected, 1);
	log_error(r->options.log,
		  "counters of an earlier start rejected, and set aside",
		  log_err(&err));
}

static int find_left(struct counters_report *r, struct error *err)
{
	const char *dir = r->options.settings->spool_dir;
	struct owned_files files;
	size_t removed;

	if (!dir)
		return 0;
	if (counters_file_list(dir, &files, &removed, err) < 0)
		return -1;
	if (removed)
		log_error(r->options.log, "counters of earlier starts dropped",
			  log_int("starts", (int64_t)removed),
			  log_str("reason", "too many that were not sent"));
	for (size_t i = 0; i < files.count; i++)
		open_left(r, files.names[i]);
	owned_files_release(&files);
	return 0;
}

/* Another process in the folder may have been killed since the last search. */
static void find_left_again(struct counters_report *r)
{
	struct error err;

	if (find_left(r, &err) < 0)
		log_warn(r->options.log, "counters of other starts not found",
			 log_err(&err));
}

/* --- the thread ----------------------------------------------------------- */

/* Returns the ms until the next step. */
static int64_t next_step(const struct counters_report *r, int64_t now)
{
	int64_t every = r->options.settings->counters_every;
	int64_t wait = counters_report_wait(now, every) + AGAIN_MS;

	if (now / every > r->told_until / every)
		return AGAIN_MS;
	return has_left(r) && wait > LEFT_MS ? LEFT_MS : wait;
}

static int64_t report_when_due(struct periodic *self, void *arg)
{
	struct counters_report *r = arg;
	int64_t until_ms = sum_counters(r), now = clock_real_ms();
	bool reports = until_ms && is_due(r, until_ms);

	(void)self;
	if (reports) {
		report_hours(r, until_ms, false);
		find_left_again(r);
	}
	tell_left(r, reports);
	return next_step(r, now);
}

/* --- making --------------------------------------------------------------- */

/* Returns the setting `instance`, or host and port. */
static const char *instance_of(struct counters_report *r)
{
	const struct redirector_settings *s = r->options.settings;
	const char *colon = strrchr(s->listen, ':');
	char host[HOST_NAME_SIZE];

	if (s->instance)
		return s->instance;
	host_name(host, sizeof(host), "unnamed");
	snprintf(r->instance, sizeof(r->instance), "%s%.7s", host,
		 colon ? colon : "");
	return r->instance;
}

/* The counters are in memory alone if the disk has no room for them: visitors
 * are redirected all the same, and counted.  If the folder does not exist yet,
 * the disk is the reason as well: the spool, which creates it, has been
 * started. */
static struct counters_file *new_file(struct counters_report *r,
				      const struct counters_origin *origin,
				      struct error *err)
{
	const char *dir = r->options.settings->spool_dir;
	size_t writers = r->options.servers + 1;
	struct counters_file *made;
	struct error why;

	made = counters_file_new(dir, origin, writers, &why);
	if (made)
		return made;
	if (!dir || (!disk_failure_is(&why) && why.sys != ENOENT)) {
		*err = why;
		return NULL;
	}
	log_error(r->options.log,
		  "counters are in memory alone: a kill costs "
		  "them",
		  log_err(&why));
	return counters_file_new(NULL, origin, writers, err);
}

static int make_file(struct counters_report *r, struct error *err)
{
	struct counters_report_options *o = &r->options;
	struct counters_origin origin = {
		.instance = instance_of(r),
		.edge = o->edge,
		.started_ms = clock_real_ms(),
	};

	while (!origin.boot)
		if (getrandom(&origin.boot, sizeof(origin.boot), 0) !=
		    sizeof(origin.boot))
			return error_set_errno(err, "random bytes");
	r->file = new_file(r, &origin, err);
	if (!r->file)
		return -1;
	for (size_t i = 0; i <= o->servers; i++)
		hour_writer_init(&o->writers[i],
				 counters_file_totals(r->file, i));
	/* The first record has this time, so that a process that is killed soon
	 * after is noticed to be missing. */
	for (size_t i = 0; i < o->servers; i++)
		hour_writer_flush(&o->writers[i], origin.started_ms);
	return 0;
}

struct counters_report *
counters_report_new(const struct counters_report_options *options,
		    struct error *err)
{
	struct counters_report *r = calloc(1, sizeof(*r));
	const struct kafka_producer_options producer = {
		.client_id = "shortloop-redirector-counters",
		.topic = options->kafka->topic_counters,
		.compression = "none",
		.linger = 5,
		.delivery_timeout = 0, /* never: the brokers will be back */
		.on_delivery = on_delivery,
		.arg = r,
	};

	if (!r) {
		error_set_nomem(err);
		return NULL;
	}
	pthread_mutex_init(&r->lock, NULL);
	r->options = *options;
	if (make_file(r, err) < 0)
		goto fail;
	find_left_again(r);
	r->producer = kafka_producer_new(options->kafka, &producer,
					 options->registry, err);
	if (!r->producer)
		goto fail;
	return r;
fail:
	counters_report_free(r);
	return NULL;
}

int counters_report_start(struct counters_report *r, struct error *err)
{
	r->thread = periodic_new(report_when_due, r, err);
	return r->thread ? periodic_start(r->thread, err) : -1;
}

/* Waits until Kafka has the last records. */
static int await_last(struct counters_report *r, int64_t timeout_ms,
		      struct error *err)
{
	size_t failed;

	if (kafka_producer_flush(r->producer, timeout_ms, err) < 0)
		return -1;
	tell_left(r, false);
	failed = told_hours_count_failed(&r->hours);
	if (!failed)
		return 0;
	*err = last_refusal(r);
	return error_wrap(err, "%zu hours not stored", failed);
}

void counters_report_end(struct counters_report *r, int64_t timeout_ms)
{
	struct error err;

	if (!r->thread)
		return;
	periodic_stop(r->thread);
	sum_counters(r);
	report_hours(r, clock_real_ms(), true);
	if (await_last(r, timeout_ms, &err) == 0)
		counters_file_remove(r->file);
	else if (counters_file_is_kept(r->file))
		log_warn(r->options.log, "counters left to the next start",
			 log_err(&err));
	else
		log_error(r->options.log, "counters dropped", log_err(&err));
}

void counters_report_free(struct counters_report *r)
{
	if (!r)
		return;
	periodic_free(r->thread);
	kafka_producer_free(r->producer);
	for (size_t i = 0; i < COUNTERS_FILES_MAX; i++)
		counters_file_free(r->left[i].file);
	/* This start failed before it counted anything. */
	if (r->file && counters_file_is_empty(r->file))
		counters_file_remove(r->file);
	counters_file_free(r->file);
	buf_free(&r->record);
	pthread_mutex_destroy(&r->lock);
	free(r);
}

#include "redirector/events/event_spool.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/clock.h"
#include "common/spool/spool.h"
#include "redirector/counters/disk_failure.h"
#include "redirector/events/journal_files.h"
#include "redirector/events/replay.h"

enum {
	BATCH = 256,	     /* records appended at once */
	REPLAY_MS = 10,	     /* between two steps */
	REPORT_MS = 1000,    /* between two reports of the state */
	RETRY_MS = 1000,     /* after the disk failed */
	FOLDER_MS = 100,     /* between two tries to open the folder */
	JOURNALS_MS = 60000, /* between two searches for journals of others */
	COMPLAIN_MS = 10000, /* between two log lines of dropped events */
};

struct event_spool {
	struct event_spool_options options;
	/* NULL: another process has the folder, or the disk fails. */
	struct spool *spool;
	struct replay *replay; /* NULL for the same reasons */
	struct kafka_producer *producer;
	pthread_t thread;
	bool thread_runs;
	atomic_bool kafka_away, replay_stopped, open;

	struct event_queue *queue;
	atomic_uint_fast64_t refused; /* by the queue; not reported yet */

	pthread_mutex_t replay_lock; /* protects `replaying` */
	pthread_cond_t not_replaying;
	bool replaying; /* the thread uses the producer */

	/* Used by the thread. */
	struct buf taken;
	struct spool_record records[BATCH];
	struct journal_entry *entries[BATCH]; /* one per record */
	bool holding;	   /* there are events in the spool */
	uint64_t replayed; /* value of the counter when holding began */
	int64_t retry_at;  /* writes fail until then; monotonic ms */
	int64_t replay_at; /* replays fail until then */
	struct error failure;
	struct error journals; /* why journals of others were kept */
	int64_t report_at, complain_at, journals_at;
	uint64_t dropped, dropped_untold;
};

/* --- the queue ------------------------------------------------------------ */

bool event_spool_offer(struct event_spool *s, const struct spool_event *event)
{
	if (event->len > SPOOL_PAYLOAD_MAX)
		return false;
	if (event_queue_offer(s->queue, event))
		return true;
	atomic_fetch_add(&s->refused, 1);
	return false;
}

static void mark_done(struct journal_entry *entry)
{
	if (entry)
		journal_entry_done(entry);
}

static void count_dropped(struct event_spool *s, enum redirector_counter reason,
			  int64_t time_ms)
{
	metric_add(s->options.metrics->counters[reason], 1);
	hour_writer_count_now(s->options.hours, time_ms / HOUR_MS,
			      HOUR_UNDELIVERED);
}

/* At the end, no thread waits for a folder that another process has. */
static bool may_become_room(void *arg)
{
	const struct event_spool *s = arg;

	return atomic_load(&s->open) || !atomic_load(&s->replay_stopped);
}

/* True at the end of a process that never got the folder: the journal keeps the
 * event. */
static bool is_left(const struct event_spool *s,
		    const struct journal_entry *entry)
{
	return entry && atomic_load(&s->replay_stopped) &&
	       !atomic_load(&s->open);
}

void event_spool_put(struct event_spool *s, const struct spool_event *event)
{
	if (s->thread_runs && event->len <= SPOOL_PAYLOAD_MAX &&
	    event_queue_put(s->queue, event, may_become_room, s))
		return;
	if (is_left(s, event->entry))
		return;
	atomic_fetch_add(&s->refused, 1);
	count_dropped(s, COUNTER_DROPPED_EXPIRED, event->time_ms);
	mark_done(event->entry);
}

void event_spool_kafka_changed(struct event_spool *s, bool up)
{
	atomic_store(&s->kafka_away, !up);
	event_queue_wake(s->queue);
}

void event_spool_stop_replay(struct event_spool *s)
{
	atomic_store(&s->replay_stopped, true);
	event_queue_wake(s->queue);
	pthread_mutex_lock(&s->replay_lock);
	while (s->replaying)
		pthread_cond_wait(&s->not_replaying, &s->replay_lock);
	pthread_mutex_unlock(&s->replay_lock);
}

/* --- writing -------------------------------------------------------------- */

static void drop_records(struct event_spool *s, size_t from, size_t to,
			 enum redirector_counter reason)
{
	for (size_t i = from; i < to; i++)
		count_dropped(s, reason, s->records[i].time_ms);
	s->dropped += to - from;
	s->dropped_untold += to - from;
}

static void begin_holding(struct event_spool *s)
{
	const struct redirector_metrics *m = s->options.metrics;

	if (s->holding)
		return;
	s->holding = true;
	s->replayed = metric_value(m->counters[COUNTER_REPLAYED]);
	s->report_at = 0;
	log_warn(s->options.log, "spooling click events",
		 log_str("dir", s->options.settings->spool_dir));
}

static void count_spooled(struct event_spool *s, size_t n)
{
	if (n == 0)
		return;
	begin_holding(s);
	metric_add(s->options.metrics->counters[COUNTER_SPOOLED], n);
	for (size_t i = 0; i < n; i++)
		hour_writer_count_now(s->options.hours,
				      s->records[i].time_ms / HOUR_MS,
				      HOUR_SPOOLED);
}

static void append_records(struct event_spool *s, size_t count)
{
	int64_t now = clock_monotonic_ms();
	size_t done = 0;

	if (now < s->retry_at) {
		drop_records(s, 0, count, COUNTER_DROPPED_SPOOL_FAILED);
		return;
	}
	if (spool_append(s->spool, s->records, count, &done, &s->failure) < 0) {
		bool full = s->failure.code == ERROR_FULL;

		if (!full)
			s->retry_at = now + RETRY_MS;
		drop_records(s, done, count,
			     full ? COUNTER_DROPPED_SPOOL_FULL
				  : COUNTER_DROPPED_SPOOL_FAILED);
	}
	count_spooled(s, done);
}

/* At the end of a process without the folder: events with an entry in the
 * journal are left to the next owner of the folder. */
static void leave_events_in_journal(struct event_spool *s, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!s->entries[i])
			drop_records(s, i, i + 1, COUNTER_DROPPED_SPOOL_FAILED);
}

/* Events are counted before they are marked as done: after a kill in between
 * they are sent again, and none is missing. */
static void write_batch(struct event_spool *s, size_t count)
{
	if (!s->spool && atomic_load(&s->replay_stopped)) {
		leave_events_in_journal(s, count);
		return;
	}
	if (s->spool)
		append_records(s, count);
	else
		drop_records(s, 0, count, COUNTER_DROPPED_SPOOL_FAILED);
	for (size_t i = 0; i < count; i++)
		mark_done(s->entries[i]);
}

static void append_taken(struct event_spool *s)
{
	struct spool_event event;
	size_t at = 0, count = 0;

	while (event_queue_read(&s->taken, &at, &event)) {
		s->entries[count] = event.entry;
		s->records[count++] = (struct spool_record){
			.time_ms = event.time_ms,
			.maybe_sent = event.maybe_sent,
			.data = event.data,
			.len = event.len,
		};
		if (count < BATCH && at < s->taken.len)
			continue;
		write_batch(s, count);
		count = 0;
	}
}

/* --- reports -------------------------------------------------------------- */

static void log_dropped_events(struct event_spool *s, int64_t now)
{
	if (s->dropped_untold == 0 || now < s->complain_at)
		return;
	s->complain_at = now + COMPLAIN_MS;
	log_error(s->options.log, "click events dropped",
		  log_int("events", (int64_t)s->dropped_untold),
		  log_str("error", s->failure.code ? s->failure.text
						   : "no room in the queue"));
	s->dropped_untold = 0;
}

/* The check only adds a remark, since visitors are served all the same. */
static void tell_health(struct event_spool *s, const struct spool_usage *u,
			int64_t age_ms)
{
	const struct redirector_metrics *m = s->options.metrics;
	char text[sizeof(s->failure.text) + sizeof(s->journals.text) + 256];
	int len;

	if (!s->holding && s->failure.code == ERROR_NONE &&
	    s->journals.code == ERROR_NONE) {
		health_up(s->options.health);
		return;
	}
	len = snprintf(
		text, sizeof(text),
		"%s %" PRIu64 " events, %" PRId64 " bytes, oldest %" PRId64
		"s; %" PRIu64 " replayed, %" PRIu64 " lost",
		atomic_load(&s->kafka_away) ? "spooling:" : "replaying:",
		u->records, u->bytes, age_ms / CLOCK_SECOND,
		metric_value(m->counters[COUNTER_REPLAYED]) - s->replayed,
		s->dropped);
	if (s->failure.code)
		len += snprintf(text + len, sizeof(text) - (size_t)len, "; %s",
				s->failure.text);
	if (s->journals.code)
		snprintf(text + len, sizeof(text) - (size_t)len,
			 "; journals kept: %s", s->journals.text);
	health_say(s->options.health, text);
}

static void end_holding(struct event_spool *s, const struct spool_usage *u)
{
	const struct redirector_metrics *m = s->options.metrics;

	if (!s->holding || u->records || !replay_is_idle(s->replay))
		return;
	s->holding = false;
	log_info(s->options.log, "spooled click events replayed",
		 log_int("events",
			 (int64_t)(metric_value(m->counters[COUNTER_REPLAYED]) -
				   s->replayed)));
}

static void tell_usage(struct event_spool *s)
{
	const struct redirector_metrics *m = s->options.metrics;
	int64_t oldest, age = 0;
	struct spool_usage u;

	spool_usage(s->spool, &u);
	end_holding(s, &u);
	oldest = replay_oldest_ms(s->replay);
	if (!oldest)
		oldest = u.next_ms;
	if (oldest)
		age = clock_real_ms() - oldest;
	if (age < 0)
		age = 0;
	metric_set(m->spool_events, (int64_t)u.records);
	metric_set(m->spool_bytes, u.bytes);
	metric_set(m->spool_oldest, age / CLOCK_SECOND);
	tell_health(s, &u, age);
}

/* Reports the state without a folder. */
static void tell_why_not(struct event_spool *s)
{
	char text[sizeof(s->failure.text) + 64];

	snprintf(text, sizeof(text), "%s; %" PRIu64 " lost", s->failure.text,
		 s->dropped);
	health_say(s->options.health, text);
}

static void note_refused(struct event_spool *s)
{
	uint64_t refused = atomic_exchange(&s->refused, 0);

	s->dropped += refused;
	s->dropped_untold += refused;
}

static void report_spool_state(struct event_spool *s)
{
	int64_t now = clock_monotonic_ms();

	if (now < s->report_at)
		return;
	s->report_at = now + REPORT_MS;
	note_refused(s);
	if (!s->spool) {
		tell_why_not(s);
		log_dropped_events(s, now);
		return;
	}
	/* A failure is reported by `failure`; what was written stays. */
	(void)spool_sync(s->spool, &s->failure);
	tell_usage(s);
	log_dropped_events(s, now);
	if (now >= s->retry_at && s->dropped_untold == 0)
		s->failure.code = ERROR_NONE;
}

/* --- the folder ----------------------------------------------------------- */

static int open_spool(struct event_spool *s, struct error *err)
{
	const struct redirector_settings *settings = s->options.settings;
	const struct spool_options spool = {
		.dir = settings->spool_dir,
		.max_bytes = settings->spool_max_bytes,
	};
	struct replay_options options = {
		.rate = settings->spool_replay_rate,
		.stopped = &s->replay_stopped,
		.metrics = s->options.metrics,
		.hours = s->options.hours,
	};

	options.spool = spool_open(&spool, err);
	if (!options.spool)
		return error_wrap(err, "redirector.spool_dir");
	s->replay = replay_new(&options, err);
	if (!s->replay) {
		spool_free(options.spool);
		return -1;
	}
	s->spool = options.spool;
	return 0;
}

/* Takes note of events that a former process left. */
static void note_spool_opened(struct event_spool *s)
{
	struct spool_usage u;

	spool_usage(s->spool, &u);
	if (u.records)
		begin_holding(s);
	tell_usage(s);
	metric_set(s->options.metrics->spool_missing, 0);
	atomic_store(&s->open, true);
}

/* --- journals of others --------------------------------------------------- */

static void take_rest(struct event_spool *s, size_t i,
		      const struct journal_event *event)
{
	s->entries[i] = NULL;
	s->records[i] = (struct spool_record){
		.time_ms = event->time_ms,
		.maybe_sent = true,
		.data = event->data,
		.len = event->len,
	};
}

static void count_damaged(struct event_spool *s,
			  const struct journal_rest *rest)
{
	for (size_t i = 0; i < rest->damaged; i++)
		count_dropped(s, COUNTER_DROPPED_JOURNAL,
			      rest->count ? rest->events[0].time_ms
					  : clock_real_ms());
}

/* Appends all events, or as many as there is room for. */
static int append_rest(struct event_spool *s, const struct journal_rest *rest,
		       size_t *ret_appended, struct error *err)
{
	int status = 0;
	size_t at = 0;

	while (status == 0 && at < rest->count) {
		size_t count = 0, done;

		for (; at + count < rest->count && count < BATCH; count++)
			take_rest(s, count, &rest->events[at + count]);
		status = spool_append(s->spool, s->records, count, &done, err);
		count_spooled(s, done);
		at += done;
	}
	*ret_appended = at;
	return status;
}

static void tell_recovered(struct event_spool *s, size_t events, size_t damaged)
{
	if (events == 0 && damaged == 0)
		return;
	metric_add(s->options.metrics->counters[COUNTER_RECOVERED], events);
	log_warn(s->options.log, "click events recovered",
		 log_int("events", (int64_t)events),
		 log_int("damaged", (int64_t)damaged));
}

/* Spooled events are on the disk before they are marked in the journal: after a
 * kill in between they are sent twice, marked as maybe sent.  None is dropped:
 * in the journal they are as safe as in the spool. */
static int recover_undone_events(void *arg, const struct journal_rest *rest,
				 size_t *ret_taken, struct error *err)
{
	struct event_spool *s = arg;
	size_t appended;
	int status = append_rest(s, rest, &appended, err);

	if (appended && spool_sync(s->spool, err) < 0)
		status = -1;
	else
		*ret_taken = appended;
	tell_recovered(s, appended, status == 0 ? rest->damaged : 0);
	if (status == 0)
		count_damaged(s, rest);
	tell_usage(s);
	return status;
}

static void report_rejected_journal(void *arg, const struct error *why)
{
	struct event_spool *s = arg;

	metric_add(s->options.metrics->files_rejected, 1);
	log_error(s->options.log,
		  "journal of click events rejected, and set aside",
		  log_str("file", JOURNAL_REJECTED), log_err(why));
}

void event_spool_recover(struct event_spool *s)
{
	const struct journal_taker taker = {recover_undone_events,
					    report_rejected_journal, s};

	if (!s->spool)
		return;
	s->journals_at = clock_monotonic_ms() + JOURNALS_MS;
	s->journals.code = ERROR_NONE;
	if (journal_files_take(s->options.settings->spool_dir, &taker,
			       &s->journals) < 0)
		log_warn(s->options.log, "journals of others kept",
			 log_err(&s->journals));
	tell_usage(s);
}

/* A successor may have been killed during the hand-over, or after it. */
static void recover_again(struct event_spool *s)
{
	if (clock_monotonic_ms() >= s->journals_at)
		event_spool_recover(s);
}

/* --- the thread ----------------------------------------------------------- */

static bool may_replay(struct event_spool *s)
{
	return s->holding && !atomic_load(&s->kafka_away) &&
	       !atomic_load(&s->replay_stopped);
}

/* The lock makes event_spool_stop_replay find either that the thread will not
 * use the producer, or that it does, and wait. */
static bool enter_replay(struct event_spool *s)
{
	bool may;

	pthread_mutex_lock(&s->replay_lock);
	may = s->replaying = may_replay(s);
	pthread_mutex_unlock(&s->replay_lock);
	return may;
}

static void leave_replay(struct event_spool *s)
{
	pthread_mutex_lock(&s->replay_lock);
	s->replaying = false;
	pthread_cond_broadcast(&s->not_replaying);
	pthread_mutex_unlock(&s->replay_lock);
}

static void replay_spooled_events(struct event_spool *s)
{
	int64_t now = clock_monotonic_ms();

	if (s->holding)
		replay_retire(s->replay);
	if (now < s->replay_at || !enter_replay(s))
		return;
	if (replay_step(s->replay, s->producer, now, &s->failure) < 0)
		s->replay_at = now + RETRY_MS;
	leave_replay(s);
}

/* Waits for events, or for a while, and takes all that are queued.  Returns
 * false if the thread is to end and nothing is queued. */
static bool take_queued_events(struct event_spool *s)
{
	int64_t wait_ms = may_replay(s) ? REPLAY_MS : REPORT_MS;

	return event_queue_take(s->queue, clock_monotonic_ms() + wait_ms,
				&s->taken);
}

/* Returns false if the folder cannot be opened now; `failure` has the
 * reason. */
static bool open_late(struct event_spool *s)
{
	if (open_spool(s, &s->failure) < 0)
		return false;
	s->failure.code = ERROR_NONE;
	s->retry_at = 0;
	recover_again(s);
	note_spool_opened(s);
	log_info(s->options.log, "spool taken over");
	return true;
}

/* Waits until the other process has left the folder, or this thread is to
 * end. */
static void await_folder(struct event_spool *s)
{
	while (!open_late(s) && s->failure.code == ERROR_BUSY) {
		health_say(s->options.health, s->failure.text);
		if (!event_queue_wait_end(s->queue,
					  clock_monotonic_ms() + FOLDER_MS))
			return;
	}
}

/* Tries to open a folder whose disk fails.  Other threads do not wait for that,
 * as they do for another process that leaves the folder: queued events are
 * dropped meanwhile. */
static void try_to_open(struct event_spool *s)
{
	int64_t now = clock_monotonic_ms();

	if (now < s->retry_at)
		return;
	s->retry_at = now + RETRY_MS;
	if (!atomic_load(&s->replay_stopped))
		(void)open_late(s);
}

static void use_folder(struct event_spool *s)
{
	recover_again(s);
	replay_spooled_events(s);
}

static void *run_spool_thread(void *arg)
{
	struct event_spool *s = arg;

	if (!s->spool)
		await_folder(s);
	while (take_queued_events(s)) {
		if (!s->spool)
			try_to_open(s);
		if (s->taken.len)
			append_taken(s);
		if (s->spool)
			use_folder(s);
		report_spool_state(s);
	}
	if (s->spool)
		replay_retire(s->replay);
	s->report_at = s->complain_at = 0;
	report_spool_state(s);
	return NULL;
}

/* --- making --------------------------------------------------------------- */

static int make_parts(struct event_spool *s, struct error *err)
{
	s->queue = event_queue_new(err);
	if (!s->queue)
		return -1;
	if (open_spool(s, err) == 0) {
		note_spool_opened(s);
		return 0;
	}
	if (disk_failure_is(err))
		log_error(s->options.log, "spool not opened, trying again",
			  log_err(err));
	else if (s->options.awaits_folder && err->code == ERROR_BUSY)
		log_info(s->options.log, "waiting for the spool", log_err(err));
	else
		return -1;
	health_say(s->options.health, err->text);
	metric_set(s->options.metrics->spool_missing, 1);
	return 0;
}

struct event_spool *event_spool_new(const struct event_spool_options *options,
				    struct error *err)
{
	struct event_spool *s = calloc(1, sizeof(*s));

	if (!s) {
		error_set_nomem(err);
		return NULL;
	}
	s->options = *options;
	pthread_mutex_init(&s->replay_lock, NULL);
	pthread_cond_init(&s->not_replaying, NULL);
	if (make_parts(s, err) < 0) {
		event_spool_free(s);
		return NULL;
	}
	return s;
}

bool event_spool_is_open(const struct event_spool *s)
{
	return atomic_load_explicit(&s->open, memory_order_relaxed);
}

int event_spool_start(struct event_spool *s, struct kafka_producer *producer,
		      struct error *err)
{
	s->producer = producer;
	errno = pthread_create(&s->thread, NULL, run_spool_thread, s);
	if (errno)
		return error_set_errno(err, "spool: cannot start a thread");
	s->thread_runs = true;
	return 0;
}

void event_spool_end(struct event_spool *s)
{
	if (!s->thread_runs)
		return;
	event_queue_end(s->queue);
	pthread_join(s->thread, NULL);
	s->thread_runs = false;
}

void event_spool_free(struct event_spool *s)
{
	if (!s)
		return;
	event_spool_end(s);
	replay_free(s->replay);
	spool_free(s->spool);
	event_queue_free(s->queue);
	buf_free(&s->taken);
	pthread_cond_destroy(&s->not_replaying);
	pthread_mutex_destroy(&s->replay_lock);
	free(s);
}

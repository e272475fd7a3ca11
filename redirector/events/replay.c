#include "redirector/events/replay.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "common/buf.h"
#include "common/clock.h"
#include "redirector/events/click_event.h"

enum {
	WINDOW = 4096, /* events under way; a power of two */
	WINDOW_BYTES = 8 << 20,
	/* Wait after a failure, until the next try. */
	PAUSE_MS = 1000,
	/* Wait when the producer's queue is full of present visits. */
	FULL_PAUSE_MS = 100,
};

enum replay_state {
	ENTRY_SENT,	  /* passed to the producer */
	ENTRY_DONE,	  /* may be removed from the spool */
	ENTRY_UNSENT,	  /* to be sent, and certainly not stored yet */
	ENTRY_MAYBE_SENT, /* to be sent again, and marked so */
};

struct replayed_event {
	struct replay *replay;
	uint64_t number;
	int64_t time_ms;
	bool maybe_sent;
	_Atomic enum replay_state state;
	struct buf event;
};

struct replay {
	struct spool *spool;
	const struct redirector_metrics *metrics;
	struct hour_writer *hours;
	int64_t rate;
	const atomic_bool *stopped;

	/* Entries under way, in order: `count` of them from `first` on. */
	struct replayed_event entries[WINDOW];
	size_t first, count;
	size_t bytes;		   /* size of their events */
	atomic_size_t failures;	   /* entries to be sent again */
	_Atomic int64_t failed_at; /* monotonic ms; when Kafka last failed */

	int64_t now, filled_at; /* monotonic ms */
	int64_t allowance;	/* 1/1000 events that may be sent now */
	int64_t paused_until;
	int64_t last_ms; /* time of the last event that was read */
};

struct replay *replay_new(const struct replay_options *options,
			  struct error *err)
{
	struct replay *r = calloc(1, sizeof(*r));

	if (!r) {
		error_set_nomem(err);
		return NULL;
	}
	r->spool = options->spool;
	r->rate = options->rate;
	r->stopped = options->stopped;
	r->metrics = options->metrics;
	r->hours = options->hours;
	for (size_t i = 0; i < WINDOW; i++)
		r->entries[i].replay = r;
	return r;
}

static void release_events(struct replay *r)
{
	for (size_t i = 0; i < WINDOW; i++)
		buf_free(&r->entries[i].event);
}

void replay_free(struct replay *r)
{
	if (!r)
		return;
	release_events(r);
	free(r);
}

static struct replayed_event *entry_at(struct replay *r, size_t i)
{
	return &r->entries[(r->first + i) % WINDOW];
}

bool replay_is_idle(const struct replay *r)
{
	return r->count == 0;
}

int64_t replay_oldest_ms(const struct replay *r)
{
	return r->count ? r->entries[r->first].time_ms : 0;
}

/* --- results -------------------------------------------------------------- */

static void count_lost(struct replay *r, enum redirector_counter reason,
		       int64_t time_ms, uint64_t n)
{
	metric_add(r->metrics->counters[reason], n);
	for (uint64_t i = 0; i < n; i++)
		hour_writer_count_now(r->hours, time_ms / HOUR_MS,
				      HOUR_UNDELIVERED);
}

static void count_replayed(struct replay *r, const struct replayed_event *e)
{
	metric_add(r->metrics->counters[COUNTER_REPLAYED], 1);
	hour_writer_count_now(r->hours, e->time_ms / HOUR_MS,
			      HOUR_ACKNOWLEDGED);
	hour_writer_count_now(r->hours, e->time_ms / HOUR_MS, HOUR_REPLAYED);
}

static void set_failed(struct replayed_event *e, enum replay_state state)
{
	/* Counted before the state is set: another thread must not find an
	 * entry that is not counted. */
	atomic_fetch_add(&e->replay->failures, 1);
	atomic_store(&e->state, state);
}

/* The event is too large for the topic, now and at any later try. */
static void give_up(struct replayed_event *e)
{
	count_lost(e->replay, COUNTER_DROPPED_REFUSED, e->time_ms, 1);
	atomic_store(&e->state, ENTRY_DONE);
}

void replay_on_delivery(void *opaque, const struct error *err)
{
	struct replayed_event *e = opaque;

	if (!err) {
		count_replayed(e->replay, e);
		atomic_store(&e->state, ENTRY_DONE);
	} else if (err->code == ERROR_INPUT) {
		give_up(e);
	} else {
		atomic_store(&e->replay->failed_at, clock_monotonic_ms());
		set_failed(e, err->retriable ? ENTRY_UNSENT : ENTRY_MAYBE_SENT);
	}
}

void replay_retire(struct replay *r)
{
	bool any = r->count > 0;

	while (r->count &&
	       atomic_load(&r->entries[r->first].state) == ENTRY_DONE) {
		r->bytes -= r->entries[r->first].event.len;
		r->first = (r->first + 1) % WINDOW;
		r->count--;
	}
	spool_acknowledge(r->spool, r->count ? r->entries[r->first].number
					     : spool_next_number(r->spool));
	if (any && r->count == 0)
		release_events(r);
}

/* --- sending -------------------------------------------------------------- */

static void fill_allowance(struct replay *r)
{
	int64_t most = r->rate * 100 + 1000; /* 100 ms, and one event */

	r->allowance += (r->now - r->filled_at) * r->rate;
	r->filled_at = r->now;
	if (r->allowance > most)
		r->allowance = most;
}

/* Returns false if no more may be sent for now. */
static bool send_entry(struct replay *r, struct kafka_producer *producer,
		       struct replayed_event *e)
{
	struct error err;

	/* Set first: the result may arrive before kafka_produce returns. */
	atomic_store(&e->state, ENTRY_SENT);
	r->allowance -= 1000;
	if (kafka_produce(producer, NULL, 0, e->event.data, e->event.len, e,
			  &err) == 0)
		return true;
	if (err.code == ERROR_INPUT) {
		give_up(e);
		return true;
	}
	/* The producer did not take it, whatever the reason. */
	set_failed(e, ENTRY_UNSENT);
	r->paused_until =
		r->now + (err.code == ERROR_FULL ? FULL_PAUSE_MS : PAUSE_MS);
	return false;
}

static void mark_maybe_sent(struct replayed_event *e)
{
	if (e->maybe_sent)
		return;
	buf_append(&e->event, CLICK_MAYBE_SENT, CLICK_MAYBE_SENT_SIZE);
	e->maybe_sent = true;
	e->replay->bytes += CLICK_MAYBE_SENT_SIZE;
}

/* Returns false if it cannot be sent now. */
static bool send_again(struct replay *r, struct kafka_producer *producer,
		       struct replayed_event *e)
{
	enum replay_state state = atomic_load(&e->state);

	if (state != ENTRY_UNSENT && state != ENTRY_MAYBE_SENT)
		return true;
	if (r->allowance < 1000)
		return false;
	if (state == ENTRY_MAYBE_SENT)
		mark_maybe_sent(e);
	/* An event whose mark finds no memory must not be sent. */
	if (e->event.failed)
		return false;
	atomic_fetch_sub(&r->failures, 1);
	return send_entry(r, producer, e);
}

/* Sends failed events again, in order, after a pause.  Returns false if some
 * are left. */
static bool send_failed_again(struct replay *r, struct kafka_producer *producer)
{
	if (atomic_load(&r->failures) == 0)
		return true;
	if (r->now - atomic_load(&r->failed_at) < PAUSE_MS)
		return false;
	for (size_t i = 0; i < r->count; i++)
		if (!send_again(r, producer, entry_at(r, i)))
			return false;
	return atomic_load(&r->failures) == 0;
}

static void note_damaged(struct replay *r, uint64_t lost, int64_t time_ms)
{
	if (lost)
		count_lost(r, COUNTER_DROPPED_DAMAGED,
			   time_ms ? time_ms : clock_real_ms(), lost);
}

/* Reads the next record into an entry.  Returns 0 if there is none. */
static int add_entry(struct replay *r, struct replayed_event *e,
		     struct error *err)
{
	struct spool_record record;
	uint64_t lost;
	int got = spool_next(r->spool, &record, &lost, err);

	if (got <= 0) {
		if (got == 0)
			note_damaged(r, lost, r->last_ms);
		return got;
	}
	note_damaged(r, lost, record.time_ms);
	r->last_ms = e->time_ms = record.time_ms;
	e->number = record.number;
	e->maybe_sent = record.maybe_sent;
	buf_reset(&e->event);
	buf_append(&e->event, record.data, record.len);
	if (e->maybe_sent)
		buf_append(&e->event, CLICK_MAYBE_SENT, CLICK_MAYBE_SENT_SIZE);
	r->count++;
	r->bytes += e->event.len;
	if (!e->event.failed)
		return 1;
	/* The event was read, but there is no memory to send it. */
	r->bytes -= e->event.len;
	r->count--;
	count_lost(r, COUNTER_DROPPED_REFUSED, record.time_ms, 1);
	return 0;
}

static bool may_add(const struct replay *r)
{
	return r->allowance >= 1000 && r->count < WINDOW &&
	       r->bytes < WINDOW_BYTES;
}

int replay_step(struct replay *r, struct kafka_producer *producer,
		int64_t now_ms, struct error *err)
{
	r->now = now_ms;
	fill_allowance(r);
	if (now_ms < r->paused_until)
		return 0;
	if (!send_failed_again(r, producer))
		return 0;
	while (!atomic_load(r->stopped) && may_add(r)) {
		struct replayed_event *e = entry_at(r, r->count);
		int got = add_entry(r, e, err);

		if (got <= 0)
			return got;
		if (!send_entry(r, producer, e))
			return 0;
	}
	return 0;
}

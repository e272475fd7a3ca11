#include "redirector/events/event_sink.h"

#include <errno.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#include "common/kafka/producer.h"
#include "common/periodic.h"
#include "redirector/counters/disk_failure.h"
#include "redirector/events/backlog.h"
#include "redirector/events/event_journal.h"
#include "redirector/events/event_spool.h"
#include "redirector/events/replay.h"

enum {
	/* Bytes beside the text of the request: the link's part of a click,
	 * whose tags and names are bounded, and numbers. */
	LINK_PART_MAX = 8 << 10,
	RETRY_MS = 1000, /* when the disk had no room for a journal */
	BACKLOG_EVERY_MS = 1000,
};

struct event_sink {
	struct event_sink_options options;
	struct health_check *kafka;
	struct kafka_producer *producer;
	struct event_spool *spool;
	/* Exists only with a spool; NULL: not yet. */
	_Atomic(struct event_journal *) journal;
	struct health_check *journal_health;
	struct periodic *journal_maker; /* NULL: no retry was needed */
	struct backlog backlog;
	struct periodic *backlog_watcher;
	/* New events go into the spool rather than into memory. */
	atomic_bool kafka_away;
};

/* --- opaque pointers of messages ---------------------------------------------
 *
 * The producer keeps a pointer with each message, whose lowest bits tell its
 * kind.  For a message from the spool it is the pointer of the replay; for any
 * other it is the entry in the journal, or, without an entry, the event's time
 * instead of a pointer. */

enum {
	IS_TIME = 1,
	IS_ENTRY = 2,
};

_Static_assert(sizeof(void *) >= sizeof(int64_t), "a time fits a pointer");

static void *opaque_of_time(int64_t time_ms)
{
	return (void *)(intptr_t)((uint64_t)time_ms << 1 | IS_TIME);
}

static void *opaque_of_entry(struct journal_entry *entry)
{
	return (void *)((uintptr_t)entry | IS_ENTRY);
}

static bool is_replayed(const void *opaque)
{
	return ((uintptr_t)opaque & (IS_TIME | IS_ENTRY)) == 0;
}

/* Returns NULL if the event is in no journal. */
static struct journal_entry *entry_of(void *opaque)
{
	if ((uintptr_t)opaque & IS_TIME)
		return NULL;
	return (struct journal_entry *)((uintptr_t)opaque -
					(uintptr_t)IS_ENTRY);
}

static int64_t time_of(void *opaque)
{
	const struct journal_entry *entry = entry_of(opaque);

	return entry ? entry->time_ms : (int64_t)((uintptr_t)opaque >> 1);
}

/* --- the producer's threads ----------------------------------------------- */

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

/* Called after the event was counted: if a kill comes in between, the event is
 * sent again, marked, and counted again. */
static void mark_done(struct journal_entry *entry)
{
	if (entry)
		journal_entry_done(entry);
}

static void give_up(struct event_sink *sink, void *opaque)
{
	metric_add(sink->options.metrics->counters[COUNTER_DROPPED_EXPIRED], 1);
	hour_writer_count_now(sink->options.hours, time_of(opaque) / HOUR_MS,
			      HOUR_UNDELIVERED);
	mark_done(entry_of(opaque));
}

/* The producer calls this also for failures if there is no spool. */
static void on_delivery(void *arg, void *opaque, const struct error *err)
{
	struct event_sink *sink = arg;

	if (is_replayed(opaque)) {
		replay_on_delivery(opaque, err);
		return;
	}
	if (err) {
		give_up(sink, opaque);
		return;
	}
	hour_writer_count_now(sink->options.hours, time_of(opaque) / HOUR_MS,
			      HOUR_ACKNOWLEDGED);
	mark_done(entry_of(opaque));
}

static void on_failure(void *arg, void *opaque, const void *event, size_t len,
		       const struct error *err)
{
	struct event_sink *sink = arg;

	if (is_replayed(opaque))
		replay_on_delivery(opaque, err);
	else if (err->code != ERROR_INPUT)
		event_spool_put(sink->spool,
				&(struct spool_event){
					.time_ms = time_of(opaque),
					.maybe_sent = !err->retriable,
					.entry = entry_of(opaque),
					.data = event,
					.len = len,
				});
	else
		give_up(sink, opaque);
}

/* --- making --------------------------------------------------------------- */

/* Returns the largest size of a click event, or a little more. */
static size_t event_max(const struct redirector_settings *s)
{
	return (size_t)(s->max_user_agent + s->max_referrer +
			s->max_accept_language + s->max_query) +
	       LINK_PART_MAX;
}

/* Makes it in the spool's folder, whichever process has the folder. */
static int make_journal(struct event_sink *sink, struct error *err)
{
	const struct redirector_settings *s = &sink->options.config->redirector;
	const struct event_journal_options options = {
		.dir = s->spool_dir,
		.rings = sink->options.threads,
		.bytes = s->spool_journal_bytes,
		.event_max = event_max(s),
	};
	struct event_journal *journal = event_journal_new(&options, err);

	if (!journal)
		return error_wrap(err, "redirector.spool_dir");
	atomic_store_explicit(&sink->journal, journal, memory_order_release);
	metric_set(sink->options.metrics->journal_missing, 0);
	health_up(sink->journal_health);
	return 0;
}

/* Runs on the thread of `journal_maker`. */
static int64_t make_journal_late(struct periodic *self, void *arg)
{
	struct event_sink *sink = arg;
	struct error err;

	(void)self;
	if (make_journal(sink, &err) == 0) {
		log_info(sink->options.log, "journal of click events made");
		return PERIODIC_NEVER;
	}
	health_say(sink->journal_health, err.text);
	return RETRY_MS;
}

/* True if a later try may succeed: then the spool could be opened, its folder
 * exists, and the configuration is right.  ERROR_BUSY, too many journals of
 * others, is temporary only if this process has the folder, when the spool is
 * full.  If another process has it, that one serves. */
static bool may_come_later(const struct event_sink *sink,
			   const struct error *why)
{
	return disk_failure_is(why) || why->sys == ENOENT ||
	       (why->code == ERROR_BUSY && event_spool_is_open(sink->spool));
}

static int begin_to_make_journal(struct event_sink *sink, struct error *err)
{
	struct error why;

	if (make_journal(sink, &why) == 0)
		return 0;
	if (!may_come_later(sink, &why)) {
		*err = why;
		return -1;
	}
	log_error(sink->options.log,
		  "journal of click events not made, trying again",
		  log_err(&why));
	health_say(sink->journal_health, why.text);
	metric_set(sink->options.metrics->journal_missing, 1);
	sink->journal_maker = periodic_new(make_journal_late, sink, err);
	return sink->journal_maker ? periodic_start(sink->journal_maker, err)
				   : -1;
}

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

	sink->journal_health = health_register(o->health, "journal");
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
		.on_failure = sink->spool ? on_failure : NULL,
		.on_state = on_kafka,
		.arg = sink,
	};

	sink->producer = kafka_producer_new(&config->kafka, &options,
					    sink->options.registry, err);
	return sink->producer ? 0 : -1;
}

/* malloc keeps memory that was freed below a block in use: after 100,000 events
 * that waited, tens of megabytes stay unused until the next outage.  Runs on
 * the thread of `backlog_watcher`. */
static int64_t give_memory_back(struct periodic *self, void *arg)
{
	struct event_sink *sink = arg;

	(void)self;
	if (backlog_has_gone(&sink->backlog,
			     kafka_producer_queued(sink->producer))) {
#ifdef __GLIBC__
		malloc_trim(0);
#endif
	}
	return BACKLOG_EVERY_MS;
}

static int watch_backlog(struct event_sink *sink, struct error *err)
{
	sink->backlog_watcher = periodic_new(give_memory_back, sink, err);
	return sink->backlog_watcher
		       ? periodic_start(sink->backlog_watcher, err)
		       : -1;
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
	    make_producer(sink, err) < 0) {
		event_sink_free(sink);
		return NULL;
	}
	return sink;
}

/* Warns an operator who has not chosen this, before Kafka is away. */
static void warn_of_no_spool(struct event_sink *sink)
{
	char remark[256];

	snprintf(remark, sizeof(remark),
		 "there is no spool_dir: while Kafka is away, memory holds "
		 "%lld events and the others are dropped; a kill costs those "
		 "in memory",
		 (long long)sink->options.config->kafka.queue_messages);
	log_warn(sink->options.log, remark);
	health_say(health_register(sink->options.health, "spool"), remark);
}

/* Events that others left are taken before space is allocated for new ones. */
int event_sink_start(struct event_sink *sink, struct error *err)
{
	if (watch_backlog(sink, err) < 0)
		return -1;
	if (!sink->spool) {
		warn_of_no_spool(sink);
		return 0;
	}
	event_spool_recover(sink->spool);
	if (begin_to_make_journal(sink, err) < 0)
		return -1;
	return event_spool_start(sink->spool, sink->producer, err);
}

void event_sink_end(struct event_sink *sink)
{
	periodic_free(sink->journal_maker);
	sink->journal_maker = NULL;
	periodic_free(sink->backlog_watcher);
	sink->backlog_watcher = NULL;
	if (sink->spool)
		event_spool_stop_replay(sink->spool);
	/* Reports the events that it drops before it is freed. */
	kafka_producer_free(sink->producer);
	sink->producer = NULL;
	if (sink->spool)
		event_spool_end(sink->spool);
	/* The next owner of the folder finds the entries that are left. */
	event_journal_free(atomic_exchange(&sink->journal, NULL));
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

/* --- the threads that answer ---------------------------------------------- */

static enum event_taken spool_event(struct event_sink *sink,
				    const struct taken_event *event,
				    struct journal_entry *entry)
{
	const struct spool_event offered = {
		.time_ms = event->time_ms,
		.entry = entry,
		.data = event->data,
		.len = event->len,
	};

	if (event_spool_offer(sink->spool, &offered))
		return EVENT_TAKEN;
	mark_done(entry);
	return EVENT_NO_ROOM;
}

static enum event_taken drop_refused_event(const struct error *err,
					   struct journal_entry *entry)
{
	mark_done(entry);
	return err->code == ERROR_FULL ? EVENT_NO_ROOM : EVENT_REFUSED;
}

/* True if the event goes to the spool rather than to Kafka's queue.  An event
 * that finds no room in the journal goes to the disk at once, where it is soon
 * safe; in Kafka's queue it would stay unsafe for longer.  Without a journal
 * that rule does not apply, since a disk without room for a journal has none
 * for all events.  While another process has the folder, there is only Kafka's
 * queue. */
static bool goes_to_spool(const struct event_sink *sink, bool no_room)
{
	return (no_room || atomic_load_explicit(&sink->kafka_away,
						memory_order_relaxed)) &&
	       event_spool_is_open(sink->spool);
}

/* Returns NULL if there is no journal, or no room in it. */
static struct journal_entry *put_into(struct event_journal *journal,
				      const struct taken_event *event)
{
	return journal ? event_journal_put(journal, event->thread,
					   event->time_ms, event->data,
					   event->len)
		       : NULL;
}

/* An event in the journal stays there until Kafka or the spool has it, so it
 * need not be copied again. */
static int produce_event(struct event_sink *sink,
			 const struct taken_event *event,
			 struct journal_entry *entry, struct error *err)
{
	if (entry)
		return kafka_produce_in_place(sink->producer, entry->data,
					      event->len,
					      opaque_of_entry(entry), err);
	return kafka_produce(sink->producer, NULL, 0, event->data, event->len,
			     opaque_of_time(event->time_ms), err);
}

/* Takes the event through the journal if there is one. */
static enum event_taken take_safely(struct event_sink *sink,
				    const struct taken_event *event)
{
	struct event_journal *journal =
		atomic_load_explicit(&sink->journal, memory_order_acquire);
	struct journal_entry *entry = put_into(journal, event);
	bool no_room = journal && !entry;
	struct error err;

	if (no_room)
		metric_add(
			sink->options.metrics->counters[COUNTER_JOURNAL_FULL],
			1);
	if (goes_to_spool(sink, no_room))
		return spool_event(sink, event, entry);
	if (produce_event(sink, event, entry, &err) == 0)
		return EVENT_TAKEN;
	return err.code == ERROR_INPUT ? drop_refused_event(&err, entry)
				       : spool_event(sink, event, entry);
}

enum event_taken event_sink_take(struct event_sink *sink,
				 const struct taken_event *event)
{
	struct error err;

	if (sink->spool)
		return take_safely(sink, event);
	if (produce_event(sink, event, NULL, &err) == 0)
		return EVENT_TAKEN;
	return drop_refused_event(&err, NULL);
}

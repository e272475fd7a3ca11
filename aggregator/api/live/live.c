#include "aggregator/api/live/live.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aggregator/api/api_keys.h"
#include "aggregator/api/links/link_finder.h"
#include "aggregator/api/live/live_event.h"
#include "aggregator/api/live/live_queue.h"
#include "aggregator/api/live/live_reader.h"
#include "aggregator/api/problem.h"
#include "aggregator/api/slots.h"
#include "aggregator/api/statistics/owner_clicks.h"
#include "common/clock.h"
#include "common/http/encoding.h"
#include "common/http/stream.h"

enum {
	INBOX_MAX = 4096,     /* events on their way to a loop */
	PENDING_MAX = 65536,  /* bytes pending for a client, about */
	HEARTBEAT_MS = 15000, /* proxies close an idle connection in a minute */
	TICK_MS = 1000,
	RECONNECT_MS = 2000, /* delay that clients are sent */
};

struct delivery {
	struct live_event *event;
	enum live_audience audience;
};

struct subscriber {
	struct subscriber *prev, *next; /* in its loop's list */
	struct live_loop *at;
	struct http_request *req;
	struct access access;
	char key[API_KEY_NAME_MAX]; /* the key whose slot it has */
	struct question question;
	struct live_listener listener;
	struct live_queue queue;
	int64_t wrote_at; /* loop time */
	bool ready_told;
	bool streaming; /* its answer has begun */
	/* The look-up of the link in the question.  While a worker runs it, the
	 * client may go, or the listener may begin to end. */
	bool looking, gone, stopping;
	struct clickhouse_task task;
	int outcome;
	struct error err;
};

struct live_loop {
	struct live *live;
	struct live_loop *next;
	struct loop *loop;

	pthread_mutex_t lock; /* protects the inbox */
	struct delivery *inbox;
	size_t count;
	uint64_t lost[LIVE_AUDIENCES]; /* events that did not fit */
	bool posted;

	/* Used by the loop's thread alone. */
	struct delivery *taken; /* the previous inbox */
	struct subscriber *subscribers;
	struct loop_timer *tick;
};

struct live {
	struct live_options options;
	struct live_reader *reader; /* NULL: there is no live stream */
	struct live_loop *loops;
	struct slots *slots; /* one per stream */
	bool stopped;	     /* workers return no results any more */
	struct metric *subscribers, *sent, *lost;
};

/* --- events to a subscriber ----------------------------------------------- */

static void write_text(struct subscriber *s, const char *text, size_t len)
{
	http_stream_write(s->req, text, len);
	s->wrote_at = loop_now_ms(s->at->loop);
}

static bool has_room(const struct subscriber *s)
{
	return http_stream_pending(s->req) <= PENDING_MAX;
}

/* Lost events are older than waiting ones, except for those that did not even
 * fit into the loop's inbox. */
static void tell_lost(struct subscriber *s)
{
	char text[64];
	uint64_t lost = live_queue_take_lost(&s->queue);

	if (!lost)
		return;
	snprintf(text, sizeof(text),
		 "event: lost\ndata: {\"events\":%" PRIu64 "}\n\n", lost);
	write_text(s, text, strlen(text));
}

/* Sends the waiting events, as far as the client takes them. */
static void send_waiting(struct subscriber *s)
{
	struct live_event *e;

	while (has_room(s)) {
		tell_lost(s);
		e = live_queue_take(&s->queue);
		if (!e)
			return;
		write_text(s, e->text, e->len);
		metric_add(s->at->live->sent, 1);
		live_event_release(e);
	}
}

static bool may_see(const struct subscriber *s, const struct live_event *e)
{
	const struct key_link now = {.account = e->whose.account,
				     .owner = e->whose.owner},
			      then = {.account = e->account, .owner = e->owner};

	/* The link may have changed hands since the click. */
	return s->listener.audience == SEES_ALL ||
	       (access_sees_link(&s->access, &now) &&
		access_sees_link(&s->access, &then));
}

static void offer_event(struct subscriber *s, const struct delivery *d)
{
	if (s->listener.audience != d->audience || !s->streaming ||
	    !live_event_matches(d->event, &s->question) ||
	    !may_see(s, d->event))
		return;
	if (live_queue_put(&s->queue, d->event))
		metric_add(s->at->live->lost, 1);
	send_waiting(s);
}

static void tell_ready(struct subscriber *s)
{
	static const char text[] = "event: ready\ndata: {}\n\n";

	if (s->ready_told || !s->streaming)
		return;
	s->ready_told = true;
	write_text(s, text, sizeof(text) - 1);
}

/* --- a loop's inbox --------------------------------------------------------
 */

static void count_lost_events(struct live_loop *at,
			      const uint64_t lost[LIVE_AUDIENCES])
{
	for (struct subscriber *s = at->subscribers; s; s = s->next) {
		uint64_t n = lost[s->listener.audience];

		if (!n || !s->streaming)
			continue;
		s->queue.lost += n;
		metric_add(at->live->lost, n);
		send_waiting(s);
	}
}

/* Runs on the loop's thread. */
static void serve_inbox(void *arg)
{
	struct live_loop *at = arg;
	uint64_t lost[LIVE_AUDIENCES];
	struct delivery *taken;
	size_t count;

	pthread_mutex_lock(&at->lock);
	taken = at->inbox;
	at->inbox = at->taken;
	at->taken = taken;
	count = at->count;
	at->count = 0;
	memcpy(lost, at->lost, sizeof(lost));
	memset(at->lost, 0, sizeof(at->lost));
	at->posted = false;
	pthread_mutex_unlock(&at->lock);
	if (live_reader_is_ready(at->live->reader))
		for (struct subscriber *s = at->subscribers; s; s = s->next)
			tell_ready(s);
	for (size_t i = 0; i < count; i++) {
		for (struct subscriber *s = at->subscribers; s; s = s->next)
			offer_event(s, &taken[i]);
		live_event_release(taken[i].event);
	}
	count_lost_events(at, lost);
}

/* Called with at->lock held.  If memory is short, the next event posts. */
static void schedule_inbox(struct live_loop *at)
{
	struct error ignored;

	if (!at->posted)
		at->posted =
			loop_post(at->loop, serve_inbox, at, &ignored) == 0;
}

static void on_event(void *arg, struct live_event *e,
		     enum live_audience audience)
{
	struct live *l = arg;

	for (struct live_loop *at = l->loops; at; at = at->next) {
		pthread_mutex_lock(&at->lock);
		if (at->count < INBOX_MAX)
			at->inbox[at->count++] = (struct delivery){
				live_event_share(e), audience};
		else
			at->lost[audience]++;
		schedule_inbox(at);
		pthread_mutex_unlock(&at->lock);
	}
}

static void on_lost(void *arg, uint64_t events, enum live_audience audience)
{
	struct live *l = arg;

	for (struct live_loop *at = l->loops; at; at = at->next) {
		pthread_mutex_lock(&at->lock);
		at->lost[audience] += events;
		schedule_inbox(at);
		pthread_mutex_unlock(&at->lock);
	}
}

static void on_ready(void *arg)
{
	struct live *l = arg;

	for (struct live_loop *at = l->loops; at; at = at->next) {
		pthread_mutex_lock(&at->lock);
		schedule_inbox(at);
		pthread_mutex_unlock(&at->lock);
	}
}

/* --- subscribers ---------------------------------------------------------- */

static struct live_listener listener_of(const struct access *access)
{
	struct live_listener some = {.audience = SEES_SOME,
				     .owners = access->who.owners};

	if (access_sees_all(access))
		return (struct live_listener){.audience = SEES_ALL};
	memcpy(some.account, access->who.account, sizeof(some.account));
	return some;
}

static void subscriber_free(struct subscriber *s)
{
	question_release(&s->question);
	live_queue_release(&s->queue);
	free(s);
}

/* Called when the answer has ended, or did not begin. */
static void remove_subscriber(struct subscriber *s)
{
	struct live_loop *at = s->at;

	if (s->prev)
		s->prev->next = s->next;
	else
		at->subscribers = s->next;
	if (s->next)
		s->next->prev = s->prev;
	live_reader_leave(at->live->reader, &s->listener);
	if (s->looking)
		slots_give_back(at->live->options.questions, s->key);
	slots_give_back(at->live->slots, s->key);
	metric_add(at->live->subscribers, (uint64_t)-1);
	subscriber_free(s);
}

static void on_drained(struct http_request *req, void *arg)
{
	(void)req;
	send_waiting(arg);
}

static void end_stream(struct subscriber *s)
{
	struct http_request *req = s->req;

	remove_subscriber(s);
	http_stream_end(req);
}

/* The client has gone. */
static void on_abort(struct http_request *req, void *arg)
{
	struct subscriber *s = arg;

	(void)req;
	s->gone = true;
	if (s->looking && !s->at->live->stopped)
		query_ender_cancel(s->at->live->options.ender, &s->task);
	else
		end_stream(s);
}

/* The listener ends. */
static void on_stop(struct http_request *req, void *arg)
{
	struct subscriber *s = arg;

	(void)req;
	s->stopping = true;
	if (!s->looking)
		end_stream(s);
}

static const struct http_stream_handler stream_handler = {
	.on_abort = on_abort,
	.on_drained = on_drained,
	.drain_mark = PENDING_MAX,
	.on_stop = on_stop,
	.stop_at_half_close = true,
};

static const struct http_field stream_fields[] = {
	{"Content-Type", "text/event-stream"},
	{"Cache-Control", "no-store"},
	{"X-Accel-Buffering", "no"}, /* else nginx buffers it */
	{"X-Content-Type-Options", "nosniff"},
	{"Referrer-Policy", "no-referrer"},
	{NULL, NULL}};

static void begin_stream(struct subscriber *s)
{
	char text[32];

	http_stream_begin(s->req, 200, stream_fields);
	/* HEAD gets the header of GET. */
	if (s->stopping || http_method_is(s->req, "HEAD")) {
		end_stream(s);
		return;
	}
	s->streaming = true;
	snprintf(text, sizeof(text), "retry: %d\n\n", RECONNECT_MS);
	write_text(s, text, strlen(text));
	if (live_reader_is_ready(s->at->live->reader))
		tell_ready(s);
	loop_timer_set(s->at->tick, TICK_MS);
}

/* Replaces the listener.  Another one listens meanwhile: without a listener
 * nothing would be read. */
static void listen_as(struct subscriber *s,
		      const struct live_listener *listener)
{
	struct live_reader *reader = s->at->live->reader;
	struct live_listener meanwhile = {.audience = SEES_ALL};

	live_reader_join(reader, &meanwhile);
	live_reader_leave(reader, &s->listener);
	s->listener = *listener;
	live_reader_join(reader, &s->listener);
	live_reader_leave(reader, &meanwhile);
}

/* Checks the key again, since the keys may have been reloaded.  Returns false
 * if it has no access any more. */
static bool still_may(struct subscriber *s)
{
	struct live_listener now;

	if (!s->access.keys)
		return true;
	if (!api_keyring_still_may(s->access.keys, &s->access.who, API_READ))
		return false;
	now = listener_of(&s->access);
	if (now.audience != s->listener.audience ||
	    strcmp(now.account, s->listener.account) != 0 ||
	    now.owners != s->listener.owners)
		listen_as(s, &now);
	return true;
}

static void on_tick(void *arg)
{
	struct live_loop *at = arg;
	struct subscriber *s, *next;
	int64_t now = loop_now_ms(at->loop);

	for (s = at->subscribers; s; s = next) {
		next = s->next;
		if (!s->streaming)
			continue;
		if (!still_may(s))
			end_stream(s);
		else if (now - s->wrote_at >= HEARTBEAT_MS && has_room(s))
			write_text(s, ":\n\n", 3);
	}
	if (at->subscribers)
		loop_timer_set(at->tick, TICK_MS);
}

/* --- the request -----------------------------------------------------------
 */

static struct subscriber *subscriber_new(struct live_loop *at,
					 struct http_request *req,
					 const struct access *access,
					 struct error *err)
{
	const struct aggregator_settings *own =
		&at->live->options.config->aggregator;
	struct subscriber *s = calloc(1, sizeof(*s));

	if (!s || !live_queue_init(&s->queue, (size_t)own->live_queue)) {
		free(s);
		error_set_nomem(err);
		return NULL;
	}
	s->at = at;
	s->req = req;
	s->access = *access;
	s->listener = listener_of(access);
	if (question_parse(&s->question, http_query(req),
			   ASK_LINK | ASK_BOTS | ASK_LIVE, own, NULL, NULL,
			   err) == 0 &&
	    owner_question_check(&s->question, &s->access, err) == 0)
		return s;
	subscriber_free(s);
	return NULL;
}

/* Runs on a worker: finds the link of the question, if there is one that may be
 * seen.  Its code may be given to another link later; the link stays the same.
 */
static void find_link(void *arg, unsigned index)
{
	struct subscriber *s = arg;
	const struct live_options *options = &s->at->live->options;
	const struct link_finder finder = {.ch = options->connections[index],
					   .redis = options->redis,
					   .access = &s->access};
	struct archived_link link = {0};

	clickhouse_set_task(finder.ch, &s->task);
	s->outcome = link_find(&finder, s->question.code, s->question.link_id,
			       &link, &s->err);
	if (s->outcome == 0)
		s->question.link_id = link.link_id;
	archived_link_release(&link);
	clickhouse_set_task(finder.ch, NULL);
	query_ender_finish(options->ender, &s->task);
}

static void refuse_subscriber(struct subscriber *s, const struct error *err)
{
	struct log *log = s->at->live->options.log;
	struct http_request *req = s->req;

	remove_subscriber(s);
	problem_reply(req, log, err);
}

static void on_link_found(void *arg)
{
	struct subscriber *s = arg;
	struct error err = s->err;

	s->looking = false;
	slots_give_back(s->at->live->options.questions, s->key);
	if (s->gone)
		end_stream(s);
	else if (s->outcome < 0)
		refuse_subscriber(s, &err);
	else
		begin_stream(s);
}

/* The look-up counts as a question of the key. */
static void look_for_link(struct subscriber *s)
{
	const struct live_options *options = &s->at->live->options;
	struct http_request *req = s->req;
	struct error err = {0};
	enum slots_answer slot = slots_take(options->questions, s->key);

	if (slot != SLOTS_TAKEN) {
		metric_add(options->refused, 1);
		remove_subscriber(s);
		problem_reply_full(req, slot, "questions");
		return;
	}
	s->looking = true;
	query_ender_name(options->ender, &s->task);
	s->task.priority = QUESTION_PRIORITY;
	s->task.deadline = clock_monotonic_ms() +
			   options->config->aggregator.answer_timeout;
	if (workers_submit_of(options->workers, access_turn(&s->access),
			      s->at->loop, find_link, on_link_found, s,
			      &err) < 0) {
		metric_add(options->refused, 1);
		refuse_subscriber(s, &err);
	}
}

/* Takes a slot, and a place among the subscribers that clicks are offered to.
 */
static enum slots_answer add_subscriber(struct subscriber *s)
{
	struct live_loop *at = s->at;
	enum slots_answer answer;

	snprintf(s->key, sizeof(s->key), "%s", s->access.who.name);
	answer = slots_take(at->live->slots, s->key);
	if (answer != SLOTS_TAKEN)
		return answer;
	s->next = at->subscribers;
	if (s->next)
		s->next->prev = s;
	at->subscribers = s;
	metric_add(at->live->subscribers, 1);
	live_reader_join(at->live->reader, &s->listener);
	return answer;
}

static void subscribe_client(struct live_loop *at, struct http_request *req,
			     const struct access *access)
{
	struct live *l = at->live;
	struct error err = {0};
	struct subscriber *s = subscriber_new(at, req, access, &err);
	enum slots_answer slot;

	if (!s) {
		problem_reply(req, l->options.log, &err);
		return;
	}
	slot = add_subscriber(s);
	if (slot != SLOTS_TAKEN) {
		subscriber_free(s);
		problem_reply_full(req, slot, "live streams");
		return;
	}
	http_stream_accept(req, &stream_handler, s);
	if (!*s->question.code && !s->question.link_id)
		begin_stream(s);
	else
		look_for_link(s);
}

bool live_choose(const struct http_request *req)
{
	return http_slice_is(http_path(req), "/v1/live") &&
	       (http_method_is(req, "GET") || http_method_is(req, "HEAD"));
}

void live_handle(struct live_loop *at, struct http_request *req)
{
	struct encoding_list accepted = encoding_list_of(req);
	struct access access;

	if (!at->live->reader)
		http_reply_problem(req, 404, NULL,
				   "there is no live stream here: "
				   "kafka.topic_live is not set");
	else if (!api_keys_admit(at->live->options.keys, req, &access))
		return;
	else if (!encoding_accepted(&accepted, ENCODING_IDENTITY))
		problem_reply_not_acceptable(req);
	else
		subscribe_client(at, req, &access);
}

/* --- start and end -------------------------------------------------------- */

static void register_metrics(struct live *l)
{
	struct metrics *m = l->options.metrics;

	l->subscribers =
		metrics_gauge(m, "shortloop_aggregator_live_subscribers", NULL,
			      "Streams of /v1/live.");
	metric_set(metrics_gauge(m, "shortloop_aggregator_live_subscribers_max",
				 NULL,
				 "How many there may be (setting "
				 "live_subscribers)."),
		   l->options.config->aggregator.live_subscribers);
	l->sent = metrics_counter(m, "shortloop_aggregator_live_sent_total",
				  NULL, "Clicks sent, over all streams.");
	l->lost = metrics_counter(
		m, "shortloop_aggregator_live_lost_total", NULL,
		"Clicks that subscribers lost, over all streams.");
}

static int open_reader(struct live *l, struct error *err)
{
	const struct live_reader_options options = {
		.config = l->options.config,
		.log = l->options.log,
		.metrics = l->options.metrics,
		.workers = l->options.workers,
		.connections = l->options.connections,
		.ender = l->options.ender,
		.on_event = on_event,
		.on_lost = on_lost,
		.on_ready = on_ready,
		.arg = l,
	};
	const struct slots_bounds bounds = {
		.of_key = l->options.config->aggregator.live_per_key,
		.of_all = l->options.config->aggregator.live_subscribers,
	};

	if (!l->options.config->kafka.topic_live)
		return 0;
	register_metrics(l);
	l->slots = slots_new(&bounds, err);
	if (!l->slots)
		return -1;
	l->reader = live_reader_new(&options, err);
	return l->reader ? 0 : -1;
}

struct live *live_new(const struct live_options *options, struct error *err)
{
	struct live *l = calloc(1, sizeof(*l));

	if (!l) {
		error_set_nomem(err);
		return NULL;
	}
	l->options = *options;
	if (open_reader(l, err) == 0)
		return l;
	live_free(l);
	return NULL;
}

int live_start(struct live *l, struct error *err)
{
	return l->reader ? live_reader_start(l->reader, err) : 0;
}

void live_stop(struct live *l)
{
	if (!l)
		return;
	l->stopped = true;
	if (l->reader)
		live_reader_stop(l->reader);
}

static void live_loop_free(struct live_loop *at)
{
	for (size_t i = 0; i < at->count; i++)
		live_event_release(at->inbox[i].event);
	free(at->inbox);
	free(at->taken);
	pthread_mutex_destroy(&at->lock);
	free(at);
}

void live_free(struct live *l)
{
	struct live_loop *at;

	if (!l)
		return;
	live_reader_free(l->reader);
	slots_free(l->slots);
	while ((at = l->loops)) {
		l->loops = at->next;
		live_loop_free(at);
	}
	free(l);
}

static int open_inbox(struct live_loop *at, struct error *err)
{
	at->inbox = calloc(INBOX_MAX, sizeof(*at->inbox));
	at->taken = calloc(INBOX_MAX, sizeof(*at->taken));
	if (!at->inbox || !at->taken)
		return error_set_nomem(err);
	at->tick = loop_timer_new(at->loop, on_tick, at, err);
	return at->tick ? 0 : -1;
}

struct live_loop *live_loop_new(struct live *l, struct loop *loop,
				struct error *err)
{
	struct live_loop *at = calloc(1, sizeof(*at));

	if (!at) {
		error_set_nomem(err);
		return NULL;
	}
	at->live = l;
	at->loop = loop;
	pthread_mutex_init(&at->lock, NULL);
	if (l->reader && open_inbox(at, err) < 0) {
		live_loop_free(at);
		return NULL;
	}
	at->next = l->loops;
	l->loops = at;
	return at;
}

#include "redirector/lookup/lookup_health.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define SERVER_LABEL "of=\"%s\",%s=\"%s\""

struct thread_state {
	enum breaker_state breakers[LOOKUP_SERVERS];
	bool without_replica;
};

struct server_metrics {
	struct metric *threads[BREAKER_STATES];
	struct metric *transitions[BREAKER_STATES];
};

struct lookup_health {
	struct lookup_health_options options;
	struct health_check *lookups, *replicas;
	struct metric *with_replica;
	struct server_metrics metrics[LOOKUP_SERVERS];
	pthread_mutex_t lock; /* protects the members below */
	size_t counts[LOOKUP_SERVERS][BREAKER_STATES];
	bool paused;
	size_t without_replica;
	char why_without[200]; /* last reason reported */
	struct thread_state threads[];
};

/* --- breakers ------------------------------------------------------------- */

/* Called with the lock held.  Logs when the first thread pauses and when the
 * last resumes, not the changes in between. */
static void log_lookups(struct lookup_health *h)
{
	const size_t *counts = h->counts[LOOKUP_MASTER];

	if (counts[BREAKER_OPEN] && !h->paused) {
		h->paused = true;
		log_warn(h->options.log, "look-ups paused: Redis fails or is "
					 "slow");
	} else if (counts[BREAKER_CLOSED] == h->options.threads && h->paused) {
		h->paused = false;
		log_info(h->options.log, "look-ups resumed");
	}
}

/* Called with the lock held. */
static void report_lookups(struct lookup_health *h)
{
	const size_t *counts = h->counts[LOOKUP_MASTER];
	size_t threads = h->options.threads;
	char text[160];

	if (counts[BREAKER_OPEN]) {
		snprintf(text, sizeof(text),
			 "the breaker is open on %zu of %zu threads: Redis "
			 "fails or is slow",
			 counts[BREAKER_OPEN], threads);
		health_down(h->lookups, text);
	} else if (counts[BREAKER_HALF_OPEN]) {
		snprintf(text, sizeof(text),
			 "the breaker is half-open on %zu of %zu threads",
			 counts[BREAKER_HALF_OPEN], threads);
		health_say(h->lookups, text);
	} else {
		health_up(h->lookups);
	}
}

/* Called with the lock held. */
static void set_gauges(struct lookup_health *h, enum lookup_server of)
{
	for (int i = 0; i < BREAKER_STATES; i++)
		metric_set(h->metrics[of].threads[i],
			   (int64_t)h->counts[of][i]);
}

void lookup_health_breaker(struct lookup_health *h, unsigned thread,
			   enum lookup_server of, enum breaker_state state)
{
	enum breaker_state *is = &h->threads[thread].breakers[of];

	pthread_mutex_lock(&h->lock);
	h->counts[of][*is]--;
	h->counts[of][state]++;
	*is = state;
	metric_add(h->metrics[of].transitions[state], 1);
	set_gauges(h, of);
	if (of == LOOKUP_MASTER) {
		report_lookups(h);
		log_lookups(h);
	}
	pthread_mutex_unlock(&h->lock);
}

/* --- replicas ------------------------------------------------------------- */

void lookup_health_replica(struct lookup_health *h, unsigned thread,
			   const char *why)
{
	bool *without = &h->threads[thread].without_replica;
	char text[256];

	pthread_mutex_lock(&h->lock);
	if (*without != (why != NULL))
		h->without_replica += why ? 1 : (size_t)-1;
	*without = why != NULL;
	if (why)
		snprintf(h->why_without, sizeof(h->why_without), "%s", why);
	metric_set(h->with_replica,
		   (int64_t)(h->options.threads - h->without_replica));
	snprintf(text, sizeof(text),
		 "%zu of %zu threads query the master only: %s",
		 h->without_replica, h->options.threads, h->why_without);
	if (h->without_replica)
		health_say(h->replicas, text);
	else
		health_up(h->replicas);
	pthread_mutex_unlock(&h->lock);
}

/* --- making --------------------------------------------------------------- */

static void register_server(struct lookup_health *h, enum lookup_server of,
			    const char *name)
{
	struct metrics *m = h->options.metrics;
	char labels[64];

	for (int i = 0; i < BREAKER_STATES; i++) {
		const char *state = breaker_state_name((enum breaker_state)i);

		snprintf(labels, sizeof(labels), SERVER_LABEL, name, "state",
			 state);
		h->metrics[of].threads[i] = metrics_gauge(
			m, "shortloop_redirector_breakers", labels,
			"Threads whose breaker for look-ups is in that state");
		snprintf(labels, sizeof(labels), SERVER_LABEL, name, "to",
			 state);
		h->metrics[of].transitions[i] = metrics_counter(
			m, "shortloop_redirector_breaker_changes_total", labels,
			"Times that breakers came to that state");
	}
	h->counts[of][BREAKER_CLOSED] = h->options.threads;
	set_gauges(h, of);
}

static void register_replicas(struct lookup_health *h)
{
	h->replicas = health_register(h->options.health, "replicas");
	health_say(h->replicas, "not connected yet");
	h->with_replica = metrics_gauge(
		h->options.metrics, "shortloop_redirector_threads_with_replica",
		NULL, "Threads that query a replica before the master");
	for (size_t i = 0; i < h->options.threads; i++)
		h->threads[i].without_replica = true;
	h->without_replica = h->options.threads;
	register_server(h, LOOKUP_REPLICA, "replica");
}

struct lookup_health *
lookup_health_new(const struct lookup_health_options *options,
		  struct error *err)
{
	struct lookup_health *h = calloc(
		1, sizeof(*h) + options->threads * sizeof(h->threads[0]));

	if (!h) {
		error_set_nomem(err);
		return NULL;
	}
	h->options = *options;
	pthread_mutex_init(&h->lock, NULL);
	h->lookups = health_register(options->health, "look-ups");
	health_up(h->lookups);
	register_server(h, LOOKUP_MASTER, "master");
	if (options->replicas)
		register_replicas(h);
	return h;
}

void lookup_health_free(struct lookup_health *h)
{
	if (!h)
		return;
	pthread_mutex_destroy(&h->lock);
	free(h);
}

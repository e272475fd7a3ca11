/*
 * redirector.h - what the threads of the program share: links' spaces and
 * hosts, the way of events, metrics, and whether the program is ready.
 *
 * Made before the threads start, and read by them; what changes while they run
 * has functions below, or is thread-safe by itself.
 */
#ifndef REDIRECTOR_REDIRECTOR_H
#define REDIRECTOR_REDIRECTOR_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/app/app.h"
#include "common/host_name.h"
#include "common/log.h"
#include "common/metrics/metrics.h"
#include "linkstore/linkstore.h"
#include "redirector/hour_counts.h"
#include "redirector/redirector_config.h"
#include "redirector/redirector_metrics.h"

struct access_log;
struct counters_report;
struct deny_file;
struct event_limits;
struct event_sink;
struct freshness;
struct host_table;
struct invalidations;
struct landing_pages;
struct lookup_health;
struct network_list;
struct renew_throttle;
struct robots;
struct shared_domains_watch;
struct space_monitor;

/* What /readyz tells; any thread reports. */
struct redirector_health {
	pthread_mutex_t lock;
	struct health_check *redis, *links, *invalidations, *domains;
	size_t connected; /* threads whose connection to Redis is up */
	bool *thread_connected;
	bool failed; /* `failure` is why the program ends by itself */
	struct error failure;
};

struct redirector {
	const struct redirector_config *config;
	const char *edge; /* this redirector's name in events */
	char host_name[HOST_NAME_SIZE];
	size_t threads;
	struct log *log;
	struct metrics *registry;
	struct redirector_metrics metrics;
	struct redirector_health health;

	struct linkstore *store;
	struct network_list *proxies; /* trusted ones */
	/* Who begins with a PROXY header; NULL: nobody does. */
	struct network_list *proxy_protocol;
	struct log_pace headers_rejected, lookups_failed;
	struct access_log *access_log; /* NULL: none */
	struct network_list *limit_exempt;
	struct deny_file *denied; /* NULL: nobody is */
	struct landing_pages *landing_pages;
	struct robots *robots; /* whose fetches use up no visit */
	struct host_table *hosts_in_use;
	struct shared_domains_watch *shared_domains; /* NULL: none */
	struct metric *domains_revision;
	struct lookup_health *lookups;
	size_t first_replica; /* drawn: redirectors begin with different ones */
	struct renew_throttle *renewals;
	struct space_monitor *spaces; /* runs on the first thread */
	struct metric **keys_missing; /* by space index */
	struct freshness *freshness;
	struct invalidations *invalidations; /* notes changes there */
	struct event_sink *sink;
	struct event_limits *event_limits; /* what goes there */
	/* One a thread, by number, and one of the sink's threads. */
	struct hour_writer *hours;
	struct counters_report *counters; /* NULL: nobody is told, and they */
	struct hour_totals *untold;	  /* count here */
};

/* `config` must outlive it.  `succeeds`: another redirector, with the same
 * spool, may be about to end. */
struct redirector *redirector_new(struct app *app,
				  const struct redirector_config *config,
				  bool succeeds, struct error *err);
/* After the threads are gone.  NULL accepted. */
void redirector_free(struct redirector *r);

/* Opens the access log anew, and reads again the files that may change while
 * the program runs, or the shared domains; one with a mistake changes nothing.
 * Logs what came of it. */
void redirector_reload(struct redirector *r);

/* For --check: reads what a start would read. */
int redirector_check(const void *config, struct error *err);

/* A thread's connection to Redis came, to that redis_run_id, or went (NULL, and
 * err says why).  The program is ready only when every thread has its
 * connection. */
void redirector_redis_changed(struct redirector *r, unsigned thread,
			      const char *run_id, const struct error *err);

/* Has it what visits need: Redis, its spaces, and the shared domains?  From any
 * thread. */
bool redirector_can_redirect(const struct redirector *r);

/* Logs that a link could not be looked up, one line a second at most: visits
 * come by the thousand.  From any thread. */
void redirector_log_lookup_failure(struct redirector *r,
				   const struct error *err);

/* Begins to look for domains in Redis, if they are shared. */
int redirector_start_domains(struct redirector *r, struct error *err);

/* Begins to hear of links that change. */
int redirector_start_invalidations(struct redirector *r, struct error *err);
/* Before the threads' loops are freed. */
void redirector_stop_invalidations(struct redirector *r);

/* Begins to tell what is counted, when the threads run. */
int redirector_start_counters(struct redirector *r, struct error *err);

/* Delivers the events that were taken, for at most `timeout_ms`; that some are
 * left is logged. */
void redirector_flush_events(struct redirector *r, int64_t timeout_ms);

/* After the threads are gone: spools or gives up what was not delivered, and
 * tells for the last time what was counted, for at most `timeout_ms`. */
void redirector_end_counters(struct redirector *r, int64_t timeout_ms);

/* Returns -1 and *err when the program ended by itself (it sent itself
 * SIGTERM), else 0.  After the threads are gone. */
int redirector_failure(const struct redirector *r, struct error *err);

#endif

/*
 * redirector.h - the state that the threads of the program share: spaces of
 * links and hosts, the sink of events, metrics, and whether the program is
 * ready.
 *
 * It is made before the threads start, and they read it; parts that change
 * meanwhile have functions below, or are thread-safe themselves.
 */
#ifndef REDIRECTOR_REDIRECTOR_H
#define REDIRECTOR_REDIRECTOR_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/app/app.h"
#include "common/app/reloadable.h"
#include "common/host_name.h"
#include "common/log.h"
#include "common/metrics/metrics.h"
#include "linkstore/linkstore.h"
#include "redirector/counters/hour_counts.h"
#include "redirector/redirector_config.h"
#include "redirector/redirector_metrics.h"

struct access_log;
struct counters_report;
struct denied_hosts_follower;
struct domains_follower;
struct event_limits;
struct event_sink;
struct freshness;
struct host_table;
struct invalidations;
struct lookup_health;
struct network_list;
struct renewals_report;
struct renew_throttle;
struct space_monitor;

/* The state behind /readyz; any thread reports to it. */
struct redirector_health {
	pthread_mutex_t lock;
	struct health_check *redis, *links, *invalidations;
	size_t connected; /* threads whose connection to Redis is up */
	bool *thread_connected;
	bool failed; /* `failure` made the program end itself */
	struct error failure;
};

/* The files that SIGHUP reads again, in redirector.files. */
enum redirector_file {
	FILE_DENIED, /* networks; NULL: no client is denied */
	FILE_PAGES,  /* landing pages */
	FILE_ROBOTS, /* robots, which use up no visit */
	REDIRECTOR_FILES,
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
	struct network_list *proxies; /* trusted proxies */
	/* Peers that send a PROXY header; NULL: no peer does. */
	struct network_list *proxy_protocol;
	struct log_pace headers_rejected, lookups_failed;
	struct access_log *access_log; /* NULL: none */
	struct network_list *limit_exempt;
	struct reload_report reloads; /* where their results go */
	struct reloadable *files[REDIRECTOR_FILES];
	struct host_table *hosts_in_use;
	struct domains_follower *domains;
	struct denied_hosts_follower *denied_hosts;
	struct lookup_health *lookups;
	size_t first_replica; /* random, to spread over replicas */
	struct renew_throttle *renewals;
	struct space_monitor *spaces; /* runs on the first thread */
	struct metric **keys_missing; /* by space index */
	struct freshness *freshness;
	struct invalidations *invalidations; /* notes changes in `freshness` */
	struct event_sink *sink;
	struct event_limits *event_limits; /* limits events for the sink */
	/* One per thread, by its number, and one for the sink's threads. */
	struct hour_writer *hours;
	struct counters_report *counters; /* NULL: no reports */
	/* NULL: renewals are not reported. */
	struct renewals_report *renewals_report;
	struct hour_totals *untold; /* totals without a report */
};

/* `config` must outlive it.  `succeeds` is true if another redirector, with the
 * same spool, may be about to end. */
struct redirector *redirector_new(struct app *app,
				  const struct redirector_config *config,
				  bool succeeds, struct error *err);
/* Called after the threads are gone.  NULL accepted. */
void redirector_free(struct redirector *r);

/* Reopens the access log, and reads again the files that may change while the
 * program runs, or the shared domains; one with a mistake changes nothing.
 * Logs the results. */
void redirector_reload(struct redirector *r);

/* For --check: reads all files that a start would read. */
int redirector_check(const void *config, struct error *err);

/* A thread's connection to Redis was made (to that redis_run_id) or lost (NULL,
 * and `err` is the reason).  The program is ready only when every thread has
 * its connection. */
void redirector_redis_changed(struct redirector *r, unsigned thread,
			      const char *run_id, const struct error *err);

/* True if all that visits need is there: Redis, its spaces, the shared domains
 * and the denied hosts.  Callable from any thread. */
bool redirector_can_redirect(const struct redirector *r);

/* Waits until Redis was polled for the denied hosts, a few seconds at most.
 * Returns true if the program has to end. */
bool redirector_await_denied_hosts(const struct redirector *r, struct app *app);

/* Logs that a link could not be looked up, at most one line a second, since
 * there may be thousands of visits.  Callable from any thread. */
void redirector_log_lookup_failure(struct redirector *r,
				   const struct error *err);

/* Begins to watch the denied hosts in Redis, and the domains there, if they are
 * shared. */
int redirector_start_hosts(struct redirector *r, struct error *err);

/* Begins to receive the changes of links. */
int redirector_start_invalidations(struct redirector *r, struct error *err);
/* Called before the threads' loops are freed. */
void redirector_stop_invalidations(struct redirector *r);

/* Begins to report counters; called when the threads run. */
int redirector_start_counters(struct redirector *r, struct error *err);

/* Delivers the events that were taken, for at most `timeout_ms`; logs if some
 * are left. */
void redirector_flush_events(struct redirector *r, int64_t timeout_ms);

/* Called after the threads are gone: spools or drops events that were not
 * delivered, and sends the last reports of counters and renewals, for at most
 * `timeout_ms`. */
void redirector_end_reports(struct redirector *r, int64_t timeout_ms);

/* Returns -1 and *err when the program ended itself (it sent itself SIGTERM),
 * else 0.  Called after the threads are gone. */
int redirector_failure(const struct redirector *r, struct error *err);

#endif

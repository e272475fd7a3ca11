#include "redirector/redirector_metrics.h"

#include <stddef.h>

#define ANSWERS	     "shortloop_redirector_answers_total"
#define ANSWERS_HELP "Requests answered, by outcome and status"
#define CACHE	     "shortloop_redirector_cache_lookups_total"
#define CACHE_HELP                                                             \
	"Codes looked for in the cache; stale: found, but only "               \
	"good enough because Redis was away"
#define LOOKUPS	     "shortloop_redirector_redis_lookups_total"
#define LOOKUPS_HELP "Codes looked up in Redis, identical ones in flight once"
#define ASKED	     "shortloop_redirector_questions_total"
#define ASKED_HELP   "Queries for links that were sent to Redis, by server"
#define REPLICA	     "shortloop_redirector_replica_answers_total"
#define REPLICA_HELP                                                           \
	"Results of queries to replicas; all but used and stood_in were then " \
	"sent to the master"
#define VISITS	      "shortloop_redirector_counted_visits_total"
#define VISITS_HELP   "Visits of links that may be visited so many times"
#define RENEWALS      "shortloop_redirector_renewals_total"
#define RENEWALS_HELP "Links whose life a visit extended"
#define DROPPED	      "shortloop_redirector_events_dropped_total"
#define DROPPED_HELP  "Click events that did not reach Kafka, by reason"
#define WITHHELD      "shortloop_redirector_events_withheld_total"
#define WITHHELD_HELP                                                          \
	"Click events beyond what event_rate_... lets through, by outcome"

static const struct counter {
	const char *name;
	const char *labels;
	const char *help;
} counters[COUNTER_KINDS] = {
	[COUNTER_302] = {ANSWERS, "outcome=\"redirected\",status=\"302\"",
			 ANSWERS_HELP},
	[COUNTER_301] = {ANSWERS, "outcome=\"redirected\",status=\"301\"",
			 ANSWERS_HELP},
	[COUNTER_307] = {ANSWERS, "outcome=\"redirected\",status=\"307\"",
			 ANSWERS_HELP},
	[COUNTER_308] = {ANSWERS, "outcome=\"redirected\",status=\"308\"",
			 ANSWERS_HELP},
	[COUNTER_LANDING] = {ANSWERS, "outcome=\"redirected\",status=\"200\"",
			     ANSWERS_HELP},
	[COUNTER_HEAD_LANDING] = {ANSWERS, "outcome=\"head\",status=\"200\"",
				  ANSWERS_HELP},
	[COUNTER_HEAD] = {ANSWERS, "outcome=\"head\",status=\"3xx\"",
			  ANSWERS_HELP},
	[COUNTER_NOT_FOUND] = {ANSWERS, "outcome=\"not_found\",status=\"404\"",
			       ANSWERS_HELP},
	[COUNTER_REFUSED_HOST] = {ANSWERS,
				  "outcome=\"unknown_host\",status=\"404\"",
				  ANSWERS_HELP},
	[COUNTER_GONE] = {ANSWERS, "outcome=\"expired\",status=\"410\"",
			  ANSWERS_HELP},
	[COUNTER_PAUSED] = {ANSWERS, "outcome=\"paused\",status=\"410\"",
			    ANSWERS_HELP},
	[COUNTER_BLOCKED] = {ANSWERS, "outcome=\"blocked\",status=\"451\"",
			     ANSWERS_HELP},
	[COUNTER_FALLBACK] = {ANSWERS, "outcome=\"fallback\",status=\"302\"",
			      ANSWERS_HELP},
	[COUNTER_APP_FILE] = {ANSWERS, "outcome=\"app_file\",status=\"200\"",
			      ANSWERS_HELP},
	[COUNTER_APP_FILE_SAME] = {ANSWERS,
				   "outcome=\"app_file\",status=\"304\"",
				   ANSWERS_HELP},
	[COUNTER_ROBOTS_TXT] = {ANSWERS,
				"outcome=\"robots_txt\",status=\"200\"",
				ANSWERS_HELP},
	[COUNTER_FAVICON] = {ANSWERS, "outcome=\"favicon\",status=\"204\"",
			     ANSWERS_HELP},
	[COUNTER_NO_METHOD] = {ANSWERS, "outcome=\"method\",status=\"405\"",
			       ANSWERS_HELP},
	[COUNTER_UNAVAILABLE] = {ANSWERS,
				 "outcome=\"unavailable\",status=\"503\"",
				 ANSWERS_HELP},
	[COUNTER_UNAVAILABLE_LATE] = {ANSWERS,
				      "outcome=\"late\",status=\"503\"",
				      ANSWERS_HELP},
	[COUNTER_UNAVAILABLE_BREAKER] =
		{ANSWERS, "outcome=\"breaker_open\",status=\"503\"",
		 ANSWERS_HELP},
	[COUNTER_DENIED] = {ANSWERS, "outcome=\"denied\",status=\"403\"",
			    ANSWERS_HELP},
	[COUNTER_OVER_RATE] = {ANSWERS, "outcome=\"over_rate\",status=\"429\"",
			       ANSWERS_HELP},
	[COUNTER_OVER_UNKNOWN] = {ANSWERS,
				  "outcome=\"over_unknown\",status=\"429\"",
				  ANSWERS_HELP},
	[COUNTER_OVER_FETCHES] = {ANSWERS,
				  "outcome=\"over_fetches\",status=\"429\"",
				  ANSWERS_HELP},
	[COUNTER_HITS] = {CACHE, "result=\"hit\"", CACHE_HELP},
	[COUNTER_MISSES] = {CACHE, "result=\"miss\"", CACHE_HELP},
	[COUNTER_STALE] = {CACHE, "result=\"stale\"", CACHE_HELP},
	[COUNTER_REFUSED_CODES] =
		{"shortloop_redirector_refused_codes_total", NULL,
		 "Codes that no link can have, refused without asking Redis"},
	[COUNTER_FORGOTTEN] =
		{"shortloop_redirector_limits_forgotten_total", NULL,
		 "Networks whose requests were forgotten before their time, "
		 "for want of room in limit_table_size"},
	[COUNTER_LOOKUPS] = {LOOKUPS, "result=\"answered\"", LOOKUPS_HELP},
	[COUNTER_LOOKUPS_FAILED] = {LOOKUPS, "result=\"failed\"", LOOKUPS_HELP},
	[COUNTER_ASKED_MASTER] = {ASKED, "of=\"master\"", ASKED_HELP},
	[COUNTER_ASKED_REPLICA] = {ASKED, "of=\"replica\"", ASKED_HELP},
	[COUNTER_REPLICA_USED] = {REPLICA, "result=\"used\"", REPLICA_HELP},
	[COUNTER_REPLICA_STOOD_IN] = {REPLICA, "result=\"stood_in\"",
				      REPLICA_HELP},
	[COUNTER_REPLICA_LACKED] = {REPLICA, "result=\"lacked\"", REPLICA_HELP},
	[COUNTER_REPLICA_OUTDATED] = {REPLICA, "result=\"outdated\"",
				      REPLICA_HELP},
	[COUNTER_REPLICA_FAILED] = {REPLICA, "result=\"failed\"", REPLICA_HELP},
	[COUNTER_VISITS] = {VISITS, "result=\"allowed\"", VISITS_HELP},
	[COUNTER_VISITS_OVER] = {VISITS, "result=\"over\"", VISITS_HELP},
	[COUNTER_VISITS_FAILED] = {VISITS, "result=\"failed\"", VISITS_HELP},
	[COUNTER_FETCHES] = {VISITS, "result=\"fetch\"", VISITS_HELP},
	[COUNTER_FETCHES_OVER] = {VISITS, "result=\"fetch_over\"", VISITS_HELP},
	[COUNTER_RENEWALS] = {RENEWALS, "result=\"done\"", RENEWALS_HELP},
	[COUNTER_RENEWALS_FAILED] = {RENEWALS, "result=\"failed\"",
				     RENEWALS_HELP},
	[COUNTER_EVENTS] = {"shortloop_redirector_events_total", NULL,
			    "Click events taken, to be sent or spooled"},
	[COUNTER_DROPPED_FULL] = {DROPPED, "reason=\"queue_full\"",
				  DROPPED_HELP},
	[COUNTER_DROPPED_REFUSED] = {DROPPED, "reason=\"refused\"",
				     DROPPED_HELP},
	[COUNTER_DROPPED_EXPIRED] = {DROPPED, "reason=\"undelivered\"",
				     DROPPED_HELP},
	[COUNTER_DROPPED_SPOOL_FULL] = {DROPPED, "reason=\"spool_full\"",
					DROPPED_HELP},
	[COUNTER_DROPPED_SPOOL_FAILED] = {DROPPED, "reason=\"spool_failed\"",
					  DROPPED_HELP},
	[COUNTER_DROPPED_DAMAGED] = {DROPPED, "reason=\"spool_damaged\"",
				     DROPPED_HELP},
	[COUNTER_DROPPED_JOURNAL] = {DROPPED, "reason=\"journal_damaged\"",
				     DROPPED_HELP},
	[COUNTER_WITHHELD_NOT_FOUND] = {WITHHELD, "outcome=\"not_found\"",
					WITHHELD_HELP},
	[COUNTER_WITHHELD_EXPIRED] = {WITHHELD, "outcome=\"expired\"",
				      WITHHELD_HELP},
	[COUNTER_WITHHELD_BLOCKED] = {WITHHELD, "outcome=\"blocked\"",
				      WITHHELD_HELP},
	[COUNTER_SPOOLED] = {"shortloop_redirector_events_spooled_total", NULL,
			     "Click events written to the spool"},
	[COUNTER_REPLAYED] = {"shortloop_redirector_events_replayed_total",
			      NULL, "Click events of the spool that Kafka has"},
	[COUNTER_RECOVERED] = {"shortloop_redirector_events_recovered_total",
			       NULL,
			       "Click events that a process which was killed "
			       "left in the journal, and that went into the "
			       "spool"},
	[COUNTER_JOURNAL_FULL] =
		{"shortloop_redirector_journal_full_total", NULL,
		 "Click events that found no room in the journal and went into "
		 "the spool"},
};

void redirector_metrics_register(struct redirector_metrics *metrics,
				 struct metrics *registry)
{
	for (size_t i = 0; i < COUNTER_KINDS; i++)
		metrics->counters[i] =
			metrics_counter(registry, counters[i].name,
					counters[i].labels, counters[i].help);
	metrics->reload_failures = metrics_counter(
		registry, "shortloop_redirector_reload_failures_total", NULL,
		"Files that were to be read again and had a mistake");
	metrics->files_rejected = metrics_counter(
		registry, "shortloop_redirector_files_rejected_total", NULL,
		"Files of a former process, journal or counters, that cannot "
		"be read and were set aside");
	metrics->denied_networks =
		metrics_gauge(registry, "shortloop_redirector_denied_networks",
			      NULL, "Networks in deny_file");
	metrics->spool_events =
		metrics_gauge(registry, "shortloop_redirector_spool_events",
			      NULL, "Click events that wait in the spool");
	metrics->spool_bytes =
		metrics_gauge(registry, "shortloop_redirector_spool_bytes",
			      NULL, "What the spool takes of the disk");
	metrics->spool_oldest = metrics_gauge(
		registry, "shortloop_redirector_spool_oldest_seconds", NULL,
		"Age of the oldest click event in the spool");
	metrics->spool_missing = metrics_gauge(
		registry, "shortloop_redirector_spool_missing", NULL,
		"1 while there is to be a spool and its folder is not open: "
		"the disk is full or fails, or another process has it");
	metrics->journal_missing = metrics_gauge(
		registry, "shortloop_redirector_journal_missing", NULL,
		"1 while there is to be a journal of click events and the disk "
		"has no room for it");
	metrics->miss_seconds = metrics_histogram(
		registry, "shortloop_redirector_miss_seconds", NULL,
		"Time from a request to its answer when Redis was queried",
		metrics_latency_bounds, metrics_latency_bound_count);
}

int redirector_counters_open(struct redirector_counters *c,
			     struct metrics *registry,
			     const struct redirector_metrics *metrics,
			     struct error *err)
{
	c->registry = registry;
	c->metrics = metrics;
	for (size_t i = 0; i < COUNTER_KINDS; i++) {
		if (metrics_attach(registry, metrics->counters[i], &c->n[i],
				   err) < 0) {
			redirector_counters_close(c);
			return -1;
		}
	}
	return 0;
}

void redirector_counters_close(struct redirector_counters *c)
{
	for (size_t i = 0; c->registry && i < COUNTER_KINDS; i++)
		metrics_detach(c->registry, c->metrics->counters[i], &c->n[i]);
	c->registry = NULL;
}

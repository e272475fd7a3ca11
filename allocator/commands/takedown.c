/*
 * `allocator takedown HOST... | --lift HOST | --list`: the hosts to which no
 * link may lead, in Redis, for all programs.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "allocator/allocator_config.h"
#include "allocator/archive/host_links.h"
#include "allocator/archive/link_events_mark.h"
#include "allocator/commands.h"
#include "allocator/commands/domains_in_use.h"
#include "allocator/commands/link_blocker.h"
#include "common/app/operator.h"
#include "common/clock.h"
#include "common/domain_list.h"
#include "common/registrable_domain.h"
#include "linkstore/denied_hosts.h"

enum {
	WAIT_MS = 60 * CLOCK_SECOND, /* without --wait */
	NO_WAIT = -1,		     /* the archive is taken as it is */
	FOLLOWED_MS = 2000,	     /* by then all allocators refuse */
	LOOK_MS = 500,		     /* between two checks of the archive */
	PRINT_MS = 5000,	     /* between two lines about the same */
};

struct taken_host {
	struct listed_domain domain;
	char name[DOMAIN_TEXT_MAX]; /* its one form */
};

struct takedown {
	const struct allocator_config *config;
	struct app *app;
	char *const *texts; /* the hosts as given */
	size_t count;
	struct taken_host *hosts; /* read by check_request */
	/* How long to wait until the archive has the link events that are in
	 * Kafka; NO_WAIT. */
	int64_t wait_ms;
	struct linkstore *store;
	struct redis *redis;
};

/* --- hosts ---------------------------------------------------------------- */

static int read_host(const char *text, struct taken_host *ret,
		     struct error *err)
{
	if (listed_domain_parse(text, strlen(text), &ret->domain, err) < 0) {
		err->code = ERROR_USAGE;
		return error_wrap(err, "'%.80s'", text);
	}
	listed_domain_put(&ret->domain, ret->name);
	return 0;
}

static int check_host(const struct takedown *t, const struct taken_host *host,
		      struct error *err)
{
	if (is_public_suffix(&host->domain.host) &&
	    !app_option_value(t->app, "force"))
		return error_set(err, ERROR_USAGE,
				 "%.253s is a public suffix: the names below "
				 "it belong to many owners; --force if it is "
				 "meant",
				 host->domain.host.text);
	return domains_in_use_refuse_own(t->config, t->redis, host->name, err);
}

/* Reads and checks all of them. */
static int read_hosts(struct takedown *t, struct error *err)
{
	t->hosts = calloc(t->count, sizeof(*t->hosts));
	if (!t->hosts)
		return error_set_nomem(err);
	for (size_t i = 0; i < t->count; i++)
		if (read_host(t->texts[i], &t->hosts[i], err) < 0 ||
		    check_host(t, &t->hosts[i], err) < 0)
			return -1;
	return 0;
}

static void print_denial(const char *host, const struct denial *d)
{
	char time[RFC3339_TEXT_MAX];

	printf("%s  # %s %s%s%s\n", host, rfc3339_format(d->time_ms, time),
	       d->who, *d->reason ? ": " : "", d->reason);
}

/* --- deny ----------------------------------------------------------------- */

static int deny_host(const struct takedown *t, const char *name,
		     struct error *err)
{
	const char *reason = app_option_value(t->app, "reason");
	struct denied_result result;
	char who[OPERATOR_NAME_MAX];

	operator_name(who);
	if (denied_hosts_deny(t->redis, t->store, name, who,
			      reason ? reason : "", &result, err) < 0)
		return -1;
	if (result.changed) {
		printf("%s is denied, revision %" PRIu64 "\n", name,
		       result.revision);
		return 0;
	}
	printf("already denied, revision %" PRIu64 ": ", result.revision);
	print_denial(name, &result.before);
	return 0;
}

static int check_request(struct takedown *t, struct error *err)
{
	const char *reason = app_option_value(t->app, "reason");

	if (t->count == 0)
		return error_set(err, ERROR_USAGE,
				 "takedown: expected HOST, --lift HOST or "
				 "--list");
	if (reason && denied_hosts_check_reason(reason, err) < 0) {
		err->code = ERROR_USAGE;
		return error_wrap(err, "--reason");
	}
	return read_hosts(t, err);
}

/* Checks all hosts before the first one is denied. */
static int deny_all_hosts(struct takedown *t, struct error *err)
{
	if (check_request(t, err) < 0)
		return -1;
	for (size_t i = 0; i < t->count; i++)
		if (deny_host(t, t->hosts[i].name, err) < 0)
			return -1;
	puts("Redirectors and allocators that are connected to Redis follow "
	     "within a second.");
	fflush(stdout);
	return 0;
}

/* --- count the links ------------------------------------------------------ */

static int count_link(void *arg, const struct host_link *link,
		      struct error *err)
{
	(void)link;
	(void)err;
	++*(uint64_t *)arg;
	return 0;
}

static int count_links(struct clickhouse *ch, const char *name,
		       struct error *err)
{
	uint64_t count = 0;

	if (host_links_each(ch, name, count_link, &count, err) < 0)
		return -1;
	printf("%s: %" PRIu64 " links lead there\n", name, count);
	return 0;
}

/* Prints the number when it is less than before, and every few seconds. */
static void print_missing(int64_t missing, int64_t *printed, int64_t *next)
{
	int64_t now = clock_monotonic_ms();

	if (missing == *printed && now < *next)
		return;
	*printed = missing;
	*next = now + PRINT_MS;
	printf("waiting for the archive: %" PRId64 " link events are not "
	       "stored yet\n",
	       missing);
	fflush(stdout);
}

static int await_mark(const struct takedown *t, struct link_events_mark *mark,
		      struct clickhouse *ch, int64_t wait_ms, struct error *err)
{
	int64_t until = clock_monotonic_ms() + wait_ms;
	int64_t missing = 0, printed = 0, next = 0;

	for (;;) {
		if (link_events_mark_missing(mark, ch, &missing, err) < 0)
			return -1;
		if (missing == 0)
			return 0;
		if (clock_monotonic_ms() >= until)
			break;
		print_missing(missing, &printed, &next);
		if (app_should_stop(t->app, LOOK_MS))
			return error_set(err, ERROR_STOPPED,
					 "ended while the archive was behind");
	}
	return error_set_retriable(
		err, ERROR_BUSY,
		"the archive does not have %" PRId64 " link events of %s yet: "
		"does the collector run?  A longer --wait waits for it",
		missing, t->config->kafka.topic_links);
}

/* Newer links may be in Kafka only. */
static int await_archive(const struct takedown *t, struct clickhouse *ch,
			 struct error *err)
{
	struct link_events_mark *mark;
	int status;

	if (t->wait_ms == NO_WAIT)
		return 0;
	mark = link_events_mark_new(&t->config->kafka, err);
	status = mark ? await_mark(t, mark, ch, t->wait_ms, err) : -1;
	link_events_mark_free(mark);
	return status;
}

static int count_all_links(const struct takedown *t, struct error *err)
{
	struct clickhouse *ch = clickhouse_new(&t->config->clickhouse, err);
	int status;

	if (!ch)
		return -1;
	status = await_archive(t, ch, err);
	for (size_t i = 0; status == 0 && i < t->count; i++)
		status = count_links(ch, t->hosts[i].name, err);
	clickhouse_free(ch);
	return status;
}

/* --- block the links ------------------------------------------------------ */

static int block_link(void *arg, const struct host_link *link,
		      struct error *err)
{
	return link_blocker_take(arg, link->code, link->link_id, err);
}

static int block_links(struct clickhouse *ch, struct link_blocker *blocker,
		       const char *name, struct error *err)
{
	const struct link_blocker_counts before = link_blocker_counts(blocker);
	struct link_blocker_counts now;
	int status;

	if (link_blocker_set_domain(blocker, name, err) < 0)
		return -1;
	status = host_links_each(ch, name, block_link, blocker, err);
	if (status == 0)
		status = link_blocker_finish(blocker, err);
	now = link_blocker_counts(blocker);
	printf("%s: %" PRIu64 " links blocked, %" PRIu64
	       " have ended or changed\n",
	       name, now.blocked - before.blocked,
	       now.passed_over - before.passed_over);
	return status;
}

static int block_all_links(const struct takedown *t, struct clickhouse *ch,
			   struct link_blocker *blocker, struct error *err)
{
	for (size_t i = 0; i < t->count; i++)
		if (block_links(ch, blocker, t->hosts[i].name, err) < 0)
			return -1;
	return 0;
}

/* A change of a link whose event Kafka does not get is not in the archive. */
static int check_kafka(const struct takedown *t, struct error *err)
{
	struct link_events_mark *mark =
		link_events_mark_new(&t->config->kafka, err);

	link_events_mark_free(mark);
	return mark ? 0 : -1;
}

/* Blocks the links that allocators made until they had the denial.  If the
 * archive still has an earlier one as it was before, its event was lost. */
static int block_the_rest(const struct takedown *t, struct clickhouse *ch,
			  struct link_blocker *blocker, struct error *err)
{
	if (app_should_stop(t->app, FOLLOWED_MS))
		return error_set_retriable(err, ERROR_STOPPED, "stopped");
	if (await_archive(t, ch, err) < 0)
		return -1;
	link_blocker_repeat(blocker);
	if (block_all_links(t, ch, blocker, err) < 0)
		return -1;
	return link_blocker_flush(blocker, err);
}

/* A refusal keeps no other link from being blocked, so it is reported last. */
static int check_refusals(const struct link_blocker *blocker, struct error *err)
{
	uint64_t refused = link_blocker_counts(blocker).refused;

	if (!refused)
		return 0;
	return error_set(err, ERROR_UNSAFE,
			 "%" PRIu64 " links could not be blocked; the log has "
			 "them and why",
			 refused);
}

static int block_twice(const struct takedown *t, struct clickhouse *ch,
		       struct link_blocker *blocker, struct error *err)
{
	if (check_kafka(t, err) < 0 ||
	    block_all_links(t, ch, blocker, err) < 0 ||
	    link_blocker_flush(blocker, err) < 0)
		return -1;
	if (block_the_rest(t, ch, blocker, err) < 0)
		return -1;
	return check_refusals(blocker, err);
}

static int block_links_of_hosts(const struct takedown *t, struct error *err)
{
	char who[OPERATOR_NAME_MAX];
	struct link_blocker *blocker;
	struct clickhouse *ch;
	int status = -1;

	operator_name(who);
	ch = clickhouse_new(&t->config->clickhouse, err);
	if (!ch)
		return -1;
	blocker = link_blocker_new(t->app, t->config, who, err);
	if (blocker)
		status = block_twice(t, ch, blocker, err);
	link_blocker_free(blocker);
	clickhouse_free(ch);
	return status;
}

/* -------------------------------------------------------------------------- */

/* Denies nothing. */
static int count_links_only(struct takedown *t, struct error *err)
{
	return check_request(t, err) < 0 ? -1 : count_all_links(t, err);
}

static int deny_hosts(struct takedown *t, struct error *err)
{
	if (deny_all_hosts(t, err) < 0)
		return -1;
	if (app_option_value(t->app, "no-links") ||
	    block_links_of_hosts(t, err) == 0)
		return 0;
	return error_wrap(err, "the denial is in force, but not all links are "
			       "blocked; run it again");
}

/* --- lift ----------------------------------------------------------------- */

static int lift_host(const struct takedown *t, const char *text,
		     struct error *err)
{
	struct denied_result result;
	struct taken_host host;

	if (read_host(text, &host, err) < 0 ||
	    denied_hosts_lift(t->redis, t->store, host.name, &result, err) < 0)
		return -1;
	printf("%s is %s denied, revision %" PRIu64 "\n", host.name,
	       result.changed ? "no longer" : "not", result.revision);
	return 0;
}

/* --- list ----------------------------------------------------------------- */

static int print_change(void *arg, const struct denied_change *change,
			struct error *err)
{
	struct denial d;

	(void)arg;
	if (change->value_len == 0)
		return 0;
	if (!denial_parse(change->value, change->value_len, &d))
		return error_set(err, ERROR_DAMAGED,
				 "what Redis has of %.253s is damaged",
				 change->domain);
	print_denial(change->domain, &d);
	return 0;
}

/* The lines are those of a list of domains, so that they can be kept. */
static int list_hosts(const struct takedown *t, struct error *err)
{
	struct denied_page page = {0};

	do
		if (denied_hosts_read(t->redis, t->store, page.last,
				      print_change, NULL, &page, err) < 0)
			return -1;
	while (page.changes == DENIED_PAGE);
	printf("# %zu hosts, revision %" PRIu64 "\n", page.hosts,
	       page.revision);
	return 0;
}

/* -------------------------------------------------------------------------- */

static int open_redis(struct takedown *t, struct error *err)
{
	t->store = linkstore_new(&t->config->links, err);
	if (!t->store)
		return -1;
	t->redis =
		redis_new(&t->config->redis, linkstore_scripts(t->store), err);
	return t->redis ? 0 : -1;
}

static int read_wait(struct takedown *t, struct error *err)
{
	const char *text = app_option_value(t->app, "wait");

	if (!text) {
		t->wait_ms =
			app_option_value(t->app, "dry-run") ? NO_WAIT : WAIT_MS;
		return 0;
	}
	if (duration_parse(text, &t->wait_ms, err) == 0)
		return 0;
	err->code = ERROR_USAGE;
	return error_wrap(err, "--wait");
}

static int run_takedown(struct takedown *t, struct error *err)
{
	const char *lifted = app_option_value(t->app, "lift");
	bool lists = app_option_value(t->app, "list");

	if (t->count + (lifted != NULL) + lists > 1 && (lifted || lists))
		return error_set(err, ERROR_USAGE,
				 "takedown: HOST, --lift HOST and --list "
				 "exclude each other");
	if (lists)
		return list_hosts(t, err);
	if (!lifted && app_option_value(t->app, "dry-run"))
		return count_links_only(t, err);
	return lifted ? lift_host(t, lifted, err) : deny_hosts(t, err);
}

int command_takedown(struct app *app, const void *config, struct error *err)
{
	struct takedown t = {.config = config, .app = app};
	int status;

	t.texts = app_operands(app, &t.count);
	status = read_wait(&t, err);
	if (status == 0)
		status = open_redis(&t, err);
	if (status == 0)
		status = run_takedown(&t, err);
	free(t.hosts);
	redis_free(t.redis);
	linkstore_free(t.store);
	return status;
}

/*
 * `allocator takedown HOST... | --lift HOST | --list`: the hosts to which no
 * link may lead, in Redis, for all programs.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "allocator/allocator_config.h"
#include "allocator/commands.h"
#include "allocator/commands/domains_in_use.h"
#include "allocator/commands/takedown_links.h"
#include "common/app/operator.h"
#include "common/clock.h"
#include "common/domain_list.h"
#include "common/registrable_domain.h"
#include "linkstore/denied_hosts.h"

enum {
	WAIT_MS = 60 * CLOCK_SECOND, /* without --wait */
};

struct takedown {
	const struct allocator_config *config;
	struct app *app;
	char *const *hosts;
	size_t count;
	int64_t wait_ms; /* for the archive; HOST_LINKS_NO_WAIT */
	struct linkstore *store;
	struct redis *redis;
};

/* --- hosts ---------------------------------------------------------------- */

/* Writes the host in its one form. */
static int read_host(const char *text, struct listed_domain *ret,
		     char ret_text[DOMAIN_TEXT_MAX], struct error *err)
{
	if (listed_domain_parse(text, strlen(text), ret, err) < 0) {
		err->code = ERROR_USAGE;
		return error_wrap(err, "'%.80s'", text);
	}
	listed_domain_put(ret, ret_text);
	return 0;
}

static int check_host(const struct takedown *t, const char *text,
		      struct error *err)
{
	struct listed_domain domain;
	char name[DOMAIN_TEXT_MAX];

	if (read_host(text, &domain, name, err) < 0)
		return -1;
	if (is_public_suffix(&domain.host) &&
	    !app_option_value(t->app, "force"))
		return error_set(err, ERROR_USAGE,
				 "%.253s is a public suffix: the names below "
				 "it belong to many owners; --force if it is "
				 "meant",
				 domain.host.text);
	return domains_in_use_refuse_own(t->config, t->redis, name, err);
}

static void print_denial(const char *host, const struct denial *d)
{
	char time[RFC3339_TEXT_MAX];

	printf("%s  # %s %s%s%s\n", host, rfc3339_format(d->time_ms, time),
	       d->who, *d->reason ? ": " : "", d->reason);
}

/* --- deny ----------------------------------------------------------------- */

static int deny_host(const struct takedown *t, const char *text,
		     struct error *err)
{
	const char *reason = app_option_value(t->app, "reason");
	char name[DOMAIN_TEXT_MAX], who[OPERATOR_NAME_MAX];
	struct denied_result result;
	struct listed_domain domain;

	operator_name(who);
	if (read_host(text, &domain, name, err) < 0 ||
	    denied_hosts_deny(t->redis, t->store, name, who,
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

static int check_request(const struct takedown *t, struct error *err)
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
	for (size_t i = 0; i < t->count; i++)
		if (check_host(t, t->hosts[i], err) < 0)
			return -1;
	return 0;
}

/* Checks all hosts before the first one is denied. */
static int deny_all_hosts(const struct takedown *t, struct error *err)
{
	if (check_request(t, err) < 0)
		return -1;
	for (size_t i = 0; i < t->count; i++)
		if (deny_host(t, t->hosts[i], err) < 0)
			return -1;
	puts("Redirectors and allocators that are connected to Redis follow "
	     "within a second.");
	fflush(stdout);
	return 0;
}

static struct host_links_order order_of(const struct takedown *t)
{
	return (struct host_links_order){.app = t->app,
					 .config = t->config,
					 .hosts = t->hosts,
					 .count = t->count,
					 .wait_ms = t->wait_ms};
}

/* Denies nothing. */
static int count_links(const struct takedown *t, struct error *err)
{
	const struct host_links_order order = order_of(t);

	return check_request(t, err) < 0 ? -1
					 : takedown_links_count(&order, err);
}

static int deny_hosts(const struct takedown *t, struct error *err)
{
	const struct host_links_order order = order_of(t);

	if (deny_all_hosts(t, err) < 0)
		return -1;
	if (app_option_value(t->app, "no-links") ||
	    takedown_links_block(&order, err) == 0)
		return 0;
	return error_wrap(err, "the denial is in force, but not all links are "
			       "blocked; run it again");
}

/* --- lift ----------------------------------------------------------------- */

static int lift_host(const struct takedown *t, const char *text,
		     struct error *err)
{
	struct denied_result result;
	struct listed_domain domain;
	char name[DOMAIN_TEXT_MAX];

	if (read_host(text, &domain, name, err) < 0 ||
	    denied_hosts_lift(t->redis, t->store, name, &result, err) < 0)
		return -1;
	printf("%s is %s denied, revision %" PRIu64 "\n", name,
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
		t->wait_ms = app_option_value(t->app, "dry-run")
				     ? HOST_LINKS_NO_WAIT
				     : WAIT_MS;
		return 0;
	}
	if (duration_parse(text, &t->wait_ms, err) == 0)
		return 0;
	err->code = ERROR_USAGE;
	return error_wrap(err, "--wait");
}

static int run_takedown(const struct takedown *t, struct error *err)
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
		return count_links(t, err);
	return lifted ? lift_host(t, lifted, err) : deny_hosts(t, err);
}

int command_takedown(struct app *app, const void *config, struct error *err)
{
	struct takedown t = {.config = config, .app = app};
	int status;

	t.hosts = app_operands(app, &t.count);
	status = read_wait(&t, err);
	if (status == 0)
		status = open_redis(&t, err);
	if (status == 0)
		status = run_takedown(&t, err);
	redis_free(t.redis);
	linkstore_free(t.store);
	return status;
}

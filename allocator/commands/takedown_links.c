#include "allocator/commands/takedown_links.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "allocator/archive/host_links.h"
#include "allocator/archive/link_events_mark.h"
#include "allocator/commands/link_blocker.h"
#include "common/app/operator.h"
#include "common/clock.h"
#include "common/domain_list.h"

enum {
	FOLLOWED_MS = 2000, /* by then all allocators refuse */
	LOOK_MS = 500,	    /* between two checks of the archive */
	PRINT_MS = 5000,    /* between two lines about the same */
};

/* The hosts were checked before. */
static int normalise_host(const char *text, char ret[DOMAIN_TEXT_MAX],
			  struct error *err)
{
	struct listed_domain domain;

	if (listed_domain_parse(text, strlen(text), &domain, err) < 0)
		return -1;
	listed_domain_put(&domain, ret);
	return 0;
}

/* --- count ---------------------------------------------------------------- */

static int count_link(void *arg, const struct host_link *link,
		      struct error *err)
{
	(void)link;
	(void)err;
	++*(uint64_t *)arg;
	return 0;
}

static int count_links(struct clickhouse *ch, const char *text,
		       struct error *err)
{
	char name[DOMAIN_TEXT_MAX];
	uint64_t count = 0;

	if (normalise_host(text, name, err) < 0 ||
	    host_links_each(ch, name, count_link, &count, err) < 0)
		return -1;
	printf("%s: %" PRIu64 " links lead there\n", name, count);
	return 0;
}

/* Says it when it is less than before, and every few seconds. */
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

static int await_mark(const struct host_links_order *o,
		      struct link_events_mark *mark, struct clickhouse *ch,
		      int64_t wait_ms, struct error *err)
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
		if (app_should_stop(o->app, LOOK_MS))
			return error_set(err, ERROR_STOPPED,
					 "ended while the archive was behind");
	}
	return error_set_retriable(
		err, ERROR_BUSY,
		"the archive does not have %" PRId64 " link events of %s yet: "
		"does the collector run?  A longer --wait waits for it",
		missing, o->config->kafka.topic_links);
}

/* Newer links may be in Kafka only. */
static int await_archive(const struct host_links_order *o,
			 struct clickhouse *ch, struct error *err)
{
	struct link_events_mark *mark;
	int status;

	if (o->wait_ms == HOST_LINKS_NO_WAIT)
		return 0;
	mark = link_events_mark_new(&o->config->kafka, err);
	status = mark ? await_mark(o, mark, ch, o->wait_ms, err) : -1;
	link_events_mark_free(mark);
	return status;
}

int takedown_links_count(const struct host_links_order *o, struct error *err)
{
	struct clickhouse *ch = clickhouse_new(&o->config->clickhouse, err);
	int status;

	if (!ch)
		return -1;
	status = await_archive(o, ch, err);
	for (size_t i = 0; status == 0 && i < o->count; i++)
		status = count_links(ch, o->hosts[i], err);
	clickhouse_free(ch);
	return status;
}

/* --- block ---------------------------------------------------------------- */

static int block_link(void *arg, const struct host_link *link,
		      struct error *err)
{
	return link_blocker_take(arg, link->code, link->link_id, err);
}

static int block_links(struct clickhouse *ch, struct link_blocker *blocker,
		       const char *text, struct error *err)
{
	const struct link_blocker_counts before = link_blocker_counts(blocker);
	struct link_blocker_counts now;
	char name[DOMAIN_TEXT_MAX];
	int status;

	if (normalise_host(text, name, err) < 0 ||
	    link_blocker_set_domain(blocker, name, err) < 0)
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

static int block_all_links(const struct host_links_order *o,
			   struct clickhouse *ch, struct link_blocker *blocker,
			   struct error *err)
{
	for (size_t i = 0; i < o->count; i++)
		if (block_links(ch, blocker, o->hosts[i], err) < 0)
			return -1;
	return 0;
}

/* A change of a link whose event Kafka does not get is not in the archive. */
static int check_kafka(const struct host_links_order *o, struct error *err)
{
	struct link_events_mark *mark =
		link_events_mark_new(&o->config->kafka, err);

	link_events_mark_free(mark);
	return mark ? 0 : -1;
}

/* Blocks the links that allocators made until they had the denial.  If the
 * archive still has an earlier one as it was before, its event was lost. */
static int block_the_rest(const struct host_links_order *o,
			  struct clickhouse *ch, struct link_blocker *blocker,
			  struct error *err)
{
	if (app_should_stop(o->app, FOLLOWED_MS))
		return error_set_retriable(err, ERROR_STOPPED, "stopped");
	if (await_archive(o, ch, err) < 0)
		return -1;
	link_blocker_repeat(blocker);
	if (block_all_links(o, ch, blocker, err) < 0)
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

static int block_twice(const struct host_links_order *o, struct clickhouse *ch,
		       struct link_blocker *blocker, struct error *err)
{
	if (check_kafka(o, err) < 0 ||
	    block_all_links(o, ch, blocker, err) < 0 ||
	    link_blocker_flush(blocker, err) < 0)
		return -1;
	if (block_the_rest(o, ch, blocker, err) < 0)
		return -1;
	return check_refusals(blocker, err);
}

int takedown_links_block(const struct host_links_order *o, struct error *err)
{
	char who[OPERATOR_NAME_MAX];
	struct link_blocker *blocker;
	struct clickhouse *ch;
	int status = -1;

	operator_name(who);
	ch = clickhouse_new(&o->config->clickhouse, err);
	if (!ch)
		return -1;
	blocker = link_blocker_new(o->app, o->config, who, err);
	if (blocker)
		status = block_twice(o, ch, blocker, err);
	link_blocker_free(blocker);
	clickhouse_free(ch);
	return status;
}

#include "linkstore/shared_domains.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "linkstore/command.h"
#include "linkstore/redis_watch.h"
#include "linkstore/scripts.h"

#define LOOK_EVERY_MS CLOCK_SECOND
/* The highest integer that Lua counts exactly. */
#define REVISION_MAX ((UINT64_C(1) << 53) - 1)

/* --- Redis ---------------------------------------------------------------- */

static int refuse_damaged_domains(struct error *err)
{
	return error_set(err, ERROR_DAMAGED,
			 "the domains in Redis (key %s) are damaged",
			 SHARED_DOMAINS_KEY);
}

/* Nil means that there are no domains, which is revision 0. */
static int parse_revision(const redisReply *reply, uint64_t *ret_revision,
			  struct error *err)
{
	char *end;
	uint64_t revision;

	if (reply->type == REDIS_REPLY_NIL) {
		*ret_revision = 0;
		return 0;
	}
	if (reply->type != REDIS_REPLY_STRING)
		return refuse_damaged_domains(err);
	revision = strtoull(reply->str, &end, 10);
	if (revision == 0 || revision > REVISION_MAX || *end)
		return refuse_damaged_domains(err);
	*ret_revision = revision;
	return 0;
}

static int copy_text(const redisReply *reply, char **ret_text,
		     struct error *err)
{
	const char *text = reply->type == REDIS_REPLY_STRING ? reply->str : "";

	if (reply->type == REDIS_REPLY_STRING &&
	    (reply->len > SHARED_DOMAINS_BYTES ||
	     strlen(reply->str) != reply->len))
		return refuse_damaged_domains(err);
	*ret_text = strdup(text);
	return *ret_text ? 0 : error_set_nomem(err);
}

static int parse_domains_reply(const redisReply *reply,
			       struct shared_domains *ret, struct error *err)
{
	struct shared_domains d = {0};

	if (!reply_is_array(reply, 2))
		return refuse_damaged_domains(err);
	if (parse_revision(reply->element[0], &d.revision, err) ||
	    copy_text(reply->element[1], &d.text, err))
		return -1;
	*ret = d;
	return 0;
}

int shared_domains_read(struct redis *redis, struct shared_domains *ret,
			struct error *err)
{
	const char *argv[] = {"HMGET", SHARED_DOMAINS_KEY, "revision", "text"};
	redisReply *reply;
	int status;

	if (redis_command(redis, 4, argv, NULL, &reply, err))
		return -1;
	status = parse_domains_reply(reply, ret, err);
	freeReplyObject(reply);
	return status;
}

void shared_domains_release(struct shared_domains *d)
{
	free(d->text);
	*d = (struct shared_domains){0};
}

static int read_revision(struct redis *redis, uint64_t *ret_revision,
			 struct error *err)
{
	const char *argv[] = {"HGET", SHARED_DOMAINS_KEY, "revision"};
	redisReply *reply;
	int status;

	if (redis_command(redis, 3, argv, NULL, &reply, err))
		return -1;
	status = parse_revision(reply, ret_revision, err);
	freeReplyObject(reply);
	return status;
}

int shared_domains_write(struct redis *redis, const struct linkstore *store,
			 uint64_t revision, const char *text,
			 uint64_t *ret_revision, struct error *err)
{
	char number[24];
	const char *argv[] = {SHARED_DOMAINS_KEY, number, text};
	redisReply *reply;
	bool stored;

	if (strlen(text) > SHARED_DOMAINS_BYTES)
		return error_set(err, ERROR_INPUT,
				 "the domains are %zu bytes, at most %zu are "
				 "stored",
				 strlen(text), SHARED_DOMAINS_BYTES);
	snprintf(number, sizeof(number), "%" PRIu64, revision);
	if (redis_eval(redis, &linkstore_scripts(store)->items[SCRIPT_DOMAINS],
		       1, 3, argv, NULL, &reply, err))
		return -1;
	stored = reply_number(reply, 0, 0) == 1;
	if (stored)
		*ret_revision = (uint64_t)reply_number(reply, 1, 0);
	freeReplyObject(reply);
	if (stored)
		return 0;
	return error_set(err, ERROR_CONFLICT,
			 "the domains were changed meanwhile: look at them, "
			 "and try again");
}

/* --- watch ---------------------------------------------------------------- */

struct shared_domains_watch {
	struct shared_domains_options options;
	struct redis_watch *watch;
	_Atomic bool again;
	/* Used by the thread only: */
	struct shared_domains used; /* the last accepted domains */
	uint64_t refused;	    /* a later, refused revision; 0: none */
	char reason[256];	    /* reason of the refusal */
};

static int offer_domains(const struct shared_domains_watch *w,
			 const struct shared_domains *d, struct error *err)
{
	return w->options.take(w->options.arg, d->text ? d->text : "",
			       d->revision, err);
}

/* Takes the last accepted domains again, with the files that are read with
 * them.  They were accepted before: if they are refused now, the program
 * reports it and keeps what it has. */
static void take_again(const struct shared_domains_watch *w)
{
	struct error ignored;

	(void)offer_domains(w, &w->used, &ignored);
}

/* *ret_taken: the domains are in use from now on. */
static int take_new(struct shared_domains_watch *w, struct redis *redis,
		    bool *ret_taken, struct error *err)
{
	struct shared_domains d = {0};
	struct error why;

	if (shared_domains_read(redis, &d, err))
		return -1;
	if (d.revision <= w->used.revision) {
		shared_domains_release(&d);
		return 0;
	}
	if (offer_domains(w, &d, &why) < 0) {
		w->refused = d.revision;
		snprintf(w->reason, sizeof(w->reason), "%.255s", why.text);
		shared_domains_release(&d);
		return 0;
	}
	shared_domains_release(&w->used);
	w->used = d;
	w->refused = 0;
	*ret_taken = true;
	return 0;
}

/* Compares the revision in Redis with the one in use. */
static int check_revision(const struct shared_domains_watch *w,
			  uint64_t revision, struct error *err)
{
	if (revision < w->used.revision)
		return error_set(err, ERROR_REMOTE,
				 "Redis has domains of an earlier revision "
				 "than those in use: push them again");
	if (revision == w->used.revision || revision != w->refused)
		return 0;
	if (w->used.revision)
		return error_set(err, ERROR_REMOTE,
				 "revision %" PRIu64 " was refused, revision "
				 "%" PRIu64 " stays in use: %s",
				 revision, w->used.revision, w->reason);
	return error_set(err, ERROR_REMOTE,
			 "revision %" PRIu64 " was refused, those of the "
			 "configuration stay in use: %s",
			 revision, w->reason);
}

static int poll_domains(void *arg, struct redis *redis, struct error *err)
{
	struct shared_domains_watch *w = arg;
	bool again = atomic_exchange(&w->again, false), taken = false;
	uint64_t revision = 0;
	int status = read_revision(redis, &revision, err);

	if (status == 0 && revision > w->used.revision &&
	    (revision != w->refused || again))
		status = take_new(w, redis, &taken, err);
	if (again && !taken)
		take_again(w);
	return status < 0 ? -1 : check_revision(w, revision, err);
}

static void report_poll_result(void *arg, const struct error *err)
{
	struct shared_domains_watch *w = arg;

	w->options.looked(w->options.arg, err);
}

static int open_watch(struct shared_domains_watch *w, struct error *err)
{
	const struct redis_watch_options options = {
		.redis = w->options.redis,
		.every_ms = LOOK_EVERY_MS,
		.poll = poll_domains,
		.looked = report_poll_result,
		.arg = w,
	};

	w->watch = redis_watch_new(&options, err);
	return w->watch ? 0 : -1;
}

struct shared_domains_watch *
shared_domains_watch_new(const struct shared_domains_options *options,
			 struct error *err)
{
	struct shared_domains_watch *w = calloc(1, sizeof(*w));

	if (!w) {
		error_set_nomem(err);
		return NULL;
	}
	w->options = *options;
	if (open_watch(w, err) == 0)
		return w;
	shared_domains_watch_free(w);
	return NULL;
}

int shared_domains_watch_start(struct shared_domains_watch *w,
			       struct error *err)
{
	return redis_watch_start(w->watch, err);
}

void shared_domains_watch_again(struct shared_domains_watch *w)
{
	atomic_store(&w->again, true);
	redis_watch_wake(w->watch);
}

void shared_domains_watch_free(struct shared_domains_watch *w)
{
	if (!w)
		return;
	redis_watch_free(w->watch);
	shared_domains_release(&w->used);
	free(w);
}

#include "linkstore/shared_domains.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/periodic.h"
#include "linkstore/command.h"
#include "linkstore/scripts.h"

#define LOOK_EVERY_MS CLOCK_SECOND
/* The highest integer that Lua counts exactly. */
#define REVISION_MAX ((UINT64_C(1) << 53) - 1)
/* Limit for each step of a poll, so that the thread can be ended. */
#define STEP_MAX_MS 2000

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
	struct redis_config config;
	struct redis *redis;
	struct periodic *thread;
	_Atomic bool again;
	/* Used by the thread only: */
	struct shared_domains used; /* the last accepted domains */
	uint64_t refused;	    /* a later, refused revision; 0: none */
	char reason[256];	    /* reason of the refusal */
	bool has_looked;
	char told[sizeof(((struct error *)0)->text)]; /* reported error or "" */
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
static int take_new(struct shared_domains_watch *w, bool *ret_taken,
		    struct error *err)
{
	struct shared_domains d = {0};
	struct error why;

	if (shared_domains_read(w->redis, &d, err))
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

static int update_domains(struct shared_domains_watch *w, bool again,
			  struct error *err)
{
	uint64_t revision = 0;
	bool taken = false;
	int status = read_revision(w->redis, &revision, err);

	if (status == 0 && revision > w->used.revision &&
	    (revision != w->refused || again))
		status = take_new(w, &taken, err);
	if (again && !taken)
		take_again(w);
	return status < 0 ? -1 : check_revision(w, revision, err);
}

static void report_poll_result(struct shared_domains_watch *w,
			       const struct error *err)
{
	const char *text = err ? err->text : "";

	if (w->has_looked && !strcmp(w->told, text))
		return;
	w->has_looked = true;
	snprintf(w->told, sizeof(w->told), "%s", text);
	w->options.looked(w->options.arg, err);
}

static int64_t poll_domains(struct periodic *self, void *arg)
{
	struct shared_domains_watch *w = arg;
	struct error err;

	(void)self;
	report_poll_result(
		w, update_domains(w, atomic_exchange(&w->again, false), &err)
			   ? &err
			   : NULL);
	return LOOK_EVERY_MS;
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
	w->config = redis_config_within(options->redis, STEP_MAX_MS);
	w->redis = redis_new(&w->config, NULL, err);
	w->thread = w->redis ? periodic_new(poll_domains, w, err) : NULL;
	if (w->thread)
		return w;
	shared_domains_watch_free(w);
	return NULL;
}

int shared_domains_watch_start(struct shared_domains_watch *w,
			       struct error *err)
{
	return periodic_start(w->thread, err);
}

void shared_domains_watch_again(struct shared_domains_watch *w)
{
	atomic_store(&w->again, true);
	periodic_wake(w->thread);
}

void shared_domains_watch_free(struct shared_domains_watch *w)
{
	if (!w)
		return;
	periodic_free(w->thread);
	redis_free(w->redis);
	shared_domains_release(&w->used);
	free(w);
}

#include "linkstore/url_checker.h"

#include <stdlib.h>
#include <string.h>

#include "linkstore/command.h"

enum {
	CHECKS_MAX = 256 /* per question */
};

struct url_check {
	struct url_check *next;
	url_checked_fn *fn;
	void *arg;
	size_t count;
	const char *urls[];
};

/* The checks of one account that are sent together. */
struct account_query {
	struct account_query *next;
	struct redis_async *redis;
	struct url_check *first, **last;
	size_t count;
	char account[]; /* a copy: the account of the first check may be gone */
};

struct url_checker {
	struct redis_async *redis;
	struct loop_timer *again; /* for checks queued while sending */
	struct account_query *queued;
	bool flushing, freed;
};

/* --- answers -------------------------------------------------------------- */

static void answer_all(struct account_query *q, const struct error *err)
{
	struct url_check *check = q->first, *next;

	for (; check; check = next) {
		next = check->next;
		check->fn(check->arg, NULL, err);
		free(check);
	}
	free(q);
}

/* Returns the first blocked URL of `check`, whose answers begin at `at`. */
static const char *first_blocked(const struct url_check *check,
				 const redisReply *reply, size_t at)
{
	for (size_t i = 0; i < check->count; i++) {
		if (reply->element[at + i]->type != REDIS_REPLY_NIL)
			return check->urls[i];
	}
	return NULL;
}

static size_t count_urls(const struct account_query *q)
{
	size_t count = 0;

	for (const struct url_check *check = q->first; check;
	     check = check->next)
		count += check->count;
	return count;
}

static void on_urls(void *arg, const redisReply *reply, const struct error *err)
{
	struct account_query *q = arg;
	struct url_check *check, *next;
	struct error why;
	size_t at = 0;

	if (!err && !reply_is_array(reply, count_urls(q))) {
		reply_malformed("HMGET", &why);
		err = &why;
	}
	if (err) {
		answer_all(q, err);
		return;
	}
	for (check = q->first; check; check = next) {
		next = check->next;
		check->fn(check->arg, first_blocked(check, reply, at), NULL);
		at += check->count;
		free(check);
	}
	free(q);
}

static int ask_for_urls(struct account_query *q, struct error *err)
{
	char id[URL_BLOCK_ID];
	struct command c;

	command_plain(&c, "HMGET");
	command_format(&c, "blocked:{%s}", q->account);
	for (const struct url_check *check = q->first; check;
	     check = check->next) {
		for (size_t i = 0; i < check->count; i++) {
			url_block_id(check->urls[i], id);
			command_text(&c, id);
		}
	}
	return command_send(&c, q->redis, on_urls, q, err);
}

static void on_exists(void *arg, const redisReply *reply,
		      const struct error *err)
{
	struct account_query *q = arg;
	struct error why;

	if (err) {
		answer_all(q, err);
	} else if (reply->type != REDIS_REPLY_INTEGER) {
		reply_malformed("EXISTS", &why);
		answer_all(q, &why);
	} else if (!reply->integer) {
		answer_all(q, NULL);
	} else if (ask_for_urls(q, &why)) {
		answer_all(q, &why);
	}
}

/* --- send ----------------------------------------------------------------- */

static int send_question(struct account_query *q, struct error *err)
{
	struct command c;

	command_plain(&c, "EXISTS");
	command_format(&c, "blocked:{%s}", q->account);
	return command_send(&c, q->redis, on_exists, q, err);
}

static void send_queued_questions(void *arg)
{
	struct url_checker *checker = arg;
	struct account_query *q = checker->queued, *next;
	struct error err;

	if (!q)
		return;
	checker->queued = NULL;
	checker->flushing = true;
	for (; q; q = next) {
		next = q->next;
		if (send_question(q, &err))
			answer_all(q, &err);
	}
	checker->flushing = false;
	redis_async_flush(checker->redis);
}

/* --- queue ---------------------------------------------------------------- */

static struct account_query *find_question(struct url_checker *checker,
					   const char *account)
{
	struct account_query **at = &checker->queued, *q;
	size_t len = strlen(account);

	/* Questions are sent in order: if two lines of a batch want the same
	 * alias, the first one gets it. */
	for (; (q = *at); at = &q->next) {
		if (q->count < CHECKS_MAX && !strcmp(q->account, account))
			return q;
	}
	q = calloc(1, sizeof(*q) + len + 1);
	if (!q)
		return NULL;
	memcpy(q->account, account, len);
	q->redis = checker->redis;
	q->last = &q->first;
	*at = q;
	/* A check that a callback queues while this turn's questions are sent
	 * would wait until another event wakes the loop. */
	if (checker->flushing)
		loop_timer_set(checker->again, 0);
	return q;
}

int url_checker_check(struct url_checker *checker, const char *account,
		      const char *const *urls, size_t count, url_checked_fn *fn,
		      void *arg, struct error *err)
{
	struct account_query *q;
	struct url_check *check;

	if (checker->freed)
		return error_set_retriable(err, ERROR_REMOTE, "shutting down");
	q = find_question(checker, account);
	check = q ? malloc(sizeof(*check) + count * sizeof(urls[0])) : NULL;
	if (!check)
		return error_set_nomem(err);
	check->next = NULL;
	check->fn = fn;
	check->arg = arg;
	check->count = count;
	memcpy(check->urls, urls, count * sizeof(urls[0]));
	*q->last = check;
	q->last = &check->next;
	q->count++;
	return 0;
}

/* --- start and stop ------------------------------------------------------- */

struct url_checker *
url_checker_new(struct loop *loop, struct redis_async *redis, struct error *err)
{
	struct url_checker *checker = calloc(1, sizeof(*checker));

	if (!checker) {
		error_set_nomem(err);
		return NULL;
	}
	checker->redis = redis;
	checker->again =
		loop_timer_new(loop, send_queued_questions, checker, err);
	if (!checker->again ||
	    loop_on_turn_end(loop, send_queued_questions, checker, err)) {
		loop_timer_free(checker->again);
		free(checker);
		return NULL;
	}
	return checker;
}

void url_checker_free(struct url_checker *checker)
{
	struct account_query *q, *next;
	struct error err;

	if (!checker)
		return;
	error_set_retriable(&err, ERROR_REMOTE, "shutting down");
	checker->freed = true;
	for (q = checker->queued; q; q = next) {
		next = q->next;
		answer_all(q, &err);
	}
	loop_timer_free(checker->again);
	free(checker);
}

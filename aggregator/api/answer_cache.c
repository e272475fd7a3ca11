#include "aggregator/api/answer_cache.h"

#include <errno.h>
#include <openssl/evp.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/clock.h"
#include "common/wake.h"

/* The time that an answer is kept.  Attempts are published once, but
 * `aggregator forget` takes rows out of them. */
#define KEPT CLOCK_MINUTE
/* Few enough for a linear search; a hundred pages need as many. */
#define ENTRIES 512
/* An answer of more than 1/SHARE of the cache is not kept. */
#define SHARE 8

/* A cryptographic digest of a statement and its parameters: a client writes
 * part of these, and must not be able to hit the digest of another question. */
struct key {
	unsigned char digest[32];
};

enum answer_state {
	FREE,
	ASKED, /* a thread queries it, and will wake the others */
	KNOWN,
};

struct cached_answer {
	enum answer_state state;
	struct key key;
	int64_t until; /* kept until then; clock_monotonic_ms */
	struct buf answer;
};

struct answer_cache {
	size_t bytes_max;
	struct metric *asked, *remembered;
	pthread_mutex_t lock; /* protects what follows */
	pthread_cond_t change;
	size_t bytes;
	struct cached_answer entries[ENTRIES];
};

struct answer_cache *answer_cache_new(int64_t bytes, struct metrics *metrics,
				      struct error *err)
{
	struct answer_cache *c = calloc(1, sizeof(*c));

	if (!c) {
		error_set_nomem(err);
		return NULL;
	}
	errno = wake_init(&c->change);
	if (errno) {
		error_set_errno(err, "cannot make a condition");
		free(c);
		return NULL;
	}
	pthread_mutex_init(&c->lock, NULL);
	c->bytes_max = (size_t)bytes;
	c->asked = metrics_counter(
		metrics, "shortloop_aggregator_answers_asked_total", NULL,
		"Answers that may be cached and for which ClickHouse was "
		"queried.");
	c->remembered = metrics_counter(
		metrics, "shortloop_aggregator_answers_remembered_total", NULL,
		"Answers from the cache (setting answer_cache).");
	return c;
}

void answer_cache_free(struct answer_cache *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < ENTRIES; i++)
		buf_free(&c->entries[i].answer);
	pthread_cond_destroy(&c->change);
	pthread_mutex_destroy(&c->lock);
	free(c);
}

static void digest_text(EVP_MD_CTX *md, const char *text)
{
	/* The final NUL is included, so that no two lists of texts are equal.
	 */
	EVP_DigestUpdate(md, text, strlen(text) + 1);
}

/* A question has more parameters than its statement may name: the attempt that
 * was published last, for example, is named only where hours are looked up by
 * it.  Parameters that are not named do not belong to the key. */
static bool is_named(const char *sql, const char *param)
{
	static const char prefix[] = "param_";
	size_t len = sizeof(prefix) - 1;
	char named[64];

	if (strncmp(param, prefix, len) != 0)
		return true;
	if (snprintf(named, sizeof(named), "{%s:", param + len) >=
	    (int)sizeof(named))
		return true;
	return strstr(sql, named) != NULL;
}

static int make_key(const struct answer_of *what, struct key *ret,
		    struct error *err)
{
	const struct clickhouse_param *param = what->params;
	EVP_MD_CTX *md = EVP_MD_CTX_new();
	bool made = md && EVP_DigestInit_ex(md, EVP_sha256(), NULL);

	if (made) {
		digest_text(md, what->sql);
		for (; param && param->name; param++) {
			if (!is_named(what->sql, param->name))
				continue;
			digest_text(md, param->name);
			digest_text(md, param->value);
		}
		made = EVP_DigestFinal_ex(md, ret->digest, NULL);
	}
	EVP_MD_CTX_free(md);
	return made ? 0 : error_set_nomem(err);
}

/* --- under the lock ---------------------------------------------------------
 */

static void clear_entry(struct answer_cache *c, struct cached_answer *e)
{
	c->bytes -= e->answer.len;
	buf_free(&e->answer);
	e->state = FREE;
}

static struct cached_answer *find_entry(struct answer_cache *c,
					const struct key *key)
{
	for (size_t i = 0; i < ENTRIES; i++) {
		struct cached_answer *e = &c->entries[i];

		if (e->state != FREE && !memcmp(&e->key, key, sizeof(*key)))
			return e;
	}
	return NULL;
}

/* Returns the known entry that expires first, or NULL. */
static struct cached_answer *find_first(struct answer_cache *c)
{
	struct cached_answer *first = NULL;

	for (size_t i = 0; i < ENTRIES; i++) {
		struct cached_answer *e = &c->entries[i];

		if (e->state == KNOWN && (!first || e->until < first->until))
			first = e;
	}
	return first;
}

/* Returns NULL if all entries are being queried. */
static struct cached_answer *reserve_entry(struct answer_cache *c,
					   const struct key *key)
{
	struct cached_answer *e = NULL;

	for (size_t i = 0; !e && i < ENTRIES; i++)
		e = c->entries[i].state == FREE ? &c->entries[i] : NULL;
	if (!e)
		e = find_first(c);
	if (!e)
		return NULL;
	clear_entry(c, e);
	e->state = ASKED;
	e->key = *key;
	e->until = clock_monotonic_ms() + KEPT;
	return e;
}

/*
 * Copies a known answer to `answer`, or waits for it.  Otherwise *ret_asked is
 * an entry that the caller has to fill, or NULL if there is no room.  Returns
 * false at the deadline.
 */
static bool look_up_answer(struct answer_cache *c, const struct key *key,
			   const struct answer_of *what, struct buf *answer,
			   bool *ret_known, struct cached_answer **ret_asked)
{
	struct cached_answer *e;

	*ret_known = false;
	*ret_asked = NULL;
	while ((e = find_entry(c, key)) && e->state == ASKED)
		if (!wake_wait(&c->change, &c->lock, what->deadline))
			return false;
	if (e && clock_monotonic_ms() < e->until) {
		buf_append(answer, e->answer.data, e->answer.len);
		*ret_known = true;
		return true;
	}
	if (e)
		clear_entry(c, e);
	*ret_asked = reserve_entry(c, key);
	return true;
}

/* `answer` is NULL after a failure. */
static void fill_entry(struct answer_cache *c, struct cached_answer *e,
		       const struct buf *answer)
{
	struct cached_answer *old;

	if (answer && answer->len <= c->bytes_max / SHARE)
		buf_append(&e->answer, answer->data, answer->len);
	else
		e->answer.failed = true;
	if (e->answer.failed) {
		clear_entry(c, e);
	} else {
		e->state = KNOWN;
		c->bytes += e->answer.len;
		while (c->bytes > c->bytes_max && (old = find_first(c)) != NULL)
			clear_entry(c, old);
	}
	pthread_cond_broadcast(&c->change);
}

/* -------------------------------------------------------------------------- */

static int query_answer(struct answer_cache *c, struct clickhouse *ch,
			const struct answer_of *what, struct buf *answer,
			struct error *err)
{
	metric_add(c->asked, 1);
	return clickhouse_query(ch, what->sql, what->params, answer, err);
}

static int get_cached_answer(struct answer_cache *c, struct clickhouse *ch,
			     const struct answer_of *what, struct buf *answer,
			     struct error *err)
{
	struct cached_answer *asked;
	struct key key;
	bool known, in_time;
	int status;

	if (make_key(what, &key, err) < 0)
		return -1;
	pthread_mutex_lock(&c->lock);
	in_time = look_up_answer(c, &key, what, answer, &known, &asked);
	pthread_mutex_unlock(&c->lock);
	if (known) {
		metric_add(c->remembered, 1);
		return 0;
	}
	if (!in_time)
		return error_set_retriable(err, ERROR_REMOTE,
					   "ClickHouse does not answer in "
					   "time");
	status = query_answer(c, ch, what, answer, err);
	if (!asked)
		return status;
	pthread_mutex_lock(&c->lock);
	fill_entry(c, asked, status == 0 && !answer->failed ? answer : NULL);
	pthread_mutex_unlock(&c->lock);
	return status;
}

int answer_cache_rows(struct answer_cache *c, struct clickhouse *ch,
		      const struct answer_of *what, clickhouse_row_fn *fn,
		      void *arg, struct error *err)
{
	struct buf answer = {0};
	int status = c->bytes_max ? get_cached_answer(c, ch, what, &answer, err)
				  : query_answer(c, ch, what, &answer, err);

	if (status == 0)
		status = clickhouse_rows_of(&answer, what->columns, fn, arg,
					    err);
	buf_free(&answer);
	return status;
}

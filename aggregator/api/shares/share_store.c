#include "aggregator/api/shares/share_store.h"

#include <stdlib.h>
#include <string.h>

#include "aggregator/aggregator_config.h"
#include "common/clock.h"

#define SHARE_PREFIX "share:{shares}:"
#define LIST_PREFIX  "shares:{shares}:"
/* Shares that are read together. */
#define READ_MAX 100

/* The outcome of a command, once its answer was read. */
struct store_answer {
	int64_t number;
	struct share **shares; /* of `count` ids */
	size_t count;
	struct share_place *places;
	struct error err;
	bool failed;
};

/* Runs a command whose reader may fail, too. */
static int run_command(struct redis_links *redis, struct command *c,
		       redis_reply_fn *fn, struct store_answer *a,
		       struct error *err)
{
	if (redis_links_command(redis, c, fn, a, err) < 0) {
		if (err->code == ERROR_REMOTE)
			error_keep_inside(err,
					  "shares are in Redis, which does not "
					  "answer at present");
		return -1;
	}
	if (a->failed)
		*err = a->err;
	return a->failed ? -1 : 0;
}

static void read_number(void *arg, const redisReply *reply,
			const struct error *err)
{
	struct store_answer *a = arg;

	(void)err;
	a->number = reply->type == REDIS_REPLY_INTEGER ? reply->integer : -1;
}

int share_store_add(struct redis_links *redis, const struct share *share,
		    int64_t most, struct error *err)
{
	struct store_answer a = {.number = -1};
	json_t *json = share_to_json(share);
	char *text = json ? json_dumps(json, JSON_COMPACT) : NULL;
	struct command c;
	int status;

	json_decref(json);
	if (!text)
		return error_set_nomem(err);
	redis_links_script(redis, &c, SCRIPT_SHARE);
	command_format(&c, SHARE_PREFIX "%s", share->id);
	command_format(&c, LIST_PREFIX "%s", share->listed);
	c.keys = 2;
	command_text(&c, share->id);
	command_text(&c, text);
	command_time(&c,
		     share->expires_at ? share->expires_at : DURATION_NEVER);
	command_number(&c, (uint64_t)most);
	command_text(&c, SHARE_PREFIX);
	free(text);
	status = run_command(redis, &c, read_number, &a, err);
	if (status == 0 && a.number == 0)
		return error_set(err, ERROR_EXHAUSTED,
				 "the account '%s' has %lld shares, the most "
				 "that it may have (setting shares_max)",
				 share->listed, (long long)most);
	if (status == 0 && a.number != 1)
		return reply_malformed("share.lua", err);
	return status;
}

static void read_share(void *arg, const redisReply *reply,
		       const struct error *err)
{
	struct store_answer *a = arg;

	(void)err;
	if (reply->type != REDIS_REPLY_STRING)
		return;
	a->shares[0] = share_parse(reply->str, reply->len, &a->err);
	a->failed = !a->shares[0];
}

int share_store_find(struct redis_links *redis, const char *id,
		     struct share **ret, struct error *err)
{
	struct store_answer a = {.shares = ret};
	struct command c;

	*ret = NULL;
	command_plain(&c, "GET");
	command_format(&c, SHARE_PREFIX "%s", id);
	return run_command(redis, &c, read_share, &a, err);
}

/* The share itself is removed first: an id that is left in the list is passed
 * over. */
int share_store_end(struct redis_links *redis, const struct share *share,
		    bool *ret_ended, struct error *err)
{
	struct store_answer ended = {.number = -1}, listed = {.number = -1};
	struct command c;

	command_plain(&c, "DEL");
	command_format(&c, SHARE_PREFIX "%s", share->id);
	if (run_command(redis, &c, read_number, &ended, err) < 0)
		return -1;
	*ret_ended = ended.number == 1;
	command_plain(&c, "ZREM");
	command_format(&c, LIST_PREFIX "%s", share->listed);
	command_text(&c, share->id);
	return run_command(redis, &c, read_number, &listed, err);
}

/* --- lists ---------------------------------------------------------------- */

static void read_places(void *arg, const redisReply *reply,
			const struct error *err)
{
	struct store_answer *a = arg;

	(void)err;
	a->failed = reply->type != REDIS_REPLY_ARRAY;
	if (a->failed) {
		reply_malformed("ZREVRANGE", &a->err);
		return;
	}
	a->places = calloc(reply->elements / 2 + 1, sizeof(*a->places));
	a->failed = !a->places;
	if (a->failed) {
		error_set_nomem(&a->err);
		return;
	}
	for (size_t i = 0; i + 1 < reply->elements; i += 2) {
		struct share_place *place = &a->places[a->count];

		if (!share_id_is_valid(reply_text(reply, i)))
			continue;
		strcpy(place->id, reply_text(reply, i));
		place->created_at = reply_number(reply, i + 1, 0);
		a->count++;
	}
}

static int list_places(struct redis_links *redis, const char *account,
		       struct store_answer *ret, struct error *err)
{
	struct command c;

	command_plain(&c, "ZREVRANGE");
	command_format(&c, LIST_PREFIX "%s", account);
	command_number(&c, 0);
	command_number(&c, SHARES_MOST - 1);
	command_text(&c, "WITHSCORES");
	return run_command(redis, &c, read_places, ret, err);
}

static void read_shares(void *arg, const redisReply *reply,
			const struct error *err)
{
	struct store_answer *a = arg;

	(void)err;
	a->failed = !reply_is_array(reply, a->count);
	if (a->failed)
		reply_malformed("MGET", &a->err);
	for (size_t i = 0; !a->failed && i < a->count; i++) {
		const redisReply *one = reply->element[i];

		if (one->type != REDIS_REPLY_STRING)
			continue;
		a->shares[i] = share_parse(one->str, one->len, &a->err);
		a->failed = !a->shares[i];
	}
}

/* Passes on the shares of up to READ_MAX places.  Returns what `fn` does. */
static int pass_shares(struct redis_links *redis,
		       const struct share_place *places, size_t count,
		       share_fn *fn, void *arg, struct error *err)
{
	struct share *shares[READ_MAX] = {NULL};
	struct store_answer a = {.shares = shares, .count = count};
	struct command c;
	int status;

	command_plain(&c, "MGET");
	for (size_t i = 0; i < count; i++)
		command_format(&c, SHARE_PREFIX "%s", places[i].id);
	status = run_command(redis, &c, read_shares, &a, err);
	for (size_t i = 0; i < count; i++) {
		if (status == 0 && shares[i])
			status = fn(arg, shares[i], &places[i], err);
		else
			share_free(shares[i]);
	}
	return status;
}

/* Returns whether a place comes after another, in the order of ZREVRANGE. */
static bool is_after(const struct share_place *place,
		     const struct share_place *other)
{
	if (other->created_at < 0)
		return true;
	if (place->created_at != other->created_at)
		return place->created_at < other->created_at;
	return strcmp(place->id, other->id) < 0;
}

int share_store_list(struct redis_links *redis, const char *account,
		     const struct share_place *after, share_fn *fn, void *arg,
		     struct error *err)
{
	struct store_answer all = {0};
	int status = list_places(redis, account, &all, err);
	size_t at = 0;

	while (status == 0 && at < all.count &&
	       !is_after(&all.places[at], after))
		at++;
	while (status == 0 && at < all.count) {
		size_t count = all.count - at;

		count = count < READ_MAX ? count : READ_MAX;
		status = pass_shares(redis, &all.places[at], count, fn, arg,
				     err);
		at += count;
	}
	free(all.places);
	return status < 0 ? -1 : 0;
}

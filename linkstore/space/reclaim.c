#include "linkstore/space/reclaim.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "common/clock.h"
#include "linkstore/command.h"

/* --- the lock ------------------------------------------------------------- */

static int make_value(char ret_value[RECLAIM_LOCK_MAX], struct error *err)
{
	unsigned char random[(RECLAIM_LOCK_MAX - 1) / 2];

	if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
		return error_set_errno(err, "getrandom");
	for (size_t i = 0; i < sizeof(random); i++)
		snprintf(ret_value + 2 * i, 3, "%02x", random[i]);
	return 0;
}

int reclaim_lock_take(struct redis *redis, const struct link_space *space,
		      int64_t ttl, struct reclaim_lock *ret_lock,
		      struct error *err)
{
	struct reclaim_lock lock = {.space = space, .ttl = ttl};
	struct command c;
	redisReply *reply;
	bool taken;

	if (make_value(lock.value, err))
		return -1;
	command_plain(&c, "SET");
	command_space_key(&c, "lock:", space);
	command_text(&c, lock.value);
	command_text(&c, "NX");
	command_text(&c, "PX");
	command_time(&c, ttl);
	if (command_run(&c, redis, &reply, err))
		return -1;
	taken = reply->type == REDIS_REPLY_STATUS;
	freeReplyObject(reply);
	if (!taken)
		return error_set_retriable(err, ERROR_BUSY,
					   "space %s: another reclaimer is at "
					   "work",
					   space->name);
	*ret_lock = lock;
	return 0;
}

static int use_lock(struct redis *redis, const struct reclaim_lock *lock,
		    int64_t ttl, bool *ret_ours, struct error *err)
{
	struct command c;
	redisReply *reply;

	command_script(&c, lock->space, SCRIPT_LOCK);
	command_space_key(&c, "lock:", lock->space);
	command_text(&c, lock->value);
	command_time(&c, ttl);
	if (command_run(&c, redis, &reply, err))
		return -1;
	*ret_ours = reply->integer == 1;
	freeReplyObject(reply);
	return 0;
}

int reclaim_lock_keep(struct redis *redis, const struct reclaim_lock *lock,
		      struct error *err)
{
	bool ours;

	if (use_lock(redis, lock, lock->ttl, &ours, err))
		return -1;
	if (!ours)
		return error_set_retriable(err, ERROR_BUSY,
					   "space %s: the reclaimer's lock is "
					   "not ours any more",
					   lock->space->name);
	return 0;
}

int reclaim_lock_release(struct redis *redis, const struct reclaim_lock *lock,
			 struct error *err)
{
	bool ours;

	return use_lock(redis, lock, 0, &ours, err);
}

/* --- what is due ---------------------------------------------------------- */

static int parse_due(const redisReply *reply, size_t max, struct due_range *ret,
		     size_t *ret_count, int64_t *ret_now, struct error *err)
{
	const redisReply *member;
	size_t count = 0;

	if (!reply_is_array(reply, 1))
		return reply_malformed("due", err);
	*ret_now = reply_number(reply, 0, 0);
	for (size_t i = 1; i + 1 < reply->elements && count < max; i += 2) {
		member = reply->element[i];
		if (member->type != REDIS_REPLY_STRING ||
		    !range_parse(member->str, member->len, &ret[count].range))
			return reply_malformed("due", err);
		ret[count++].score =
			(int64_t)strtod(reply_text(reply, i + 1), NULL);
	}
	*ret_count = count;
	return 0;
}

int reclaim_due(struct redis *redis, const struct link_space *space,
		int64_t until, size_t skip, size_t max, struct due_range *ret,
		size_t *ret_count, int64_t *ret_now, struct error *err)
{
	struct command c;
	redisReply *reply;
	int status;

	command_script(&c, space, SCRIPT_DUE);
	command_space_key(&c, "issued:", space);
	command_time(&c, until);
	command_number(&c, skip);
	command_number(&c, max);
	if (command_run(&c, redis, &reply, err))
		return -1;
	status = parse_due(reply, max, ret, ret_count, ret_now, err);
	freeReplyObject(reply);
	return status;
}

/* --- settling ------------------------------------------------------------- */

static void put_part(struct command *c, const struct settle_part *part)
{
	const struct block_range *r = &part->range;
	char kind = part->kind == SETTLE_POOL	? 'P'
		    : part->kind == SETTLE_KEEP ? 'K'
						: 'L';

	if (part->kind != SETTLE_KEEP)
		command_format(c, "%c %" PRIu64 " %" PRIu64 " %" PRIu32, kind,
			       r->first, r->last, r->generation);
	else if (part->score == DURATION_NEVER)
		command_format(c, "K %" PRIu64 " %" PRIu64 " %" PRIu32 " never",
			       r->first, r->last, r->generation);
	else
		command_format(c,
			       "K %" PRIu64 " %" PRIu64 " %" PRIu32 " %" PRId64,
			       r->first, r->last, r->generation, part->score);
}

static void build_settle(struct command *c, const struct reclaim_lock *lock)
{
	const struct link_space *space = lock->space;
	const struct links_config *config = linkstore_config(space->store);

	command_script(c, space, SCRIPT_SETTLE);
	command_space_key(c, "lock:", space);
	command_space_key(c, "space:", space);
	command_space_key(c, "cursor:", space);
	command_space_key(c, "issued:", space);
	command_space_key(c, "pool:", space);
	command_text(c, lock->value);
	command_time(c, lock->ttl);
	command_number(c, space->blocks);
	command_number(c, space->safety_gap);
	command_time(c, config->hold_max);
	command_time(c, linkstore_longest_ttl(space->store));
	command_time(c, config->quarantine);
	command_day_prefix(c, space);
}

int reclaim_settle(struct redis *redis, const struct reclaim_lock *lock,
		   const struct block_range *members, size_t member_count,
		   const struct settle_part *parts, size_t part_count,
		   struct error *err)
{
	char member[RANGE_TEXT_MAX];
	struct command c;
	redisReply *reply;
	int status = 0;

	build_settle(&c, lock);
	command_number(&c, member_count);
	for (size_t i = 0; i < member_count; i++)
		command_text(&c, range_format(&members[i], member));
	for (size_t i = 0; i < part_count; i++)
		put_part(&c, &parts[i]);
	if (command_run(&c, redis, &reply, err))
		return -1;
	if (!reply_is_array(reply, 2))
		status = reply_malformed("settle", err);
	else if (reply_number(reply, 0, 0) != 1)
		status = reply_refused(reply, lock->space, err);
	freeReplyObject(reply);
	return status;
}

/* --- gaps ----------------------------------------------------------------- */

struct reclaim_gaps {
	size_t count;
	struct block_range ranges[];
};

/* "first-last " */
static bool next_gap(const char **text, struct block_range *ret)
{
	char *end;

	ret->first = strtoull(*text, &end, 10);
	if (end == *text || *end != '-')
		return false;
	*text = end + 1;
	ret->last = strtoull(*text, &end, 10);
	if (end == *text || *end != ' ')
		return false;
	*text = end + 1;
	return true;
}

static struct reclaim_gaps *parse_gaps(const char *text)
{
	size_t max = strlen(text) / strlen("0-0 ");
	struct reclaim_gaps *gaps =
		calloc(1, sizeof(*gaps) + max * sizeof(gaps->ranges[0]));

	if (!gaps)
		return NULL;
	while (gaps->count < max && next_gap(&text, &gaps->ranges[gaps->count]))
		gaps->count++;
	return gaps;
}

int reclaim_gaps_read(struct redis *redis, const struct link_space *space,
		      struct reclaim_gaps **ret_gaps, struct error *err)
{
	struct command c;
	redisReply *reply;
	struct reclaim_gaps *gaps;

	command_plain(&c, "HGET");
	command_space_key(&c, "space:", space);
	command_text(&c, "gaps");
	if (command_run(&c, redis, &reply, err))
		return -1;
	gaps = parse_gaps(reply->type == REDIS_REPLY_STRING ? reply->str : "");
	freeReplyObject(reply);
	if (!gaps)
		return error_set_nomem(err);
	*ret_gaps = gaps;
	return 0;
}

bool reclaim_gaps_has(const struct reclaim_gaps *gaps, uint64_t block)
{
	for (size_t i = 0; i < gaps->count; i++)
		if (block >= gaps->ranges[i].first &&
		    block <= gaps->ranges[i].last)
			return true;
	return false;
}

void reclaim_gaps_free(struct reclaim_gaps *gaps)
{
	free(gaps);
}

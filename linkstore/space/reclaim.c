#include "linkstore/space/reclaim.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/redis/wire.h"
#include "linkstore/command.h"
#include "linkstore/target.h"

/* --- due ranges ----------------------------------------------------------- */

static int parse_ranges(const redisReply *page, size_t max,
			struct due_range *ret, struct error *err)
{
	const redisReply *member;

	if (page->type != REDIS_REPLY_ARRAY || page->elements > 2 * max)
		return reply_malformed("due", err);
	for (size_t i = 0; i + 1 < page->elements; i += 2) {
		member = page->element[i];
		if (member->type != REDIS_REPLY_STRING ||
		    !range_parse(member->str, member->len, &ret[i / 2].range))
			return error_set(err, ERROR_UNSAFE,
					 "the issued set has a member that is "
					 "no range: '%.60s'",
					 reply_text(page, i));
		ret[i / 2].score =
			(int64_t)strtod(reply_text(page, i + 1), NULL);
	}
	return 0;
}

static int parse_due(const redisReply *reply, struct due_cursor *cursor,
		     size_t max, struct due_range *ret, size_t *ret_count,
		     struct error *err)
{
	const redisReply *page;

	if (!reply_is_array(reply, 4))
		return reply_malformed("due", err);
	page = reply->element[3];
	if (parse_ranges(page, max, ret, err))
		return -1;
	cursor->now = reply_number(reply, 0, 0);
	cursor->rank = (uint64_t)reply_number(reply, 1, 0);
	cursor->total = (uint64_t)reply_number(reply, 2, 0);
	*ret_count = page->elements / 2;
	if (*ret_count)
		snprintf(cursor->last, sizeof(cursor->last), "%s",
			 reply_text(page, page->elements - 2));
	return 0;
}

int reclaim_due(struct redis *redis, const struct link_space *space,
		struct due_cursor *cursor, size_t max, struct due_range *ret,
		size_t *ret_count, struct error *err)
{
	struct command c;
	redisReply *reply;
	int status;

	if (max > DUE_PAGE)
		max = DUE_PAGE;
	command_script(&c, space, SCRIPT_DUE);
	command_space_key(&c, "issued:", space);
	command_time(&c, cursor->from);
	command_time(&c, cursor->until);
	command_number(&c, max);
	command_number(&c, cursor->rank);
	command_text(&c, cursor->last);
	if (command_run(&c, redis, &reply, err))
		return -1;
	status = parse_due(reply, cursor, max, ret, ret_count, err);
	freeReplyObject(reply);
	return status;
}

/* --- settle --------------------------------------------------------------- */

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

static void build_settle(struct command *c, const struct reclaim_lock *lock,
			 const struct block_range *members, size_t member_count,
			 const struct settle_part *parts, size_t part_count)
{
	const struct link_space *space = lock->space;
	const struct links_config *config = linkstore_config(space->store);
	const struct high_water high_water = linkstore_noted_high_water(space);
	char member[RANGE_TEXT_MAX];

	command_script(c, space, SCRIPT_SETTLE);
	command_space_key(c, "lock:", space);
	command_remember_keys(c, space);
	command_space_key(c, "reclaimed:", space);
	command_text(c, lock->value);
	command_time(c, lock->ttl);
	command_remember_args(c, space, &high_water);
	command_time(c, config->quarantine);
	command_number(c, member_count);
	for (size_t i = 0; i < member_count; i++)
		command_text(c, range_format(&members[i], member));
	for (size_t i = 0; i < part_count; i++)
		put_part(c, &parts[i]);
}

static int parse_settle(const redisReply *reply,
			const struct reclaim_lock *lock, struct error *err)
{
	if (!reply_is_array(reply, 2))
		return reply_malformed("settle", err);
	if (reply_number(reply, 0, 0) == 1) {
		if (!reply_is_array(reply, 4))
			return reply_malformed("settle", err);
		reply_high_water(reply, 2, lock->space, 0);
		return 0;
	}
	reply_refused(reply, lock->space, err);
	/* The space is gone, not just a member. */
	if (err->code == ERROR_NOTFOUND &&
	    strcmp(reply_text(reply, 1), "member") != 0)
		err->code = ERROR_UNSAFE;
	return -1;
}

int reclaim_settle(struct redis *redis, const struct reclaim_lock *lock,
		   const struct block_range *members, size_t member_count,
		   const struct settle_part *parts, size_t part_count,
		   struct error *err)
{
	struct command c;
	redisReply *reply;
	int status;

	build_settle(&c, lock, members, member_count, parts, part_count);
	if (command_run(&c, redis, &reply, err))
		return reply_damage(err);
	status = parse_settle(reply, lock, err);
	freeReplyObject(reply);
	return status;
}

int reclaim_settle_send(struct redis *redis, const struct reclaim_lock *lock,
			const struct block_range *members, size_t member_count,
			const struct settle_part *parts, size_t part_count,
			struct error *err)
{
	struct command c;

	build_settle(&c, lock, members, member_count, parts, part_count);
	if (command_append(&c, redis, err))
		return -1;
	return redis_flush(redis, err);
}

int reclaim_settle_take(struct redis *redis, const struct reclaim_lock *lock,
			struct error *err)
{
	redisReply *reply;
	int status;

	if (redis_take_reply(redis, &reply, err))
		return -1;
	if (reply->type != REDIS_REPLY_ERROR)
		status = parse_settle(reply, lock, err);
	else
		status = redis_error_text(reply->str, reply->len, err);
	freeReplyObject(reply);
	return status ? reply_damage(err) : 0;
}

#include "linkstore/space/space_repair.h"

#include <inttypes.h>
#include <string.h>

#include "common/clock.h"
#include "linkstore/command.h"

/* --- plan ----------------------------------------------------------------- */

/* Returns the rank of a set: the higher, the longer it keeps a block from being
 * granted. */
static int rank_of_set(enum space_set set)
{
	static const int order[SET_COUNT_OF] = {
		[SET_POOL] = 0, [SET_ISSUED] = 1, [SET_OUT] = 2};

	return order[set];
}

/* Combines all members that contain block `at`; returns false if there is none.
 * *ret_end: the last block for which the result is the same. */
static bool claim_at(const struct found_member *members, size_t count,
		     uint64_t at, struct found_member *ret, uint64_t *ret_end)
{
	bool claimed = false;

	*ret_end = UINT64_MAX;
	for (size_t i = 0; i < count; i++) {
		const struct found_member *m = &members[i];

		if (m->range.last < at)
			continue;
		if (m->range.first > at) {
			if (m->range.first - 1 < *ret_end)
				*ret_end = m->range.first - 1;
			continue;
		}
		if (m->range.last < *ret_end)
			*ret_end = m->range.last;
		if (!claimed || rank_of_set(m->set) > rank_of_set(ret->set)) {
			ret->set = m->set;
			ret->score = m->score;
		} else if (m->set == ret->set && m->score > ret->score) {
			ret->score = m->score;
		}
		if (!claimed || m->range.generation > ret->range.generation)
			ret->range.generation = m->range.generation;
		claimed = true;
	}
	return claimed;
}

static bool part_is_continuation(const struct found_member *last,
				 const struct found_member *part)
{
	return last->set == part->set && last->score == part->score &&
	       last->range.generation == part->range.generation &&
	       last->range.last + 1 == part->range.first;
}

size_t repair_plan(const struct found_member *members, size_t count,
		   struct found_member *ret_parts)
{
	struct found_member part;
	size_t parts = 0;
	uint64_t at, end;

	if (!count)
		return 0;
	at = members[0].range.first;
	for (;;) {
		bool claimed = claim_at(members, count, at, &part, &end);

		part.range.first = at;
		part.range.last = end;
		if (!claimed && end == UINT64_MAX)
			return parts;
		if (claimed && parts &&
		    part_is_continuation(&ret_parts[parts - 1], &part))
			ret_parts[parts - 1].range.last = end;
		else if (claimed)
			ret_parts[parts++] = part;
		at = end + 1;
	}
}

/* --- command -------------------------------------------------------------- */

static void begin_repair_command(struct command *c,
				 const struct reclaim_lock *lock,
				 const struct repair_note *note, size_t members)
{
	const struct link_space *space = lock->space;

	command_script(c, space, SCRIPT_REPAIR);
	command_space_key(c, "lock:", space);
	command_space_key(c, "cursor:", space);
	command_space_key(c, "issued:", space);
	command_space_key(c, "pool:", space);
	command_space_key(c, "out:", space);
	command_space_key(c, "why:", space);
	command_space_key(c, "hand:", space);
	command_space_key(c, "space:", space);
	command_text(c, lock->value);
	command_time(c, lock->ttl);
	command_text(c, note->who);
	command_text(c, "repair");
	command_text(c, note->reason);
	command_number(c, members);
}

static void put_set(struct command *c, enum space_set set)
{
	char letter = space_set_letter(set);

	command_arg(c, &letter, 1);
}

static void put_part(struct command *c, const struct found_member *part)
{
	put_set(c, part->set);
	command_number(c, part->range.first);
	command_number(c, part->range.last);
	command_number(c, part->range.generation);
	command_time(c, part->score);
}

static int parse_repair_reply(const redisReply *reply,
			      const struct link_space *space, struct error *err)
{
	if (!reply_is_array(reply, 2))
		return reply_malformed("mend", err);
	if (reply_number(reply, 0, 0) == 1)
		return 0;
	if (!strcmp(reply_text(reply, 1), "cursor"))
		return error_set(err, ERROR_INPUT,
				 "space %s: blocks beyond the cursor cannot be "
				 "issued",
				 space->name);
	return reply_refused(reply, space, err);
}

int space_repair(struct redis *redis, const struct reclaim_lock *lock,
		 const struct repair_note *note,
		 const struct found_member *members, size_t member_count,
		 const struct found_member *parts, size_t part_count,
		 struct error *err)
{
	char member[RANGE_TEXT_MAX];
	struct command c;
	redisReply *reply;
	int status;

	begin_repair_command(&c, lock, note, member_count);
	for (size_t i = 0; i < member_count; i++) {
		put_set(&c, members[i].set);
		command_text(&c, range_format(&members[i].range, member));
	}
	for (size_t i = 0; i < part_count; i++)
		put_part(&c, &parts[i]);
	if (command_run(&c, redis, &reply, err) < 0)
		return -1;
	status = parse_repair_reply(reply, lock->space, err);
	freeReplyObject(reply);
	return status;
}

#include "linkstore/space/grant.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "codespace/link_id.h"
#include "common/clock.h"
#include "linkstore/async_call.h"
#include "linkstore/target.h"

/* --- holder's name -------------------------------------------------------- */

/* Spaces and control characters would break the marker's fields. */
static void copy_name(char to[LINK_HOLDER_MAX], const char *name)
{
	size_t i;

	for (i = 0; i < LINK_HOLDER_MAX - 18 && name[i]; i++)
		to[i] = name[i] > ' ' && name[i] < 127 ? name[i] : '_';
	to[i] = '\0';
}

static int make_holder(char ret_holder[LINK_HOLDER_MAX], const char *name,
		       struct error *err)
{
	uint64_t random;
	size_t len;

	if (getrandom(&random, sizeof(random), 0) != sizeof(random))
		return error_set_errno(err, "getrandom");
	copy_name(ret_holder, name);
	len = strlen(ret_holder);
	snprintf(ret_holder + len, LINK_HOLDER_MAX - len, "#%016" PRIx64,
		 random);
	return 0;
}

/* --- grant ---------------------------------------------------------------- */

static int64_t due_after(const struct link_space *space,
			 const struct link_class *ttl)
{
	if (ttl->ttl == DURATION_NEVER)
		return DURATION_NEVER;
	return linkstore_config(space->store)->hold_max + ttl->ttl;
}

static void build_grant(struct command *c, const struct grant_request *request)
{
	const struct link_space *space = request->space;

	command_script(c, space, SCRIPT_GRANT);
	command_remember_keys(c, space);
	command_remember_args(c, space, &request->high_water);
	command_number(c, request->blocks);
	command_time(c, due_after(space, request->ttl));
	command_number(c, codespace_version(space->codes));
	/* The caller's clock, by which a quarantine must be over, too; seconds
	 * do not matter. */
	command_number(c, (uint64_t)(clock_real_ms() + CLOCK_APART_MAX));
}

static int check_request(const struct grant_request *request, struct error *err)
{
	if (!link_space_has_blocks(request->space))
		return error_set(err, ERROR_INPUT,
				 "space %s has no blocks to grant",
				 request->space->name);
	if (request->blocks < 1 || request->blocks > GRANT_BLOCKS_MAX)
		return error_set(err, ERROR_INPUT,
				 "%u blocks requested: 1 to %d can be granted",
				 request->blocks, GRANT_BLOCKS_MAX);
	return 0;
}

static int parse_range(const redisReply *reply, size_t at,
		       struct block_range *ret_range)
{
	int64_t first = reply_number(reply, at, -1);
	int64_t last = reply_number(reply, at + 1, -1);
	int64_t generation = reply_number(reply, at + 2, -1);

	if (first < 0 || last < first || generation < 1 ||
	    generation > LINK_GENERATION_MAX)
		return -1;
	*ret_range = (struct block_range){(uint64_t)first, (uint64_t)last,
					  (uint32_t)generation};
	return 0;
}

/* A damaged pool may hold a block twice.  Under one holder the block would be
 * opened twice, and the second link of a code would be taken for the first. */
static bool has_part_of(const struct grant *grant,
			const struct block_range *range)
{
	for (size_t i = 0; i < grant->count; i++)
		if (range->first <= grant->ranges[i].last &&
		    range->last >= grant->ranges[i].first)
			return true;
	return false;
}

/* The request of a grant. */
struct grant_call {
	const struct link_space *space;
	char holder[LINK_HOLDER_MAX];
	struct high_water high_water;
};

static int parse_grant(const redisReply *reply, const void *about,
		       void *ret_value, struct error *err)
{
	const struct grant_call *asked = about;
	struct grant *grant = ret_value;
	struct high_water high_water;
	struct block_range range;
	uint64_t above = asked->high_water.cursor;

	if (!reply_is_array(reply, 2))
		return reply_malformed("grant", err);
	if (reply_number(reply, 0, 0) != 1)
		return reply_refused(reply, asked->space, err);
	memcpy(grant->holder, asked->holder, sizeof(grant->holder));
	grant->high_water = asked->high_water;
	for (size_t at = 3; at + 2 < reply->elements; at += 3) {
		if (grant->count == GRANT_BLOCKS_MAX ||
		    parse_range(reply, at, &range))
			return reply_malformed("grant", err);
		if (has_part_of(grant, &range))
			continue;
		grant->ranges[grant->count++] = range;
		if (range.last + 1 > above)
			above = range.last + 1;
	}
	if (grant->count == 0)
		return reply_malformed("grant", err);
	high_water = reply_high_water(reply, 1, asked->space, above);
	high_water_raise(&grant->high_water, &high_water);
	return 0;
}

static void deliver_grant(async_call_fn *fn, void *arg, void *value,
			  const struct error *failure)
{
	((grant_fn *)fn)(arg, failure ? NULL : value, failure);
}

static const struct async_call_type grant_call = {
	.about_size = sizeof(struct grant_call),
	.value_size = sizeof(struct grant),
	.parse = parse_grant,
	.deliver = deliver_grant,
};

int grant_blocks_async(struct redis_async *redis,
		       const struct grant_request *request, grant_fn *fn,
		       void *arg, struct error *err)
{
	struct grant_call asked = {.space = request->space,
				   .high_water = request->high_water};
	struct command c;

	if (check_request(request, err) ||
	    make_holder(asked.holder, request->name, err))
		return -1;
	build_grant(&c, request);
	return async_call_send(&c, redis, &grant_call, &asked,
			       (async_call_fn *)fn, arg, err);
}

/* --- confirm -------------------------------------------------------------- */

static void build_confirm(struct command *c, const struct link_space *space,
			  const struct block_range *blocks)
{
	command_script(c, space, SCRIPT_CONFIRM);
	command_space_key(c, "space:", space);
	command_space_key(c, "unopened:", space);
	command_number(c, blocks->first);
	command_number(c, blocks->last);
}

/* Notes the count of moves.  If it is 0, sets the error with the reason
 * `none`. */
static int note_moves(const redisReply *reply, const struct link_space *space,
		      const char *script, const char *none, struct error *err)
{
	if (reply->type != REDIS_REPLY_INTEGER)
		return reply_malformed(script, err);
	if (reply->integer == 0)
		return error_set(err, ERROR_NOTFOUND, "space %s: %s",
				 space->name, none);
	linkstore_note_high_water(
		space, &(struct high_water){.moves = (uint64_t)reply->integer});
	return 0;
}

static int parse_confirm(const redisReply *reply, const void *about,
			 void *no_value, struct error *err)
{
	(void)no_value;
	return note_moves(reply, *(const struct link_space *const *)about,
			  "confirm", "Redis has no record of it", err);
}

static const struct async_call_type confirm_call = {
	.about_size = sizeof(const struct link_space *),
	.parse = parse_confirm,
	.deliver = async_call_deliver_done,
};

int grant_confirm_async(struct redis_async *redis,
			const struct link_space *space,
			const struct block_range *blocks, grant_done_fn *fn,
			void *arg, struct error *err)
{
	struct command c;

	build_confirm(&c, space, blocks);
	return async_call_send(&c, redis, &confirm_call, &space,
			       (async_call_fn *)fn, arg, err);
}

/* --- hand back ------------------------------------------------------------ */

static void build_hand_back(struct command *c, const struct link_space *space,
			    const struct block_range *whole,
			    const struct block_range *part)
{
	char member[RANGE_TEXT_MAX];

	command_script(c, space, SCRIPT_HAND_BACK);
	command_space_key(c, "issued:", space);
	command_space_key(c, "pool:", space);
	command_space_key(c, "space:", space);
	command_space_key(c, "unopened:", space);
	command_space_key(c, "endless:", space);
	command_text(c, range_format(whole, member));
	command_number(c, part->first);
	command_number(c, part->last);
	command_day_prefix(c, space);
	command_time(c, linkstore_config(space->store)->hold_max);
}

static int parse_hand_back(const redisReply *reply, const void *about,
			   void *no_value, struct error *err)
{
	(void)no_value;
	return note_moves(reply, *(const struct link_space *const *)about,
			  "hand_back",
			  "the range to hand back is no longer issued as it "
			  "was granted",
			  err);
}

static const struct async_call_type hand_back_call = {
	.about_size = sizeof(const struct link_space *),
	.parse = parse_hand_back,
	.deliver = async_call_deliver_done,
};

int grant_hand_back_async(struct redis_async *redis,
			  const struct link_space *space,
			  const struct block_range *whole,
			  const struct block_range *part, grant_done_fn *fn,
			  void *arg, struct error *err)
{
	struct command c;

	build_hand_back(&c, space, whole, part);
	return async_call_send(&c, redis, &hand_back_call, &space,
			       (async_call_fn *)fn, arg, err);
}

#include "linkstore/space/manual_hold.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "linkstore/command.h"
#include "linkstore/space/member_list.h"
#include "linkstore/space/members.h"
#include "linkstore/space/space_record.h"

/* Members moved by one script, and how often it is retried if other programs
 * have moved them. */
#define BATCH 200
#define TRIES 10

/* --- search --------------------------------------------------------------- */

/* A grant moves blocks from pool to issued: in this order, a block that is
 * granted meanwhile is found.  A run moves blocks from issued to pool: a block
 * that is freed meanwhile is found by the second walk of the pool, since it is
 * not granted again before its quarantine is over. */
static int find_requested_members(struct redis *redis,
				  const struct link_space *space,
				  const struct hold_request *request,
				  struct member_list *list, struct error *err)
{
	static const enum space_set order[] = {SET_POOL, SET_ISSUED, SET_OUT};
	uint64_t missing;

	list->count = 0;
	list->first = request->first;
	list->last = request->last;
	for (size_t i = 0; i < SET_COUNT_OF; i++)
		if (space_walk(redis, space, order[i], member_list_take, list,
			       err) < 0)
			return -1;
	member_list_sort(list);
	if (!member_list_gap(list, -1, &missing))
		return 0;
	if (space_walk(redis, space, SET_POOL, member_list_take, list, err) < 0)
		return -1;
	member_list_sort(list);
	return 0;
}

/* --- move ----------------------------------------------------------------- */

static void begin_hold_command(struct command *c,
			       const struct link_space *space,
			       const struct hold_request *request, bool hold)
{
	command_script(c, space, hold ? SCRIPT_HOLD : SCRIPT_RELEASE);
	command_space_key(c, "issued:", space);
	if (hold)
		command_space_key(c, "pool:", space);
	command_space_key(c, "out:", space);
	command_space_key(c, "why:", space);
	command_space_key(c, "hand:", space);
	command_space_key(c, "space:", space);
	command_number(c, request->first);
	command_number(c, request->last);
	command_text(c, request->who);
	command_text(c, request->reason);
	command_day_prefix(c, space);
}

/* *ret_vanished: one of the members is gone; nothing was changed. */
static int run_hold_command(struct command *c, struct redis *redis,
			    const struct link_space *space, bool *ret_vanished,
			    uint64_t *moved, struct error *err)
{
	redisReply *reply;
	int status = 0;

	if (command_run(c, redis, &reply, err))
		return -1;
	if (!reply_is_array(reply, 2)) {
		status = reply_malformed("hold", err);
	} else if (reply_number(reply, 0, 0) == 1) {
		*moved += (uint64_t)reply_number(reply, 1, 0);
	} else if (!strcmp(reply_text(reply, 1), "member")) {
		*ret_vanished = true;
	} else {
		status = reply_refused(reply, space, err);
	}
	freeReplyObject(reply);
	return status;
}

/* Moves the members found: those outside `out` (hold), or those in it
 * (release). */
static int move_members(struct redis *redis, const struct link_space *space,
			const struct hold_request *request, bool hold,
			const struct member_list *list, bool *ret_vanished,
			uint64_t *moved, struct error *err)
{
	char member[RANGE_TEXT_MAX], letter[2] = "";
	size_t at = 0;

	*ret_vanished = false;
	while (at < list->count && !*ret_vanished) {
		struct command c;
		size_t taken = 0;

		begin_hold_command(&c, space, request, hold);
		for (; at < list->count && taken < BATCH; at++) {
			const struct found_member *m = &list->members[at];

			if ((m->set == SET_OUT) == hold)
				continue;
			letter[0] = space_set_letter(m->set);
			if (hold)
				command_text(&c, letter);
			command_text(&c, range_format(&m->range, member));
			taken++;
		}
		if (!taken) {
			command_free(&c);
			return 0;
		}
		if (run_hold_command(&c, redis, space, ret_vanished, moved,
				     err) < 0)
			return -1;
	}
	return 0;
}

static uint64_t already_out(const struct member_list *list)
{
	uint64_t blocks = 0;

	for (size_t i = 0; i < list->count; i++)
		if (list->members[i].set == SET_OUT)
			blocks += member_list_overlap(list, i);
	return blocks;
}

/* Checks that every requested block is in one of the sets. */
static int check_found(const struct member_list *list,
		       const struct link_space *space, bool hold,
		       struct error *err)
{
	uint64_t missing;

	if (!member_list_gap(list, hold ? -1 : SET_OUT, &missing))
		return 0;
	return error_set(err, ERROR_NOTFOUND,
			 hold ? "space %s: block %" PRIu64 " is neither issued "
				"nor pooled: it is out of generations, or "
				"missing, which reclaimer verify reports"
			      : "space %s: block %" PRIu64 " is not out of "
				"circulation",
			 space->name, missing);
}

static int hold_or_release_blocks(struct redis *redis,
				  const struct link_space *space,
				  const struct hold_request *request, bool hold,
				  struct hold_result *result, struct error *err)
{
	struct member_list list = {0};
	bool vanished = true;
	int status = -1;

	*result = (struct hold_result){0};
	for (int i = 0; i < TRIES && vanished; i++) {
		if (find_requested_members(redis, space, request, &list, err) <
		    0)
			goto out;
		/* A block in no set may be moving: search again. */
		if (check_found(&list, space, hold, err) < 0) {
			if (result->moved && !hold)
				break;
			if (i < 2)
				continue;
			goto out;
		}
		if (hold && !result->moved)
			result->already = already_out(&list);
		if (move_members(redis, space, request, hold, &list, &vanished,
				 &result->moved, err) < 0)
			goto out;
	}
	status = !vanished ? 0
			   : error_set_retriable(err, ERROR_BUSY,
						 "space %s: the blocks keep "
						 "moving: try again",
						 space->name);
out:
	member_list_free(&list);
	return status;
}

static int check_request(struct redis *redis, const struct link_space *space,
			 const struct hold_request *request, struct error *err)
{
	uint64_t cursor;

	if (!link_space_has_blocks(space))
		return error_set(err, ERROR_INPUT, "space %s has no blocks",
				 space->name);
	if (space_read_cursor(redis, space, &cursor, err) < 0)
		return -1;
	if (request->first > request->last || request->last >= cursor)
		return error_set(err, ERROR_INPUT,
				 "space %s: block %" PRIu64 " was never "
				 "issued: the first such is %" PRIu64,
				 space->name, request->last, cursor);
	return 0;
}

int space_hold(struct redis *redis, const struct link_space *space,
	       const struct hold_request *request,
	       struct hold_result *ret_result, struct error *err)
{
	*ret_result = (struct hold_result){0};
	if (check_request(redis, space, request, err) < 0)
		return -1;
	return hold_or_release_blocks(redis, space, request, true, ret_result,
				      err);
}

int space_release(struct redis *redis, const struct link_space *space,
		  const struct hold_request *request,
		  struct hold_result *ret_result, struct error *err)
{
	*ret_result = (struct hold_result){0};
	if (check_request(redis, space, request, err) < 0)
		return -1;
	return hold_or_release_blocks(redis, space, request, false, ret_result,
				      err);
}

/* --- reading -------------------------------------------------------------- */

/* Parses "i|p score who reason". */
static void read_note(const redisReply *note, struct out_range *ret)
{
	const char *text = note->type == REDIS_REPLY_STRING ? note->str : "";
	size_t len;

	for (int i = 0; i < 2; i++) {
		text += strcspn(text, " ");
		text += *text == ' ';
	}
	len = strcspn(text, " ");
	snprintf(ret->who, sizeof(ret->who), "%.*s", (int)len, text);
	text += len + (text[len] == ' ');
	snprintf(ret->reason, sizeof(ret->reason), "%s", text);
}

static int read_why(struct redis *redis, const struct link_space *space,
		    struct out_range *range, struct error *err)
{
	char member[RANGE_TEXT_MAX];
	struct command c;
	redisReply *reply;

	command_plain(&c, "HGET");
	command_space_key(&c, "why:", space);
	command_text(&c, range_format(&range->range, member));
	if (command_run(&c, redis, &reply, err))
		return -1;
	read_note(reply, range);
	freeReplyObject(reply);
	return 0;
}

static int parse_out(const redisReply *reply, size_t max, struct out_range *ret,
		     size_t *ret_count, struct error *err)
{
	size_t count = 0;

	if (reply->type != REDIS_REPLY_ARRAY)
		return reply_malformed("ZRANGE", err);
	for (size_t i = 0; i + 1 < reply->elements && count < max; i += 2) {
		const redisReply *text = reply->element[i];
		struct out_range *r = &ret[count];

		*r = (struct out_range){0};
		if (text->type != REDIS_REPLY_STRING ||
		    !range_parse(text->str, text->len, &r->range))
			continue;
		r->since = (int64_t)strtod(reply_text(reply, i + 1), NULL);
		count++;
	}
	*ret_count = count;
	return 0;
}

int space_read_out(struct redis *redis, const struct link_space *space,
		   size_t max, struct out_range *ret_ranges, size_t *ret_count,
		   uint64_t *ret_total, struct error *err)
{
	struct command c;
	redisReply *reply;
	int status;

	command_plain(&c, "ZCARD");
	command_space_key(&c, "out:", space);
	if (command_run(&c, redis, &reply, err))
		return -1;
	*ret_total = (uint64_t)reply->integer;
	freeReplyObject(reply);
	command_plain(&c, "ZRANGE");
	command_space_key(&c, "out:", space);
	command_number(&c, 0);
	command_number(&c, max);
	command_text(&c, "WITHSCORES");
	if (command_run(&c, redis, &reply, err))
		return -1;
	status = parse_out(reply, max, ret_ranges, ret_count, err);
	freeReplyObject(reply);
	for (size_t i = 0; status == 0 && i < *ret_count; i++)
		status = read_why(redis, space, &ret_ranges[i], err);
	return status;
}

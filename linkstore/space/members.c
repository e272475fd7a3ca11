#include "linkstore/space/members.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "linkstore/command.h"

#define SCAN_COUNT 1000 /* members per page, approximately */

static const struct {
	const char *name, *prefix;
	char letter;
} sets[SET_COUNT_OF] = {
	[SET_POOL] = {"pool", "pool:", 'p'},
	[SET_ISSUED] = {"issued", "issued:", 'i'},
	[SET_OUT] = {"out", "out:", 'o'},
};

const char *space_set_name(enum space_set set)
{
	return sets[set].name;
}

char space_set_letter(enum space_set set)
{
	return sets[set].letter;
}

/* --- walk ----------------------------------------------------------------- */

static int64_t score_of(const char *text)
{
	double score = strtod(text, NULL);

	if (score >= 9e15)
		return DURATION_NEVER;
	return score > 0 ? (int64_t)score : 0;
}

static bool is_sound(const char *text, size_t len, struct block_range *ret)
{
	char canonical[RANGE_TEXT_MAX];

	return range_parse(text, len, ret) && ret->generation &&
	       strlen(range_format(ret, canonical)) == len &&
	       !memcmp(canonical, text, len);
}

static int deliver_page_members(const redisReply *page, enum space_set set,
				set_member_fn *fn, void *arg, struct error *err)
{
	for (size_t i = 0; i + 1 < page->elements; i += 2) {
		const redisReply *text = page->element[i];
		struct set_member m = {.set = set};

		if (text->type != REDIS_REPLY_STRING)
			return reply_malformed("ZSCAN", err);
		m.text = text->str;
		m.len = text->len;
		m.sound = is_sound(m.text, m.len, &m.range);
		m.score = score_of(reply_text(page, i + 1));
		if (fn(arg, &m, err) < 0)
			return -1;
	}
	return 0;
}

/* Reads one page; *cursor is "0" after the last. */
static int walk_page(struct redis *redis, const struct link_space *space,
		     enum space_set set, char cursor[24], set_member_fn *fn,
		     void *arg, struct error *err)
{
	struct command c;
	redisReply *reply;
	int status = -1;

	command_plain(&c, "ZSCAN");
	command_space_key(&c, sets[set].prefix, space);
	command_text(&c, cursor);
	command_text(&c, "COUNT");
	command_number(&c, SCAN_COUNT);
	if (command_run(&c, redis, &reply, err))
		return -1;
	if (!reply_is_array(reply, 2) ||
	    reply->element[1]->type != REDIS_REPLY_ARRAY) {
		reply_malformed("ZSCAN", err);
		goto out;
	}
	snprintf(cursor, 24, "%s", reply_text(reply, 0));
	status = deliver_page_members(reply->element[1], set, fn, arg, err);
out:
	freeReplyObject(reply);
	return status;
}

int space_walk(struct redis *redis, const struct link_space *space,
	       enum space_set set, set_member_fn *fn, void *arg,
	       struct error *err)
{
	char cursor[24] = "0";

	do {
		if (walk_page(redis, space, set, cursor, fn, arg, err) < 0)
			return -1;
	} while (strcmp(cursor, "0") != 0);
	return 0;
}

/* --- movement ------------------------------------------------------------- */

static int parse_movement(const redisReply *reply,
			  const struct link_space *space,
			  struct space_movement *ret, struct error *err)
{
	if (!reply_is_array(reply, 2))
		return reply_malformed("movement", err);
	if (reply_number(reply, 0, 0) != 1)
		return error_set(err, ERROR_UNSAFE,
				 !strcmp(reply_text(reply, 1), "nospace")
					 ? "space %s has no record in Redis: "
					   "either it was never created, or "
					   "Redis has lost it"
					 : "space %s has lost its cursor",
				 space->name);
	if (!reply_is_array(reply, 6) || reply_number(reply, 1, -1) < 0)
		return reply_malformed("movement", err);
	*ret = (struct space_movement){
		.cursor = (uint64_t)reply_number(reply, 1, 0),
		.now = reply_number(reply, 3, 0),
		.retired = (uint64_t)reply_number(reply, 4, 0),
		.first = (uint64_t)reply_number(reply, 5, 0),
	};
	snprintf(ret->text, sizeof(ret->text), "%s", reply_text(reply, 2));
	return 0;
}

int space_read_movement(struct redis *redis, const struct link_space *space,
			struct space_movement *ret_movement, struct error *err)
{
	struct command c;
	redisReply *reply;
	int status;

	command_script(&c, space, SCRIPT_MOVEMENT);
	command_space_key(&c, "space:", space);
	command_space_key(&c, "cursor:", space);
	command_day_prefix(&c, space);
	if (command_run(&c, redis, &reply, err))
		return -1;
	status = parse_movement(reply, space, ret_movement, err);
	freeReplyObject(reply);
	return status;
}

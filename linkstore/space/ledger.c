#include "linkstore/space/ledger.h"

#include <stdio.h>

#include "linkstore/command.h"

enum {
	RECORD_FIELDS = 8,
	DAY_FIELDS = 5,
	MEMBER_MAX = 64
};

static uint64_t count_at(const redisReply *reply, size_t i)
{
	int64_t number = reply_number(reply, i, 0);

	return number > 0 ? (uint64_t)number : 0;
}

/* --- record --------------------------------------------------------------- */

static struct space_day day_at(const redisReply *reply, size_t day)
{
	size_t at = RECORD_FIELDS + day * DAY_FIELDS;

	return (struct space_day){
		.granted = count_at(reply, at),
		.handed_back = count_at(reply, at + 1),
		.reclaimed = count_at(reply, at + 2),
		.pooled = count_at(reply, at + 3),
		.links_created = count_at(reply, at + 4),
	};
}

static int parse_record(const redisReply *reply, const struct link_space *space,
			struct space_ledger *ret, struct error *err)
{
	if (!reply_is_array(reply, RECORD_FIELDS + LEDGER_DAYS * DAY_FIELDS))
		return reply_malformed("ledger", err);
	if (reply_number(reply, 0, 0) == 0)
		return error_set(err, ERROR_NOTFOUND,
				 "space %s was not created in this Redis",
				 space->name);
	if (link_space_has_blocks(space) && reply_number(reply, 1, -1) < 0)
		return error_set(err, ERROR_NOTFOUND,
				 "space %s has lost its cursor", space->name);
	*ret = (struct space_ledger){
		.capacity = space->blocks,
		.cursor = count_at(reply, 1),
		.now = reply_number(reply, 2, 0),
		.created = reply_number(reply, 3, 0),
		.retired = count_at(reply, 4),
		.forgot = count_at(reply, 5),
		.skipped = count_at(reply, 6),
		.next_due = reply_number(reply, 7, 0),
	};
	for (size_t i = 0; i < LEDGER_DAYS; i++)
		ret->days[i] = day_at(reply, i);
	return 0;
}

static int read_record(struct redis *redis, const struct link_space *space,
		       struct space_ledger *ret, struct error *err)
{
	struct command c;
	redisReply *reply;
	int status;

	command_script(&c, space, SCRIPT_LEDGER);
	command_space_key(&c, "space:", space);
	command_space_key(&c, "cursor:", space);
	command_space_key(&c, "issued:", space);
	command_day_prefix(&c, space);
	command_number(&c, LEDGER_DAYS);
	if (command_run(&c, redis, &reply, err))
		return -1;
	status = parse_record(reply, space, ret, err);
	freeReplyObject(reply);
	return status;
}

/* --- ranges --------------------------------------------------------------- */

/* The position in a set, and the counts so far. */
struct range_count {
	uint64_t zero, past, later; /* blocks by score */
	uint64_t overdue;	    /* part of `past` */
	uint64_t gap;		    /* part of `later` */
	int64_t late;		    /* ms: limit of `overdue` */
	uint64_t rank;
	uint64_t read; /* ranges in the last page */
	char last[MEMBER_MAX];
};

static void note_generations(struct space_ledger *ledger,
			     const redisReply *reply)
{
	uint32_t lowest = (uint32_t)count_at(reply, 6);
	uint32_t highest = (uint32_t)count_at(reply, 7);

	if (!highest)
		return;
	if (!ledger->lowest_generation || lowest < ledger->lowest_generation)
		ledger->lowest_generation = lowest;
	if (highest > ledger->highest_generation)
		ledger->highest_generation = highest;
}

static int read_page(struct redis *redis, const struct link_space *space,
		     const char *set, struct range_count *count,
		     struct space_ledger *ledger, struct error *err)
{
	struct command c;
	redisReply *reply = NULL;
	int status = 0;

	command_script(&c, space, SCRIPT_LEDGER_PAGE);
	command_space_key(&c, set, space);
	command_space_key(&c, "space:", space);
	command_time(&c, ledger->now);
	command_number(&c, LEDGER_PAGE);
	command_number(&c, count->rank);
	command_text(&c, count->last);
	command_time(&c, count->late);
	if (command_run(&c, redis, &reply, err))
		return reply_damage(err);
	if (reply_is_array(reply, 10)) {
		count->read = count_at(reply, 0);
		count->rank = count_at(reply, 1);
		snprintf(count->last, sizeof(count->last), "%s",
			 reply_text(reply, 2));
		count->zero += count_at(reply, 3);
		count->past += count_at(reply, 4);
		count->later += count_at(reply, 5);
		count->overdue += count_at(reply, 8);
		count->gap += count_at(reply, 9);
		note_generations(ledger, reply);
	} else {
		status = reply_malformed("ledger_page", err);
	}
	freeReplyObject(reply);
	return status;
}

static int read_ranges(struct redis *redis, const struct link_space *space,
		       const char *set, struct range_count *ret,
		       struct space_ledger *ledger, struct error *err)
{
	do {
		if (read_page(redis, space, set, ret, ledger, err) < 0)
			return -1;
	} while (ret->read == LEDGER_PAGE);
	return 0;
}

int space_read_ledger(struct redis *redis, const struct link_space *space,
		      struct space_ledger *ret_ledger, struct error *err)
{
	return space_read_ledger_late(redis, space, 0, ret_ledger, err);
}

int space_read_ledger_late(struct redis *redis, const struct link_space *space,
			   int64_t overdue_after,
			   struct space_ledger *ret_ledger, struct error *err)
{
	struct range_count issued = {0}, pool = {0}, out = {0};
	struct space_ledger ledger = {0};

	if (read_record(redis, space, &ledger, err) < 0)
		return -1;
	issued.late = ledger.now - overdue_after;
	if (link_space_has_blocks(space) &&
	    (read_ranges(redis, space, "issued:", &issued, &ledger, err) < 0 ||
	     read_ranges(redis, space, "pool:", &pool, &ledger, err) < 0 ||
	     read_ranges(redis, space, "out:", &out, &ledger, err) < 0))
		return -1;
	ledger.lost = issued.zero;
	ledger.due = issued.past;
	ledger.gap = issued.gap;
	ledger.live = issued.later - issued.gap;
	ledger.overdue = issued.overdue;
	ledger.out = out.zero + out.past + out.later;
	ledger.issued = issued.zero + issued.past + issued.later;
	ledger.pooled = pool.zero + pool.past;
	ledger.quarantined = pool.later;
	*ret_ledger = ledger;
	return 0;
}

/* --- counts --------------------------------------------------------------- */

int space_count_created_async(struct redis_async *redis,
			      const struct link_space *space, uint64_t links,
			      struct error *err)
{
	struct command c;

	command_script(&c, space, SCRIPT_COUNT);
	command_space_key(&c, "space:", space);
	command_day_prefix(&c, space);
	command_text(&c, "created");
	command_number(&c, links);
	return command_send_off(&c, redis, err);
}

/* The reclaimer's work on millions of markers: reading and closing them. */
#include "linkstore/block/block_scan.h"

#include <inttypes.h>
#include <string.h>

#include "common/clock.h"
#include "common/redis/wire.h"
#include "linkstore/block/groups.h"
#include "linkstore/command.h"
#include "linkstore/marker.h"

/*
 * Groups sent before the answers to earlier ones, so that Redis works on some
 * while others are evaluated.  Redis serves one client as long as there is
 * input from it, but reads 16 KiB at a time, which is 700 markers to read, some
 * 200 us.  The same amount of scripts takes 2 ms, for which its other clients
 * would wait: so fewer groups are sent to be closed.
 */
#define AHEAD_MAX   64
#define CLOSE_AHEAD 3

/* A pass over a list of blocks. */
struct scan_pass {
	struct redis *redis;
	const struct link_space *space;
	const uint64_t *blocks;
	struct block_scan *looks;
	void (*build)(const struct scan_pass *, const struct block_group *,
		      struct command *);
	redis_value_fn *on_value;
	int64_t now;	     /* for reading */
	uint32_t generation; /* for closing */
	size_t ahead;	     /* limit for groups sent ahead */
	/* Groups in progress, the oldest at `taken`. */
	struct block_group groups[AHEAD_MAX];
	size_t sent, taken;
	/* State of the answer that is being taken. */
	size_t values;
	bool failed;
	struct error err;
};

static struct block_group *oldest_group(struct scan_pass *p)
{
	return &p->groups[p->taken % AHEAD_MAX];
}

/* The first failure counts; the rest of the answer is skipped. */
static void note_error(struct scan_pass *p, const struct redis_value *value)
{
	p->failed = true;
	redis_error_text(value->text, value->len, &p->err);
	reply_damage(&p->err);
}

static void note_malformed(struct scan_pass *p, const char *what)
{
	p->failed = true;
	reply_malformed(what, &p->err);
}

/* Returns after how many ms a block is read again that lives only for its
 * blocked links.  The issued set is in another slot and does not change when
 * such a link is let go. */
static int64_t look_again(const struct link_space *space)
{
	return linkstore_config(space->store)->quarantine;
}

/* --- reading -------------------------------------------------------------- */

static void build_look(const struct scan_pass *p,
		       const struct block_group *group, struct command *c)
{
	command_plain(c, "MGET");
	for (size_t i = 0; i < group->count; i++)
		command_marker_key(c, p->space, p->blocks[group->at[i]]);
}

static void evaluate_marker(struct scan_pass *p, size_t at,
			    const struct redis_value *value)
{
	struct block_scan look = {.state = BLOCK_LOST};
	struct link_marker m;

	if (value->type == REDIS_VALUE_TEXT &&
	    marker_parse(value->text, value->len, &m)) {
		look.generation = m.generation;
		look.state =
			marker_ended(&m, p->now) ? BLOCK_ENDED : BLOCK_LIVE;
		look.end = m.end;
		look.has_blocked = m.open && m.blocked;
		if (look.has_blocked && m.end < p->now)
			look.end = p->now + look_again(p->space);
		look.opened = m.opened;
	} else if (value->type != REDIS_VALUE_NIL) {
		p->failed = true;
		error_set(&p->err, ERROR_UNSAFE,
			  "the marker of block %" PRIu64 " is damaged",
			  p->blocks[at]);
		return;
	}
	p->looks[at] = look;
}

static void on_look(void *arg, size_t i, const struct redis_value *value)
{
	struct scan_pass *p = arg;

	p->values++;
	if (p->failed)
		return;
	if (value->type == REDIS_VALUE_ERROR)
		note_error(p, value);
	else if (i >= oldest_group(p)->count)
		note_malformed(p, "MGET");
	else
		evaluate_marker(p, oldest_group(p)->at[i], value);
}

/* --- closing -------------------------------------------------------------- */

/* Values that the script returns per block. */
enum {
	CLOSE_VALUES = 3
};

static void build_close(const struct scan_pass *p,
			const struct block_group *group, struct command *c)
{
	command_script(c, p->space, SCRIPT_CLOSE);
	for (size_t i = 0; i < group->count; i++)
		command_marker_key(c, p->space, p->blocks[group->at[i]]);
	command_number(c, p->generation);
	command_time(c, look_again(p->space));
}

static void note_closed(struct scan_pass *p, struct block_scan *look,
			size_t field, int64_t number)
{
	static const enum block_state states[] = {BLOCK_LOST, BLOCK_ENDED,
						  BLOCK_LIVE};

	if (field == 1)
		look->end = number == -1 ? DURATION_NEVER : number;
	else if (field == 2)
		look->generation = (uint32_t)number;
	else if (number >= 0 && number <= 2)
		look->state = states[number];
	else
		note_malformed(p, "close");
}

static void on_close(void *arg, size_t i, const struct redis_value *value)
{
	struct scan_pass *p = arg;
	size_t at = i / CLOSE_VALUES;

	p->values++;
	if (p->failed)
		return;
	if (value->type == REDIS_VALUE_ERROR)
		note_error(p, value);
	else if (value->type != REDIS_VALUE_NUMBER ||
		 at >= oldest_group(p)->count)
		note_malformed(p, "close");
	else
		note_closed(p, &p->looks[oldest_group(p)->at[at]],
			    i % CLOSE_VALUES, value->number);
}

/* --- both passes ---------------------------------------------------------- */

/* Sends groups up to the limit, half of it at a time. */
static int send_ahead(struct scan_pass *p, struct block_groups *groups,
		      struct error *err)
{
	struct block_group *group;
	struct command c;
	bool some = false;

	if (p->failed || p->sent - p->taken > p->ahead / 2)
		return 0;
	while (p->sent - p->taken < p->ahead) {
		group = &p->groups[p->sent % AHEAD_MAX];
		if (!block_groups_next(groups, group))
			break;
		p->build(p, group, &c);
		if (command_append(&c, p->redis, err))
			return -1;
		p->sent++;
		some = true;
	}
	return some ? redis_flush(p->redis, err) : 0;
}

static int take_answer(struct scan_pass *p, size_t values_each,
		       struct error *err)
{
	p->values = 0;
	if (redis_take_values(p->redis, p->on_value, p, err))
		return -1;
	if (!p->failed && p->values != oldest_group(p)->count * values_each)
		note_malformed(p, "a pipeline");
	p->taken++;
	return 0;
}

/* If the pass fails, the remaining answers are read and ignored. */
static int run_block_pass(struct scan_pass *p, size_t count, size_t values_each,
			  struct error *err)
{
	struct block_groups *groups;
	int status = -1;
	bool apart;

	if (redis_keeps_slots_apart(p->redis, &apart, err))
		return -1;
	groups = block_groups_new(p->space, p->blocks, count, apart, err);
	if (!groups)
		return -1;
	do {
		if (send_ahead(p, groups, err))
			goto out;
		if (p->taken < p->sent && take_answer(p, values_each, err))
			goto out;
	} while (p->taken < p->sent);
	if (p->failed)
		*err = p->err;
	else
		status = 0;
out:
	block_groups_free(groups);
	return status;
}

int block_scan_read(struct redis *redis, const struct link_space *space,
		    const uint64_t *blocks, size_t count, int64_t now,
		    struct block_scan *ret_scans, struct error *err)
{
	struct scan_pass p = {
		.redis = redis,
		.space = space,
		.blocks = blocks,
		.looks = ret_scans,
		.build = build_look,
		.on_value = on_look,
		.now = now,
		.ahead = AHEAD_MAX,
	};

	return run_block_pass(&p, count, 1, err);
}

int block_scan_close(struct redis *redis, const struct link_space *space,
		     const uint64_t *blocks, size_t count, uint32_t generation,
		     struct block_scan *ret_scans, struct error *err)
{
	struct scan_pass p = {
		.redis = redis,
		.space = space,
		.blocks = blocks,
		.looks = ret_scans,
		.build = build_close,
		.on_value = on_close,
		.generation = generation,
		.ahead = CLOSE_AHEAD,
	};

	return run_block_pass(&p, count, CLOSE_VALUES, err);
}

#include "tests/model/holders.h"

#include <inttypes.h>

#include "common/clock.h"
#include "common/drop_const.h"
#include "linkstore/block/create_links.h"
#include "linkstore/space/grant.h"
#include "linkstore/space/raise_cursor.h"
#include "linkstore/target.h"

void holders_init(struct holders *h, struct world *w, struct lives *l)
{
	memset(h, 0, sizeof(*h));
	h->world = w;
	h->lives = l;
	for (size_t i = 0; i < WORLD_SPACES; i++)
		h->budget[i] = UINT64_MAX;
}

/* Returns a holder that is awake, or NULL. */
static struct holder *any_holder(struct holders *h)
{
	struct holder *holder = &h->all[rng_below(&h->world->rng, HOLDERS)];

	if (!holder->drowsy)
		holder = &h->all[rng_below(&h->world->rng, HOLDERS)];
	if (clock_boottime_ms() < holder->asleep_until)
		return NULL;
	if (!holder->count)
		holder->drowsy = false;
	return holder;
}

static void let_go(struct holder *holder, struct held *held)
{
	*held = holder->held[--holder->count];
}

/* The block is within its hold and nothing was forgotten: every call must
 * succeed. */
static bool is_firm(const struct holders *h, const struct held *held)
{
	return held->forgets == h->forgets &&
	       clock_boottime_ms() < held->deadline;
}

/* Returns one of the held blocks, or NULL.  Blocks beyond their hold are
 * dropped, unless the holder was asleep. */
static struct held *any_held(struct holders *h, struct holder *holder)
{
	struct rng *rng = &h->world->rng;

	while (holder && holder->count) {
		struct held *held =
			&holder->held[rng_below(rng, holder->count)];

		if (clock_boottime_ms() < held->deadline || holder->drowsy)
			return held;
		let_go(holder, held);
	}
	return NULL;
}

static void report_broken_hold(struct holders *h, const struct held *held,
			       const char *what)
{
	world_broken(h->world,
		     "%s:%" PRIu64 " %s within the hold of %s, generation %u: "
		     "%s",
		     held->block.space->name, held->block.number, what,
		     held->block.holder, held->block.generation,
		     h->world->err.text);
}

/* --- granting ------------------------------------------------------------- */

static void take_range(struct holders *h, struct holder *holder,
		       const struct held *like, const struct block_range *range)
{
	struct held held = *like;

	held.whole = *range;
	held.block.generation = range->generation;
	for (uint64_t b = range->first; b <= range->last; b++) {
		held.block.number = b;
		lives_granted(h->lives, held.space, b, range->generation,
			      held.block.holder);
		if (holder->count < HELD_MAX)
			holder->held[holder->count++] = held;
	}
}

static unsigned how_many(struct holders *h, size_t space)
{
	struct rng *rng = &h->world->rng;
	uint64_t blocks = rng_chance(rng, 90) ? 1 + rng_below(rng, 4)
					      : 1 + rng_below(rng, 16);

	if (blocks > h->budget[space])
		blocks = h->budget[space];
	return (unsigned)blocks;
}

void holders_grant(struct holders *h)
{
	struct world *w = h->world;
	struct holder *holder = any_holder(h);
	struct held held = {.space = rng_below(&w->rng, WORLD_SPACES)};
	struct grant_request request = {
		.space = world_space(w, held.space),
		.ttl = world_class(
			w, rng_below(&w->rng, w->config.ttl_classes.count)),
		.blocks = how_many(h, held.space),
		.name = "model",
	};
	struct grant grant;

	if (!holder || !request.blocks)
		return;
	request.high_water = holder->high_water[held.space];
	held.deadline = clock_boottime_ms() + w->config.hold_max;
	held.forgets = h->forgets;
	if (await_grant(w->await, &request, &grant, &w->err)) {
		if (w->err.code != ERROR_EXHAUSTED)
			world_broken(w, "grant: %s", w->err.text);
		return;
	}
	held.block.space = request.space;
	held.block.ttl = request.ttl;
	memcpy(held.block.holder, grant.holder, sizeof(grant.holder));
	for (size_t i = 0; i < grant.count; i++) {
		take_range(h, holder, &held, &grant.ranges[i]);
		if (h->budget[held.space] != UINT64_MAX)
			h->budget[held.space] -= range_blocks(&grant.ranges[i]);
	}
	holder->high_water[held.space] = grant.high_water;
	high_water_raise(&h->witness[held.space], &grant.high_water);
}

/* --- opening and creating ------------------------------------------------- */

static void confirm_opened_block(struct holders *h, const struct held *held)
{
	struct world *w = h->world;
	const struct block_range only = {held->block.number, held->block.number,
					 held->block.generation};
	struct high_water seen;

	if (await_confirm(w->await, held->block.space, &only, &w->err))
		world_broken(w, "%s", w->err.text);
	seen = linkstore_noted_high_water(held->block.space);
	high_water_raise(&h->witness[held->space], &seen);
}

static void open_held(struct holders *h, struct holder *holder,
		      struct held *held)
{
	struct world *w = h->world;
	int64_t end;

	if (await_open(w->await, &held->block, &end, &w->err) == 0) {
		lives_opened(h->lives, held->space, held->block.number,
			     held->block.generation, held->block.holder);
		confirm_opened_block(h, held);
		held->open = true;
		return;
	}
	if (w->err.code != ERROR_NOT_OWNER ||
	    (is_firm(h, held) && !h->lives->closes_forgotten))
		report_broken_hold(h, held, "not opened");
	let_go(holder, held);
}

void holders_open(struct holders *h)
{
	struct holder *holder = any_holder(h);
	struct held *held = any_held(h, holder);

	if (held && (!held->open || rng_chance(&h->world->rng, 5)))
		open_held(h, holder, held);
}

/* The answer was lost, and the same call counts once.  On a busy machine the
 * link may have ended meanwhile; it has another life then. */
static void send_again(struct holders *h, struct held *held, struct life *life,
		       const Shortloop__Link *link, int64_t ends)
{
	struct world *w = h->world;
	bool firm = is_firm(h, held);
	int64_t later;

	if (await_create(w->await, &held->block, life->target.code, link, 0,
			 &later, &w->err) == 0)
		lives_prolonged(h->lives, life, ends, later);
	else if (firm && is_firm(h, held))
		report_broken_hold(h, held, "no second try");
}

static void send_link(struct holders *h, struct held *held,
		      const struct link_target *target,
		      const Shortloop__Link *link, struct holder *holder)
{
	struct world *w = h->world;
	struct span when = {.before = clock_real_ms()};
	struct life *life;
	int64_t ends;
	bool firm;

	if (await_create(w->await, &held->block, target->code, link, 0, &ends,
			 &w->err)) {
		if (w->err.code != ERROR_NOT_OWNER || is_firm(h, held))
			report_broken_hold(h, held, "no link");
		let_go(holder, held);
		return;
	}
	when.after = clock_real_ms();
	firm = is_firm(h, held);
	life = lives_created(h->lives, target, link, ends, when, firm);
	if (rng_chance(&w->rng, 10))
		send_again(h, held, life, link, ends);
}

static void create_in(struct holders *h, struct holder *holder,
		      struct held *held)
{
	struct link_target target;
	Shortloop__Link link;
	char url[40];

	if (!held->open) {
		open_held(h, holder, held);
		return;
	}
	if (held->next == held->block.space->block_size) {
		let_go(holder, held);
		return;
	}
	shortloop__link__init(&link);
	snprintf(url, sizeof(url), "https://example.org/%" PRIu64, h->links++);
	link.url = url;
	linkstore_code(held->block.space, held->block.number, held->next,
		       &target);
	if (link_prepare(&held->block, held->next++, &link, &h->world->err))
		world_broken(h->world, "%s", h->world->err.text);
	send_link(h, held, &target, &link, holder);
}

void holders_create(struct holders *h)
{
	struct holder *holder = any_holder(h);
	struct held *held = any_held(h, holder);

	if (held && holder->drowsy && rng_chance(&h->world->rng, 30))
		/* Requests that were queued while the process was stopped are
		 * sent at once. */
		for (size_t i = holder->count; i-- > 0;)
			create_in(h, holder, &holder->held[i]);
	else if (held)
		create_in(h, holder, held);
}

/* --- handing back --------------------------------------------------------- */

/* Splits the range after `block` was handed back. */
static void split_wholes(struct holder *holder, const struct held *gone)
{
	uint64_t block = gone->block.number;

	for (size_t i = 0; i < holder->count; i++) {
		struct held *held = &holder->held[i];

		if (held->space != gone->space ||
		    strcmp(held->block.holder, gone->block.holder) != 0 ||
		    held->whole.first != gone->whole.first)
			continue;
		if (held->block.number < block)
			held->whole.last = block - 1;
		else if (held->block.number > block)
			held->whole.first = block + 1;
	}
}

/* A block that its holder closed cannot be opened again. */
static void check_closed(struct holders *h, const struct held *held)
{
	struct world *w = h->world;
	int64_t end;

	if (!rng_chance(&w->rng, 20))
		return;
	if (await_open(w->await, &held->block, &end, &w->err) == 0)
		report_broken_hold(h, held, "opened after it was closed");
}

void holders_hand_back(struct holders *h)
{
	struct world *w = h->world;
	struct holder *holder = any_holder(h);
	struct held *held = any_held(h, holder), gone;
	struct block_range part;
	int64_t before;

	if (!held || held->next)
		return;
	gone = *held;
	part = (struct block_range){gone.block.number, gone.block.number,
				    gone.block.generation};
	let_go(holder, held);
	if (await_close_own(w->await, &gone.block, &w->err)) {
		if (is_firm(h, &gone) && !h->lives->closes_forgotten)
			report_broken_hold(h, &gone, "not closed");
		return;
	}
	world_say(w, "%s:%" PRIu64 " closed by its holder, generation %u",
		  gone.block.space->name, gone.block.number,
		  gone.block.generation);
	check_closed(h, &gone);
	if (rng_chance(&w->rng, 10))
		return; /* the holder died in between */
	before = clock_real_ms();
	if (await_hand_back(w->await, gone.block.space, &gone.whole, &part,
			    &w->err)) {
		if (w->err.code != ERROR_NOTFOUND ||
		    (is_firm(h, &gone) && !gone.moved))
			report_broken_hold(h, &gone, "not handed back");
		return;
	}
	world_say(w, "%s:%" PRIu64 " handed back", gone.block.space->name,
		  gone.block.number);
	lives_handed_back(h->lives, gone.space, gone.block.number,
			  gone.block.generation + 1, before);
	split_wholes(holder, &gone);
}

/* -------------------------------------------------------------------------- */

void holders_crash(struct holders *h)
{
	struct holder *holder = any_holder(h);

	if (!holder)
		return;
	holder->count = 0;
	/* Some allocators keep a high-water file (high_water_file.h). */
	if (rng_chance(&h->world->rng, 50))
		memset(holder->high_water, 0, sizeof(holder->high_water));
}

/* Returns the time, in ms, at which the block should be given up and ended. */
static int64_t end_of_held(const struct held *held)
{
	int64_t ttl = held->block.ttl->ttl;

	return held->deadline + (ttl == DURATION_NEVER ? 0 : ttl);
}

void holders_sleep(struct holders *h)
{
	struct rng *rng = &h->world->rng;
	struct holder *holder = any_holder(h);

	if (!holder || !holder->count)
		return;
	holder->asleep_until =
		end_of_held(&holder->held[rng_below(rng, holder->count)]) +
		rng_below(rng, 600);
	holder->drowsy = true;
	holder->deep = rng_chance(rng, 40);
}

void holders_wake(struct holders *h)
{
	struct holder *holder = &h->all[rng_below(&h->world->rng, HOLDERS)];
	int64_t now = clock_boottime_ms();
	bool ended = false;

	for (size_t i = 0; i < holder->count; i++)
		ended |= now > end_of_held(&holder->held[i]) + 10;
	if (now >= holder->asleep_until || !ended || holder->deep)
		return;
	holder->asleep_until = 0;
	for (size_t i = holder->count; i-- > 0;)
		if (rng_chance(&h->world->rng, 50))
			create_in(h, holder, &holder->held[i]);
}

void holders_moved(struct holders *h, size_t space, uint64_t first,
		   uint64_t last)
{
	for (size_t i = 0; i < HOLDERS; i++)
		for (size_t j = 0; j < h->all[i].count; j++) {
			struct held *held = &h->all[i].held[j];

			if (held->space == space && held->whole.last >= first &&
			    held->whole.first <= last)
				held->moved = true;
		}
}

void holders_witness(struct holders *h)
{
	struct world *w = h->world;

	for (size_t i = 0; i < WORLD_SPACES; i++)
		if (space_raise_cursor(w->redis, world_space(w, i),
				       &h->witness[i], &w->err))
			world_broken(w, "%s", w->err.text);
}

void holders_raise_cursor(struct holders *h)
{
	struct world *w = h->world;
	const struct holder *holder = any_holder(h);

	for (size_t i = 0; holder && i < WORLD_SPACES; i++)
		if (space_raise_cursor(w->redis, world_space(w, i),
				       &holder->high_water[i], &w->err))
			world_broken(w, "%s", w->err.text);
}

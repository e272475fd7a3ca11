/*
 * test_model.c - compares a random history with a model.
 *
 * Allocators take, open, use and hand back blocks, crash, and sleep beyond
 * their holds; visitors look links up, and renew, edit and delete them, at once
 * or late; reclaimers run, two at once, and are killed between any two
 * commands; Redis is restarted, with all of its data or without the last part.
 * All code is linkstore's and the reclaimer's own, with a real Redis; lives
 * last hundredths of a second, so that a few seconds have many of them.  The
 * invariants are in lives.h (answers) and checks.h (data in Redis).
 *
 *	test_model [--seed N] [--seconds N] [--mutation NAME]
 *	test_model --mutations
 *
 * Without a seed, two histories run: one with a fixed seed and one with a new
 * seed.  A failure prints its seed.  The seed determines the decisions, but
 * time is real, so a repeated history is only nearly the same: try a few times.
 * --mutations lists the mutations that must be noticed.
 */
#include "tests/model/checks.h"

#include <inttypes.h>
#include <string.h>
#include <sys/random.h>

#include "common/clock.h"
#include "common/drop_const.h"
#include "linkstore/space/manual_hold.h"
#include "linkstore/space/space_record.h"
#include "tests/model/holders.h"
#include "tests/model/mutations.h"
#include "tests/model/nodes.h"
#include "tests/model/runs.h"
#include "tests/model/second_opinion.h"
#include "tests/model/visitors.h"

#define FIXED_SEED 20261121

struct plan {
	uint64_t seed;
	int64_t ms;
	const struct mutation *mutation;
};

struct history {
	struct world world;
	struct lives lives;
	struct holders holders;
	struct visitors visitors;
	struct runs runs;
	uint64_t restarts, forgets;
	bool remembering; /* the append-only file is saved */
	const struct plan *plan;
};

/* --- faults of Redis ------------------------------------------------------ */

static void restart_redis(struct history *h)
{
	bool kill = rng_chance(&h->world.rng, 50);

	world_say(&h->world, "Redis is %s and started again",
		  kill ? "killed" : "stopped");
	if (kill) {
		redis_server_kill(&h->world.server);
		redis_server_run(&h->world.server);
		redis_server_await(&h->world.server);
	} else {
		redis_server_restart(&h->world.server);
	}
	runs_disturb(&h->runs);
	h->restarts++;
	if (rng_chance(&h->world.rng, 70))
		holders_raise_cursor(&h->holders);
}

static void take_step(struct history *h);

/* If Redis forgot that it had forgotten before, a program with the earlier
 * state would be needed: allocators report what they have seen, or have it in a
 * file. */
static void let_notice(struct history *h)
{
	struct world *w = &h->world;

	for (size_t i = 0; i < WORLD_SPACES; i++)
		check_let_notice(w, i);
}

/* Redis goes back to the saved file, or one part of a cluster does. */
static void come_back(struct history *h, bool same_run_id)
{
	static const char *const who_says[] = {"all of it", "of spaces",
					       "of blocks"};
	struct world *w = &h->world;
	enum forgetful who = (enum forgetful)rng_below(&w->rng, 3);
	redisReply *aside = nodes_put_aside(w, who);

	world_say(w, "Redis has forgotten, %s%s", who_says[who],
		  same_run_id ? ", under the same run_id" : "");
	redis_server_forget(&w->server);
	nodes_put_back(w, who, aside);
	if (same_run_id)
		nodes_keep_run_id(w);
	if (who != SPACES_FORGET)
		lives_forget(&h->lives);
	h->lives.closes_forgotten |= who == BLOCKS_FORGET;
	h->holders.forgets++;
	runs_disturb(&h->runs);
	h->forgets++;
	if (same_run_id)
		holders_witness(&h->holders);
	else if (rng_chance(&w->rng, 70))
		holders_raise_cursor(&h->holders);
}

/* Redis forgets the commands of these few steps: less than the gap, the hold
 * and the quarantine cover.  Often no grant is among them. */
static void make_redis_forget(struct history *h)
{
	struct world *w = &h->world;
	/* A virtual machine goes back to a snapshot, or REPLICAOF loads a
	 * backup: only the high water of other programs shows the loss, exactly
	 * and at once. */
	bool same_run_id = rng_chance(&w->rng, 50);
	uint64_t gaps = rng_chance(&w->rng, 70) ? same_run_id ? 4 : 1 : 0;
	unsigned steps = rng_below(&w->rng, same_run_id ? 120 : 40);
	int64_t end;

	let_notice(h);
	end = clock_real_ms() + w->config.hold_max * 3 / 4;
	redis_server_keep(&w->server);
	lives_keep(&h->lives);
	world_say(w, "what Redis is told from here on it forgets");
	h->remembering = true;
	for (size_t i = 0; i < WORLD_SPACES; i++)
		h->holders.budget[i] = world_space(w, i)->safety_gap * gaps;
	while (steps-- && clock_real_ms() < end)
		take_step(h);
	h->remembering = false;
	for (size_t i = 0; i < WORLD_SPACES; i++)
		h->holders.budget[i] = UINT64_MAX;
	if (clock_real_ms() < end)
		come_back(h, same_run_id);
}

/* --- one step ------------------------------------------------------------- */

static void check_history(struct history *h)
{
	check_all(&h->world, &h->lives);
}

/* An operator takes blocks out of circulation, or puts some back. */
static void by_hand(struct history *h)
{
	struct world *w = &h->world;
	size_t i = rng_below(&w->rng, WORLD_SPACES);
	const struct link_space *space = world_space(w, i);
	uint64_t cursor, first;
	struct hold_request request = {.who = "model", .reason = ""};
	struct hold_result result;
	bool hold = rng_chance(&w->rng, 50);

	if (space_read_cursor(w->redis, space, &cursor, &w->err))
		world_broken(w, "%s", w->err.text);
	if (cursor - w->base[i] < 8)
		return;
	first = w->base[i] + rng_below(&w->rng, cursor - w->base[i] - 4);
	request.first = first;
	request.last = first + rng_below(&w->rng, 4);
	world_say(w, "%s:%" PRIu64 " to %" PRIu64 " %s", space->name, first,
		  request.last, hold ? "taken out" : "put back");
	holders_moved(&h->holders, i, first, request.last);
	/* A release of blocks that are not held is no failure. */
	if (hold ? space_hold(w->redis, space, &request, &result, &w->err)
		 : (space_release(w->redis, space, &request, &result,
				  &w->err) &&
		    w->err.code != ERROR_NOTFOUND))
		world_broken(w, "%s:%" PRIu64 " by hand: %s", space->name,
			     first, w->err.text);
}

static void take_rare_step(struct history *h)
{
	unsigned dice = rng_below(&h->world.rng, 100);

	if (dice < 30)
		check_history(h);
	else if (dice < 38)
		by_hand(h);
	else if (dice < 46)
		holders_crash(&h->holders);
	else if (dice < 74)
		holders_sleep(&h->holders);
	else if (dice < 80)
		usleep(rng_below(&h->world.rng, 20000));
	else if (dice < 81 && !h->remembering)
		restart_redis(h);
	else if (dice < 83 && !h->remembering)
		make_redis_forget(h);
}

/* Stopped processes go on at the worst time: in the middle of a run. */
static void go_on(struct history *h)
{
	runs_go_on(&h->runs);
	if (rng_chance(&h->world.rng, 30))
		holders_wake(&h->holders);
}

static void take_step(struct history *h)
{
	unsigned dice = rng_below(&h->world.rng, 1000);

	h->world.steps++;
	if (dice < 60)
		holders_grant(&h->holders);
	else if (dice < 160)
		holders_open(&h->holders);
	else if (dice < 380)
		holders_create(&h->holders);
	else if (dice < 420)
		holders_hand_back(&h->holders);
	else if (dice < 585)
		visitors_visit(&h->visitors);
	else if (dice < 615)
		visitors_come_late(&h->visitors);
	else if (dice < 650)
		visitors_edit(&h->visitors);
	else if (dice < 665)
		visitors_moderate(&h->visitors);
	else if (dice < 700)
		runs_begin(&h->runs, rng_below(&h->world.rng, WORLD_SPACES));
	else if (dice < 980)
		go_on(h);
	else
		take_rare_step(h);
}

/* Everything that can end ends, and is reclaimed. */
static void come_to_rest(struct history *h)
{
	runs_finish(&h->runs);
	visitors_let_go(&h->visitors);
	for (int round = 0; round < 3; round++) {
		usleep(400000);
		for (size_t i = 0; i < WORLD_SPACES; i++)
			runs_whole(&h->runs, i);
		check_history(h);
	}
	check_rest(&h->world);
	second_opinion(&h->world, &h->lives);
}

/* --- tests ---------------------------------------------------------------- */

static int open_history(void **state)
{
	const struct plan *plan = *state;
	struct history *h = calloc(1, sizeof(*h));

	assert_non_null(h);
	h->plan = plan;
	*state = h;
	world_open(&h->world, plan->seed, mutation_apply,
		   drop_const(plan->mutation));
	lives_init(&h->lives, &h->world);
	holders_init(&h->holders, &h->world, &h->lives);
	visitors_init(&h->visitors, &h->world, &h->lives);
	runs_init(&h->runs, &h->world);
	return 0;
}

static int close_history(void **state)
{
	struct history *h = *state;

	runs_free(&h->runs);
	visitors_free(&h->visitors);
	lives_free(&h->lives);
	world_close(&h->world);
	free(h);
	return 0;
}

static void print_totals(const struct history *h)
{
	const struct tally *t = &h->runs.total;

	printf("seed %" PRIu64 ": %" PRIu64 " steps, %zu links, %" PRIu64
	       " visits, %" PRIu64 " renewals, %" PRIu64 " edits, "
	       "%" PRIu64 " restores, %" PRIu64 " blocks\n"
	       "  %" PRIu64 " runs (%" PRIu64 " whole, %" PRIu64
	       " cut, %" PRIu64 " locked out, %" PRIu64 " refused), %" PRIu64
	       " commands\n"
	       "  %" PRIu64 " blocks looked at: %" PRIu64 " freed, %" PRIu64
	       " live, %" PRIu64 " lost, %" PRIu64 " of gaps, %" PRIu64
	       " skipped\n"
	       "  %" PRIu64 " restarts, %" PRIu64 " times forgotten, %" PRIu64
	       " checks of everything\n",
	       h->world.seed, h->world.steps, h->lives.count,
	       h->visitors.visits, h->visitors.renewals, h->visitors.edits,
	       h->visitors.restores, h->visitors.blocks, h->runs.begun,
	       h->runs.whole, h->runs.cut, h->runs.busy, h->runs.refused,
	       h->runs.commands, t->scanned, t->freed, t->live, t->lost, t->gap,
	       t->skipped, h->restarts, h->forgets, h->lives.checks);
}

static void no_block_is_in_two_states_and_no_live_link_is_taken(void **state)
{
	struct history *h = *state;
	int64_t end = clock_monotonic_ms() + h->plan->ms;

	while (clock_monotonic_ms() < end)
		take_step(h);
	come_to_rest(h);
	print_totals(h);
}

static int run_plan(const struct plan *plan)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_prestate_setup_teardown(
			no_block_is_in_two_states_and_no_live_link_is_taken,
			open_history, close_history, drop_const(plan)),
	};

	printf("seed %" PRIu64 "\n", plan->seed);
	fflush(stdout);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

static uint64_t new_seed(void)
{
	uint64_t seed;

	if (getrandom(&seed, sizeof(seed), 0) != sizeof(seed))
		abort();
	return seed % 1000000000;
}

static int print_usage(void)
{
	fprintf(stderr, "usage: test_model [--seed N] [--seconds N] "
			"[--mutation NAME]\n");
	return 64;
}

/* Lists the mutations that a history must notice. */
static int list_mutations(void)
{
	for (size_t i = 0; i < mutation_count; i++)
		if (!mutations[i].covered)
			printf("%s\n", mutations[i].name);
	return 0;
}

int main(int argc, char **argv)
{
	struct plan plan = {.ms = 2000};
	bool seeded = false;

	if (argc == 2 && !strcmp(argv[1], "--mutations"))
		return list_mutations();
	for (int i = 1; i + 1 < argc; i += 2) {
		if (!strcmp(argv[i], "--seed")) {
			plan.seed = strtoull(argv[i + 1], NULL, 10);
			seeded = true;
		} else if (!strcmp(argv[i], "--seconds")) {
			plan.ms = strtoll(argv[i + 1], NULL, 10) * 1000;
		} else if (!strcmp(argv[i], "--mutation")) {
			plan.mutation = mutation_named(argv[i + 1]);
			if (!plan.mutation)
				return print_usage();
		} else {
			return print_usage();
		}
	}
	if (argc % 2 == 0)
		return print_usage();
	if (seeded)
		return run_plan(&plan);
	plan.seed = FIXED_SEED;
	if (run_plan(&plan))
		return 1;
	plan.seed = new_seed();
	return run_plan(&plan);
}

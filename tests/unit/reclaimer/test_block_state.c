/* The state of a block, from its member and its marker. */
#include "tests/unit/unit.h"

#include <stdlib.h>

#include "common/clock.h"
#include "reclaimer/verify/block_findings.h"
#include "reclaimer/verify/block_state.h"

#define NOW  (1000 * CLOCK_DAY)
#define HOLD CLOCK_HOUR

struct world {
	char *classes[2];
	struct links_key_config key;
	struct links_space_config space;
	struct links_config config;
	struct linkstore *store;
	struct classify_terms terms;
};

static char *text_of(const char *text)
{
	return (char *)(uintptr_t)text;
}

static int set_up(void **state)
{
	struct world *w = calloc(1, sizeof(*w));
	struct error err;

	w->classes[0] = text_of("10d");
	w->classes[1] = text_of("never");
	w->key.key = text_of("a secret of sixteen bytes or more");
	w->space = (struct links_space_config){
		.name = text_of("s5"),
		.number = 5,
		.length = 5,
		.strategy = text_of("sequence"),
		.block_size = 40,
		.keys = {&w->key, 1},
	};
	w->config = (struct links_config){
		.ttl_classes = {w->classes, 2},
		.hold_max = HOLD,
		.grant_blocks = 1,
		.spaces = {&w->space, 1},
	};
	w->store = linkstore_new(&w->config, &err);
	if (!w->store)
		fail_msg("%s", err.text);
	w->terms = (struct classify_terms){linkstore_space(w->store, 0), NOW};
	*state = w;
	return 0;
}

static int tear_down(void **state)
{
	struct world *w = *state;

	linkstore_free(w->store);
	free(w);
	return 0;
}

static struct marker_look make_marker(uint32_t generation, bool open,
				      int64_t opened, int64_t end)
{
	return (struct marker_look){
		MARKER_SOUND,
		{.generation = generation,
		 .open = open,
		 .opened = opened,
		 .end = end},
	};
}

static const struct marker_look absent = {.state = MARKER_ABSENT};

static const struct block_notes none, in_gap = {.in_gap = true},
				      unopened = {.unopened = true};

static void expect_noted(struct world *w, enum space_set set, int64_t score,
			 struct marker_look look, struct block_notes notes,
			 enum accounted_state want, enum trouble trouble)
{
	struct found_member claim = {set, {0, 9, 2}, score};
	struct classification j =
		block_state_classify(&w->terms, &claim, &look, notes);

	if (j.state != want || j.trouble != trouble)
		fail_msg("%s (%s) rather than %s (%s)",
			 block_state_name(j.state),
			 block_finding_name(j.trouble), block_state_name(want),
			 block_finding_name(trouble));
}

static void expect_state(struct world *w, enum space_set set, int64_t score,
			 struct marker_look look, enum accounted_state want,
			 enum trouble trouble)
{
	expect_noted(w, set, score, look, none, want, trouble);
}

static void pooled_blocks_are_closed_below_their_generation(void **state)
{
	struct world *w = *state;

	expect_state(w, SET_POOL, NOW, make_marker(1, false, 1, 1),
		     STATE_POOLED, 0);
	expect_state(w, SET_POOL, NOW + 1, make_marker(1, false, 1, 1),
		     STATE_QUARANTINED, 0);
	expect_state(w, SET_POOL, NOW, make_marker(2, false, 1, 1),
		     STATE_POOLED, TROUBLE_POOL_OPEN);
	expect_state(w, SET_POOL, NOW, make_marker(1, true, 1, 1), STATE_POOLED,
		     TROUBLE_POOL_OPEN);
	expect_state(w, SET_POOL, NOW, absent, STATE_POOLED,
		     TROUBLE_POOL_UNMARKED);
}

static void issued_blocks_are_held_then_live_then_due(void **state)
{
	struct world *w = *state;
	int64_t due = NOW + CLOCK_DAY;

	expect_state(w, SET_ISSUED, due,
		     make_marker(2, true, NOW - HOLD + 1, due), STATE_HELD, 0);
	expect_state(w, SET_ISSUED, due, make_marker(2, true, NOW - HOLD, due),
		     STATE_LIVE, 0);
	/* The block is closed, or open under another generation: no codes are
	 * made. */
	expect_state(w, SET_ISSUED, due, make_marker(2, false, NOW, due),
		     STATE_LATER, 0);
	expect_state(w, SET_ISSUED, due, make_marker(1, true, 1, due),
		     STATE_LIVE, 0);
	expect_state(w, SET_ISSUED, due, make_marker(2, true, 1, NOW),
		     STATE_LIVE, 0);
	expect_state(w, SET_ISSUED, due, make_marker(2, true, 1, NOW - 1),
		     STATE_LATER, 0);
	expect_state(w, SET_ISSUED, due, make_marker(2, false, 1, due),
		     STATE_LATER, 0);
	expect_state(w, SET_ISSUED, NOW, make_marker(2, true, 1, due),
		     STATE_DUE, 0);
}

static void a_block_granted_again_is_held_before_it_is_opened(void **state)
{
	struct world *w = *state;
	int64_t granted_now = NOW + HOLD + 10 * CLOCK_DAY;

	expect_state(w, SET_ISSUED, granted_now, make_marker(1, false, 1, 1),
		     STATE_HELD, 0);
	expect_state(w, SET_ISSUED, granted_now - HOLD,
		     make_marker(1, false, 1, 1), STATE_LATER, 0);
	expect_state(w, SET_ISSUED, granted_now, absent, STATE_HELD, 0);
	expect_noted(w, SET_ISSUED, NOW + HOLD, make_marker(1, false, 1, 1),
		     unopened, STATE_HELD, 0);
	expect_noted(w, SET_ISSUED, NOW + HOLD, absent, unopened, STATE_HELD,
		     0);
}

/* No run would notice it before the time of the check. */
static void a_block_to_be_looked_at_later_has_a_mark_or_a_marker(void **state)
{
	struct world *w = *state;
	int64_t later = NOW + 10 * CLOCK_DAY;

	expect_state(w, SET_ISSUED, later, absent, STATE_LOST,
		     TROUBLE_UNMARKED);
	expect_noted(w, SET_ISSUED, later, absent, unopened, STATE_LATER, 0);
	expect_state(w, SET_ISSUED, NOW, absent, STATE_DUE, 0);
	/* The block was granted for ever, or long ago for ten days. */
	expect_state(w, SET_ISSUED, NOW + HOLD, absent, STATE_LOST,
		     TROUBLE_UNMARKED);
}

static void a_block_granted_for_ever_has_a_marker_of_its_own(void **state)
{
	struct world *w = *state;

	expect_state(w, SET_ISSUED, DURATION_NEVER, absent, STATE_LOST,
		     TROUBLE_UNMARKED);
	expect_noted(w, SET_ISSUED, DURATION_NEVER, absent, unopened,
		     STATE_LATER, TROUBLE_UNOPENED);
	expect_state(w, SET_ISSUED, DURATION_NEVER, make_marker(1, false, 1, 1),
		     STATE_LATER, TROUBLE_UNOPENED);
	expect_noted(w, SET_ISSUED, DURATION_NEVER, make_marker(1, false, 1, 1),
		     unopened, STATE_LATER, TROUBLE_UNOPENED);
	expect_noted(w, SET_ISSUED, DURATION_NEVER, absent, in_gap, STATE_GAP,
		     0);
}

static void only_of_those_the_mark_is_asked_after(void **state)
{
	struct world *w = *state;
	struct found_member issued = {SET_ISSUED, {0, 9, 2}, NOW + 1},
			    due = {SET_ISSUED, {0, 9, 2}, NOW},
			    pooled = {SET_POOL, {0, 9, 2}, NOW + 1};
	struct marker_look former = make_marker(1, false, 1, 1),
			   own = make_marker(2, false, 1, 1),
			   open = make_marker(1, true, 1, 1),
			   damaged = {.state = MARKER_DAMAGED};

	assert_true(block_state_needs_mark(&w->terms, &issued, &absent));
	assert_true(block_state_needs_mark(&w->terms, &issued, &former));
	assert_false(block_state_needs_mark(&w->terms, &issued, &own));
	assert_false(block_state_needs_mark(&w->terms, &issued, &open));
	assert_false(block_state_needs_mark(&w->terms, &issued, &damaged));
	assert_false(block_state_needs_mark(&w->terms, &due, &absent));
	assert_false(block_state_needs_mark(&w->terms, &pooled, &absent));
}

static void lost_blocks_have_no_marker(void **state)
{
	struct world *w = *state;
	struct found_member gap = {SET_ISSUED, {0, 9, 1}, NOW + 1};

	expect_state(w, SET_ISSUED, 0, absent, STATE_LOST, 0);
	expect_state(w, SET_ISSUED, 0, make_marker(2, true, 1, NOW + 1),
		     STATE_LOST, TROUBLE_LOST_MARKED);
	/* The block was granted for ever; Redis may have forgotten that it was
	 * opened. */
	expect_state(w, SET_ISSUED, 0, make_marker(1, false, 1, 1), STATE_LOST,
		     0);
	assert_int_equal(
		block_state_classify(&w->terms, &gap, &absent, in_gap).state,
		STATE_GAP);
}

/* The marker is of a former generation, or of the block's own if only the
 * space's node forgot. */
static void blocks_put_aside_are_lost_but_for_a_marker_of_theirs(void **state)
{
	static const struct {
		uint32_t generation;
		int64_t score;
		int state;
		enum trouble trouble;
	} cases[] = {
		{1, NOW + 1, STATE_GAP, TROUBLE_NONE},
		{1, 0, STATE_GAP, TROUBLE_NONE},
		{2, 0, STATE_LOST, TROUBLE_LOST_MARKED},
	};
	struct world *w = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct found_member aside = {
			SET_ISSUED, {0, 9, 2}, cases[i].score};
		struct marker_look look =
			make_marker(cases[i].generation, false, 1, 1);
		struct classification c =
			block_state_classify(&w->terms, &aside, &look, in_gap);

		assert_int_equal(c.state, cases[i].state);
		assert_int_equal(c.trouble, cases[i].trouble);
	}
}

static void an_ended_block_must_come_due(void **state)
{
	struct world *w = *state;

	expect_state(w, SET_ISSUED, DURATION_NEVER,
		     make_marker(2, true, 1, DURATION_NEVER), STATE_LIVE, 0);
	expect_state(w, SET_ISSUED, DURATION_NEVER,
		     make_marker(2, false, 1, DURATION_NEVER), STATE_LATER,
		     TROUBLE_STUCK);
}

static void damage_is_told_in_every_set(void **state)
{
	struct world *w = *state;
	struct marker_look damaged = {.state = MARKER_DAMAGED};

	expect_state(w, SET_OUT, NOW, damaged, STATE_OUT, TROUBLE_DAMAGED);
	expect_state(w, SET_POOL, NOW, damaged, STATE_POOLED, TROUBLE_DAMAGED);
	expect_state(w, SET_ISSUED, NOW, damaged, STATE_LOST, TROUBLE_DAMAGED);
	expect_state(w, SET_OUT, NOW, absent, STATE_OUT, 0);
}

static void only_the_last_generations_look_retired(void **state)
{
	struct marker_look last = make_marker(32767, false, 1, 1),
			   last_but_one = make_marker(32766, false, 1, 1),
			   before = make_marker(32765, false, 1, 1),
			   open = make_marker(32767, true, 1, 1),
			   damaged = make_marker(32767, false, 1, 1);

	(void)state;
	damaged.state = MARKER_DAMAGED;
	assert_true(block_state_is_retired(&last));
	assert_true(block_state_is_retired(&last_but_one));
	assert_false(block_state_is_retired(&damaged));
	assert_false(block_state_is_retired(&before));
	assert_false(block_state_is_retired(&open));
	assert_false(block_state_is_retired(&absent));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(pooled_blocks_are_closed_below_their_generation),
		TEST(issued_blocks_are_held_then_live_then_due),
		TEST(a_block_granted_again_is_held_before_it_is_opened),
		TEST(a_block_to_be_looked_at_later_has_a_mark_or_a_marker),
		TEST(a_block_granted_for_ever_has_a_marker_of_its_own),
		TEST(only_of_those_the_mark_is_asked_after),
		TEST(lost_blocks_have_no_marker),
		TEST(blocks_put_aside_are_lost_but_for_a_marker_of_theirs),
		TEST(an_ended_block_must_come_due),
		TEST(damage_is_told_in_every_set),
		cmocka_unit_test(only_the_last_generations_look_retired),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

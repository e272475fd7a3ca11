/* Which block size and interval are advised, and when there is no advice. */
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "linkstore/linkstore.h"
#include "reclaimer/advise/advice.h"

#define NOW 1000000

static const struct neighbours among[3] = {{2, 2}, {4, 4}, {8, 8}};
static const struct neighbours alone[3] = {{2, 1}, {4, 1}, {8, 1}};

struct world {
	char *classes[1];
	struct links_key_config key;
	struct links_space_config space;
	struct links_config config;
	struct linkstore *store;
	struct sampling sampling;
	struct space_ledger ledger;
	struct advice advice;
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
		.ttl_classes = {w->classes, 1},
		.hold_max = CLOCK_MINUTE,
		.quarantine = 2 * CLOCK_HOUR,
		.renew_every = CLOCK_HOUR,
		.grant_blocks = 1,
		.spaces = {&w->space, 1},
	};
	w->store = linkstore_new(&w->config, &err);
	if (!w->store)
		fail_msg("%s", err.text);
	w->sampling.space = linkstore_space(w->store, 0);
	w->sampling.issued = 1000;
	w->sampling.drawn = 100;
	w->sampling.live = w->sampling.ended = 50;
	w->sampling.marker_bytes = 100;
	w->sampling.link_bytes = 1000;
	w->ledger.now = 100 * CLOCK_DAY;
	estimate_begin(&w->sampling.figures, 40);
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

/* Adds blocks in which the first `live` codes have a link. */
static void add_blocks(struct world *w, int count, int live,
		       const struct neighbours groups[3])
{
	int64_t ends[40] = {0};

	for (int i = 0; i < live; i++)
		ends[i] = NOW + 1;
	for (int i = 0; i < count; i++)
		estimate_add(&w->sampling.figures, ends, NOW + 1, NOW, groups);
}

static const struct advice *compute_advice(struct world *w)
{
	advice_make(&w->sampling, &w->ledger, &w->advice);
	return &w->advice;
}

static uint32_t best_block_size(struct world *w)
{
	const struct advice *a = compute_advice(w);

	return a->sizes[a->best].size;
}

static void half_dead_blocks_ought_to_be_smaller(void **state)
{
	struct world *w = *state;

	add_blocks(w, 50, 10, alone);
	assert_int_equal(best_block_size(w), 10);
	assert_non_null(strstr(w->advice.size_reason, "blocks of 10 would"));
}

static void not_if_the_markers_weigh_too_much(void **state)
{
	struct world *w = *state;

	w->sampling.link_bytes = 20;
	add_blocks(w, 50, 10, alone);
	assert_int_equal(best_block_size(w), 40);
	assert_non_null(strstr(w->advice.size_reason, "markers weigh"));
}

static void full_blocks_among_full_ones_may_be_larger(void **state)
{
	struct world *w = *state;

	add_blocks(w, 50, 40, among);
	assert_int_equal(best_block_size(w), 320);
	w->sampling.ended = 0; /* a young space */
	assert_int_equal(best_block_size(w), 40);
}

static void full_blocks_among_dead_ones_stay(void **state)
{
	struct world *w = *state;

	add_blocks(w, 50, 40, alone);
	assert_int_equal(best_block_size(w), 40);
}

static void a_few_blocks_make_no_advice(void **state)
{
	struct world *w = *state;

	add_blocks(w, ADVICE_SAMPLE - 1, 10, alone);
	assert_int_equal(best_block_size(w), 40);
	assert_false(w->advice.enough);
	assert_non_null(strstr(w->advice.size_reason, "only 29 live blocks"));
}

static void a_gain_within_the_error_is_none(void **state)
{
	struct world *w = *state;

	/* One block of 40 has only ten links, and its other codes would come
	 * back. */
	add_blocks(w, 39, 40, alone);
	add_blocks(w, 1, 10, alone);
	assert_int_equal(best_block_size(w), 40);
}

static void the_interval_is_small_beside_quarantine_or_ttl(void **state)
{
	struct world *w = *state;
	const struct advice *a;

	add_blocks(w, 50, 40, alone);
	a = compute_advice(w);
	/* 10 d are 14,400 min: half an hour is less than a hundredth of that */
	assert_int_equal(a->intervals[a->best_interval].interval, CLOCK_HOUR);
	w->config.quarantine = 5 * CLOCK_DAY;
	a = compute_advice(w);
	assert_int_equal(a->intervals[a->best_interval].interval, CLOCK_DAY);
}

/* Half a minute is long compared with two seconds. */
static void
an_interval_that_is_long_beside_both_is_not_called_little(void **state)
{
	struct world *w = *state;
	const struct advice *a;

	w->config.quarantine =
		5 * CLOCK_MINUTE; /* exactly ten times the wait */
	add_blocks(w, 50, 40, alone);
	linkstore_free(w->store);
	w->classes[0] = text_of("3s");
	w->store = linkstore_new(&w->config, &(struct error){0});
	w->sampling.space = linkstore_space(w->store, 0);
	a = compute_advice(w);
	assert_int_equal(a->intervals[a->best_interval].interval, CLOCK_MINUTE);
	assert_non_null(strstr(a->interval_reason, "which is little beside"));
	w->config.quarantine = 2 * CLOCK_SECOND;
	a = compute_advice(w);
	assert_int_equal(a->intervals[a->best_interval].interval, CLOCK_MINUTE);
	assert_non_null(strstr(a->interval_reason, "which is not little"));
}

static void idle_codes_follow_from_what_is_freed(void **state)
{
	struct world *w = *state;
	const struct advice *a;

	w->ledger.days[3].reclaimed = 7 * 240;
	add_blocks(w, 50, 40, alone);
	a = compute_advice(w);
	assert_true(a->freed_per_day > 239 && a->freed_per_day < 241);
	/* 240 blocks of 40 codes a day make 400 codes an hour, half of which
	 * wait */
	assert_true(a->intervals[2].idle > 199 && a->intervals[2].idle < 201);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(half_dead_blocks_ought_to_be_smaller),
		TEST(not_if_the_markers_weigh_too_much),
		TEST(full_blocks_among_full_ones_may_be_larger),
		TEST(full_blocks_among_dead_ones_stay),
		TEST(a_few_blocks_make_no_advice),
		TEST(a_gain_within_the_error_is_none),
		TEST(the_interval_is_small_beside_quarantine_or_ttl),
		TEST(an_interval_that_is_long_beside_both_is_not_called_little),
		TEST(idle_codes_follow_from_what_is_freed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "tests/unit/unit.h"

#include <string.h>

#include "collector/ingest/schedule.h"
#include "common/clock.h"

static const struct collector_settings settings = {
	.batch_rows = 10,
	.batch_bytes = 1 << 20,
	.batch_age = 1000,
	.parts_per_second = 5,
};
static const int64_t day = 24 * 3600 * INT64_C(1000);

struct world {
	struct partitions all;
	struct schedule schedule;
	struct metrics *metrics;
};

static struct world *world_new(int partitions)
{
	struct world *w = calloc(1, sizeof(*w));
	struct error err = {0};

	assert_non_null(w);
	w->metrics = metrics_new();
	schedule_init(&w->schedule, &settings);
	for (int32_t i = 0; i < partitions; i++) {
		struct partition *p =
			partitions_add(&w->all, "clicks", i, w->metrics, &err);

		assert_non_null(p);
		p->state = PARTITION_READING;
		p->table = SINK_CLICKS;
	}
	schedule_share(&w->schedule, &w->all);
	return w;
}

static void world_free(struct world *w)
{
	partitions_release(&w->all);
	metrics_free(w->metrics);
	free(w);
}

static void add_rows(struct world *w, int partition, int rows, int64_t started)
{
	struct batch *b = &w->all.items[partition]->filling;
	struct error err = {0};

	for (int i = 0; i < rows; i++)
		assert_int_equal(
			batch_note_row(b, (uint64_t)i, 0, 0, true, &err), 0);
	b->started_ms = started;
}

static struct partition *pick_next_partition(struct world *w)
{
	return schedule_next(&w->schedule, &w->all, clock_monotonic_ms());
}

static void empty_and_young_blocks_wait(void **state)
{
	struct world *w = world_new(2);

	(void)state;
	assert_null(pick_next_partition(w));
	add_rows(w, 0, 1, clock_monotonic_ms() + 60000);
	assert_null(pick_next_partition(w));
	world_free(w);
}

static void an_old_block_goes(void **state)
{
	struct world *w = world_new(2);

	(void)state;
	add_rows(w, 1, 1, clock_monotonic_ms() - 1000);
	assert_ptr_equal(pick_next_partition(w), w->all.items[1]);
	world_free(w);
}

static void a_full_block_goes_and_so_does_one_that_makes_room(void **state)
{
	struct world *w = world_new(2);

	(void)state;
	add_rows(w, 0, 10, clock_monotonic_ms());
	assert_ptr_equal(pick_next_partition(w), w->all.items[0]);
	batch_reset(&w->all.items[0]->filling);
	add_rows(w, 1, 1, clock_monotonic_ms());
	w->all.items[1]->paused = true;
	assert_null(pick_next_partition(w));
	w->all.items[1]->urgent = true;
	assert_ptr_equal(pick_next_partition(w), w->all.items[1]);
	world_free(w);
}

static void the_oldest_goes_first(void **state)
{
	struct world *w = world_new(3);
	int64_t now = clock_monotonic_ms();

	(void)state;
	add_rows(w, 0, 10, now - 2000);
	add_rows(w, 1, 10, now - 3000);
	add_rows(w, 2, 10, now - 1000);
	assert_ptr_equal(pick_next_partition(w), w->all.items[1]);
	world_free(w);
}

static void the_pace_holds_full_blocks_but_not_one_begun(void **state)
{
	struct world *w = world_new(2);

	(void)state;
	add_rows(w, 0, 10, clock_monotonic_ms());
	add_rows(w, 1, 10, clock_monotonic_ms());
	insert_rate_spend(&w->schedule.rates[SINK_CLICKS], 1000,
			  clock_real_ms());
	assert_null(pick_next_partition(w));
	w->all.items[1]->filling.stage = BATCH_FROZEN;
	assert_ptr_equal(pick_next_partition(w), w->all.items[1]);
	world_free(w);
}

static void links_and_clicks_have_a_pace_each(void **state)
{
	struct world *w = world_new(2);

	(void)state;
	w->all.items[1]->table = SINK_LINKS;
	schedule_share(&w->schedule, &w->all);
	add_rows(w, 0, 10, clock_monotonic_ms());
	add_rows(w, 1, 10, clock_monotonic_ms());
	insert_rate_spend(&w->schedule.rates[SINK_CLICKS], 1000,
			  clock_real_ms());
	assert_ptr_equal(pick_next_partition(w), w->all.items[1]);
	world_free(w);
}

static void a_block_makes_a_part_a_day(void **state)
{
	struct world *w = world_new(1);
	struct partition *p = w->all.items[0];
	struct error err = {0};

	(void)state;
	assert_int_equal(schedule_parts(p), 0);
	for (int i = 0; i < 3 * 24; i++)
		assert_int_equal(batch_note_row(&p->filling, (uint64_t)i, 0,
						day / 2 + i * day / 24, true,
						&err),
				 0);
	assert_int_equal(schedule_parts(p), 4);
	p->table = SINK_LINKS; /* it has no partitions by day */
	assert_int_equal(schedule_parts(p), 1);
	world_free(w);
}

static void a_block_takes_twice_what_makes_it_full(void **state)
{
	struct world *w = world_new(1);
	struct batch *b = &w->all.items[0]->filling;

	(void)state;
	add_rows(w, 0, 10, 0);
	assert_true(schedule_is_full(&w->schedule, b));
	assert_false(schedule_is_over_limit(&w->schedule, b));
	add_rows(w, 0, 10, 0);
	assert_true(schedule_is_over_limit(&w->schedule, b));
	world_free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(empty_and_young_blocks_wait),
		cmocka_unit_test(an_old_block_goes),
		cmocka_unit_test(
			a_full_block_goes_and_so_does_one_that_makes_room),
		cmocka_unit_test(the_oldest_goes_first),
		cmocka_unit_test(the_pace_holds_full_blocks_but_not_one_begun),
		cmocka_unit_test(links_and_clicks_have_a_pace_each),
		cmocka_unit_test(a_block_makes_a_part_a_day),
		cmocka_unit_test(a_block_takes_twice_what_makes_it_full),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* The effect of other block sizes, computed from known blocks. */
#include "tests/unit/unit.h"

#include <math.h>
#include <string.h>

#include "common/clock.h"
#include "reclaimer/advise/estimate.h"

#define NOW 1000000

static const struct neighbours alone[3] = {{2, 1}, {4, 1}, {8, 1}};
static const struct neighbours among[3] = {{2, 2}, {4, 4}, {8, 8}};

static size_t size_at(const struct sample_figures *s, uint32_t size)
{
	for (size_t i = 0; i < s->size_count; i++)
		if (s->sizes[i].size == size)
			return i;
	fail_msg("no size of %u", size);
	return 0;
}

static void assert_near(double a, double b)
{
	if (fabs(a - b) > 1e-9)
		fail_msg("%f is not %f", a, b);
}

static void sizes_divide_the_block_down_to_ten(void **state)
{
	struct sample_figures s;

	(void)state;
	estimate_begin(&s, 1000);
	assert_int_equal(s.sizes[s.present].size, 1000);
	for (size_t i = 0; i < s.size_count; i++)
		assert_true(s.sizes[i].size > 1000 ||
			    1000 % s.sizes[i].size == 0);
	assert_int_equal(s.sizes[0].size, 10);
	assert_int_equal(s.sizes[s.size_count - 1].size, 8000);
}

static void odd_and_tiny_blocks_have_sizes_too(void **state)
{
	static const uint32_t blocks[] = {1, 2, 7, 10, 11, 13, 20, 997, 65536};
	struct sample_figures s;

	(void)state;
	for (size_t i = 0; i < sizeof(blocks) / sizeof(blocks[0]); i++) {
		estimate_begin(&s, blocks[i]);
		assert_true(s.size_count <= SIZES_MAX);
		assert_int_equal(s.sizes[s.present].size, blocks[i]);
		for (size_t k = 1; k < s.size_count; k++)
			assert_true(s.sizes[k].size > s.sizes[k - 1].size);
	}
}

static void dead_parts_come_back_and_mixed_ones_do_not(void **state)
{
	struct sample_figures s;
	int64_t ends[40] = {0};

	(void)state;
	for (int i = 30; i < 40; i += 2)
		ends[i] = NOW + 500; /* only in the last quarter */
	estimate_begin(&s, 40);
	estimate_add(&s, ends, NOW + 900, NOW, alone);
	assert_near(estimate_trapped(&s, size_at(&s, 10), 1).mean, 5 / 40.0);
	assert_near(estimate_trapped(&s, size_at(&s, 20), 1).mean, 15 / 40.0);
	assert_near(estimate_trapped(&s, size_at(&s, 40), 1).mean, 35 / 40.0);
	assert_near(estimate_wait(&s, size_at(&s, 10)), 500);
	assert_near(estimate_wait(&s, size_at(&s, 40)), 900);
	assert_int_equal(s.live_codes, 5);
}

static void links_that_have_ended_are_dead(void **state)
{
	struct sample_figures s;
	int64_t ends[10];

	(void)state;
	for (int i = 0; i < 10; i++)
		ends[i] = i < 4 ? DURATION_NEVER : NOW;
	estimate_begin(&s, 10);
	estimate_add(&s, ends, DURATION_NEVER, NOW, among);
	assert_near(estimate_trapped(&s, s.present, 1).mean, 0.6);
	assert_near(estimate_wait(&s, s.present), -1);
}

static void larger_blocks_trap_dead_neighbours(void **state)
{
	struct sample_figures s;
	int64_t ends[20];

	(void)state;
	for (int i = 0; i < 20; i++)
		ends[i] = NOW + 1;
	estimate_begin(&s, 20);
	estimate_add(&s, ends, NOW + 1, NOW, alone);
	assert_near(estimate_trapped(&s, size_at(&s, 40), 1).mean, 1);
	assert_near(estimate_trapped(&s, size_at(&s, 160), 1).mean, 7);
	estimate_begin(&s, 20);
	estimate_add(&s, ends, NOW + 1, NOW, among);
	assert_near(estimate_trapped(&s, size_at(&s, 160), 1).mean, 0);
}

/* For 1, 0, 1, 0 the mean is 1/2, the variance 1/3, its error sqrt(1/12). */
static void the_error_is_that_of_a_mean(void **state)
{
	struct sample_figures s;
	int64_t dead[10] = {0}, live[10];

	(void)state;
	for (int i = 0; i < 10; i++)
		live[i] = NOW + 1;
	estimate_begin(&s, 10);
	for (int i = 0; i < 4; i++)
		estimate_add(&s, i % 2 ? dead : live, NOW + 1, NOW, among);
	assert_near(estimate_trapped(&s, s.present, 1e15).mean, 0.5);
	assert_true(fabs(estimate_trapped(&s, s.present, 1e15).error -
			 1.96 * sqrt(1 / 12.0)) < 1e-6);
	assert_near(estimate_trapped(&s, s.present, 4).error, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sizes_divide_the_block_down_to_ten),
		cmocka_unit_test(odd_and_tiny_blocks_have_sizes_too),
		cmocka_unit_test(dead_parts_come_back_and_mixed_ones_do_not),
		cmocka_unit_test(links_that_have_ended_are_dead),
		cmocka_unit_test(larger_blocks_trap_dead_neighbours),
		cmocka_unit_test(the_error_is_that_of_a_mean),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

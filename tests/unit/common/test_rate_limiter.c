#include <pthread.h>

#include "common/clock.h"
#include "common/keys/rate_limiter.h"
#include "tests/unit/unit.h"

#define MS  INT64_C(1000000) /* ns */
#define NOW (5 * CLOCK_HOUR * MS)

static struct rate_limiter *limiter_of(const char *rate, uint64_t burst)
{
	struct error err = {0};
	struct rate_rule rule;
	struct rate_limiter *l;

	assert_int_equal(rate_rule_parse(rate, &rule, &err), 0);
	if (burst)
		rule.burst = burst;
	l = rate_limiter_new(&rule, &err);
	assert_non_null(l);
	return l;
}

/* Returns how many of `n` requests are allowed at `now`. */
static unsigned count_allowed(struct rate_limiter *l, unsigned n, int64_t now)
{
	unsigned count = 0;
	int64_t wait;

	while (n--)
		count += rate_limiter_take(l, 1, now, &wait);
	return count;
}

static void a_full_bucket_gives_its_burst(void **state)
{
	struct rate_limiter *l = limiter_of("10/s", 25);

	(void)state;
	assert_int_equal(count_allowed(l, 100, NOW), 25);
	rate_limiter_free(l);
}

static void an_empty_bucket_fills_at_its_rate(void **state)
{
	struct rate_limiter *l = limiter_of("10/s", 25);

	(void)state;
	count_allowed(l, 100, NOW);
	assert_int_equal(count_allowed(l, 100, NOW + 500 * MS), 5);
	rate_limiter_free(l);
}

static void a_bucket_never_holds_more_than_its_burst(void **state)
{
	struct rate_limiter *l = limiter_of("10/s", 25);

	(void)state;
	count_allowed(l, 100, NOW);
	assert_int_equal(count_allowed(l, 100, NOW + CLOCK_HOUR * MS), 25);
	rate_limiter_free(l);
}

static void the_wait_is_long_enough_and_not_longer(void **state)
{
	struct rate_limiter *l = limiter_of("3/s", 1);
	int64_t wait = 0, other;

	(void)state;
	count_allowed(l, 1, NOW);
	assert_false(rate_limiter_take(l, 1, NOW, &wait));
	assert_false(rate_limiter_take(l, 1, NOW + (wait - 1) * MS, &other));
	assert_true(rate_limiter_take(l, 1, NOW + wait * MS, &other));
	rate_limiter_free(l);
}

static void what_is_refused_is_not_taken(void **state)
{
	struct rate_limiter *l = limiter_of("10/s", 5);
	int64_t wait;

	(void)state;
	count_allowed(l, 3, NOW);
	assert_false(rate_limiter_take(l, 3, NOW, &wait));
	assert_int_equal(count_allowed(l, 100, NOW), 2);
	rate_limiter_free(l);
}

static void more_than_the_bucket_holds_takes_a_full_one(void **state)
{
	struct rate_limiter *l = limiter_of("10/s", 5);
	int64_t wait;

	(void)state;
	assert_true(rate_limiter_take(l, 1000, NOW, &wait));
	assert_int_equal(count_allowed(l, 100, NOW), 0);
	rate_limiter_free(l);
}

static void no_limiter_is_no_limit(void **state)
{
	(void)state;
	assert_int_equal(count_allowed(NULL, 1000, NOW), 1000);
}

static void a_new_rule_keeps_what_was_taken(void **state)
{
	struct rate_limiter *l = limiter_of("10/s", 10);
	const struct rate_rule wider = {20, CLOCK_SECOND, 20};

	(void)state;
	count_allowed(l, 10, NOW);
	rate_limiter_set(l, &wider);
	assert_int_equal(count_allowed(l, 100, NOW), 0);
	assert_int_equal(count_allowed(l, 100, NOW + CLOCK_HOUR * MS), 20);
	rate_limiter_free(l);
}

static void a_look_tells_what_is_left(void **state)
{
	struct rate_limiter *l = limiter_of("10/s", 25);
	struct rate_state look;

	(void)state;
	count_allowed(l, 5, NOW);
	rate_limiter_look(l, NOW, &look);
	assert_true(look.limited);
	assert_int_equal(look.burst, 25);
	assert_int_equal(look.left, 20);
	assert_int_equal(look.window_ms, 2500);
	assert_int_equal(look.full_ms, 500);
	rate_limiter_free(l);
}

/* --- threads -------------------------------------------------------------- */

enum {
	THREADS = 4,
	EACH = 20000
};

static void *take_many(void *l)
{
	return (void *)(uintptr_t)count_allowed(l, EACH, NOW);
}

static void threads_together_get_one_burst(void **state)
{
	struct rate_limiter *l = limiter_of("1000/h", THREADS * EACH / 2);
	pthread_t threads[THREADS];
	uintptr_t all = 0;
	void *one;

	(void)state;
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(
			pthread_create(&threads[i], NULL, take_many, l), 0);
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], &one);
		all += (uintptr_t)one;
	}
	assert_int_equal(all, THREADS * EACH / 2);
	rate_limiter_free(l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_full_bucket_gives_its_burst),
		cmocka_unit_test(an_empty_bucket_fills_at_its_rate),
		cmocka_unit_test(a_bucket_never_holds_more_than_its_burst),
		cmocka_unit_test(the_wait_is_long_enough_and_not_longer),
		cmocka_unit_test(what_is_refused_is_not_taken),
		cmocka_unit_test(more_than_the_bucket_holds_takes_a_full_one),
		cmocka_unit_test(no_limiter_is_no_limit),
		cmocka_unit_test(a_new_rule_keeps_what_was_taken),
		cmocka_unit_test(a_look_tells_what_is_left),
		cmocka_unit_test(threads_together_get_one_burst),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

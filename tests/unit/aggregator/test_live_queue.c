#include "tests/unit/aggregator/live_click.h"

#include "aggregator/api/live/live_queue.h"

static void put_event(struct live_queue *q, unsigned number, bool loses)
{
	struct live_event *e = live_click_make(number, "");

	assert_int_equal(live_queue_put(q, e), loses);
	live_event_release(e);
}

static void assert_takes(struct live_queue *q, unsigned number)
{
	struct live_event *e = live_queue_take(q);

	assert_non_null(e);
	assert_int_equal(e->link_id, number);
	live_event_release(e);
}

static void the_oldest_are_lost_and_counted(void **state)
{
	struct live_queue q;

	(void)state;
	assert_true(live_queue_init(&q, 3));
	assert_null(live_queue_take(&q));
	for (unsigned i = 1; i <= 3; i++)
		put_event(&q, i, false);
	assert_takes(&q, 1);
	put_event(&q, 4, false);
	put_event(&q, 5, true);
	put_event(&q, 6, true);
	assert_int_equal(live_queue_take_lost(&q), 2);
	assert_int_equal(live_queue_take_lost(&q), 0);
	for (unsigned i = 4; i <= 6; i++)
		assert_takes(&q, i);
	assert_null(live_queue_take(&q));
	live_queue_release(&q);
}

static void what_waits_goes_with_the_queue(void **state)
{
	struct live_queue q = {0};

	(void)state;
	live_queue_release(&q);
	assert_true(live_queue_init(&q, 2));
	put_event(&q, 1, false);
	put_event(&q, 2, false);
	put_event(&q, 3, true);
	live_queue_release(&q);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_oldest_are_lost_and_counted),
		cmocka_unit_test(what_waits_goes_with_the_queue),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

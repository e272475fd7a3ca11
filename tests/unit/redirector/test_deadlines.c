/* Deadlines of the same duration, on a loop. */
#include "tests/unit/unit.h"

#include "redirector/lookup/deadlines.h"

#define MS 20

struct world {
	struct loop *loop;
	struct deadlines all;
	struct item {
		struct world *w;
		struct deadline deadline;
		int number;
	} items[4];
	int passed[8], count, until;
	bool again; /* the first adds itself again */
};

static void on_passed(void *owner)
{
	struct item *i = owner;
	struct world *w = i->w;

	assert_int_equal(i->deadline.at, 0);
	w->passed[w->count++] = i->number;
	if (w->again && i->number == 0) {
		w->again = false;
		deadlines_add(&w->all, &i->deadline, i);
	}
	if (w->count == w->until)
		loop_stop(w->loop);
}

static int make_world(void **state)
{
	struct world *w = calloc(1, sizeof(*w));
	struct error err;

	w->loop = loop_new(&err);
	assert_int_equal(deadlines_init(&w->all, w->loop, MS, on_passed, &err),
			 0);
	for (int i = 0; i < 4; i++) {
		w->items[i].w = w;
		w->items[i].number = i;
		deadlines_add(&w->all, &w->items[i].deadline, &w->items[i]);
	}
	*state = w;
	return 0;
}

static int drop_world(void **state)
{
	struct world *w = *state;

	deadlines_release(&w->all);
	loop_free(w->loop);
	free(w);
	return 0;
}

static void run_until(struct world *w, int count)
{
	struct error err;
	int64_t since = loop_now_ms(w->loop);

	w->until = count;
	assert_int_equal(loop_run(w->loop, &err), 0);
	assert_true(loop_now_ms(w->loop) - since >= MS);
}

static void they_pass_in_their_order(void **state)
{
	struct world *w = *state;

	run_until(w, 4);
	for (int i = 0; i < 4; i++)
		assert_int_equal(w->passed[i], i);
	assert_null(w->all.first);
}

static void those_that_are_removed_do_not_pass(void **state)
{
	struct world *w = *state;

	deadlines_remove(&w->all, &w->items[0].deadline);
	deadlines_remove(&w->all, &w->items[2].deadline);
	deadlines_remove(&w->all, &w->items[2].deadline); /* removes nothing */
	run_until(w, 2);
	assert_int_equal(w->passed[0], 1);
	assert_int_equal(w->passed[1], 3);
}

static void one_may_be_added_when_it_has_passed(void **state)
{
	struct world *w = *state;

	w->again = true;
	run_until(w, 5);
	assert_int_equal(w->passed[4], 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, make_world, drop_world)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(they_pass_in_their_order),
		TEST(those_that_are_removed_do_not_pass),
		TEST(one_may_be_added_when_it_has_passed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

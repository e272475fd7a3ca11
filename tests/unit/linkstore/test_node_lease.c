/* A node number has one holder, and each ms is used once. */
#include "tests/unit/linkstore/async_fixture.h"

#include "linkstore/node_lease.h"

#define NODE 7

struct heard {
	struct async_fixture *a;
	int64_t from, until;
	enum error_code code;
	char text[sizeof(((struct error *)NULL)->text)];
};

static void on_lease(void *arg, int64_t from, int64_t until,
		     const struct error *err)
{
	struct heard *h = arg;

	h->from = from;
	h->until = until;
	h->code = err ? err->code : ERROR_NONE;
	if (err)
		strcpy(h->text, err->text);
	loop_stop(h->a->loop);
}

static struct heard keep_lease(struct async_fixture *a, const char *holder,
			       int64_t lease)
{
	struct heard h = {.a = a};

	assert_int_equal(node_lease_keep_async(a->redis, a->f->store, NODE,
					       holder, lease, on_lease, &h,
					       &a->err),
			 0);
	run_loop(a);
	return h;
}

static void release_lease(struct async_fixture *a, const char *holder,
			  int64_t until)
{
	assert_int_equal(node_lease_release_async(a->redis, a->f->store, NODE,
						  holder, until, &a->err),
			 0);
}

static void a_free_node_is_leased_from_now(void **state)
{
	struct heard h = keep_lease(*state, "one", 10000);

	assert_int_equal(h.code, ERROR_NONE);
	assert_int_equal(h.from, 0);
	assert_in_range(h.until - clock_real_ms(), 9000, 10001);
}

static void a_second_holder_is_told_who_has_it(void **state)
{
	struct heard h;

	keep_lease(*state, "one", 10000);
	h = keep_lease(*state, "two", 10000);
	assert_int_equal(h.code, ERROR_BUSY);
	assert_non_null(strstr(h.text, "one"));
}

static void the_holder_keeps_it_and_its_end_only_rises(void **state)
{
	struct heard first = keep_lease(*state, "one", 10000), again;

	again = keep_lease(*state, "one", 100);
	assert_int_equal(again.code, ERROR_NONE);
	assert_int_equal(again.until, first.until);
}

static void the_next_holder_begins_where_the_last_lease_ended(void **state)
{
	struct heard first = keep_lease(*state, "one", 100), next;

	sleep_ms(150);
	next = keep_lease(*state, "two", 10000);
	assert_int_equal(next.code, ERROR_NONE);
	assert_int_equal(next.from, first.until);
}

static void who_gives_up_says_until_when_it_made_ids(void **state)
{
	struct async_fixture *a = *state;
	int64_t end = clock_real_ms() + 50;
	struct heard next;

	keep_lease(a, "one", 10000);
	release_lease(a, "one", end);
	next = keep_lease(a, "two", 10000);
	assert_int_equal(next.code, ERROR_NONE);
	assert_int_equal(next.from, end);
}

/* The response may have been lost, so the call is repeated. */
static void the_holder_is_told_again_where_it_begins(void **state)
{
	struct heard first = keep_lease(*state, "one", 100), next;

	sleep_ms(150);
	keep_lease(*state, "two", 10000);
	next = keep_lease(*state, "two", 10000);
	assert_int_equal(next.code, ERROR_NONE);
	assert_int_equal(next.from, first.until);
}

static void what_was_given_up_is_not_below_where_it_began(void **state)
{
	struct async_fixture *a = *state;
	int64_t end = clock_real_ms() + 5000;

	keep_lease(a, "one", 10000);
	release_lease(a, "one", end);
	keep_lease(a, "two", 10000);
	release_lease(a, "two", 1); /* it made no ids */
	assert_int_equal(keep_lease(a, "three", 10000).from, end);
}

/* Ids were made for a lease whose last part Redis has forgotten. */
static void what_was_made_counts_where_redis_knows_less(void **state)
{
	struct async_fixture *a = *state;
	int64_t end = clock_real_ms() + 5000;

	keep_lease(a, "one", 100);
	release_lease(a, "one", end);
	assert_int_equal(keep_lease(a, "two", 10000).from, end);
}

static void nobody_gives_up_anothers_lease(void **state)
{
	struct async_fixture *a = *state;

	keep_lease(a, "one", 10000);
	release_lease(a, "two", 1);
	assert_int_equal(keep_lease(a, "two", 10000).code, ERROR_BUSY);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ASYNC(a_free_node_is_leased_from_now),
		ASYNC(a_second_holder_is_told_who_has_it),
		ASYNC(the_holder_keeps_it_and_its_end_only_rises),
		ASYNC(the_next_holder_begins_where_the_last_lease_ended),
		ASYNC(who_gives_up_says_until_when_it_made_ids),
		ASYNC(the_holder_is_told_again_where_it_begins),
		ASYNC(what_was_given_up_is_not_below_where_it_began),
		ASYNC(what_was_made_counts_where_redis_knows_less),
		ASYNC(nobody_gives_up_anothers_lease),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

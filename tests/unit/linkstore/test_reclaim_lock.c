/* Promise 8: one run at a time. */
#include <unistd.h>

#include "tests/unit/linkstore/fixture.h"

static struct reclaim_lock take_lock(struct fixture *f)
{
	struct reclaim_lock lock;

	must(f, reclaim_lock_take(f->server.redis, f->space, 10000, &lock,
				  &f->err));
	return lock;
}

static void one_reclaimer_at_a_time(void **state)
{
	struct fixture *f = *state;
	struct reclaim_lock lock = take_lock(f), second;

	must_fail(f,
		  reclaim_lock_take(f->server.redis, f->space, 1000, &second,
				    &f->err),
		  ERROR_BUSY);
	must(f, reclaim_lock_release(f->server.redis, &lock, &f->err));
	take_lock(f);
}

static void who_comes_second_is_told_who_was_first(void **state)
{
	struct fixture *f = *state;
	struct reclaim_lock second;
	char pid[32], host[65] = "";

	take_lock(f);
	must_fail(f,
		  reclaim_lock_take(f->server.redis, f->space, 1000, &second,
				    &f->err),
		  ERROR_BUSY);
	snprintf(pid, sizeof(pid), "process %d on", (int)getpid());
	gethostname(host, sizeof(host) - 1);
	assert_non_null(strstr(f->err.text, pid));
	assert_non_null(strstr(f->err.text, host));
	assert_true(f->err.retriable);
}

static void a_lock_of_an_older_version_keeps_out_all_the_same(void **state)
{
	struct fixture *f = *state;
	struct reclaim_lock second;

	redis_server_number(&f->server, "SET lock:{s5} 0123456789abcdef");
	must_fail(f,
		  reclaim_lock_take(f->server.redis, f->space, 1000, &second,
				    &f->err),
		  ERROR_BUSY);
}

static void a_lock_that_ran_out_is_neither_kept_nor_taken_down(void **state)
{
	struct fixture *f = *state;
	struct reclaim_lock first = take_lock(f);

	redis_server_number(&f->server, "DEL lock:{s5}");
	take_lock(f);
	must_fail(f, reclaim_lock_keep(f->server.redis, &first, &f->err),
		  ERROR_NOT_OWNER);
	must(f, reclaim_lock_release(f->server.redis, &first, &f->err));
	assert_int_equal(redis_server_number(&f->server, "EXISTS lock:{s5}"),
			 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(one_reclaimer_at_a_time),
		TEST(who_comes_second_is_told_who_was_first),
		TEST(a_lock_of_an_older_version_keeps_out_all_the_same),
		TEST(a_lock_that_ran_out_is_neither_kept_nor_taken_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

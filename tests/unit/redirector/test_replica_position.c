/* Up to which time a replica has all writes, from the INFO of both servers. */
#include "tests/unit/unit.h"

#include <string.h>

#include "redirector/lookup/replica_position.h"

#define ONE   "1111111111111111111111111111111111111111"
#define OTHER "2222222222222222222222222222222222222222"

static const char *make_info_text(const char *history, const char *name,
				  long long offset)
{
	static char text[512];

	snprintf(text, sizeof(text),
		 "# Replication\r\nrole:x\r\nmaster_link_status:up\r\n"
		 "master_replid:%s\r\n"
		 "master_replid2:%s\r\nsecond_repl_offset:7\r\n"
		 "not_%s:999999\r\n%s:%lld\r\n",
		 history, OTHER, name, name, offset);
	return text;
}

static bool take_master_info(struct replica_position *p, const char *history,
			     long long offset, int64_t asked)
{
	return replica_position_of_master(
		p, make_info_text(history, "master_repl_offset", offset),
		asked);
}

static bool take_replica_info(struct replica_position *p, const char *history,
			      long long offset)
{
	return replica_position_of_replica(
		p, make_info_text(history, "slave_repl_offset", offset));
}

/* A replica whose own backlog has room for 100 bytes. */
static bool replica_with(struct replica_position *p, const char *link,
			 long long offset, long long first, long long length)
{
	char text[512];

	snprintf(text, sizeof(text),
		 "master_link_status:%s\r\nmaster_replid:" ONE "\r\n"
		 "slave_repl_offset:%lld\r\nrepl_backlog_size:100\r\n"
		 "repl_backlog_first_byte_offset:%lld\r\n"
		 "repl_backlog_histlen:%lld\r\n",
		 link, offset, first, length);
	return replica_position_of_replica(p, text);
}

static int set_up_position(void **state)
{
	static struct replica_position p;

	replica_position_reset(&p);
	*state = &p;
	return 0;
}

static void at_first_nothing_is_known(void **state)
{
	struct replica_position *p = *state;

	assert_true(p->as_of == REPLICA_NEVER);
	assert_false(take_replica_info(p, ONE, 100));
	assert_true(p->as_of == REPLICA_NEVER);
}

static void one_that_is_as_far_has_all_from_before_the_question(void **state)
{
	struct replica_position *p = *state;

	assert_true(take_master_info(p, ONE, 100, 5000));
	assert_true(take_replica_info(p, ONE, 100));
	assert_int_equal(p->as_of, 5000);
	assert_true(take_master_info(p, ONE, 200, 6000));
	assert_int_equal(p->as_of, 5000);
	assert_true(take_replica_info(p, ONE, 201));
	assert_int_equal(p->as_of, 6000);
}

static void one_that_is_behind_has_what_it_had(void **state)
{
	struct replica_position *p = *state;

	take_master_info(p, ONE, 100, 5000);
	take_replica_info(p, ONE, 100);
	take_master_info(p, ONE, 200, 6000);
	assert_false(take_replica_info(p, ONE, 199));
	assert_int_equal(p->as_of, 5000);
	assert_false(p->reached);
	assert_true(take_replica_info(p, ONE, 200));
	assert_int_equal(p->as_of, 6000);
}

static void a_master_with_another_history_makes_it_unknown(void **state)
{
	struct replica_position *p = *state;

	take_master_info(p, ONE, 100, 5000);
	take_replica_info(p, ONE, 100);
	assert_true(take_master_info(p, OTHER, 50, 6000));
	assert_true(p->as_of == REPLICA_NEVER);
	assert_true(
		take_replica_info(p, ONE, 100)); /* has not followed it yet */
	assert_true(p->as_of == REPLICA_NEVER);
	assert_true(take_master_info(p, OTHER, 50, 7000));
	assert_true(take_replica_info(p, OTHER, 50));
	assert_int_equal(p->as_of, 7000);
}

static void one_that_follows_a_new_master_has_that_one_asked(void **state)
{
	struct replica_position *p = *state;

	take_master_info(p, ONE, 100, 5000);
	assert_false(take_replica_info(p, ONE, 90));
	/* That master is gone and will never be reached again. */
	assert_true(take_replica_info(p, OTHER, 95));
	assert_true(p->reached);
	assert_true(take_master_info(p, OTHER, 95, 6000));
	assert_true(take_replica_info(p, OTHER, 95));
	assert_int_equal(p->as_of, 6000);
}

static void a_replica_of_another_is_found_out(void **state)
{
	struct replica_position *p = *state;

	take_master_info(p, ONE, 100, 5000);
	take_replica_info(p, ONE, 100);
	take_master_info(p, ONE, 100, 6000);
	assert_true(take_replica_info(p, OTHER, 1000));
	assert_true(p->as_of == REPLICA_NEVER);
}

static void one_whose_link_is_down_is_not_believed(void **state)
{
	struct replica_position *p = *state;

	take_master_info(p, ONE, 100, 5000);
	assert_false(replica_with(p, "down", 100, 1, 50));
	assert_true(p->as_of == REPLICA_NEVER);
	assert_true(replica_with(p, "up", 100, 1, 50));
	assert_int_equal(p->as_of, 5000);
}

/* --- a master that goes back -----------------------------------------------
 */

static void one_that_is_ahead_counts_once_the_master_is_past_it(void **state)
{
	struct replica_position *p = *state;

	take_master_info(p, ONE, 950, 5000);
	assert_true(take_replica_info(p, ONE, 1000));
	assert_true(p->as_of == REPLICA_NEVER);
	take_master_info(p, ONE, 1000, 6000);
	assert_true(take_replica_info(p, ONE, 1050));
	assert_int_equal(p->as_of, 6000);
}

static void one_that_stays_ahead_never_counts(void **state)
{
	struct replica_position *p = *state;

	for (int i = 0; i < 10; i++) {
		take_master_info(p, ONE, 950 + i, 5000 + i);
		assert_true(take_replica_info(p, ONE, 1000));
		assert_true(p->as_of == REPLICA_NEVER);
	}
}

/* Both were at 1000; the master went back to 900, and then got new writes. */
static void go_back(struct replica_position *p)
{
	take_master_info(p, ONE, 1000, 5000);
	assert_true(replica_with(p, "up", 1000, 991, 10));
	assert_int_equal(p->as_of, 5000);
	assert_true(take_master_info(p, ONE, 950, 6000));
	assert_true(p->as_of == REPLICA_NEVER);
}

static void a_master_that_goes_back_makes_it_unknown(void **state)
{
	struct replica_position *p = *state;

	go_back(p);
	assert_true(replica_with(p, "up", 1000, 991, 10));
	assert_true(p->as_of == REPLICA_NEVER);
}

static void also_once_the_master_is_past_where_it_was(void **state)
{
	struct replica_position *p = *state;

	go_back(p);
	assert_true(replica_with(p, "down", 1000, 991, 10));
	/* Redis lets the replica continue from 1001 with its old data. */
	for (int i = 1; i < 40; i++) {
		take_master_info(p, ONE, 1000 + 10 * i, 6000 + i);
		/* The backlog is full in the end, and then moves on. */
		replica_with(p, "up", 1000 + 10 * i,
			     i < 10 ? 991 : 991 + 10 * i - 90,
			     i < 10 ? 10 + 10 * i : 100);
		assert_true(p->as_of == REPLICA_NEVER);
	}
}

static void until_it_has_fallen_back_as_well(void **state)
{
	struct replica_position *p = *state;

	go_back(p);
	assert_true(take_replica_info(p, ONE, 1000));
	take_master_info(p, ONE, 960, 7000);
	take_replica_info(p, ONE, 970);
	assert_true(p->as_of == REPLICA_NEVER);
	take_master_info(p, ONE, 980, 8000);
	assert_true(take_replica_info(p, ONE, 990));
	assert_int_equal(p->as_of, 8000);
}

static void or_has_been_sent_all_anew_further_on(void **state)
{
	struct replica_position *p = *state;

	go_back(p);
	assert_true(replica_with(p, "down", 1000, 991, 10));
	take_master_info(p, ONE, 2000, 7000);
	/* The replica went back to 1500 meanwhile, and has caught up. */
	assert_true(replica_with(p, "up", 2000, 1501, 99));
	assert_int_equal(p->as_of, 7000);
}

static void or_has_followed_another(void **state)
{
	struct replica_position *p = *state;

	go_back(p);
	assert_true(take_replica_info(p, OTHER, 1000));
	take_master_info(p, ONE, 1100, 7000);
	assert_true(take_replica_info(p, ONE, 1100));
	assert_int_equal(p->as_of, 7000);
}

static void one_that_fell_back_first_need_not_do_so_again(void **state)
{
	struct replica_position *p = *state;

	take_master_info(p, ONE, 1000, 5000);
	take_replica_info(p, ONE, 1000);
	take_master_info(p, ONE, 1010, 6000);
	assert_false(take_replica_info(p, ONE, 930));
	p->reached = true; /* no answer at that time */
	take_master_info(p, ONE, 940, 7000);
	assert_true(take_replica_info(p, ONE, 945));
	assert_int_equal(p->as_of, 7000);
}

static void what_says_nothing_of_it_changes_nothing(void **state)
{
	struct replica_position *p = *state;

	assert_false(replica_position_of_master(p, "", 1));
	assert_false(replica_position_of_master(
		p, "master_replid:" ONE "\r\nmaster_repl_offset:x\r\n", 1));
	assert_false(replica_position_of_master(
		p, "master_replid:?\r\nmaster_repl_offset:5\r\n", 1));
	take_master_info(p, ONE, 100, 5000);
	assert_false(replica_position_of_replica(p, "slave_repl_offset:100"));
	assert_false(take_replica_info(p, ONE, -1));
	assert_true(p->as_of == REPLICA_NEVER);
	assert_true(take_replica_info(p, ONE, 100));
}

#define TEST(f) cmocka_unit_test_setup(f, set_up_position)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(at_first_nothing_is_known),
		TEST(one_that_is_as_far_has_all_from_before_the_question),
		TEST(one_that_is_behind_has_what_it_had),
		TEST(a_master_with_another_history_makes_it_unknown),
		TEST(one_that_follows_a_new_master_has_that_one_asked),
		TEST(a_replica_of_another_is_found_out),
		TEST(one_whose_link_is_down_is_not_believed),
		TEST(one_that_is_ahead_counts_once_the_master_is_past_it),
		TEST(one_that_stays_ahead_never_counts),
		TEST(a_master_that_goes_back_makes_it_unknown),
		TEST(also_once_the_master_is_past_where_it_was),
		TEST(until_it_has_fallen_back_as_well),
		TEST(or_has_been_sent_all_anew_further_on),
		TEST(or_has_followed_another),
		TEST(one_that_fell_back_first_need_not_do_so_again),
		TEST(what_says_nothing_of_it_changes_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

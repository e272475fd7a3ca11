/* Up to when a replica has what was written, by what INFO says of both. */
#include "tests/unit/unit.h"

#include <string.h>

#include "redirector/replica_position.h"

#define ONE   "1111111111111111111111111111111111111111"
#define OTHER "2222222222222222222222222222222222222222"

static const char *info(const char *history, const char *name, long long offset)
{
	static char text[512];

	snprintf(text, sizeof(text),
		 "# Replication\r\nrole:x\r\nmaster_replid:%s\r\n"
		 "master_replid2:%s\r\nsecond_repl_offset:7\r\n"
		 "not_%s:999999\r\n%s:%lld\r\n",
		 history, OTHER, name, name, offset);
	return text;
}

static bool master(struct replica_position *p, const char *history,
		   long long offset, int64_t asked)
{
	return replica_position_of_master(
		p, info(history, "master_repl_offset", offset), asked);
}

static bool replica(struct replica_position *p, const char *history,
		    long long offset)
{
	return replica_position_of_replica(
		p, info(history, "slave_repl_offset", offset));
}

static int setup(void **state)
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
	assert_false(replica(p, ONE, 100));
	assert_true(p->as_of == REPLICA_NEVER);
}

static void one_that_is_as_far_has_all_from_before_the_question(void **state)
{
	struct replica_position *p = *state;

	assert_true(master(p, ONE, 100, 5000));
	assert_true(replica(p, ONE, 100));
	assert_int_equal(p->as_of, 5000);
	assert_true(master(p, ONE, 200, 6000));
	assert_int_equal(p->as_of, 5000);
	assert_true(replica(p, ONE, 201));
	assert_int_equal(p->as_of, 6000);
}

static void one_that_is_behind_has_what_it_had(void **state)
{
	struct replica_position *p = *state;

	master(p, ONE, 100, 5000);
	replica(p, ONE, 100);
	master(p, ONE, 200, 6000);
	assert_false(replica(p, ONE, 199));
	assert_int_equal(p->as_of, 5000);
	assert_false(p->reached);
	assert_true(replica(p, ONE, 200));
	assert_int_equal(p->as_of, 6000);
}

static void a_master_with_another_history_makes_it_unknown(void **state)
{
	struct replica_position *p = *state;

	master(p, ONE, 100, 5000);
	replica(p, ONE, 100);
	assert_true(master(p, OTHER, 50, 6000));
	assert_true(p->as_of == REPLICA_NEVER);
	assert_true(replica(p, ONE, 100)); /* has not followed it yet */
	assert_true(p->as_of == REPLICA_NEVER);
	assert_true(master(p, OTHER, 50, 7000));
	assert_true(replica(p, OTHER, 50));
	assert_int_equal(p->as_of, 7000);
}

static void one_that_follows_a_new_master_has_that_one_asked(void **state)
{
	struct replica_position *p = *state;

	master(p, ONE, 100, 5000);
	assert_false(replica(p, ONE, 90));
	/* The master is gone, and will never be reached. */
	assert_true(replica(p, OTHER, 95));
	assert_true(p->reached);
	assert_true(master(p, OTHER, 95, 6000));
	assert_true(replica(p, OTHER, 95));
	assert_int_equal(p->as_of, 6000);
}

static void a_replica_of_another_is_found_out(void **state)
{
	struct replica_position *p = *state;

	master(p, ONE, 100, 5000);
	replica(p, ONE, 100);
	master(p, ONE, 100, 6000);
	assert_true(replica(p, OTHER, 1000));
	assert_true(p->as_of == REPLICA_NEVER);
}

static void what_says_nothing_of_it_changes_nothing(void **state)
{
	struct replica_position *p = *state;

	assert_false(replica_position_of_master(p, "", 1));
	assert_false(replica_position_of_master(
		p, "master_replid:" ONE "\r\nmaster_repl_offset:x\r\n", 1));
	assert_false(replica_position_of_master(
		p, "master_replid:?\r\nmaster_repl_offset:5\r\n", 1));
	master(p, ONE, 100, 5000);
	assert_false(replica_position_of_replica(p, "slave_repl_offset:100"));
	assert_false(replica(p, ONE, -1));
	assert_true(p->as_of == REPLICA_NEVER);
	assert_true(replica(p, ONE, 100));
}

#define TEST(f) cmocka_unit_test_setup(f, setup)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(at_first_nothing_is_known),
		TEST(one_that_is_as_far_has_all_from_before_the_question),
		TEST(one_that_is_behind_has_what_it_had),
		TEST(a_master_with_another_history_makes_it_unknown),
		TEST(one_that_follows_a_new_master_has_that_one_asked),
		TEST(a_replica_of_another_is_found_out),
		TEST(what_says_nothing_of_it_changes_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

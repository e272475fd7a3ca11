/* The scripts of an account: both sides of every bound. */
#include "tests/unit/linkstore/script_bench.h"

/* --- plans of idempotent requests ----------------------------------------- */

static void a_plan_is_written_over_the_very_one_that_was_read(void **state)
{
	struct script_bench *b = script_bench_reset(state);

	script_replies(b, SCRIPT_IDEM_READ, "r", "", "(@0 '')");
	script_replies(b, SCRIPT_IDEM_WRITE, "r", "x p 50 rest 1000",
		       "(@0 '' 0)");
	script_replies(b, SCRIPT_IDEM_WRITE, "r", "'' p 50 rest 1000",
		       "(@0 p @50 rest 1)");
	keys_are(b, "r(@1000): p @50 rest");
	script_replies(b, SCRIPT_IDEM_READ, "r", "", "(@0 p @50 rest)");
	script_replies(b, SCRIPT_IDEM_WRITE, "r", "'' q 50 rest 1000",
		       "(@0 p @50 rest 0)");
	script_replies(b, SCRIPT_IDEM_WRITE, "r", "'p @50 rest' q 60 more 2000",
		       "(@0 q @60 more 1)");
	keys_are(b, "r(@2000): q @60 more");
	b->now += 999;
	script_replies(b, SCRIPT_IDEM_READ, "r", "", "(@0 q @-939 more)");
}

static void a_plan_ends_as_done_or_goes(void **state)
{
	struct script_bench *b = script_bench_reset(state);

	script_replies(b, SCRIPT_IDEM_END, "r", "'p 1 rest' drop", "0");
	send_commands(b, "SET r 'p 1 rest' PXAT @70");
	script_replies(b, SCRIPT_IDEM_END, "r", "'p 2 rest' drop", "0");
	script_replies(b, SCRIPT_IDEM_END, "r", "'p 2 rest' done", "0");
	keys_are(b, "r(@70): p 1 rest");
	script_replies(b, SCRIPT_IDEM_END, "r", "'p 1 rest' done", "1");
	keys_are(b, "r(@70): d 1 rest");
	script_replies(b, SCRIPT_IDEM_END, "r", "'d 1 rest' drop", "1");
	keys_are(b, "''");
}

/* --- quotas --------------------------------------------------------------- */

/* args: links max period bytes max period; the test's day is 2128-06-11 */
static void links_and_bytes_are_taken_both_or_neither(void **state)
{
	struct script_bench *b = script_bench_reset(state);

	script_replies(b, SCRIPT_QUOTA_TAKE, "q", "3 5 day 70 100 month",
		       "(1 3 70 21280611 212806)");
	/* The keys are kept for a day after the period. */
	keys_are(b, "q:212806(5001782400000): bytes=70\n"
		    "q:21280611(5000140800000): links=3");
	script_replies(b, SCRIPT_QUOTA_TAKE, "q", "3 5 day 1 100 month",
		       "(0 3 1 54400000)");
	script_replies(b, SCRIPT_QUOTA_TAKE, "q", "1 5 day 31 100 month",
		       "(0 70 2 1696000000)");
	script_replies(b, SCRIPT_QUOTA_TAKE, "q", "2 5 day 30 100 month",
		       "(1 5 100 21280611 212806)");
	keys_are(b, "q:212806(5001782400000): bytes=100\n"
		    "q:21280611(5000140800000): links=5");
}

static void what_has_no_bound_is_not_counted(void **state)
{
	struct script_bench *b = script_bench_reset(state);

	script_replies(b, SCRIPT_QUOTA_TAKE, "q", "3 0 day 70 0 month",
		       "(1 0 0 '' '')");
	keys_are(b, "''");
	script_replies(b, SCRIPT_QUOTA_TAKE, "q", "3 0 day 70 1 month",
		       "(0 0 2 1696000000)");
	script_replies(b, SCRIPT_QUOTA_TAKE, "q", "1 1 month 70 0 month",
		       "(1 1 0 212806 '')");
	keys_are(b, "q:212806(5001782400000): links=1");
}

static void an_end_of_a_quotas_count_is_set_once(void **state)
{
	struct script_bench *b = script_bench_reset(state);

	send_commands(b, "HSET q:21280611 links 1\nPEXPIREAT q:21280611 @7000");
	script_replies(b, SCRIPT_QUOTA_TAKE, "q", "1 5 day 1 0 day",
		       "(1 2 0 21280611 '')");
	keys_are(b, "q:21280611(@7000): links=2");
	send_commands(b, "DEL q:21280611\nHSET q:21280611 links 1");
	script_replies(b, SCRIPT_QUOTA_TAKE, "q", "1 5 day 1 0 day",
		       "(1 2 0 21280611 '')");
	keys_are(b, "q:21280611(5000140800000): links=2");
	/* Less than a second of the period is left. */
	send_commands(b, "PEXPIREAT q:21280611 @999");
	script_replies(b, SCRIPT_QUOTA_TAKE, "q", "1 5 day 1 0 day",
		       "(1 3 0 21280611 '')");
	keys_are(b, "q:21280611(@999): links=3");
}

static void a_period_ends_with_its_last_millisecond(void **state)
{
	struct script_bench *b = script_bench_reset(state);

	b->now = 5000054400000 - 1;
	script_replies(b, SCRIPT_QUOTA_TAKE, "q", "2 1 day 0 0 day",
		       "(0 0 1 1)");
	b->now = 5000054400000;
	script_replies(b, SCRIPT_QUOTA_TAKE, "q", "2 1 day 0 0 day",
		       "(0 0 1 86400000)");
	/* The last day of a month, and of a year. */
	b->now = 5001696000000 - 1;
	script_replies(b, SCRIPT_QUOTA_TAKE, "q", "2 1 month 0 0 day",
		       "(0 0 1 1)");
	b->now = 5001696000000;
	script_replies(b, SCRIPT_QUOTA_TAKE, "q", "2 1 month 0 0 day",
		       "(0 0 1 2678400000)");
}

static void the_use_of_a_quota_is_read_with_its_end(void **state)
{
	struct script_bench *b = script_bench_reset(state);

	script_replies(b, SCRIPT_QUOTA_READ, "q", "day month",
		       "(0 5000054400000 0 5001696000000)");
	keys_are(b, "''");
	send_commands(b, "HSET q:21280611 links 2 bytes 9\n"
			 "HSET q:212806 links 7 bytes 50");
	script_replies(b, SCRIPT_QUOTA_READ, "q", "day month",
		       "(2 5000054400000 50 5001696000000)");
	script_replies(b, SCRIPT_QUOTA_READ, "q", "month day",
		       "(7 5001696000000 9 5000054400000)");
	keys_are(b, "q:212806: bytes=50 links=7\nq:21280611: bytes=9 links=2");
	b->now = 5000054400000;
	script_replies(b, SCRIPT_QUOTA_READ, "q", "day month",
		       "(0 5000140800000 50 5001696000000)");
}

static void a_damaged_count_is_neither_taken_nor_given(void **state)
{
	static const char *const texts[] = {"x", "-1", "1.5",
					    "1000000000000000"};
	struct script_bench *b = script_bench_reset(state);
	char command[96];

	for (size_t i = 0; i < 4; i++) {
		snprintf(command, sizeof(command),
			 "DEL q:21280611\nHSET q:21280611 links 2 bytes %s",
			 texts[i]);
		send_commands(b, command);
		script_replies(b, SCRIPT_QUOTA_TAKE, "q", "1 5 day 1 5 day",
			       "!DAMAGED the count of bytes is damaged");
		script_replies(b, SCRIPT_QUOTA_READ, "q", "day day",
			       "!DAMAGED the count of bytes is damaged");
		script_replies(b, SCRIPT_QUOTA_GIVE, "q",
			       "1 21280611 1 21280611",
			       "!DAMAGED the count of bytes is damaged");
		snprintf(command, sizeof(command),
			 "q:21280611: bytes=%s links=2", texts[i]);
		keys_are(b, command);
	}
	send_commands(b,
		      "DEL q:21280611\nHSET q:21280611 links 100000000000000");
	script_replies(b, SCRIPT_QUOTA_TAKE, "q",
		       "1 900000000000000 day 1 0 day",
		       "(1 100000000000001 0 21280611 '')");
	script_replies(b, SCRIPT_QUOTA_GIVE, "q", "1 21280611 1 ''", "1");
}

static void what_was_not_used_is_given_back(void **state)
{
	struct script_bench *b = script_bench_reset(state);

	send_commands(b, "HSET q:d links 5 bytes 9\nHSET q:m links 7 bytes 8");
	script_replies(b, SCRIPT_QUOTA_GIVE, "q", "2 d 3 m", "1");
	keys_are(b, "q:d: bytes=9 links=3\nq:m: bytes=5 links=7");
	script_replies(b, SCRIPT_QUOTA_GIVE, "q", "2 '' 3 ''", "1");
	keys_are(b, "q:d: bytes=9 links=3\nq:m: bytes=5 links=7");
	/* A count never falls below zero, and no count is created. */
	script_replies(b, SCRIPT_QUOTA_GIVE, "q", "4 d 3 none", "1");
	keys_are(b, "q:d: bytes=9 links=0\nq:m: bytes=5 links=7");
}

/* --- blocked URLs --------------------------------------------------------- */

/* args link_id code key most, then id and URL */
static void a_decision_is_noted_once_for_each_link(void **state)
{
	struct script_bench *b = script_bench_reset(state);

	script_replies(b, SCRIPT_URL_BLOCK, "b", "7 code key 2 u1 url1 u2 url2",
		       "1");
	keys_are(b, "b: u1=url1\n7 @0 code key u2=url2\n7 @0 code key");
	b->now += 5;
	script_replies(b, SCRIPT_URL_BLOCK, "b", "7 code key 2 u1 url1", "1");
	script_replies(b, SCRIPT_URL_BLOCK, "b", "8 code2 key 2 u1 url1", "1");
	keys_are(b, "b: u1=url1\n7 @-5 code key\n8 @0 code2 key "
		    "u2=url2\n7 @-5 code key");
	script_replies(b, SCRIPT_URL_BLOCK, "b", "7 code key 3 u1 url1", "1");
	/* An existing entry stays, even at the maximum number of entries. */
	script_replies(b, SCRIPT_URL_BLOCK, "b", "8 code2 key 2 u1 url1", "1");
	keys_are(b, "b: u1=url1\n7 @-5 code key\n8 @0 code2 key "
		    "u2=url2\n7 @-5 code key");
}

static void one_decision_takes_the_place_of_too_many(void **state)
{
	struct script_bench *b = script_bench_reset(state);

	send_commands(b, "HSET b u 'url\n7 1 code key\n8 2 code2 key'");
	script_replies(b, SCRIPT_URL_BLOCK, "b", "9 code3 key 2 u url", "1");
	keys_are(b, "b: u=url\n0 @0 - key");
	/* The decision stays beside later ones until it is lifted. */
	script_replies(b, SCRIPT_URL_BLOCK, "b", "9 code3 key 2 u url", "1");
	keys_are(b, "b: u=url\n0 @0 - key\n9 @0 code3 key");
	b->now += 5;
	script_replies(b, SCRIPT_URL_BLOCK, "b", "10 code4 key 2 u url", "1");
	keys_are(b, "b: u=url\n0 @-5 - key\n9 @-5 code3 key");
	send_commands(b, "DEL b\nLPUSH b 1");
	script_replies(b, SCRIPT_URL_BLOCK, "b", "9 c k 2",
		       "!WRONGTYPE Operation against a key holding the wrong "
		       "kind of value");
}

static void a_link_that_is_let_go_takes_its_decisions_along(void **state)
{
	struct script_bench *b = script_bench_reset(state);

	send_commands(b,
		      "HSET b u1 'url1\n7 1 code key' "
		      "u2 'url2\n7 1 code key\n8 2 code2 key\n9 2 code2 key' "
		      "u3 'url3\n0 1 - key' u4 'url4\n7 1 code key' "
		      "7 'url7\n7 1 code key'");
	script_replies(b, SCRIPT_URL_LET_GO, "b", "7 u1 u2 u3 none", "1");
	keys_are(
		b,
		"b: 7=url7\n7 1 code key u2=url2\n8 2 code2 key\n9 2 code2 key "
		"u3=url3\n0 1 - key u4=url4\n7 1 code key");
	send_commands(b, "DEL b\nHSET b u1 url1");
	script_replies(b, SCRIPT_URL_LET_GO, "b", "7 u1", "1");
	keys_are(b, "b: u1=url1");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a_plan_is_written_over_the_very_one_that_was_read),
		cmocka_unit_test(a_plan_ends_as_done_or_goes),
		cmocka_unit_test(links_and_bytes_are_taken_both_or_neither),
		cmocka_unit_test(what_has_no_bound_is_not_counted),
		cmocka_unit_test(an_end_of_a_quotas_count_is_set_once),
		cmocka_unit_test(a_period_ends_with_its_last_millisecond),
		cmocka_unit_test(the_use_of_a_quota_is_read_with_its_end),
		cmocka_unit_test(a_damaged_count_is_neither_taken_nor_given),
		cmocka_unit_test(what_was_not_used_is_given_back),
		cmocka_unit_test(a_decision_is_noted_once_for_each_link),
		cmocka_unit_test(one_decision_takes_the_place_of_too_many),
		cmocka_unit_test(
			a_link_that_is_let_go_takes_its_decisions_along),
	};

	return cmocka_run_group_tests(tests, script_bench_start,
				      script_bench_stop);
}

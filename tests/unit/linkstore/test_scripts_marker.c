/* The scripts of a block's slot: both sides of every bound. */
#include "tests/unit/linkstore/script_bench.h"

/* A record begins with nine bytes: a tag and link_id. */
#define HEAD  "\tABCDEFGH"
#define OTHER "\tABCDEFGI"

/* --- open ----------------------------------------------------------------- */

static void a_block_without_a_marker_is_opened(void **state)
{
	struct script_bench *b = script_bench_reset(state);

	script_replies(b, SCRIPT_OPEN, "m", "1 me day 1000 50", "(1 @1050)");
	keys_are(b, "m: 1 o day @0 @1050 me");
	send_commands(b, "DEL m");
	script_replies(b, SCRIPT_OPEN, "m", "1 me never never 50", "(1 -1)");
	keys_are(b, "m: 1 o never @0 never me");
}

static void a_block_is_opened_under_a_later_generation_only(void **state)
{
	struct script_bench *b = script_bench_reset(state);

	send_commands(b, "SET m '3 c day @-90 @-80 she'");
	script_replies(b, SCRIPT_OPEN, "m", "2 me day 9 9", "(0 3 0)");
	script_replies(b, SCRIPT_OPEN, "m", "3 me day 9 9", "(0 3 0)");
	script_replies(b, SCRIPT_OPEN, "m", "3 she day 9 9", "(0 3 0)");
	keys_are(b, "m: 3 c day @-90 @-80 she");
	script_replies(b, SCRIPT_OPEN, "m", "4 me day 9 8", "(1 @17)");
	keys_are(b, "m: 4 o day @0 @17 me");
}

static void an_open_block_is_its_holders_alone(void **state)
{
	struct script_bench *b = script_bench_reset(state);

	send_commands(b, "SET m '3 o day @-90 @80 me'");
	script_replies(b, SCRIPT_OPEN, "m", "3 me day 9 9", "(1 @80)");
	script_replies(b, SCRIPT_OPEN, "m", "3 she day 9 9", "(0 3 1)");
	script_replies(b, SCRIPT_OPEN, "m", "4 me day 9 9", "(0 3 1)");
	script_replies(b, SCRIPT_OPEN, "m", "2 me day 9 9", "(0 3 1)");
	keys_are(b, "m: 3 o day @-90 @80 me");
	send_commands(b, "SET m '3 o day @-90 never me'");
	script_replies(b, SCRIPT_OPEN, "m", "3 me day 9 9", "(1 -1)");
}

static void a_damaged_marker_is_left_alone(void **state)
{
	static const char *const texts[] = {
		"3 x day 1 2 me", "x o day 1 2 me",  "3 o day 1 x me",
		"3 o day 1 me",	  "3 ox day 1 2 me",
	};
	struct script_bench *b = script_bench_reset(state);
	char command[64], keys[64];

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		snprintf(command, sizeof(command), "SET m '%s'", texts[i]);
		send_commands(b, command);
		script_replies(b, SCRIPT_OPEN, "m", "9 me day 9 9",
			       "!DAMAGED the marker m is damaged");
		snprintf(keys, sizeof(keys), "m: %s", texts[i]);
		keys_are(b, keys);
	}
}

/* --- close ---------------------------------------------------------------- */

static void a_block_is_there_through_the_millisecond_it_ends_in(void **state)
{
	struct script_bench *b = script_bench_reset(state);

	send_commands(b, "SET a '3 o day @-90 @1 me'\n"
			 "SET b '3 o day @-90 @0 me'\n"
			 "SET c '3 o day @-90 @-1 me'\n"
			 "SET d '3 o day @-90 never me'\n"
			 "SET e '12 o day @-90 @-1 me'\n"
			 "SET f '3 c day @-90 @-1 me'");
	script_replies(b, SCRIPT_CLOSE, "a b none c d e f", "3 600",
		       "(2 @1 3 2 @0 3 0 0 0 1 0 3 2 -1 3 1 0 12 1 0 3)");
	keys_are(b, "a: 3 o day @-90 @1 me\n"
		    "b: 3 o day @-90 @0 me\n"
		    "c: 3 c day @-90 @-1 me\n"
		    "d: 3 o day @-90 never me\n"
		    "e: 12 c day @-90 @-1 me\n"
		    "f: 3 c day @-90 @-1 me");
}

static void a_closed_marker_never_goes_back_a_generation(void **state)
{
	struct script_bench *b = script_bench_reset(state);

	send_commands(b, "SET a '5 c day @-90 @-1 me'\n"
			 "SET b '12 c day @-90 @90 me'\n"
			 "SET c '5 o day @-90 @-1 me'");
	script_replies(b, SCRIPT_CLOSE, "a b c", "3 600",
		       "(1 0 5 1 0 12 1 0 5)");
	keys_are(b, "a: 5 c day @-90 @-1 me\n"
		    "b: 12 c day @-90 @90 me\n"
		    "c: 5 c day @-90 @-1 me");
}

static void
a_marker_of_an_earlier_generation_takes_the_granted_one(void **state)
{
	struct script_bench *b = script_bench_reset(state);

	send_commands(b, "SET a '9 c day @-90 @-1 me'\n"
			 "SET b '9 o day @-90 @-1 me'\n"
			 "SET c '9 o day @-90 @5 me'\n"
			 "SET d '10 o day @-90 @-1 me'");
	script_replies(b, SCRIPT_CLOSE, "a b c d", "10 600",
		       "(1 0 10 1 0 10 2 @5 9 1 0 10)");
	keys_are(b, "a: 10 c - @-90 @-1 me\n"
		    "b: 10 c - @-90 @-1 me\n"
		    "c: 9 o day @-90 @5 me\n"
		    "d: 10 c day @-90 @-1 me");
}

static void a_block_with_a_blocked_link_is_looked_at_again(void **state)
{
	struct script_bench *b = script_bench_reset(state);

	send_commands(b, "SET a '3 o1 day @-90 @-1 me'\n"
			 "SET b '2 o12 day @-90 @-1 me'\n"
			 "SET c '3 o1 day @-90 @7 me'");
	script_replies(b, SCRIPT_CLOSE, "a b c", "3 600",
		       "(2 @600 3 2 @600 2 2 @7 3)");
	keys_are(b, "a: 3 o1 day @-90 @-1 me\n"
		    "b: 2 o12 day @-90 @-1 me\n"
		    "c: 3 o1 day @-90 @7 me");
}

static void none_is_closed_beside_a_damaged_marker(void **state)
{
	static const char *const texts[] = {"3 x day 1 2 me", "3 o day 1 x me"};
	struct script_bench *b = script_bench_reset(state);
	char command[96], keys[96];

	for (int i = 0; i < 2; i++) {
		snprintf(command, sizeof(command),
			 "SET a '3 o day @-90 @-1 me'\nSET b '%s'", texts[i]);
		send_commands(b, command);
		script_replies(b, SCRIPT_CLOSE, "a b", "3 600",
			       "!DAMAGED the marker b is damaged");
		snprintf(keys, sizeof(keys), "a: 3 o day @-90 @-1 me\nb: %s",
			 texts[i]);
		keys_are(b, keys);
	}
}

static void a_lost_marker_is_written_closed(void **state)
{
	struct script_bench *b = script_bench_reset(state);

	send_commands(b, "SET b '2 c day @-90 @-1 me'");
	script_replies(b, SCRIPT_CLOSE_LOST, "a", "3", "1");
	script_replies(b, SCRIPT_CLOSE_LOST, "b", "3", "1");
	keys_are(b, "a: 3 c - @0 @0 verify\nb: 3 c - @0 @0 verify");
}

static void a_marker_that_is_there_is_not_taken_for_lost(void **state)
{
	struct script_bench *b = script_bench_reset(state);

	send_commands(b, "SET a '2 o day @-90 @-1 me'\n"
			 "SET b '3 c day @-90 @-1 me'\n"
			 "SET c '4 c day @-90 @-1 me'");
	script_replies(b, SCRIPT_CLOSE_LOST, "a", "3", "0");
	script_replies(b, SCRIPT_CLOSE_LOST, "b", "3", "0");
	script_replies(b, SCRIPT_CLOSE_LOST, "c", "3", "0");
	keys_are(b, "a: 2 o day @-90 @-1 me\n"
		    "b: 3 c day @-90 @-1 me\n"
		    "c: 4 c day @-90 @-1 me");
}

static void a_holder_closes_what_is_his(void **state)
{
	struct script_bench *b = script_bench_reset(state);

	send_commands(b, "SET a '3 o1 day @-90 @80 me'\n"
			 "SET b '3 c day @-90 @80 me'\n"
			 "SET c '2 c day @-90 @80 she'");
	script_replies(b, SCRIPT_CLOSE_OWN, "a", "3 me", "(1)");
	script_replies(b, SCRIPT_CLOSE_OWN, "b", "3 me", "(1)");
	script_replies(b, SCRIPT_CLOSE_OWN, "c", "3 me", "(1)");
	script_replies(b, SCRIPT_CLOSE_OWN, "d", "3 me", "(1)");
	keys_are(b, "a: 3 c - @0 @0 me\n"
		    "b: 3 c - @0 @0 me\n"
		    "c: 3 c - @0 @0 me\n"
		    "d: 3 c - @0 @0 me");
}

static void nobody_closes_anothers_block(void **state)
{
	struct script_bench *b = script_bench_reset(state);
	static const char keys[] = "a: 3 o day @-90 @80 she\n"
				   "b: 3 c day @-90 @80 she\n"
				   "c: 4 c day @-90 @80 me\n"
				   "d: 2 o day @-90 @80 me\n"
				   "e: 4 o day @-90 @80 me";

	send_commands(b, "SET a '3 o day @-90 @80 she'\n"
			 "SET b '3 c day @-90 @80 she'\n"
			 "SET c '4 c day @-90 @80 me'\n"
			 "SET d '2 o day @-90 @80 me'\n"
			 "SET e '4 o day @-90 @80 me'");
	script_replies(b, SCRIPT_CLOSE_OWN, "a", "3 me", "(0 3 1)");
	script_replies(b, SCRIPT_CLOSE_OWN, "b", "3 me", "(0 3 0)");
	script_replies(b, SCRIPT_CLOSE_OWN, "c", "3 me", "(0 4 0)");
	script_replies(b, SCRIPT_CLOSE_OWN, "d", "3 me", "(0 2 1)");
	script_replies(b, SCRIPT_CLOSE_OWN, "e", "3 me", "(0 4 1)");
	keys_are(b, keys);
}

/* --- create --------------------------------------------------------------- */

static void links_are_stored_in_an_open_block_of_ones_own(void **state)
{
	struct script_bench *b = script_bench_reset(state);

	script_replies(b, SCRIPT_CREATE, "m x", "3 me 100 " HEAD "1", "(-1)");
	send_commands(b, "SET m '3 c day @-90 @80 me'");
	script_replies(b, SCRIPT_CREATE, "m x", "3 me 100 " HEAD "1",
		       "(-2 3 0)");
	send_commands(b, "SET m '3 o day @-90 @80 she'");
	script_replies(b, SCRIPT_CREATE, "m x", "3 me 100 " HEAD "1",
		       "(-2 3 1)");
	send_commands(b, "SET m '4 o day @-90 @80 me'");
	script_replies(b, SCRIPT_CREATE, "m x", "3 me 100 " HEAD "1",
		       "(-2 4 1)");
	send_commands(b, "SET m '2 o day @-90 @80 me'");
	script_replies(b, SCRIPT_CREATE, "m x", "3 me 100 " HEAD "1",
		       "(-2 2 1)");
	keys_are(b, "m: 2 o day @-90 @80 me");
	send_commands(b, "SET m '3 o2 day @-90 @80 me'");
	script_replies(b, SCRIPT_CREATE, "m x y",
		       "3 me 100 " HEAD "1 " HEAD "2", "(@100 1 1)");
	keys_are(b, "m: 3 o2 day @-90 @100 me\n"
		    "x(@100): " HEAD "1\n"
		    "y(@100): " HEAD "2");
}

static void a_blocks_end_is_raised_and_never_lowered(void **state)
{
	struct script_bench *b = script_bench_reset(state);

	send_commands(b, "SET m '3 o1 day @-90 @101 me'");
	script_replies(b, SCRIPT_CREATE, "m x", "3 me 100 " HEAD, "(@100 1)");
	keys_are(b, "m: 3 o1 day @-90 @101 me\nx(@100): " HEAD);
	script_replies(b, SCRIPT_CREATE, "m y", "3 me never " HEAD, "(0 1)");
	keys_are(b, "m: 3 o1 day @-90 never me\nx(@100): " HEAD "\ny: " HEAD);
}

/* Each byte of link_id distinguishes links. */
static void a_live_link_is_never_overwritten(void **state)
{
	struct script_bench *b = script_bench_reset(state);
	static const char *const ttls[] = {"100", "never"};
	char args[64], command[64], keys[128];

	for (size_t t = 0; t < 2; t++) {
		for (size_t byte = 1; byte <= 8; byte++) {
			char there[] = HEAD "1";

			there[byte] = 'x';
			snprintf(command, sizeof(command),
				 "SET m '3 o day @-90 never me'\nSET x %s",
				 there);
			send_commands(b, command);
			snprintf(args, sizeof(args), "3 me %s " HEAD "2",
				 ttls[t]);
			script_replies(b, SCRIPT_CREATE, "m x", args,
				       t ? "(0 0)" : "(@100 0)");
			snprintf(keys, sizeof(keys),
				 "m: 3 o day @-90 never me\nx: %s", there);
			keys_are(b, keys);
		}
	}
	send_commands(b, "DEL x\nLPUSH x 1");
	script_replies(b, SCRIPT_CREATE, "m x y",
		       "3 me 100 " HEAD "2 " HEAD "3", "(@100 0 1)");
	keys_are(b, "m: 3 o day @-90 never me\nx: 1\ny(@100): " HEAD "3");
}

static void ones_own_earlier_try_lives_as_long_as_is_replied(void **state)
{
	struct script_bench *b = script_bench_reset(state);

	send_commands(b, "SET m '3 o day @-90 @90 me'\n"
			 "SET x " HEAD "1 PXAT @60\n"
			 "SET y " HEAD "1 PXAT @160\n"
			 "SET z " HEAD "1");
	script_replies(b, SCRIPT_CREATE, "m x y z",
		       "3 me 100 " HEAD "2 " HEAD "2 " HEAD "2",
		       "(@100 2 2 2)");
	keys_are(b, "m: 3 o day @-90 @100 me\n"
		    "x(@100): " HEAD "1\n"
		    "y(@160): " HEAD "1\n"
		    "z: " HEAD "1");
	script_replies(b, SCRIPT_CREATE, "m x", "3 me never " HEAD "2",
		       "(0 2)");
	keys_are(b, "m: 3 o day @-90 never me\n"
		    "x(@100): " HEAD "1\n"
		    "y(@160): " HEAD "1\n"
		    "z: " HEAD "1");
}

static void a_link_is_stored_through_its_deadline(void **state)
{
	struct script_bench *b = script_bench_reset(state);

	send_commands(b, "SET m '3 o day @-90 never me'\nSET late2 " HEAD "6");
	script_replies(b, SCRIPT_CREATE, "m late at before none late2",
		       "3 me 100 " HEAD "1 " HEAD "2 " HEAD "3 " HEAD "4 " HEAD
		       "5 @-1 @0 @1 0 @-1",
		       "(@100 -1 1 1 1 -1)");
	keys_are(b, "at(@100): " HEAD "2\n"
		    "before(@100): " HEAD "3\n"
		    "late2: " HEAD "6\n"
		    "m: 3 o day @-90 never me\n"
		    "none(@100): " HEAD "4");
	script_replies(b, SCRIPT_CREATE, "m late", "3 me never " HEAD "1 1",
		       "(0 -1)");
}

/* --- renew ---------------------------------------------------------------- */

/* keys link visits marker, args head version generation ttl renew-below */
static void a_visit_renews_a_link_and_its_block(void **state)
{
	struct script_bench *b = script_bench_reset(state);

	send_commands(b, "SET m '3 o day @-90 @60 me'\n"
			 "SET x '" HEAD "\x18\x02 url' PXAT @49\n"
			 "HSET v visits 1");
	script_replies(b, SCRIPT_RENEW, "x v m", HEAD " 2 3 100 50",
		       "(100 @100)");
	keys_are(b, "m: 3 o day @-90 @100 me\n"
		    "v(@100): visits=1\n"
		    "x(@100): " HEAD "\x18\x02 url");
}

static void a_link_is_renewed_below_a_bound_only(void **state)
{
	struct script_bench *b = script_bench_reset(state);

	script_replies(b, SCRIPT_RENEW, "x v m", HEAD " 2 3 100 50", "(0 0)");
	send_commands(b, "SET m '3 o day @-90 @60 me'\n"
			 "SET x '" HEAD "\x18\x02' PXAT @50");
	script_replies(b, SCRIPT_RENEW, "x v m", HEAD " 2 3 100 50", "(50 0)");
	script_replies(b, SCRIPT_RENEW, "x v m", HEAD " 1 3 100 51", "(50 0)");
	script_replies(b, SCRIPT_RENEW, "x v m", OTHER " 2 3 100 51", "(0 0)");
	script_replies(b, SCRIPT_RENEW, "x v m", HEAD " 2 2 100 51", "(0 0)");
	script_replies(b, SCRIPT_RENEW, "x v m", HEAD " 2 4 100 51", "(0 0)");
	send_commands(b, "SET m '3 c day @-90 @60 me'");
	script_replies(b, SCRIPT_RENEW, "x v m", HEAD " 2 3 100 51", "(0 0)");
	keys_are(b, "m: 3 c day @-90 @60 me\nx(@50): " HEAD "\x18\x02");
	send_commands(b, "SET x '" HEAD "\x18\x02'");
	script_replies(b, SCRIPT_RENEW, "x v m", HEAD " 2 3 100 51", "(-1 0)");
	script_replies(b, SCRIPT_RENEW, "x v m", OTHER " 2 3 100 51", "(0 0)");
	keys_are(b, "m: 3 c day @-90 @60 me\nx: " HEAD "\x18\x02");
}

static void renewing_never_lowers_an_end(void **state)
{
	struct script_bench *b = script_bench_reset(state);

	send_commands(b, "SET m '3 o day @-90 @100 me'\n"
			 "SET x '" HEAD "\x18\x02' PXAT @99\nHSET v visits 1");
	script_replies(b, SCRIPT_RENEW, "x v m", HEAD " 2 3 40 500", "(99 0)");
	keys_are(b, "m: 3 o day @-90 @100 me\n"
		    "v(@99): visits=1\n"
		    "x(@99): " HEAD "\x18\x02");
	send_commands(b, "SET m '3 o day @-90 never me'");
	script_replies(b, SCRIPT_RENEW, "x v m", HEAD " 2 3 140 500",
		       "(140 @140)");
	keys_are(b, "m: 3 o day @-90 never me\n"
		    "v(@140): visits=1\n"
		    "x(@140): " HEAD "\x18\x02");
}

/* The longest fields that can precede the end of a version. */
static void a_version_behind_the_longest_numbers_is_read(void **state)
{
	struct script_bench *b = script_bench_reset(state);

	send_commands(b, "SET x '" HEAD "\x10\x80\x80\x80\x80\x01"
			 "\x18\x80\x80\x80\x80\x01' PXAT @49");
	script_replies(b, SCRIPT_RENEW, "x v", HEAD " 268435456 3 100 50",
		       "(100 @100)");
}

static void a_link_is_renewed_without_a_marker(void **state)
{
	struct script_bench *b = script_bench_reset(state);

	send_commands(b, "SET x '" HEAD "\x18\x02' PXAT @49");
	script_replies(b, SCRIPT_RENEW, "x v m", HEAD " 2 3 100 50",
		       "(100 @100)");
	script_replies(b, SCRIPT_RENEW, "x v", HEAD " 2 3 110 150",
		       "(110 @110)");
	keys_are(b, "x(@110): " HEAD "\x18\x02");
	/* The third key of an alias is its trace. */
	script_replies(b, SCRIPT_RENEW, "x v t", HEAD " 2 0 120 150 1000",
		       "(120 @120)");
	keys_are(b, "t(@1121): " HEAD "\nx(@120): " HEAD "\x18\x02");
}

/* --- a link and its marker in one script ---------------------------------- */

static void a_link_is_judged_beside_its_marker(void **state)
{
	struct script_bench *b = script_bench_reset(state);

	script_replies(b, SCRIPT_JUDGE_LINK, "m x", "", "(-2 '' '' @0 0)");
	send_commands(b, "SET m marker\nSET x '" HEAD "\x18\x02' PXAT @7");
	script_replies(b, SCRIPT_JUDGE_LINK, "m x", "",
		       "(@7 " HEAD " marker @0 0)");
	send_commands(b, "SET x '" HEAD "\x18\x02\x40\x02'");
	script_replies(b, SCRIPT_JUDGE_LINK, "m x", "",
		       "(-1 " HEAD " marker @0 1)");
	send_commands(b, "SET x '" HEAD "\x18\x02\x40\x01'");
	script_replies(b, SCRIPT_JUDGE_LINK, "m x", "",
		       "(-1 " HEAD " marker @0 0)");
	/* The record is damaged: its state cannot be read. */
	send_commands(b, "SET x '" HEAD "\x18'");
	script_replies(b, SCRIPT_JUDGE_LINK, "m x", "",
		       "(-1 " HEAD " marker @0 0)");
	send_commands(b, "SET x '?ABCDEFGH\x18\x02\x40\x02'");
	script_replies(b, SCRIPT_JUDGE_LINK, "m x", "",
		       "(-1 ?ABCDEFGH marker @0 0)");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_block_without_a_marker_is_opened),
		cmocka_unit_test(
			a_block_is_opened_under_a_later_generation_only),
		cmocka_unit_test(an_open_block_is_its_holders_alone),
		cmocka_unit_test(a_damaged_marker_is_left_alone),
		cmocka_unit_test(
			a_block_is_there_through_the_millisecond_it_ends_in),
		cmocka_unit_test(a_closed_marker_never_goes_back_a_generation),
		cmocka_unit_test(
			a_marker_of_an_earlier_generation_takes_the_granted_one),
		cmocka_unit_test(
			a_block_with_a_blocked_link_is_looked_at_again),
		cmocka_unit_test(none_is_closed_beside_a_damaged_marker),
		cmocka_unit_test(a_lost_marker_is_written_closed),
		cmocka_unit_test(a_marker_that_is_there_is_not_taken_for_lost),
		cmocka_unit_test(a_holder_closes_what_is_his),
		cmocka_unit_test(nobody_closes_anothers_block),
		cmocka_unit_test(links_are_stored_in_an_open_block_of_ones_own),
		cmocka_unit_test(a_blocks_end_is_raised_and_never_lowered),
		cmocka_unit_test(a_live_link_is_never_overwritten),
		cmocka_unit_test(
			ones_own_earlier_try_lives_as_long_as_is_replied),
		cmocka_unit_test(a_link_is_stored_through_its_deadline),
		cmocka_unit_test(a_visit_renews_a_link_and_its_block),
		cmocka_unit_test(a_link_is_renewed_below_a_bound_only),
		cmocka_unit_test(renewing_never_lowers_an_end),
		cmocka_unit_test(a_version_behind_the_longest_numbers_is_read),
		cmocka_unit_test(a_link_is_renewed_without_a_marker),
		cmocka_unit_test(a_link_is_judged_beside_its_marker),
	};

	return cmocka_run_group_tests(tests, script_bench_start,
				      script_bench_stop);
}

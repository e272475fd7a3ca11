/* The script of edits, for several links in one call. */
#include "tests/unit/linkstore/script_bench.h"

/* The records of two links. */
#define A "\tABCDEFGH"
#define B "\tABCDEFGI"
#define C "\tABCDEFGJ"

#define V1	"\x18\x01"
#define V2	"\x18\x02"
#define V3	"\x18\x03"
#define DELETED "\x40\x01"
#define BLOCKED "\x40\x02"

#define MARKER "SET m '3 o day @-90 @60 me'\n"

static void each_edit_has_its_own_answer(void **state)
{
	struct script_bench *b = script_bench_reset(state);

	send_commands(b, MARKER "SET x " A V1 " PXAT @50\nSET y " B V2
				"\nSET z " C V2 "\nRPUSH list 1");
	script_replies(b, SCRIPT_EDIT, "none v m list v m y v m x v m z v m",
		       "1 3 " A V2 " keep 0 marker "
		       "1 3 " A V2 " keep 0 marker "
		       "1 3 " B V3 " keep 0 marker "
		       "1 3 " A V2 " keep 0 marker "
		       "1 3 " C V2 " keep 0 marker",
		       "(0 0 !WRONGTYPE Operation against a key holding the "
		       "wrong kind of value 0 -1 0 1 @50 1 -1)");
	keys_are(b, "list: 1\nm: 3 o day @-90 @60 me\n"
		    "published: link-changes x\n"
		    "x(@50): " A V2 "\ny: " B V2 "\nz: " C V2);
}

static void a_damaged_link_fails_alone(void **state)
{
	struct script_bench *b = script_bench_reset(state);

	send_commands(b, MARKER "SET x " A "\x18\x80\nSET y " B V1
				"\nSET n damaged\nSET z " C V1);
	script_replies(b, SCRIPT_EDIT, "x v m y v m z v n",
		       "1 3 " A V2 " keep 0 marker "
		       "1 3 " B V2 " life 70 marker "
		       "1 3 " C V2 " life 70 marker",
		       "(!DAMAGED a link record is damaged 0 1 @70 "
		       "!DAMAGED the marker n is damaged 0)");
	keys_are(b, "m: 3 o day @-90 @70 me\nn: damaged\n"
		    "published: link-changes y\n"
		    "x: " A "\x18\x80\ny(@70): " B V2 "\nz: " C V1);
}

/* An edit without the life that it needs is the caller's mistake. */
static void an_edit_that_may_not_be_fails_alone(void **state)
{
	struct script_bench *b = script_bench_reset(state);

	send_commands(b, "SET x " A V1 BLOCKED "\nSET y " B V1);
	script_replies(b, SCRIPT_EDIT, "x v y v",
		       "1 3 " A V2 " keep 0 alone 1 3 " B V2 " keep 0 alone",
		       "(!a link that is let go needs a life 0 1 -1)");
	keys_are(b, "published: link-changes y\nx: " A V1 BLOCKED "\ny: " B V2);
}

static void a_marker_counts_the_blocked_links_of_all_edits(void **state)
{
	struct script_bench *b = script_bench_reset(state);

	send_commands(b, "SET m '3 o5 day @-90 @60 me'\nSET x " A V1
			 "\nSET y " B V1 "\nSET z " C V1 BLOCKED);
	script_replies(b, SCRIPT_EDIT, "x v m y v m z v m",
		       "1 3 " A V2 BLOCKED " keep 0 marker "
		       "1 3 " B V2 BLOCKED " keep 0 marker "
		       "1 3 " C V2 " life 80 marker",
		       "(1 -1 1 -1 1 @80)");
	keys_are(b, "m: 3 o6 day @-90 @80 me\n"
		    "published: link-changes x y z\n"
		    "x: " A V2 BLOCKED "\ny: " B V2 BLOCKED "\nz(@80): " C V2);
}

static void each_block_has_its_marker(void **state)
{
	struct script_bench *b = script_bench_reset(state);

	send_commands(b, MARKER "SET n '3 o1 day @-90 @60 me'\nSET x " A V1
				"\nSET y " B V1 BLOCKED "\nSET z " C V1
				"\nSET t trace");
	script_replies(b, SCRIPT_EDIT, "x v m y v n z v t",
		       "1 3 " A V2 BLOCKED " keep 0 marker "
		       "1 3 " B V2 " life 50 marker "
		       "1 0 " C V2 " life 90 1000",
		       "(1 -1 1 @50 1 @90)");
	send_commands(b, "DEL published");
	keys_are(b, "m: 3 o1 day @-90 @60 me\nn: 3 o day @-90 @60 me\n"
		    "t(@1091): " C "\nx: " A V2 BLOCKED "\n"
		    "y(@50): " B V2 "\nz(@90): " C V2);
}

/* The one marker is read once, and is as the edits so far leave it. */
static void
a_tombstone_stays_until_the_end_that_a_later_edit_gives(void **state)
{
	struct script_bench *b = script_bench_reset(state);

	send_commands(b, MARKER "SET x " A V1 " PXAT @50\nHSET v visits 1\n"
				"SET y " B V1 " PXAT @50");
	script_replies(b, SCRIPT_EDIT, "x v m y w m",
		       "1 3 " A V2 DELETED " tombstone 7 marker "
		       "1 3 " B V2 " life 90 marker",
		       "(1 @90 1 @90)");
	send_commands(b, "DEL published");
	keys_are(b, "m: 3 o day @-90 @90 me\nv(@90): visits=1\n"
		    "x(@90): " A V2 DELETED "\ny(@90): " B V2);
}

static void edits_of_one_link_are_made_in_their_order(void **state)
{
	struct script_bench *b = script_bench_reset(state);

	send_commands(b, MARKER "SET x " A V1 " PXAT @50");
	script_replies(b, SCRIPT_EDIT, "x v m x v m x v m x v m",
		       "1 3 " A V2 BLOCKED " keep 0 marker "
		       "1 3 " A V2 BLOCKED " keep 0 marker "
		       "1 3 " A V2 " keep 0 marker "
		       "2 3 " A V3 " life 70 marker",
		       "(1 -1 1 -1 -1 0 1 @70)");
	keys_are(b, "m: 3 o day @-90 @70 me\n"
		    "published: link-changes x x\n"
		    "x(@70): " A V3);
}

/* Redis refuses such an end when the others are written already. */
static void an_end_that_cannot_be_is_found_before_the_first_write(void **state)
{
	static const char *const ends[] = {"0", "-5", "9223372036854775808",
					   "1e300"};
	struct script_bench *b = script_bench_reset(state);
	char command[160];

	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
		snprintf(command, sizeof(command),
			 "FLUSHALL\n" MARKER "SET n '3 o day 1 %s me'\n"
			 "SET x " A V1 "\nSET y " B V1,
			 ends[i]);
		send_commands(b, command);
		script_run(b, SCRIPT_EDIT, "x v m y v n",
			   "1 3 " A V2 " keep 0 marker "
			   "1 3 " B V2 DELETED " tombstone 7 marker");
		assert_int_equal(strncmp(b->reply,
					 "(1 -1 !DAMAGED a link would end at ",
					 35),
				 0);
		redis_says(b, "GET x", A V2);
		redis_says(b, "GET y", B V1);
	}
	/* The last end that Redis takes: the next smaller double. */
	send_commands(b, "FLUSHALL\nSET y " B V1
			 "\nSET n '3 o day 1 9223372036854774784 me'");
	script_replies(b, SCRIPT_EDIT, "y v n",
		       "1 3 " B V2 DELETED " tombstone 7 marker",
		       "(1 9223372036854774784)");
}

/* Nothing is published if nothing is changed. */
static void no_change_is_not_published(void **state)
{
	struct script_bench *b = script_bench_reset(state);

	send_commands(b, "SET x " A V2);
	script_replies(b, SCRIPT_EDIT, "x v y v",
		       "1 0 " A V2 " keep 0 alone 1 0 " B V2 " keep 0 alone",
		       "(1 -1 0 0)");
	keys_are(b, "x: " A V2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_edit_has_its_own_answer),
		cmocka_unit_test(a_damaged_link_fails_alone),
		cmocka_unit_test(an_edit_that_may_not_be_fails_alone),
		cmocka_unit_test(
			a_marker_counts_the_blocked_links_of_all_edits),
		cmocka_unit_test(each_block_has_its_marker),
		cmocka_unit_test(
			a_tombstone_stays_until_the_end_that_a_later_edit_gives),
		cmocka_unit_test(edits_of_one_link_are_made_in_their_order),
		cmocka_unit_test(
			an_end_that_cannot_be_is_found_before_the_first_write),
		cmocka_unit_test(no_change_is_not_published),
	};

	return cmocka_run_group_tests(tests, script_bench_start,
				      script_bench_stop);
}

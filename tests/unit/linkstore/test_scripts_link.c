/* The scripts of a link: both sides of every bound. */
#include "tests/unit/linkstore/script_bench.h"

/* A record begins with nine bytes: a tag and link_id. */
#define HEAD  "\tABCDEFGH"
#define OTHER "\tABCDEFGI"

/* The versions and states of a record. */
#define V1	"\x18\x01"
#define V2	"\x18\x02"
#define V3	"\x18\x03"
#define DELETED "\x40\x01"
#define BLOCKED "\x40\x02"

/* --- edit ----------------------------------------------------------------- */

/* keys link visits marker, args version generation record what ttl beside */
static void a_record_is_replaced_by_the_next_version_of_it(void **state)
{
	struct script_bench *b = script_bench_reset(state);

	send_commands(b, "SET x " HEAD V1 " PXAT @50\nHSET v visits 1\n"
			 "SET m '3 o1 day @-90 @60 me'");
	script_replies(b, SCRIPT_EDIT, "none v m",
		       "1 3 " HEAD V2 " keep 0 marker", "(0 0)");
	script_replies(b, SCRIPT_EDIT, "x v m",
		       "1 3 " OTHER V2 " keep 0 marker", "(0 0)");
	script_replies(b, SCRIPT_EDIT, "x v m", "2 3 " HEAD V3 " keep 0 marker",
		       "(-1 0)");
	script_replies(b, SCRIPT_EDIT, "x v m", "1 2 " HEAD V2 " keep 0 marker",
		       "(0 0)");
	script_replies(b, SCRIPT_EDIT, "x v m", "1 4 " HEAD V2 " keep 0 marker",
		       "(0 0)");
	keys_are(b, "m: 3 o1 day @-90 @60 me\nv: visits=1\n"
		    "x(@50): " HEAD V1);
	script_replies(b, SCRIPT_EDIT, "x v m", "1 3 " HEAD V2 " keep 0 marker",
		       "(1 @50)");
	/* The same call is repeated, since its reply was lost. */
	script_replies(b, SCRIPT_EDIT, "x v m", "1 3 " HEAD V2 " keep 0 marker",
		       "(1 @50)");
	script_replies(b, SCRIPT_EDIT, "x v m", "1 3 " HEAD V3 " keep 0 marker",
		       "(-1 0)");
	keys_are(b, "m: 3 o1 day @-90 @60 me\n"
		    "published: link-changes x\n"
		    "v: visits=1\n"
		    "x(@50): " HEAD V2);
	send_commands(b, "SET m '3 c day @-90 @60 me'");
	script_replies(b, SCRIPT_EDIT, "x v m", "2 3 " HEAD V3 " keep 0 marker",
		       "(0 0)");
}

static void a_link_without_a_marker_is_edited(void **state)
{
	struct script_bench *b = script_bench_reset(state);

	send_commands(b, "SET x " HEAD V1);
	script_replies(b, SCRIPT_EDIT, "x v m",
		       "1 3 " HEAD V2 " life 100 marker", "(1 @100)");
	script_replies(b, SCRIPT_EDIT, "x v m",
		       "2 3 " HEAD V3 " life never marker", "(1 -1)");
	keys_are(b, "published: link-changes x|link-changes x\n"
		    "x: " HEAD V3);
}

static void a_new_life_raises_the_blocks_end_first(void **state)
{
	struct script_bench *b = script_bench_reset(state);

	send_commands(b, "SET x " HEAD V1 " PXAT @50\nHSET v visits 1\n"
			 "SET m '3 o1 day @-90 @60 me'");
	script_replies(b, SCRIPT_EDIT, "x v m",
		       "1 3 " HEAD V2 " life 60 marker", "(1 @60)");
	keys_are(b, "m: 3 o1 day @-90 @60 me\n"
		    "published: link-changes x\n"
		    "v(@60): visits=1\n"
		    "x(@60): " HEAD V2);
	script_replies(b, SCRIPT_EDIT, "x v m",
		       "2 3 " HEAD V3 " life 61 marker", "(1 @61)");
	script_replies(b, SCRIPT_EDIT, "x v m",
		       "3 3 " HEAD V1 " life 40 marker", "(1 @40)");
	keys_are(b, "m: 3 o1 day @-90 @61 me\n"
		    "published: link-changes x|link-changes x|link-changes x\n"
		    "v(@40): visits=1\n"
		    "x(@40): " HEAD V1);
	script_replies(b, SCRIPT_EDIT, "x v m",
		       "1 3 " HEAD V2 " life never marker", "(1 -1)");
	send_commands(b, "DEL published");
	keys_are(b, "m: 3 o1 day @-90 never me\nv: visits=1\nx: " HEAD V2);
}

static void a_blocked_link_does_not_end_and_is_counted(void **state)
{
	struct script_bench *b = script_bench_reset(state);

	send_commands(b, "SET x " HEAD V1 " PXAT @50\nHSET v visits 1\n"
			 "PEXPIREAT v @50\nSET m '3 o day @-90 @60 me'");
	script_replies(b, SCRIPT_EDIT, "x v m",
		       "1 3 " HEAD V2 BLOCKED " keep 0 marker", "(1 -1)");
	keys_are(b, "m: 3 o1 day @-90 @60 me\n"
		    "published: link-changes x\n"
		    "v: visits=1\n"
		    "x: " HEAD V2 BLOCKED);
	/* A second blocking of the link counts once, and the link still has no
	 * end. */
	script_replies(b, SCRIPT_EDIT, "x v m",
		       "2 3 " HEAD V3 BLOCKED " life 10 marker", "(1 -1)");
	send_commands(b, "DEL published");
	keys_are(b, "m: 3 o1 day @-90 @60 me\nv: visits=1\n"
		    "x: " HEAD V3 BLOCKED);
	script_replies(b, SCRIPT_EDIT, "x v m", "3 3 " HEAD V1 " keep 0 marker",
		       "(!a link that is let go needs a life 0)");
	keys_are(b, "m: 3 o1 day @-90 @60 me\nv: visits=1\n"
		    "x: " HEAD V3 BLOCKED);
	script_replies(b, SCRIPT_EDIT, "x v m",
		       "3 3 " HEAD V1 " life 30 marker", "(1 @30)");
	send_commands(b, "DEL published");
	keys_are(b, "m: 3 o day @-90 @60 me\nv(@30): visits=1\n"
		    "x(@30): " HEAD V1);
}

static void a_marker_counts_all_of_its_blocked_links(void **state)
{
	struct script_bench *b = script_bench_reset(state);

	send_commands(b, "SET x " HEAD V1 "\nSET m '3 o2 day @-90 @60 me'");
	script_replies(b, SCRIPT_EDIT, "x v m",
		       "1 3 " HEAD V2 BLOCKED " keep 0 marker", "(1 -1)");
	send_commands(b, "DEL published");
	keys_are(b, "m: 3 o3 day @-90 @60 me\nx: " HEAD V2 BLOCKED);
	script_replies(b, SCRIPT_EDIT, "x v m",
		       "2 3 " HEAD V3 " life 70 marker", "(1 @70)");
	send_commands(b, "DEL published");
	keys_are(b, "m: 3 o2 day @-90 @70 me\nx(@70): " HEAD V3);
	/* The marker has lost its count. */
	send_commands(b,
		      "SET x " HEAD V1 BLOCKED "\nSET m '3 o day @-90 @60 me'");
	script_replies(b, SCRIPT_EDIT, "x v m",
		       "1 3 " HEAD V2 " life 50 marker", "(1 @50)");
	send_commands(b, "DEL published");
	keys_are(b, "m: 3 o day @-90 @60 me\nx(@50): " HEAD V2);
}

static void a_tombstone_stays_until_its_block_ends(void **state)
{
	struct script_bench *b = script_bench_reset(state);

	send_commands(b, "SET x " HEAD V1 " PXAT @50\nHSET v visits 1\n"
			 "SET m '3 o day @-90 @60 me'");
	script_replies(b, SCRIPT_EDIT, "x v m",
		       "1 3 " HEAD V2 DELETED " tombstone 7 marker", "(1 @60)");
	send_commands(b, "DEL published");
	keys_are(b, "m: 3 o day @-90 @60 me\nv(@60): visits=1\n"
		    "x(@60): " HEAD V2 DELETED);
	/* The marker is lost: the tombstone stays as long as the link would. */
	send_commands(b, "DEL m v\nSET x " HEAD V1 " PXAT @50");
	script_replies(b, SCRIPT_EDIT, "x v m",
		       "1 3 " HEAD V2 DELETED " tombstone 7 marker", "(1 @50)");
	send_commands(b, "DEL published");
	keys_are(b, "x(@50): " HEAD V2 DELETED);
	send_commands(b, "SET m '3 o day @-90 never me'\nSET x " HEAD V1);
	script_replies(b, SCRIPT_EDIT, "x v m",
		       "1 3 " HEAD V2 DELETED " tombstone 7 marker", "(1 -1)");
}

static void a_deleted_link_that_was_blocked_ends(void **state)
{
	struct script_bench *b = script_bench_reset(state);

	/* The block was kept for this link only, and lasts a second more. */
	send_commands(b, "SET x " HEAD V1 BLOCKED
			 "\nSET m '3 o1 day @-90 @-60 me'");
	script_replies(b, SCRIPT_EDIT, "x v m",
		       "1 3 " HEAD V2 DELETED " tombstone 7 marker",
		       "(1 @1000)");
	send_commands(b, "DEL published");
	keys_are(b, "m: 3 o day @-90 @1000 me\nx(@1000): " HEAD V2 DELETED);
	send_commands(b, "SET x " HEAD V1 BLOCKED
			 "\nSET m '3 o1 day @-90 @2000 me'");
	script_replies(b, SCRIPT_EDIT, "x v m",
		       "1 3 " HEAD V2 DELETED " tombstone 7 marker",
		       "(1 @2000)");
	send_commands(b, "DEL published m\nSET x " HEAD V1 BLOCKED);
	script_replies(b, SCRIPT_EDIT, "x v m",
		       "1 3 " HEAD V2 DELETED " tombstone 7 marker", "(1 @7)");
}

/* The third key is the trace of an alias; there may be none. */
static void a_link_without_a_block_leaves_a_trace(void **state)
{
	struct script_bench *b = script_bench_reset(state);

	send_commands(b, "SET l:{code} " HEAD V1 " PXAT @50\nSET t " HEAD);
	script_replies(b, SCRIPT_EDIT, "l:{code} v t",
		       "1 0 " HEAD V2 " life 80 1000", "(1 @80)");
	keys_are(b, "l:{code}(@80): " HEAD V2 "\n"
		    "published: link-changes code\n"
		    "t(@1081): " HEAD);
	/* An alias that does not end needs no trace. */
	script_replies(b, SCRIPT_EDIT, "l:{code} v t",
		       "2 0 " HEAD V3 BLOCKED " life 80 1000", "(1 -1)");
	send_commands(b, "DEL published");
	keys_are(b, "l:{code}: " HEAD V3 BLOCKED);
	send_commands(b, "SET l:{code} " HEAD V1 " PXAT @50\nSET t " HEAD);
	script_replies(b, SCRIPT_EDIT, "l:{code} v t",
		       "1 0 " HEAD V2 " keep 0 1000", "(1 @50)");
	script_replies(b, SCRIPT_EDIT, "l:{code} v t",
		       "2 0 " HEAD V3 DELETED " tombstone 500 1000",
		       "(1 @500)");
	send_commands(b, "DEL published");
	keys_are(b, "l:{code}(@500): " HEAD V3 DELETED);
	send_commands(b, "SET l:{code} " HEAD V1);
	script_replies(b, SCRIPT_EDIT, "l:{code} v",
		       "1 0 " HEAD V2 DELETED " tombstone 500 alone",
		       "(1 @500)");
	send_commands(b, "DEL published");
	keys_are(b, "l:{code}(@500): " HEAD V2 DELETED);
}

static void the_code_of_a_changed_link_is_published(void **state)
{
	struct script_bench *b = script_bench_reset(state);

	send_commands(b, "SET l:{s7:12}:a-_Z9 " HEAD V1);
	script_replies(b, SCRIPT_EDIT, "l:{s7:12}:a-_Z9 v",
		       "1 0 " HEAD V2 " keep 0 alone", "(1 -1)");
	keys_are(b, "l:{s7:12}:a-_Z9: " HEAD V2 "\n"
		    "published: link-changes a-_Z9");
	b->refused = "PUBLISH";
	send_commands(b, "DEL published");
	script_replies(b, SCRIPT_EDIT_SMALL, "l:{s7:12}:a-_Z9 v",
		       "2 0 " HEAD V3 " keep 0 alone", "(1 -1)");
	keys_are(b, "l:{s7:12}:a-_Z9: " HEAD V3 "\n"
		    "logged: nobody is told of changed links: "
		    "NOPERM PUBLISH");
}

/* --- fields of a record --------------------------------------------------- */

/* The version follows the generation, if there is one. */
static void versions_are_read_of_any_length(void **state)
{
	static const struct {
		const char *record, *version;
	} cases[] = {
		{HEAD "\x18\x7f", "127"},
		{HEAD "\x18\x80\x01", "128"},
		{HEAD "\x18\xff\xff\x03", "65535"},
		{HEAD "\x10\x05\x18\x07", "7"},
		{HEAD "\x10\x81\x02\x18\x81\x01", "129"},
		{HEAD "\x22\x01z", "0"},
		{HEAD "\x10\x05\x22\x01z", "0"},
		{HEAD, "0"},
	};
	struct script_bench *b = script_bench_reset(state);
	char command[96], args[96];

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		snprintf(command, sizeof(command), "SET x %s", cases[i].record);
		send_commands(b, command);
		snprintf(args, sizeof(args), "%s 0 " HEAD V1 " keep 0 alone",
			 cases[i].version);
		script_replies(b, SCRIPT_EDIT, "x v", args, "(1 -1)");
	}
	send_commands(b, "SET x " HEAD "\x18");
	script_replies(b, SCRIPT_EDIT, "x v", "0 0 " HEAD V1 " keep 0 alone",
		       "(!DAMAGED a link record is damaged 0)");
	send_commands(b, "SET x " HEAD "\x18\x80");
	script_replies(b, SCRIPT_EDIT, "x v", "0 0 " HEAD V1 " keep 0 alone",
		       "(!DAMAGED a link record is damaged 0)");
}

/* visits counted: the link is there and not deleted */
static void states_are_read_behind_numbers_and_texts(void **state)
{
	static const struct {
		const char *record, *reply;
	} cases[] = {
		{HEAD V1, "(1 1)"},
		{HEAD V1 DELETED, "(-1 0)"},
		{HEAD V1 BLOCKED, "(1 1)"},
		{HEAD DELETED, "(-1 0)"},
		{HEAD V1 "\x22\x02\x40\x02" DELETED, "(-1 0)"},
		{HEAD V1 "\x22\x02" DELETED, "(1 1)"},
		{HEAD V1 "\x28\xff\x01" DELETED, "(-1 0)"},
		{HEAD V1 "\x3a\x02" DELETED DELETED "z", "(-1 0)"},
		/* Other fields may follow the state, or be there instead of it.
		 */
		{HEAD V1 DELETED "\x4a\x01z", "(-1 0)"},
		{HEAD V1 "\x48\x01", "(1 1)"},
		{HEAD V1 "\x40\x81\x01", "(1 1)"},
	};
	struct script_bench *b = script_bench_reset(state);
	char command[96];

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		send_commands(b, "FLUSHALL");
		snprintf(command, sizeof(command), "SET x %s", cases[i].record);
		send_commands(b, command);
		script_replies(b, SCRIPT_VISIT, "x v", HEAD " 5",
			       cases[i].reply);
	}
}

static void a_record_that_is_cut_off_is_damaged(void **state)
{
	struct script_bench *b = script_bench_reset(state);

	send_commands(b, "SET x " HEAD V1 "\x28");
	script_replies(b, SCRIPT_VISIT, "x v", HEAD " 5",
		       "!DAMAGED a link record is damaged");
	send_commands(b, "SET x " HEAD V1 "\x40");
	script_replies(b, SCRIPT_VISIT, "x v", HEAD " 5",
		       "!DAMAGED a link record is damaged");
}

/* --- visit ---------------------------------------------------------------- */

static void so_many_visits_are_counted_as_a_link_may_have(void **state)
{
	struct script_bench *b = script_bench_reset(state);

	script_replies(b, SCRIPT_VISIT, "x v", HEAD " 2", "(-1 0)");
	send_commands(b, "SET x " HEAD V1 " PXAT @50");
	script_replies(b, SCRIPT_VISIT, "x v", OTHER " 2", "(-1 0)");
	script_replies(b, SCRIPT_VISIT, "x v", HEAD " 2", "(1 1)");
	script_replies(b, SCRIPT_VISIT, "x v", HEAD " 2", "(1 2)");
	script_replies(b, SCRIPT_VISIT, "x v", HEAD " 2", "(0 2)");
	keys_are(b, "v(@50): visits=2\nx(@50): " HEAD V1);
	send_commands(b, "SET x " HEAD V1);
	script_replies(b, SCRIPT_VISIT, "x v", HEAD " 3", "(1 3)");
	keys_are(b, "v: visits=3\nx: " HEAD V1);
}

static void so_many_fetches_are_counted_beside_the_visits(void **state)
{
	struct script_bench *b = script_bench_reset(state);

	send_commands(b, "SET x " HEAD V1 " PXAT @50");
	script_replies(b, SCRIPT_VISIT, "x v", HEAD " 2 2", "(1 0)");
	script_replies(b, SCRIPT_VISIT, "x v", HEAD " 2 2", "(1 0)");
	script_replies(b, SCRIPT_VISIT, "x v", HEAD " 2 2", "(2 0)");
	keys_are(b, "v(@50): fetches=2\nx(@50): " HEAD V1);
	send_commands(b, "HSET v visits 2");
	script_replies(b, SCRIPT_VISIT, "x v", HEAD " 2 9", "(0 2)");
	script_replies(b, SCRIPT_VISIT, "x none", HEAD " 1 1", "(1 0)");
	send_commands(b, "DEL none");
	script_replies(b, SCRIPT_VISIT, "x v", HEAD " 3 2", "(2 2)");
	keys_are(b, "v(@50): fetches=2 visits=2\nx(@50): " HEAD V1);
}

/* --- links without a block ------------------------------------------------ */

/* keys link trace, args record ttl deadline quarantine */
static void a_link_without_a_block_is_stored_through_its_deadline(void **state)
{
	struct script_bench *b = script_bench_reset(state);

	script_replies(b, SCRIPT_STANDALONE_CREATE, "x", HEAD V1 " 100 @-1",
		       "(-1)");
	script_replies(b, SCRIPT_STANDALONE_CREATE, "x", HEAD V1 " 100 @0",
		       "(1 @100)");
	script_replies(b, SCRIPT_STANDALONE_CREATE, "y", HEAD V1 " 100 0",
		       "(1 @100)");
	script_replies(b, SCRIPT_STANDALONE_CREATE, "z", HEAD V1 " never 0",
		       "(1 -1)");
	script_replies(b, SCRIPT_STANDALONE_CREATE, "u", HEAD V1 " 100 1",
		       "(-1)");
	keys_are(b, "x(@100): " HEAD V1 "\n"
		    "y(@100): " HEAD V1 "\n"
		    "z: " HEAD V1);
}

static void a_live_alias_is_never_overwritten(void **state)
{
	struct script_bench *b = script_bench_reset(state);
	char there[] = HEAD V1, command[64], reply[64], keys[64];
	static const char *const ttls[] = {"never 0", "200 0"};
	char args[64];

	for (size_t i = 0; i < 16; i++) {
		memcpy(there, HEAD, 9);
		there[1 + i / 2] = 'x';
		snprintf(command, sizeof(command), "SET x %s PXAT @70", there);
		send_commands(b, command);
		snprintf(args, sizeof(args), HEAD V1 " %s", ttls[i % 2]);
		snprintf(reply, sizeof(reply), "(0 %s 70)", there);
		script_replies(b, SCRIPT_STANDALONE_CREATE, "x", args, reply);
		snprintf(keys, sizeof(keys), "x(@70): %s", there);
		keys_are(b, keys);
	}
}

static void ones_own_alias_is_found_again(void **state)
{
	struct script_bench *b = script_bench_reset(state);

	send_commands(b, "SET x " HEAD V2 "1 PXAT @70\nSET y " HEAD V2 "1");
	script_replies(b, SCRIPT_STANDALONE_CREATE, "x", HEAD V2 "1 100 0",
		       "(1 @70)");
	script_replies(b, SCRIPT_STANDALONE_CREATE, "y", HEAD V2 "1 100 0",
		       "(1 -1)");
	/* A later version with this link_id is the former try's link, edited
	 * since. */
	script_replies(b, SCRIPT_STANDALONE_CREATE, "x", HEAD V1 "1 100 0",
		       "(1 @70)");
	script_replies(b, SCRIPT_STANDALONE_CREATE, "x", OTHER V1 "1 100 0",
		       "(0 " HEAD V2 "1 70)");
	/* The same version with other bytes means that a link_id was made
	 * twice. */
	script_replies(b, SCRIPT_STANDALONE_CREATE, "x", HEAD V2 "2 100 0",
		       "(0 " HEAD V2 "1 70)");
	script_replies(b, SCRIPT_STANDALONE_CREATE, "x", HEAD V3 "1 100 0",
		       "(0 " HEAD V2 "1 70)");
	keys_are(b, "x(@70): " HEAD V2 "1\ny: " HEAD V2 "1");
}

static void a_code_waits_for_its_trace_to_end(void **state)
{
	struct script_bench *b = script_bench_reset(state);

	script_replies(b, SCRIPT_STANDALONE_CREATE, "x t", HEAD V1 " 100 0 9",
		       "(1 @100)");
	keys_are(b, "t(@110): " HEAD "\nx(@100): " HEAD V1);
	send_commands(b, "DEL x");
	script_replies(b, SCRIPT_STANDALONE_CREATE, "x t", OTHER V1 " 100 0 9",
		       "(-2 110)");
	keys_are(b, "t(@110): " HEAD);
	/* The trace is of the same link: the former try was stored, and its
	 * link ended. */
	script_replies(b, SCRIPT_STANDALONE_CREATE, "x t", HEAD V1 " 50 0 9",
		       "(1 @50)");
	keys_are(b, "t(@60): " HEAD "\nx(@50): " HEAD V1);
	send_commands(b, "DEL x t");
	script_replies(b, SCRIPT_STANDALONE_CREATE, "x t", HEAD V1 " never 0 9",
		       "(1 -1)");
	keys_are(b, "x: " HEAD V1);
	send_commands(b, "DEL x");
	script_replies(b, SCRIPT_STANDALONE_CREATE, "x t", HEAD V1 " 0 0 9",
		       "(1 @0)");
	keys_are(b, "t(@10): " HEAD "\nx(@0): " HEAD V1);
	send_commands(b, "SET x " HEAD V1);
	/* An existing link takes precedence over a trace. */
	send_commands(b, "SET t " OTHER);
	script_replies(b, SCRIPT_STANDALONE_CREATE, "x t", HEAD V1 " 50 0 9",
		       "(1 -1)");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a_record_is_replaced_by_the_next_version_of_it),
		cmocka_unit_test(a_link_without_a_marker_is_edited),
		cmocka_unit_test(a_new_life_raises_the_blocks_end_first),
		cmocka_unit_test(a_blocked_link_does_not_end_and_is_counted),
		cmocka_unit_test(a_marker_counts_all_of_its_blocked_links),
		cmocka_unit_test(a_tombstone_stays_until_its_block_ends),
		cmocka_unit_test(a_deleted_link_that_was_blocked_ends),
		cmocka_unit_test(a_link_without_a_block_leaves_a_trace),
		cmocka_unit_test(the_code_of_a_changed_link_is_published),
		cmocka_unit_test(versions_are_read_of_any_length),
		cmocka_unit_test(states_are_read_behind_numbers_and_texts),
		cmocka_unit_test(a_record_that_is_cut_off_is_damaged),
		cmocka_unit_test(so_many_visits_are_counted_as_a_link_may_have),
		cmocka_unit_test(so_many_fetches_are_counted_beside_the_visits),
		cmocka_unit_test(
			a_link_without_a_block_is_stored_through_its_deadline),
		cmocka_unit_test(a_live_alias_is_never_overwritten),
		cmocka_unit_test(ones_own_alias_is_found_again),
		cmocka_unit_test(a_code_waits_for_its_trace_to_end),
	};

	return cmocka_run_group_tests(tests, script_bench_start,
				      script_bench_stop);
}

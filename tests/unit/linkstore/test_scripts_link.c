/* The scripts of a link and of an account: both sides of every bound. */
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

/* keys link visits marker, args head version generation record what ttl */
static void a_record_is_replaced_by_the_next_version_of_it(void **state)
{
	struct script_bench *b = script_bench_reset(state);

	send_commands(b, "SET x " HEAD V1 " PXAT @50\nHSET v visits 1\n"
			 "SET m '3 o1 day @-90 @60 me'");
	script_replies(b, SCRIPT_EDIT, "none v m",
		       HEAD " 1 3 " HEAD V2 " keep 0", "(0)");
	script_replies(b, SCRIPT_EDIT, "x v m", OTHER " 1 3 " HEAD V2 " keep 0",
		       "(0)");
	script_replies(b, SCRIPT_EDIT, "x v m", HEAD " 2 3 " HEAD V3 " keep 0",
		       "(-1)");
	script_replies(b, SCRIPT_EDIT, "x v m", HEAD " 1 2 " HEAD V2 " keep 0",
		       "(0)");
	script_replies(b, SCRIPT_EDIT, "x v m", HEAD " 1 4 " HEAD V2 " keep 0",
		       "(0)");
	keys_are(b, "m: 3 o1 day @-90 @60 me\nv: visits=1\n"
		    "x(@50): " HEAD V1);
	script_replies(b, SCRIPT_EDIT, "x v m", HEAD " 1 3 " HEAD V2 " keep 0",
		       "(1 @50)");
	/* The same call is repeated, since its reply was lost. */
	script_replies(b, SCRIPT_EDIT, "x v m", HEAD " 1 3 " HEAD V2 " keep 0",
		       "(1 @50)");
	script_replies(b, SCRIPT_EDIT, "x v m", HEAD " 1 3 " HEAD V3 " keep 0",
		       "(-1)");
	keys_are(b, "m: 3 o1 day @-90 @60 me\n"
		    "published: link-changes x\n"
		    "v: visits=1\n"
		    "x(@50): " HEAD V2);
	send_commands(b, "SET m '3 c day @-90 @60 me'");
	script_replies(b, SCRIPT_EDIT, "x v m", HEAD " 2 3 " HEAD V3 " keep 0",
		       "(0)");
}

static void a_link_without_a_marker_is_edited(void **state)
{
	struct script_bench *b = script_bench_reset(state);

	send_commands(b, "SET x " HEAD V1);
	script_replies(b, SCRIPT_EDIT, "x v m",
		       HEAD " 1 3 " HEAD V2 " life 100", "(1 @100)");
	script_replies(b, SCRIPT_EDIT, "x v m",
		       HEAD " 2 3 " HEAD V3 " life never", "(1 -1)");
	keys_are(b, "published: link-changes x|link-changes x\n"
		    "x: " HEAD V3);
}

static void a_new_life_raises_the_blocks_end_first(void **state)
{
	struct script_bench *b = script_bench_reset(state);

	send_commands(b, "SET x " HEAD V1 " PXAT @50\nHSET v visits 1\n"
			 "SET m '3 o1 day @-90 @60 me'");
	script_replies(b, SCRIPT_EDIT, "x v m", HEAD " 1 3 " HEAD V2 " life 60",
		       "(1 @60)");
	keys_are(b, "m: 3 o1 day @-90 @60 me\n"
		    "published: link-changes x\n"
		    "v(@60): visits=1\n"
		    "x(@60): " HEAD V2);
	script_replies(b, SCRIPT_EDIT, "x v m", HEAD " 2 3 " HEAD V3 " life 61",
		       "(1 @61)");
	script_replies(b, SCRIPT_EDIT, "x v m", HEAD " 3 3 " HEAD V1 " life 40",
		       "(1 @40)");
	keys_are(b, "m: 3 o1 day @-90 @61 me\n"
		    "published: link-changes x|link-changes x|link-changes x\n"
		    "v(@40): visits=1\n"
		    "x(@40): " HEAD V1);
	script_replies(b, SCRIPT_EDIT, "x v m",
		       HEAD " 1 3 " HEAD V2 " life never", "(1 -1)");
	send_commands(b, "DEL published");
	keys_are(b, "m: 3 o1 day @-90 never me\nv: visits=1\nx: " HEAD V2);
}

static void a_blocked_link_does_not_end_and_is_counted(void **state)
{
	struct script_bench *b = script_bench_reset(state);

	send_commands(b, "SET x " HEAD V1 " PXAT @50\nHSET v visits 1\n"
			 "PEXPIREAT v @50\nSET m '3 o day @-90 @60 me'");
	script_replies(b, SCRIPT_EDIT, "x v m",
		       HEAD " 1 3 " HEAD V2 BLOCKED " keep 0", "(1 -1)");
	keys_are(b, "m: 3 o1 day @-90 @60 me\n"
		    "published: link-changes x\n"
		    "v: visits=1\n"
		    "x: " HEAD V2 BLOCKED);
	/* A second blocking of the link counts once, and the link still has no
	 * end. */
	script_replies(b, SCRIPT_EDIT, "x v m",
		       HEAD " 2 3 " HEAD V3 BLOCKED " life 10", "(1 -1)");
	send_commands(b, "DEL published");
	keys_are(b, "m: 3 o1 day @-90 @60 me\nv: visits=1\n"
		    "x: " HEAD V3 BLOCKED);
	script_replies(b, SCRIPT_EDIT, "x v m", HEAD " 3 3 " HEAD V1 " keep 0",
		       "!a link that is let go needs a life");
	keys_are(b, "m: 3 o1 day @-90 @60 me\nv: visits=1\n"
		    "x: " HEAD V3 BLOCKED);
	script_replies(b, SCRIPT_EDIT, "x v m", HEAD " 3 3 " HEAD V1 " life 30",
		       "(1 @30)");
	send_commands(b, "DEL published");
	keys_are(b, "m: 3 o day @-90 @60 me\nv(@30): visits=1\n"
		    "x(@30): " HEAD V1);
}

static void a_marker_counts_all_of_its_blocked_links(void **state)
{
	struct script_bench *b = script_bench_reset(state);

	send_commands(b, "SET x " HEAD V1 "\nSET m '3 o2 day @-90 @60 me'");
	script_replies(b, SCRIPT_EDIT, "x v m",
		       HEAD " 1 3 " HEAD V2 BLOCKED " keep 0", "(1 -1)");
	send_commands(b, "DEL published");
	keys_are(b, "m: 3 o3 day @-90 @60 me\nx: " HEAD V2 BLOCKED);
	script_replies(b, SCRIPT_EDIT, "x v m", HEAD " 2 3 " HEAD V3 " life 70",
		       "(1 @70)");
	send_commands(b, "DEL published");
	keys_are(b, "m: 3 o2 day @-90 @70 me\nx(@70): " HEAD V3);
	/* The marker has lost its count. */
	send_commands(b,
		      "SET x " HEAD V1 BLOCKED "\nSET m '3 o day @-90 @60 me'");
	script_replies(b, SCRIPT_EDIT, "x v m", HEAD " 1 3 " HEAD V2 " life 50",
		       "(1 @50)");
	send_commands(b, "DEL published");
	keys_are(b, "m: 3 o day @-90 @60 me\nx(@50): " HEAD V2);
}

static void a_tombstone_stays_until_its_block_ends(void **state)
{
	struct script_bench *b = script_bench_reset(state);

	send_commands(b, "SET x " HEAD V1 " PXAT @50\nHSET v visits 1\n"
			 "SET m '3 o day @-90 @60 me'");
	script_replies(b, SCRIPT_EDIT, "x v m",
		       HEAD " 1 3 " HEAD V2 DELETED " tombstone 7", "(1 @60)");
	send_commands(b, "DEL published");
	keys_are(b, "m: 3 o day @-90 @60 me\nv(@60): visits=1\n"
		    "x(@60): " HEAD V2 DELETED);
	/* The marker is lost: the tombstone stays as long as the link would. */
	send_commands(b, "DEL m v\nSET x " HEAD V1 " PXAT @50");
	script_replies(b, SCRIPT_EDIT, "x v m",
		       HEAD " 1 3 " HEAD V2 DELETED " tombstone 7", "(1 @50)");
	send_commands(b, "DEL published");
	keys_are(b, "x(@50): " HEAD V2 DELETED);
	send_commands(b, "SET m '3 o day @-90 never me'\nSET x " HEAD V1);
	script_replies(b, SCRIPT_EDIT, "x v m",
		       HEAD " 1 3 " HEAD V2 DELETED " tombstone 7", "(1 -1)");
}

static void a_deleted_link_that_was_blocked_ends(void **state)
{
	struct script_bench *b = script_bench_reset(state);

	/* The block was kept for this link only, and lasts a second more. */
	send_commands(b, "SET x " HEAD V1 BLOCKED
			 "\nSET m '3 o1 day @-90 @-60 me'");
	script_replies(b, SCRIPT_EDIT, "x v m",
		       HEAD " 1 3 " HEAD V2 DELETED " tombstone 7",
		       "(1 @1000)");
	send_commands(b, "DEL published");
	keys_are(b, "m: 3 o day @-90 @1000 me\nx(@1000): " HEAD V2 DELETED);
	send_commands(b, "SET x " HEAD V1 BLOCKED
			 "\nSET m '3 o1 day @-90 @2000 me'");
	script_replies(b, SCRIPT_EDIT, "x v m",
		       HEAD " 1 3 " HEAD V2 DELETED " tombstone 7",
		       "(1 @2000)");
	send_commands(b, "DEL published m\nSET x " HEAD V1 BLOCKED);
	script_replies(b, SCRIPT_EDIT, "x v m",
		       HEAD " 1 3 " HEAD V2 DELETED " tombstone 7", "(1 @7)");
}

/* The third key is the trace of an alias; there may be none. */
static void a_link_without_a_block_leaves_a_trace(void **state)
{
	struct script_bench *b = script_bench_reset(state);

	send_commands(b, "SET l:{code} " HEAD V1 " PXAT @50\nSET t " HEAD);
	script_replies(b, SCRIPT_EDIT, "l:{code} v t",
		       HEAD " 1 0 " HEAD V2 " life 80 1000", "(1 @80)");
	keys_are(b, "l:{code}(@80): " HEAD V2 "\n"
		    "published: link-changes code\n"
		    "t(@1081): " HEAD);
	/* An alias that does not end needs no trace. */
	script_replies(b, SCRIPT_EDIT, "l:{code} v t",
		       HEAD " 2 0 " HEAD V3 BLOCKED " life 80 1000", "(1 -1)");
	send_commands(b, "DEL published");
	keys_are(b, "l:{code}: " HEAD V3 BLOCKED);
	send_commands(b, "SET l:{code} " HEAD V1 " PXAT @50\nSET t " HEAD);
	script_replies(b, SCRIPT_EDIT, "l:{code} v t",
		       HEAD " 1 0 " HEAD V2 " keep 0 1000", "(1 @50)");
	script_replies(b, SCRIPT_EDIT, "l:{code} v t",
		       HEAD " 2 0 " HEAD V3 DELETED " tombstone 500 1000",
		       "(1 @500)");
	send_commands(b, "DEL published");
	keys_are(b, "l:{code}(@500): " HEAD V3 DELETED);
	send_commands(b, "SET l:{code} " HEAD V1);
	script_replies(b, SCRIPT_EDIT, "l:{code} v",
		       HEAD " 1 0 " HEAD V2 DELETED " tombstone 500",
		       "(1 @500)");
	send_commands(b, "DEL published");
	keys_are(b, "l:{code}(@500): " HEAD V2 DELETED);
}

static void the_code_of_a_changed_link_is_published(void **state)
{
	struct script_bench *b = script_bench_reset(state);

	send_commands(b, "SET l:{s7:12}:a-_Z9 " HEAD V1);
	script_replies(b, SCRIPT_EDIT, "l:{s7:12}:a-_Z9 v",
		       HEAD " 1 0 " HEAD V2 " keep 0", "(1 -1)");
	keys_are(b, "l:{s7:12}:a-_Z9: " HEAD V2 "\n"
		    "published: link-changes a-_Z9");
	b->refused = "PUBLISH";
	send_commands(b, "DEL published");
	script_replies(b, SCRIPT_EDIT_SMALL, "l:{s7:12}:a-_Z9 v",
		       HEAD " 2 0 " HEAD V3 " keep 0", "(1 -1)");
	keys_are(b, "l:{s7:12}:a-_Z9: " HEAD V3 "\n"
		    "logged: nobody is told of a changed link: "
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
		snprintf(args, sizeof(args), HEAD " %s 0 " HEAD V1 " keep 0",
			 cases[i].version);
		script_replies(b, SCRIPT_EDIT, "x v", args, "(1 -1)");
	}
	send_commands(b, "SET x " HEAD "\x18");
	script_replies(b, SCRIPT_EDIT, "x v", HEAD " 0 0 " HEAD V1 " keep 0",
		       "!DAMAGED a link record is damaged");
	send_commands(b, "SET x " HEAD "\x18\x80");
	script_replies(b, SCRIPT_EDIT, "x v", HEAD " 0 0 " HEAD V1 " keep 0",
		       "!DAMAGED a link record is damaged");
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

/* --- node numbers --------------------------------------------------------- */

static void a_node_number_has_one_holder(void **state)
{
	struct script_bench *b = script_bench_reset(state);

	script_replies(b, SCRIPT_NODE_LEASE, "n", "me 100 0", "(1 0 @100)");
	keys_are(b, "n: from=0 holder=me until=@100");
	script_replies(b, SCRIPT_NODE_LEASE, "n", "she 100 0", "(0 me @100)");
	script_replies(b, SCRIPT_NODE_LEASE, "n", "me 90 0", "(1 0 @100)");
	script_replies(b, SCRIPT_NODE_LEASE, "n", "me 110 0", "(1 0 @110)");
	keys_are(b, "n: from=0 holder=me until=@110");
	b->now += 109;
	script_replies(b, SCRIPT_NODE_LEASE, "n", "she 100 0", "(0 me @1)");
	b->now += 1;
	script_replies(b, SCRIPT_NODE_LEASE, "n", "she 100 0", "(1 @0 @100)");
	keys_are(b, "n: from=@0 holder=she until=@100");
	/* The second call returns the lease again; nothing is lost. */
	script_replies(b, SCRIPT_NODE_LEASE, "n", "she 120 0", "(1 @0 @120)");
}

static void a_node_number_is_given_up_with_what_was_made(void **state)
{
	struct script_bench *b = script_bench_reset(state);

	send_commands(b, "HSET n holder me until @100 from @-50");
	script_replies(b, SCRIPT_NODE_LEASE, "n", "she 0 @10", "(0 me @100)");
	script_replies(b, SCRIPT_NODE_LEASE, "n", "me 0 @10", "(1 0 0)");
	keys_are(b, "n: from=@-50 holder= until=@10");
	script_replies(b, SCRIPT_NODE_LEASE, "n", "she 100 0", "(1 @10 @100)");
	keys_are(b, "n: from=@10 holder=she until=@100");
	script_replies(b, SCRIPT_NODE_LEASE, "n", "she 0 @-90", "(1 0 0)");
	keys_are(b, "n: from=@10 holder= until=@10");
	/* A program that does not hold the lease cannot release it. */
	send_commands(b, "HSET n holder me until @0 from @-50");
	script_replies(b, SCRIPT_NODE_LEASE, "n", "she 0 @90", "(1 0 0)");
	keys_are(b, "n: from=@-50 holder=me until=@0");
	send_commands(b, "HSET n holder '' until @90");
	script_replies(b, SCRIPT_NODE_LEASE, "n", "she 0 @95", "(1 0 0)");
	keys_are(b, "n: from=@-50 holder= until=@90");
	send_commands(b, "DEL n\nHSET n holder me until @0");
	script_replies(b, SCRIPT_NODE_LEASE, "n", "me 0 @-9", "(1 0 0)");
	keys_are(b, "n: holder= until=@-9");
	send_commands(b, "DEL n\nHSET n holder me until @0");
	script_replies(b, SCRIPT_NODE_LEASE, "n", "me 0 0", "(1 0 0)");
	keys_are(b, "n: holder= until=0");
	/* A lease without a holder excludes no program. */
	send_commands(b, "DEL n\nHSET n until @10");
	script_replies(b, SCRIPT_NODE_LEASE, "n", "me 9 0", "(1 @10 @10)");
	send_commands(b, "DEL n\nHSET n holder me until @10");
	script_replies(b, SCRIPT_NODE_LEASE, "n", "me 9 0", "(1 0 @10)");
	keys_are(b, "n: from=0 holder=me until=@10");
}

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

/* --- domains -------------------------------------------------------------- */

static void domains_are_stored_over_the_revision_that_was_read(void **state)
{
	struct script_bench *b = script_bench_reset(state);

	script_replies(b, SCRIPT_DOMAINS, "d", "1 text", "(0)");
	script_replies(b, SCRIPT_DOMAINS, "d", "0 text", "(1 @0)");
	keys_are(b, "d: revision=@0 text=text");
	script_replies(b, SCRIPT_DOMAINS, "d", "@1 more", "(0)");
	script_replies(b, SCRIPT_DOMAINS, "d", "@-1 more", "(0)");
	script_replies(b, SCRIPT_DOMAINS, "d", "@0 more", "(1 @1)");
	script_replies(b, SCRIPT_DOMAINS, "d", "@1 ''", "(1 @2)");
	keys_are(b, "d: revision=@2 text=");
	b->now += 100;
	script_replies(b, SCRIPT_DOMAINS, "d", "@-98 more", "(1 @0)");
	send_commands(b, "HSET d revision x");
	script_replies(b, SCRIPT_DOMAINS, "d", "0 more",
		       "!DAMAGED the field revision of d is damaged");
	/* The greatest number that Lua can count to. */
	send_commands(b, "HSET d revision 9007199254740992");
	script_replies(b, SCRIPT_DOMAINS, "d", "9007199254740992 more",
		       "!DAMAGED the field revision of d is damaged");
	send_commands(b, "HSET d revision 9007199254740991");
	script_replies(b, SCRIPT_DOMAINS, "d", "9007199254740991 more",
		       "(1 9007199254740992)");
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
		cmocka_unit_test(a_node_number_has_one_holder),
		cmocka_unit_test(a_node_number_is_given_up_with_what_was_made),
		cmocka_unit_test(
			a_plan_is_written_over_the_very_one_that_was_read),
		cmocka_unit_test(a_plan_ends_as_done_or_goes),
		cmocka_unit_test(
			domains_are_stored_over_the_revision_that_was_read),
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

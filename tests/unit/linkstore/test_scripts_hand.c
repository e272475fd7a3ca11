/* The scripts that move blocks by hand: both sides of every bound. */
#include "tests/unit/linkstore/script_bench.h"

/* Calls the script, which must change nothing. */
static void check_refused(struct script_bench *b, enum link_script script,
			  const char *keys, const char *args, const char *reply)
{
	char before[SCRIPT_ROOM];

	snprintf(before, sizeof(before), "%s", script_keys(b));
	script_replies(b, script, keys, args, reply);
	keys_are(b, before);
}

/* The same for each damage of the given keys. */
static void check_damages(struct script_bench *b, const char *whole,
			  const char *const *damages, size_t n,
			  enum link_script script, const char *keys,
			  const char *args)
{
	char before[SCRIPT_ROOM];

	for (size_t i = 0; i < n; i++) {
		send_commands(b, "FLUSHALL");
		send_commands(b, whole);
		send_commands(b, damages[i]);
		snprintf(before, sizeof(before), "%s", script_keys(b));
		if (script_run(b, script, keys, args)[0] != '!')
			fail_msg("%s: %s", damages[i], b->reply);
		keys_are(b, before);
	}
}

/* --- a manual hold -------------------------------------------------------- */

/* issued pool out why hand space */
#define HOLD_KEYS "i p o w h s"

#define HELD "ZADD i @30 0-9:1 @40 10-19:2\nZADD p @50 20-29:3 @60 30-39:4"

static void blocks_are_held_with_a_note(void **state)
{
	struct script_bench *b = script_bench_reset(state);

	send_commands(b, HELD);
	script_replies(b, SCRIPT_HOLD, HOLD_KEYS,
		       "5 24 me 'a reason' d- i 0-9:1 i 10-19:2 p 20-29:3",
		       "(1 20)");
	keys_are(b, "d-21280611: held=20\n"
		    "h: @0 hold 5-24 20 me a reason\n"
		    "i: 0-4:1=@30\n"
		    "o: 10-19:2=@0 20-24:3=@0 5-9:1=@0\n"
		    "p: 25-29:3=@50 30-39:4=@60\n"
		    "s: moves=1\n"
		    "w: 10-19:2=i @40 me a reason 20-24:3=p @50 me a reason "
		    "5-9:1=i @30 me a reason");
}

static void a_block_within_a_range_is_held(void **state)
{
	struct script_bench *b = script_bench_reset(state);

	send_commands(b, HELD);
	script_replies(b, SCRIPT_HOLD, HOLD_KEYS, "3 3 me why d- i 0-9:1",
		       "(1 1)");
	redis_says(b, "ZRANGE i 0 -1 WITHSCORES",
		   "(0-2:1 @30 4-9:1 @30 10-19:2 @40)");
	script_replies(b, SCRIPT_HOLD, HOLD_KEYS, "0 0 me why d- i 0-2:1",
		       "(1 1)");
	script_replies(b, SCRIPT_HOLD, HOLD_KEYS, "2 2 me why d- i 1-2:1",
		       "(1 1)");
	redis_says(b, "ZRANGE i 0 -1", "(1-1:1 4-9:1 10-19:2)");
	redis_says(b, "HGET s moves", "3");
	redis_says(b, "LRANGE h 0 -1",
		   "(@0 hold 2-2 1 me why @0 hold 0-0 1 me why "
		   "@0 hold 3-3 1 me why)");
	/* A member just before, or just after, the range has no block of it. */
	check_refused(b, SCRIPT_HOLD, HOLD_KEYS, "0 3 me why d- i 4-9:1",
		      "!no block of 4-9:1");
	check_refused(b, SCRIPT_HOLD, HOLD_KEYS, "10 13 me why d- i 4-9:1",
		      "!no block of 4-9:1");
	script_replies(b, SCRIPT_HOLD, HOLD_KEYS, "9 13 me why d- i 4-9:1",
		       "(1 1)");
	script_replies(b, SCRIPT_HOLD, HOLD_KEYS, "1 4 me why d- i 4-8:1",
		       "(1 1)");
}

static void only_the_very_members_are_held(void **state)
{
	struct script_bench *b = script_bench_reset(state);

	send_commands(b, HELD);
	check_refused(b, SCRIPT_HOLD, HOLD_KEYS,
		      "0 19 me why d- i 0-9:1 i 10-19:1", "(0 member)");
	check_refused(b, SCRIPT_HOLD, HOLD_KEYS,
		      "0 19 me why d- p 0-9:1 i 10-19:2", "(0 member)");
	send_commands(b, "ZADD i 1 x");
	check_refused(b, SCRIPT_HOLD, HOLD_KEYS, "0 19 me why d- i 0-9:1 i x",
		      "!DAMAGED the range x is damaged");
}

static void nothing_is_held_in_damaged_sets(void **state)
{
	static const char *const damages[] = {
		"DEL p\nSET p 1", "SET o 1",	    "SET w 1",
		"SET h 1",	  "HSET s moves x", "HSET d-21280611 held x",
	};
	struct script_bench *b = script_bench_reset(state);

	check_damages(b, HELD, damages, 6, SCRIPT_HOLD, HOLD_KEYS,
		      "0 9 me why d- i 0-9:1");
}

static void a_thousand_lines_of_the_log_are_kept(void **state)
{
	struct script_bench *b = script_bench_reset(state);

	send_commands(b, HELD);
	send_commands(
		b, "EVAL 'for i = 1, 1000 do redis.call(\"RPUSH\", \"h\", i) "
		   "end' 0");
	script_replies(b, SCRIPT_HOLD, HOLD_KEYS, "0 9 me why d- i 0-9:1",
		       "(1 10)");
	redis_says(b, "LLEN h", "1000");
	redis_says(b, "LRANGE h 0 1", "(@0 hold 0-9 10 me why 1)");
}

/* --- a release ------------------------------------------------------------ */

/* issued out why hand space */
#define RELEASE_KEYS "i o w h s"

static void a_block_is_due_when_it_was_but_not_before_now(void **state)
{
	static const struct {
		const char *note, *score;
	} cases[] = {
		{"i @30 me why", "@30"}, {"i @-30 me why", "@0"},
		{"i @0 me why", "@0"},	 {"i 0 me why", "0"},
		{"i inf me why", "inf"}, {"p @30 me why", "@0"},
		{"i x me why", "@0"},	 {"x @30 me why", "@0"},
	};
	struct script_bench *b = script_bench_reset(state);
	char command[96];

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		send_commands(b, "DEL i\nZADD o @-5 0-9:1");
		snprintf(command, sizeof(command), "HSET w 0-9:1 '%s'",
			 cases[i].note);
		send_commands(b, command);
		script_replies(b, SCRIPT_RELEASE, RELEASE_KEYS,
			       "0 9 me why d- 0-9:1", "(1 10)");
		redis_says(b, "ZSCORE i 0-9:1", cases[i].score);
		redis_says(b, "EXISTS o w", "0");
	}
	send_commands(b, "DEL i\nZADD o @-5 0-9:1");
	script_replies(b, SCRIPT_RELEASE, RELEASE_KEYS, "0 9 me why d- 0-9:1",
		       "(1 10)");
	redis_says(b, "ZSCORE i 0-9:1", "@0");
}

static void what_is_not_released_keeps_its_note(void **state)
{
	struct script_bench *b = script_bench_reset(state);

	send_commands(b, "ZADD o @-5 0-9:1 @-4 10-19:2\n"
			 "HSET w 0-9:1 'i @30 x' 10-19:2 'p @40 y'");
	script_replies(b, SCRIPT_RELEASE, RELEASE_KEYS,
		       "5 14 me 'a reason' d- 0-9:1 10-19:2", "(1 10)");
	keys_are(b, "d-21280611: released=10\n"
		    "h: @0 release 5-14 10 me a reason\n"
		    "i: 10-14:2=@0 5-9:1=@30\n"
		    "o: 0-4:1=@-5 15-19:2=@-4\n"
		    "s: moves=1\n"
		    "w: 0-4:1=i @30 x 15-19:2=p @40 y");
	script_replies(b, SCRIPT_RELEASE, RELEASE_KEYS, "2 2 me why d- 0-4:1",
		       "(1 1)");
	redis_says(b, "ZRANGE o 0 -1", "(0-1:1 3-4:1 15-19:2)");
	script_replies(b, SCRIPT_RELEASE, RELEASE_KEYS, "0 0 me why d- 0-1:1",
		       "(1 1)");
	script_replies(b, SCRIPT_RELEASE, RELEASE_KEYS, "4 4 me why d- 3-4:1",
		       "(1 1)");
	redis_says(b, "ZRANGE o 0 -1", "(1-1:1 3-3:1 15-19:2)");
	redis_says(b, "HLEN w", "3");
	check_refused(b, SCRIPT_RELEASE, RELEASE_KEYS, "0 2 me why d- 3-3:1",
		      "!no block of 3-3:1");
	check_refused(b, SCRIPT_RELEASE, RELEASE_KEYS, "4 9 me why d- 3-3:1",
		      "!no block of 3-3:1");
	/* The rest gets an empty note if there was none. */
	send_commands(b, "HDEL w 15-19:2");
	script_replies(b, SCRIPT_RELEASE, RELEASE_KEYS,
		       "15 18 me why d- 15-19:2", "(1 4)");
	redis_says(b, "HGET w 19-19:2", "''");
}

static void only_the_very_members_are_released(void **state)
{
	struct script_bench *b = script_bench_reset(state);

	send_commands(b, "ZADD o @-5 0-9:1");
	check_refused(b, SCRIPT_RELEASE, RELEASE_KEYS,
		      "0 19 me why d- 0-9:1 10-19:2", "(0 member)");
	send_commands(b, "ZADD o 1 x");
	check_refused(b, SCRIPT_RELEASE, RELEASE_KEYS, "0 19 me why d- 0-9:1 x",
		      "!DAMAGED the range x is damaged");
}

static void nothing_is_released_into_damaged_sets(void **state)
{
	static const char *const damages[] = {
		"SET i 1",
		"SET w 1",
		"SET h 1",
		"HSET s moves x",
		"HSET d-21280611 released x",
	};
	struct script_bench *b = script_bench_reset(state);

	check_damages(b, "ZADD o @-5 0-9:1", damages, 5, SCRIPT_RELEASE,
		      RELEASE_KEYS, "0 9 me why d- 0-9:1");
}

/* --- a repair ------------------------------------------------------------- */

/* lock cursor issued pool out why hand space */
#define REPAIR_KEYS "k c i p o w h s"

/* lock ttl who verb reason */
#define REPAIR_ARGS "me 500 me repair 'a reason'"

#define REPAIRED                                                               \
	"SET k me PXAT @90\nSET c 100\nZADD i @30 0-9:1 @40 5-14:2\n"          \
	"ZADD p @50 10-19:3\nZADD o @60 30-39:4 @70 40-49:5\n"                 \
	"HSET w 30-39:4 note 40-49:5 other"

static void overlapping_members_become_parts_that_do_not(void **state)
{
	struct script_bench *b = script_bench_reset(state);

	send_commands(b, REPAIRED);
	script_replies(b, SCRIPT_REPAIR, REPAIR_KEYS,
		       REPAIR_ARGS " 3 i 0-9:1 i 5-14:2 p 10-19:3 "
				   "i 0 4 1 @35 p 5 14 3 @45 i 15 19 3 never",
		       "(1 20)");
	keys_are(b, "c: 100\n"
		    "h: @0 repair 0-19 20 me a reason\n"
		    "i: 0-4:1=@35 15-19:3=inf\n"
		    "k(@500): me\n"
		    "o: 30-39:4=@60 40-49:5=@70\n"
		    "p: 5-14:3=@45\n"
		    "s: moves=1\n"
		    "w: 30-39:4=note 40-49:5=other");
}

static void what_is_held_keeps_its_note(void **state)
{
	struct script_bench *b = script_bench_reset(state);

	send_commands(b, REPAIRED);
	script_replies(b, SCRIPT_REPAIR, REPAIR_KEYS,
		       REPAIR_ARGS " 2 o 40-49:5 o 30-39:4 "
				   "o 30 38 4 60 o 39 39 4 60 i 40 40 5 70 "
				   "o 41 49 5 70",
		       "(1 20)");
	redis_says(b, "HGETALL w", "(30-38:4 note 39-39:4 note 41-49:5 other)");
	redis_says(b, "ZRANGE o 0 -1 WITHSCORES",
		   "(30-38:4 60 39-39:4 60 41-49:5 70)");
	/* One range has no note, and one block was not held. */
	send_commands(b, "FLUSHALL");
	send_commands(b, REPAIRED);
	send_commands(b, "HDEL w 40-49:5");
	script_replies(b, SCRIPT_REPAIR, REPAIR_KEYS,
		       REPAIR_ARGS " 2 i 0-9:1 o 40-49:5 o 0 9 1 1 "
				   "o 40 49 6 70",
		       "(1 20)");
	redis_says(b, "HGETALL w", "(30-39:4 note)");
	redis_says(b, "ZRANGE o 0 -1", "(0-9:1 40-49:6 30-39:4)");
	/* A part keeps the note of the member with its first block. */
	send_commands(b, "FLUSHALL");
	send_commands(b, REPAIRED);
	script_replies(b, SCRIPT_REPAIR, REPAIR_KEYS,
		       REPAIR_ARGS " 2 o 30-39:4 o 40-49:5 o 30 49 6 70",
		       "(1 20)");
	redis_says(b, "HGETALL w", "(30-49:6 note)");
	redis_says(b, "LRANGE h 0 -1", "(@0 repair 30-49 20 me a reason)");
}

static void blocks_in_no_set_become_issued(void **state)
{
	struct script_bench *b = script_bench_reset(state);

	send_commands(b, REPAIRED);
	send_commands(b, "HSET s set_aside '1-1:1 '");
	script_replies(b, SCRIPT_REPAIR, REPAIR_KEYS,
		       REPAIR_ARGS " 0 i 20 29 3 @80 i 60 99 1 @90", "(1 50)");
	keys_are(b, "c: 100\n"
		    "h: @0 repair 20-99 50 me a reason\n"
		    "i: 0-9:1=@30 5-14:2=@40 20-29:3=@80 60-99:1=@90\n"
		    "k(@500): me\n"
		    "o: 30-39:4=@60 40-49:5=@70\n"
		    "p: 10-19:3=@50\n"
		    "s: moves=1 set_aside=1-1:1 20-29:3 60-99:1 \n"
		    "w: 30-39:4=note 40-49:5=other");
	send_commands(b, "HDEL s set_aside");
	script_replies(b, SCRIPT_REPAIR, REPAIR_KEYS,
		       REPAIR_ARGS " 0 i 50 59 1 @80", "(1 10)");
	redis_says(b, "HGET s set_aside", "50-59:1 ");
	check_refused(b, SCRIPT_REPAIR, REPAIR_KEYS,
		      REPAIR_ARGS " 0 i 99 100 1 @90", "(0 cursor)");
	send_commands(b, "DEL c");
	check_refused(b, SCRIPT_REPAIR, REPAIR_KEYS,
		      REPAIR_ARGS " 0 i 0 0 1 @90", "(0 cursor)");
}

static void a_repair_needs_the_lock_and_the_very_members(void **state)
{
	struct script_bench *b = script_bench_reset(state);

	send_commands(b, REPAIRED);
	check_refused(b, SCRIPT_REPAIR, REPAIR_KEYS,
		      REPAIR_ARGS " 1 i 0-9:2 i 0 9 1 1", "(0 member)");
	check_refused(b, SCRIPT_REPAIR, REPAIR_KEYS,
		      REPAIR_ARGS " 2 p 0-9:1 i 5-14:2 i 0 14 1 1",
		      "(0 member)");
	send_commands(b, "SET k she");
	check_refused(b, SCRIPT_REPAIR, REPAIR_KEYS,
		      REPAIR_ARGS " 1 i 0-9:1 i 0 9 1 1", "(0 lock)");
	send_commands(b, "DEL k");
	check_refused(b, SCRIPT_REPAIR, REPAIR_KEYS,
		      REPAIR_ARGS " 1 i 0-9:1 i 0 9 1 1", "(0 lock)");
}

static void parts_cover_the_members_and_do_not_overlap(void **state)
{
	static const struct {
		const char *args, *reply;
	} cases[] = {
		{"1 i 0-9:1", "!no parts"},
		{"1 i 0-9:1 i 0 4 1 1 i 5 4 1 1", "!an empty part"},
		{"1 i 0-9:1 i 0 4 1 1 i 4 9 1 1", "!the parts overlap"},
		{"1 i 0-9:1 i 5 9 1 1 i 0 5 1 1", "!the parts overlap"},
		{"1 i 0-9:1 i 0 8 1 1", "!the parts do not cover the members"},
		{"1 i 0-9:1 i 1 9 1 1", "!the parts do not cover the members"},
		{"1 i 0-9:1 i 0 10 1 1", "!the parts do not cover the members"},
		{"1 i 0-9:1 i 0 4 1 1 i 6 9 1 1",
		 "!the parts do not cover the members"},
		{"2 i 0-9:1 o 30-39:4 i 0 9 1 1",
		 "!the parts do not cover the members"},
		{"2 i 0-9:1 o 30-39:4 i 0 9 1 1 o 30 38 4 1",
		 "!the parts do not cover the members"},
		{"0", "!no parts"},
	};
	struct script_bench *b = script_bench_reset(state);
	char args[128];

	send_commands(b, REPAIRED);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		snprintf(args, sizeof(args), REPAIR_ARGS " %s", cases[i].args);
		check_refused(b, SCRIPT_REPAIR, REPAIR_KEYS, args,
			      cases[i].reply);
	}
	/* The ranges are given in any order; one part has one block. */
	script_replies(b, SCRIPT_REPAIR, REPAIR_KEYS,
		       REPAIR_ARGS " 3 p 10-19:3 i 5-14:2 i 0-9:1 "
				   "i 19 19 1 1 i 1 18 1 1 i 0 0 1 1",
		       "(1 20)");
	redis_says(b, "LRANGE h 0 -1", "(@0 repair 0-19 20 me a reason)");
	/* One member lies within another, before a third that reaches further
	 * than both. */
	send_commands(b, "ZADD i @30 50-59:1 @40 52-53:2 @50 58-61:3");
	script_replies(b, SCRIPT_REPAIR, REPAIR_KEYS,
		       REPAIR_ARGS " 3 i 50-59:1 i 52-53:2 i 58-61:3 "
				   "i 50 61 4 1",
		       "(1 12)");
}

static void nothing_is_repaired_in_damaged_sets(void **state)
{
	static const char *const damages[] = {
		"DEL p\nSET p 1", "DEL o\nSET o 1", "DEL w\nSET w 1",
		"SET h 1",	  "HSET s moves x", "ZADD i 1 x",
	};
	struct script_bench *b = script_bench_reset(state);

	check_damages(b, REPAIRED, damages, 5, SCRIPT_REPAIR, REPAIR_KEYS,
		      REPAIR_ARGS " 1 i 0-9:1 i 0 9 1 1");
	send_commands(b, "FLUSHALL");
	send_commands(b, REPAIRED);
	send_commands(b, "DEL i\nSET i 1");
	check_refused(b, SCRIPT_REPAIR, REPAIR_KEYS,
		      REPAIR_ARGS " 1 p 10-19:3 i 10 19 3 1",
		      "!WRONGTYPE Operation against a key holding the wrong "
		      "kind of value");
	send_commands(b, "DEL i");
	send_commands(b, damages[5]);
	check_refused(b, SCRIPT_REPAIR, REPAIR_KEYS,
		      REPAIR_ARGS " 1 i x i 0 9 1 1",
		      "!DAMAGED the range x is damaged");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(blocks_are_held_with_a_note),
		cmocka_unit_test(a_block_within_a_range_is_held),
		cmocka_unit_test(only_the_very_members_are_held),
		cmocka_unit_test(nothing_is_held_in_damaged_sets),
		cmocka_unit_test(a_thousand_lines_of_the_log_are_kept),
		cmocka_unit_test(a_block_is_due_when_it_was_but_not_before_now),
		cmocka_unit_test(what_is_not_released_keeps_its_note),
		cmocka_unit_test(only_the_very_members_are_released),
		cmocka_unit_test(nothing_is_released_into_damaged_sets),
		cmocka_unit_test(overlapping_members_become_parts_that_do_not),
		cmocka_unit_test(what_is_held_keeps_its_note),
		cmocka_unit_test(blocks_in_no_set_become_issued),
		cmocka_unit_test(a_repair_needs_the_lock_and_the_very_members),
		cmocka_unit_test(parts_cover_the_members_and_do_not_overlap),
		cmocka_unit_test(nothing_is_repaired_in_damaged_sets),
	};

	return cmocka_run_group_tests(tests, script_bench_start,
				      script_bench_stop);
}

/* The scripts of a space after Redis has forgotten grants: which blocks are set
 * aside, until when, and under which generation; both sides of every bound. */
#include "tests/unit/linkstore/space_scripts.h"

/* The run_id is another one: all due ranges may have been granted. */
static void a_redis_that_was_started_anew_sets_a_gap_aside(void **state)
{
	struct script_bench *b = space_reset(state);

	b->run_id = "def";
	send_commands(b,
		      "ZADD p @-5 0-2:3 @0 20-29:4 @5 40-41:2\nZADD u 1 1:1\n"
		      "HSET s highest 4 moves 6 used:0 0");
	script_replies(b, SCRIPT_RAISE_CURSOR, KEYS, "0 6 4 100 7 50 1000 d-",
		       "(1 17 7 4)");
	keys_are(b,
		 "c: 17\n"
		 "i: 0-2:3=@1050 10-16:1=@1050 20-23:4=@1050\n"
		 "p: 24-29:4=@0 40-41:2=@5\n"
		 "s: floor=0 forgot=1 gaps=10-16  highest=4 key:0=fp moves=7 "
		 "run_id=def set_aside=0-2:3 20-23:4  used:0=0 waits=@50");
	/* Redis remembers the state from now on. */
	script_replies(b, SCRIPT_RAISE_CURSOR, KEYS, "17 7 4 100 7 50 1000 d-",
		       "(1 17 7 4)");
	redis_says(b, "HGET s forgot", "1");
}

/* The caller has seen more moves than the record has. */
static void moves_that_are_missing_prove_it(void **state)
{
	struct script_bench *b = space_reset(state);

	send_commands(b, "ZADD p @-5 0-2:3 @0 20-39:4 @5 40-41:2\n"
			 "HSET s highest 4 moves 6");
	script_replies(b, SCRIPT_RAISE_CURSOR, KEYS, "0 9 4 100 7 50 1000 d-",
		       "(1 17 10 4)");
	keys_are(b, "c: 17\n"
		    "i: 0-2:5=@1050 10-16:1=@1050 20-26:5=@1050\n"
		    "p: 27-39:4=@0 40-41:2=@5\n"
		    "s: floor=5 forgot=1 gaps=10-16  highest=4 key:0=fp "
		    "moves=10 run_id=abc set_aside=0-2:5 20-26:5  waits=@50");
}

static void a_generation_that_is_missing_proves_it(void **state)
{
	struct script_bench *b = space_reset(state);

	send_commands(b,
		      "ZADD p @-5 0-2:3 @90 20-23:9\nHSET s highest 4 moves 6");
	script_replies(b, SCRIPT_RAISE_CURSOR, KEYS, "0 3 6 100 9 50 1000 d-",
		       "(1 19 7 6)");
	/* All of the pool may have been due. */
	keys_are(b,
		 "c: 19\n"
		 "i: 0-2:7=@1050 10-18:1=@1050 20-23:9=@1050\n"
		 "s: floor=7 forgot=1 gaps=10-18  highest=6 key:0=fp moves=7 "
		 "run_id=abc set_aside=0-2:7 20-23:9  waits=@50");
}

/* A range that is not due cannot have been granted, unless the clock went back.
 */
static void what_is_not_due_is_not_set_aside(void **state)
{
	struct script_bench *b = space_reset(state);

	b->run_id = "def";
	send_commands(b, "ZADD p @0 0-2:3 @1 20-39:4");
	script_run(b, SCRIPT_RAISE_CURSOR, KEYS, SEEN_NOTHING);
	redis_says(b, "HMGET s set_aside aside", "(0-2:3  nil)");
	redis_says(b, "ZRANGE p 0 -1", "(20-39:4)");
}

/* A later generation seen by another caller counts, too. */
static void a_floor_is_above_all_that_was_granted(void **state)
{
	struct script_bench *b = space_reset(state);

	send_commands(b, "HSET s highest 4 moves 6");
	script_run(b, SCRIPT_RAISE_CURSOR, KEYS, "0 9 2 100 7 50 1000 d-");
	redis_says(b, "HMGET s floor highest", "(5 4)");
}

static void a_floor_is_never_lowered(void **state)
{
	struct script_bench *b = space_reset(state);

	send_commands(b, "HSET s highest 4 moves 6 floor 12");
	script_replies(b, SCRIPT_RAISE_CURSOR, KEYS, "0 7 4 100 7 50 1000 d-",
		       "(1 17 8 4)");
	redis_says(b, "HMGET s floor highest", "(12 4)");
	send_commands(b, "ZADD p @-5 0-2:3\nHDEL s waits");
	script_replies(b, SCRIPT_GRANT, KEYS, SEEN_NOTHING " 1 300 0 @0",
		       "(1 9 12 0 0 12)");
}

static void a_gap_ends_at_the_capacity(void **state)
{
	struct script_bench *b = space_reset(state);

	b->run_id = "def";
	send_commands(b, "SET c 95");
	script_replies(b, SCRIPT_RAISE_CURSOR, KEYS, SEEN_NOTHING,
		       "(1 100 1 0)");
	redis_says(b, "HGET s gaps", "95-99 ");
}

static void a_gap_is_twice_the_busiest_minute(void **state)
{
	static const struct {
		const char *today, *before, *cursor;
	} cases[] = {{"3", "3", "17"}, {"4", "0", "18"}, {"0", "5", "20"}};
	struct script_bench *b = space_reset(state);
	char command[128];

	b->run_id = "def";
	for (size_t i = 0; i < 3; i++) {
		snprintf(command, sizeof(command),
			 "HSET s run_id abc\nSET c 10\n"
			 "HSET d-21280611 busiest %s\n"
			 "HSET d-21280610 busiest %s",
			 cases[i].today, cases[i].before);
		send_commands(b, command);
		script_run(b, SCRIPT_RAISE_CURSOR, KEYS, SEEN_NOTHING);
		redis_says(b, "GET c", cases[i].cursor);
	}
}

static void the_busiest_minute_of_yesterday_counts(void **state)
{
	struct script_bench *b = space_reset(state);
	static const long long times[] = {4999968000000, 5000054399999};

	b->run_id = "def";
	send_commands(b, "HSET d-21280610 busiest 5");
	for (int i = 0; i < 2; i++) {
		b->now = times[i];
		send_commands(b, "HSET s run_id abc\nSET c 10");
		script_run(b, SCRIPT_RAISE_CURSOR, KEYS, SEEN_NOTHING);
		redis_says(b, "GET c", "20");
	}
}

static void key_versions_in_use_of_late_count_as_used(void **state)
{
	struct script_bench *b = space_reset(state);

	b->run_id = "def";
	send_commands(b,
		      "HSET s used:0 @-5 used:1 @-86400005 used:2 @-86400006 "
		      "used:3 0");
	script_run(b, SCRIPT_RAISE_CURSOR, KEYS, SEEN_NOTHING);
	redis_says(b, "HMGET s used:0 used:1 used:2 used:3",
		   "(@0 @0 @-86400006 0)");
	send_commands(
		b, "HSET s run_id abc used:0 0 used:1 0 used:2 0 used:3 @-7");
	script_run(b, SCRIPT_RAISE_CURSOR, KEYS, SEEN_NOTHING);
	redis_says(b, "HMGET s used:0 used:1 used:2 used:3", "(0 0 0 @0)");
	send_commands(
		b, "HSET s run_id abc used:0 1 used:1 86400001 used:2 0 used:3 "
		   "0");
	script_run(b, SCRIPT_RAISE_CURSOR, KEYS, SEEN_NOTHING);
	redis_says(b, "HMGET s used:0 used:1 used:2 used:3", "(@0 @0 0 0)");
	send_commands(
		b, "HDEL s used:1 used:2 used:3\nHSET s run_id abc used:0 x");
	script_run(b, SCRIPT_RAISE_CURSOR, KEYS, SEEN_NOTHING);
	assert_true(b->reply[0] == '(');
	redis_says(b, "HMGET s used:0 used:1 used:2 used:3", "(x nil nil nil)");
}

static void the_pool_waits_for_a_hold_and_a_generation(void **state)
{
	struct script_bench *b = space_reset(state);

	send_commands(
		b, "SET c 100\nHSET s waits '@-20 @1'\n"
		   "ZADD p @-30 0-0:2 @-20 1-1:2 @-19 2-2:2 @1 3-3:2 @2 4-4:2");
	script_replies(b, SCRIPT_GRANT, KEYS, SEEN_NOTHING " 9 300 0 @0",
		       "(0 exhausted)");
	b->now += 1;
	script_replies(b, SCRIPT_GRANT, KEYS, SEEN_NOTHING " 9 300 0 @0",
		       "(1 4 4 0 0 4 1 1 4 2 2 3 3 3 3)");
	b->now += 1;
	script_replies(b, SCRIPT_GRANT, KEYS, SEEN_NOTHING " 9 300 0 @0",
		       "(1 5 4 4 4 2)");
}

/* A wait is kept while a member of the pool has a score up to it. */
static void waits_are_kept_while_they_matter(void **state)
{
	struct script_bench *b = space_reset(state);

	b->run_id = "def";
	send_commands(b, "HSET s waits '@-70 @-60 @0'\nZADD p @60 40-41:2");
	script_run(b, SCRIPT_RAISE_CURSOR, KEYS, SEEN_NOTHING);
	redis_says(b, "HGET s waits", "@50");
	send_commands(
		b,
		"HSET s run_id abc waits '@-70 @-60 @0'\nZADD p @-60 40-41:2 "
		"@-59 50-79:2");
	script_run(b, SCRIPT_RAISE_CURSOR, KEYS, SEEN_NOTHING);
	redis_says(b, "HGET s waits", "@-60 @0 @50");
	/* The last wait is not over: the new one replaces it. */
	send_commands(b, "HSET s run_id abc waits '@-60 @1'");
	send_commands(b, "ZADD p @-65 80-99:2");
	script_run(b, SCRIPT_RAISE_CURSOR, KEYS, SEEN_NOTHING);
	redis_says(b, "HGET s waits", "@-60 @50");
	send_commands(b, "DEL p\nHSET s run_id abc waits '@-60 @0'");
	script_run(b, SCRIPT_RAISE_CURSOR, KEYS, SEEN_NOTHING);
	redis_says(b, "HGET s waits", "@50");
}

/* A block that is set aside keeps the generation that it would have been
 * granted under. */
static void what_is_set_aside_has_its_former_generation(void **state)
{
	struct script_bench *b = space_reset(state);

	b->run_id = "def";
	send_commands(b,
		      "HSET s waits @-5\nZADD p @-6 0-0:2 @-5 1-1:2 @-4 2-2:2 "
		      "@-3 3-3:32767");
	script_run(b, SCRIPT_RAISE_CURSOR, KEYS, SEEN_NOTHING);
	redis_says(b, "HGET s set_aside", "0-0:3 1-1:3 2-2:2 3-3:32767 ");
	redis_says(b, "HGET s waits", "@-5 @50");
	send_commands(
		b,
		"HSET s waits @-5 run_id abc floor 40000\nZADD p @-6 4-4:2 ");
	script_run(b, SCRIPT_RAISE_CURSOR, KEYS, SEEN_NOTHING);
	redis_says(b, "HGET s set_aside",
		   "0-0:3 1-1:3 2-2:2 3-3:32767 4-4:32767 ");
}

static void what_is_owed_is_set_aside_before_a_grant(void **state)
{
	struct script_bench *b = space_reset(state);

	send_commands(b, "HSET s aside '3 @-4' set_aside '8-8:1 '\n"
			 "ZADD p @-6 0-1:2 @-4 2-2:2 @-3 3-5:2");
	script_replies(b, SCRIPT_GRANT, KEYS, SEEN_NOTHING " 1 300 0 @0",
		       "(1 1 2 3 3 2)");
	redis_says(b, "HMGET s aside set_aside", "(nil 8-8:1 0-1:2 2-2:2 )");
	redis_says(b, "ZRANGE i 0 -1 WITHSCORES",
		   "(3-3:2 @300 0-1:2 @1050 2-2:2 @1050)");
	/* More blocks are to be set aside than the pool has: the rest is
	 * cancelled. */
	send_commands(b, "HSET s aside '9 @-4'\nZADD p @-4 0-1:2");
	script_replies(b, SCRIPT_GRANT, KEYS, SEEN_NOTHING " 1 300 0 @0",
		       "(1 2 2 4 4 2)");
	redis_says(b, "HGET s aside", "nil");
	/* An unreadable field counts as nothing to set aside. */
	send_commands(b, "HSET s aside '3 x'");
	script_run(b, SCRIPT_RAISE_CURSOR, KEYS, SEEN_NOTHING);
	redis_says(b, "ZRANGE p 0 -1", "(5-5:2)");
	/* Only a part of a range is set aside. */
	send_commands(b, "DEL p\nHSET s aside '2 +inf'\nZADD p @9 20-29:2");
	script_replies(b, SCRIPT_RAISE_CURSOR, KEYS, SEEN_NOTHING,
		       "(1 10 2 2)");
	redis_says(b, "ZRANGE p 0 -1 WITHSCORES", "(22-29:2 @9)");
}

/* Blocks were to be set aside before: all of the pool still counts as due. */
static void what_is_owed_adds_up(void **state)
{
	struct script_bench *b = space_reset(state);

	b->run_id = "def";
	send_commands(b, "HSET s aside '3 +inf'\nZADD p @90 20-59:2");
	script_run(b, SCRIPT_RAISE_CURSOR, KEYS, SEEN_NOTHING);
	redis_says(b, "HMGET s set_aside aside", "(20-29:2  nil)");
	send_commands(b, "HSET s run_id abc aside '3 @-5'\nZADD p @0 60-79:2");
	script_run(b, SCRIPT_RAISE_CURSOR, KEYS, SEEN_NOTHING);
	redis_says(b, "HGET s set_aside", "20-29:2 60-69:2 ");
	/* Both signs show the loss: the moves that were seen count, too. */
	send_commands(b, "HSET s run_id abc\nHDEL s set_aside moves\nDEL p\n"
			 "ZADD p @90 60-99:2");
	script_run(b, SCRIPT_RAISE_CURSOR, KEYS, "0 5 0 100 7 50 1000 d-");
	redis_says(b, "HMGET s set_aside moves", "(60-71:2  6)");
}

/* One script takes a limited number of a pool's small ranges. */
static void a_pool_of_many_ranges_is_taken_in_parts(void **state)
{
	struct script_bench *b = space_reset(state);
	static const char fill[] =
		"DEL p i\nZADD p -1 x\n"
		"EVAL 'for i = 0, 1029 do redis.call(\"ZADD\", \"p\", i, "
		"i * 2 .. \"-\" .. i * 2 .. \":2\") end' 0";

	send_commands(b, fill);
	send_commands(b, "HSET s aside '513 +inf'");
	/* No range of the pool is granted while others are still to be set
	 * aside. */
	script_replies(b, SCRIPT_GRANT, KEYS, SEEN_NOTHING " 1 300 0 @0",
		       "(1 1 1 10 10 1)");
	redis_says(b, "HGET s aside", "1 +inf");
	redis_says(b, "ZRANGE p 0 1", "(x 1024-1024:2)");
	redis_says(b, "ZCARD i", "513");
	script_replies(b, SCRIPT_GRANT, KEYS, SEEN_NOTHING " 1 300 0 @0",
		       "(1 2 2 1026 1026 2)");
	redis_says(b, "HGET s aside", "nil");
	send_commands(b, fill);
	send_commands(b, "HSET s aside '512 +inf'");
	script_replies(b, SCRIPT_RAISE_CURSOR, KEYS, SEEN_NOTHING,
		       "(1 11 2 2)");
	redis_says(b, "HGET s aside", "nil");
	send_commands(b, fill);
	script_run(b, SCRIPT_GRANT, KEYS,
		   "0 0 0 9000 7 50 1000 d- 1029 300 0 @0");
	redis_says(b, "ZCARD p", "7");
	redis_says(b, "GET c", "16");
}

static void what_cannot_be_read_stays_in_the_pool(void **state)
{
	struct script_bench *b = space_reset(state);

	send_commands(
		b,
		"ZADD p 1 x 2 0-0:0 3 1-0:1 4 5-5:2 5 0-0:32768 6 6-6:32767 7 "
		"7-:1");
	script_replies(b, SCRIPT_GRANT, KEYS, SEEN_NOTHING " 3 300 0 @0",
		       "(1 3 32767 5 5 2 6 6 32767 10 10 1)");
	redis_says(b, "ZRANGE p 0 -1", "(x 0-0:0 1-0:1 0-0:32768 7-:1)");
	send_commands(b, "HSET s aside '9 +inf'\nZADD p 3 8-8:2");
	script_run(b, SCRIPT_RAISE_CURSOR, KEYS, SEEN_NOTHING);
	redis_says(b, "HMGET s aside set_aside", "(nil 8-8:2 )");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a_redis_that_was_started_anew_sets_a_gap_aside),
		cmocka_unit_test(moves_that_are_missing_prove_it),
		cmocka_unit_test(a_generation_that_is_missing_proves_it),
		cmocka_unit_test(what_is_not_due_is_not_set_aside),
		cmocka_unit_test(a_floor_is_above_all_that_was_granted),
		cmocka_unit_test(a_floor_is_never_lowered),
		cmocka_unit_test(a_gap_ends_at_the_capacity),
		cmocka_unit_test(a_gap_is_twice_the_busiest_minute),
		cmocka_unit_test(the_busiest_minute_of_yesterday_counts),
		cmocka_unit_test(key_versions_in_use_of_late_count_as_used),
		cmocka_unit_test(the_pool_waits_for_a_hold_and_a_generation),
		cmocka_unit_test(waits_are_kept_while_they_matter),
		cmocka_unit_test(what_is_set_aside_has_its_former_generation),
		cmocka_unit_test(what_is_owed_is_set_aside_before_a_grant),
		cmocka_unit_test(what_is_owed_adds_up),
		cmocka_unit_test(a_pool_of_many_ranges_is_taken_in_parts),
		cmocka_unit_test(what_cannot_be_read_stays_in_the_pool),
	};

	return cmocka_run_group_tests(tests, script_bench_start,
				      script_bench_stop);
}

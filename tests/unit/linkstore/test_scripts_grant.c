/* The scripts that make a space, grant its blocks and take back unused ones:
 * both sides of every bound. */
#include "tests/unit/linkstore/space_scripts.h"

/* --- a space -------------------------------------------------------------- */

static void a_space_is_created_once(void **state)
{
	struct script_bench *b = script_bench_reset(state);

	script_replies(b, SCRIPT_SPACE_CREATE, "s c i p o",
		       "5 2 number 7 length 4 key:0 fp", "(1 created)");
	keys_are(b, "c: 5\n"
		    "s: created=@0 first=5 key:0=fp length=4 number=7 "
		    "run_id=abc used:0=0");
	send_commands(b, "SET c 9\nHSET s used:0 8");
	script_replies(b, SCRIPT_SPACE_CREATE, "s c i p o",
		       "6 2 number 7 length 4 key:0 fp", "(1 unchanged)");
	script_replies(b, SCRIPT_SPACE_CREATE, "s c i p o",
		       "6 2 number 7 length 4 key:0 fp key:1 fp1",
		       "(1 extended)");
	keys_are(b,
		 "c: 9\n"
		 "s: created=@0 first=5 key:0=fp key:1=fp1 length=4 number=7 "
		 "run_id=abc used:0=8 used:1=0");
}

static void a_space_without_blocks_has_no_cursor(void **state)
{
	struct script_bench *b = script_bench_reset(state);

	script_replies(b, SCRIPT_SPACE_CREATE, "s c i p o", "none 0 key:0 fp",
		       "(1 created)");
	keys_are(b, "s: created=@0 key:0=fp run_id=abc used:0=0");
}

static void nothing_is_built_on_what_is_left_of_a_space(void **state)
{
	static const char *const left[] = {"SET c 1", "ZADD i 1 0-1:1",
					   "ZADD p 1 0-1:1", "ZADD o 1 0-1:1"};
	struct script_bench *b = script_bench_reset(state);

	for (size_t i = 0; i < 4; i++) {
		send_commands(b, "FLUSHALL");
		send_commands(b, left[i]);
		script_replies(b, SCRIPT_SPACE_CREATE, "s c i p o",
			       "5 0 key:0 fp", "(0 remains)");
		redis_says(b, "EXISTS s", "0");
	}
}

static void a_space_that_differs_is_left_alone(void **state)
{
	struct script_bench *b = script_bench_reset(state);

	send_commands(b, "HSET s number 7 key:0 fp");
	script_replies(b, SCRIPT_SPACE_CREATE, "s c i p o",
		       "5 2 number 8 length 4 key:0 fp",
		       "(0 differs number 7)");
	script_replies(b, SCRIPT_SPACE_CREATE, "s c i p o",
		       "5 2 number 7 length 4 key:0 fp",
		       "(0 differs length '')");
	send_commands(b, "HSET s length 4");
	script_replies(b, SCRIPT_SPACE_CREATE, "s c i p o",
		       "5 2 number 7 length 4 key:1 fp1 key:0 other",
		       "(0 differs key:0 fp)");
	script_replies(b, SCRIPT_SPACE_CREATE, "s c i p o",
		       "5 2 number 7 length 4 key:0 fp", "(1 unchanged)");
	keys_are(b, "s: key:0=fp length=4 number=7");
}

static void all_fields_and_keys_of_a_space_are_compared(void **state)
{
	static const char whole[] = "5 3 a 1 b 2 c 3 key:0 p0 key:1 p1";
	struct script_bench *b = script_bench_reset(state);

	script_replies(b, SCRIPT_SPACE_CREATE, "s c i p o", whole,
		       "(1 created)");
	keys_are(b, "c: 5\n"
		    "s: a=1 b=2 c=3 created=@0 first=5 key:0=p0 key:1=p1 "
		    "run_id=abc used:0=0 used:1=0");
	script_replies(b, SCRIPT_SPACE_CREATE, "s c i p o", whole,
		       "(1 unchanged)");
	script_replies(b, SCRIPT_SPACE_CREATE, "s c i p o",
		       "5 3 a 1 b 2 c 4 key:0 p0", "(0 differs c 3)");
	script_replies(b, SCRIPT_SPACE_CREATE, "s c i p o",
		       "5 3 a 1 b 2 c 3 key:0 p1", "(0 differs key:0 p0)");
}

static void a_space_is_read_with_its_cursor_and_the_time(void **state)
{
	struct script_bench *b = space_reset(state);

	script_replies(b, SCRIPT_SPACE_READ, "s c", "",
		       "(10 (run_id abc key:0 fp) @0)");
	script_replies(b, SCRIPT_SPACE_READ, "none none", "", "(nil () @0)");
}

/* --- a grant -------------------------------------------------------------- */

static void fresh_blocks_are_granted_from_the_cursor(void **state)
{
	struct script_bench *b = space_reset(state);

	script_replies(b, SCRIPT_GRANT, KEYS, SEEN_NOTHING " 2 300 0 @0",
		       "(1 2 1 10 11 1)");
	keys_are(b, "c: 12\n"
		    "d-21280611: busiest=2 granted=2\n"
		    "i: 10-11:1=@300\n"
		    "s: gap=7 highest=1 key:0=fp minute=83333333 2 moves=2 "
		    "run_id=abc used:0=@0\n"
		    "u: 10:1=10 11:1=11");
	script_replies(b, SCRIPT_GRANT, KEYS, SEEN_NOTHING " 3 never 0 @0",
		       "(1 5 1 12 14 1)");
	keys_are(b, "c: 15\n"
		    "d-21280611: busiest=5 granted=5\n"
		    "i: 12-14:1=@50 10-11:1=@300\n"
		    "s: gap=10 highest=1 key:0=fp minute=83333333 5 moves=5 "
		    "run_id=abc used:0=@0\n"
		    "u: 10:1=10 11:1=11 12:1=12 13:1=13 14:1=14");
}

static void no_block_is_granted_beyond_the_capacity(void **state)
{
	struct script_bench *b = space_reset(state);

	send_commands(b, "SET c 97");
	script_replies(b, SCRIPT_GRANT, KEYS, SEEN_NOTHING " 5 300 0 @0",
		       "(1 3 1 97 99 1)");
	script_replies(b, SCRIPT_GRANT, KEYS, SEEN_NOTHING " 5 300 0 @0",
		       "(0 exhausted)");
	keys_are(b, "c: 100\n"
		    "d-21280611: busiest=3 granted=3\n"
		    "i: 97-99:1=@300\n"
		    "s: gap=7 highest=1 key:0=fp minute=83333333 3 moves=3 "
		    "run_id=abc used:0=@0\n"
		    "u: 97:1=97 98:1=98 99:1=99");
}

static void blocks_of_the_pool_are_granted_first(void **state)
{
	struct script_bench *b = space_reset(state);

	send_commands(b, "ZADD p @-2 0-2:3 @-1 5-6:2\nHSET s highest 9");
	script_replies(b, SCRIPT_GRANT, KEYS, SEEN_NOTHING " 4 never 0 @0",
		       "(1 4 9 0 2 3 5 5 2)");
	keys_are(b, "c: 10\n"
		    "d-21280611: busiest=4 granted=4\n"
		    "e: 0:3=0 1:3=1 2:3=2 5:2=5\n"
		    "i: 0-2:3=@50 5-5:2=@50\n"
		    "p: 6-6:2=@-1\n"
		    "s: gap=8 highest=9 key:0=fp minute=83333333 4 moves=4 "
		    "run_id=abc used:0=@0\n"
		    "u: 0:3=0 1:3=1 2:3=2 5:2=5");
	script_replies(b, SCRIPT_GRANT, KEYS, SEEN_NOTHING " 2 70 0 @0",
		       "(1 6 9 6 6 2 10 10 1)");
	redis_says(b, "ZRANGE p 0 -1", "()");
	redis_says(b, "ZRANGE e 0 -1", "(0:3 1:3 2:3 5:2)");
	redis_says(b, "ZRANGE i 0 -1", "(0-2:3 5-5:2 10-10:1 6-6:2)");
	/* For a block that was never granted before, its marker is a sufficient
	 * proof. */
	script_replies(b, SCRIPT_GRANT, KEYS, SEEN_NOTHING " 1 never 0 @0",
		       "(1 7 9 11 11 1)");
	send_commands(b, "ZADD p @-2 1-1:10");
	script_replies(b, SCRIPT_GRANT, KEYS, SEEN_NOTHING " 1 70 0 @0",
		       "(1 8 10 1 1 10)");
	redis_says(b, "ZRANGE e 0 -1", "(0:3 1:3 2:3 5:2)");
	redis_says(b, "HGET s highest", "10");
}

static void a_quarantine_is_over_by_both_clocks(void **state)
{
	struct script_bench *b = space_reset(state);

	send_commands(b, "SET c 100\nZADD p @-9 0-0:2 @0 1-1:2 @1 2-2:2");
	script_replies(b, SCRIPT_GRANT, KEYS, SEEN_NOTHING " 5 300 0 @-10",
		       "(0 clock)");
	script_replies(b, SCRIPT_GRANT, KEYS, SEEN_NOTHING " 5 300 0 @-9",
		       "(1 1 2 0 0 2)");
	script_replies(b, SCRIPT_GRANT, KEYS, SEEN_NOTHING " 5 300 0 @-1",
		       "(0 clock)");
	script_replies(b, SCRIPT_GRANT, KEYS, SEEN_NOTHING " 5 300 0 @9",
		       "(1 2 2 1 1 2)");
	script_replies(b, SCRIPT_GRANT, KEYS, SEEN_NOTHING " 5 300 0 @9",
		       "(0 exhausted)");
	/* The refusal for a range in such a wait does not name the clock. */
	send_commands(b, "HSET s waits @9\nZADD p @0 4-4:2");
	script_replies(b, SCRIPT_GRANT, KEYS, SEEN_NOTHING " 5 300 0 @9",
		       "(0 exhausted)");
}

static void a_block_of_too_many_generations_is_retired(void **state)
{
	struct script_bench *b = space_reset(state);

	send_commands(b,
		      "ZADD p @-3 1-4:32767 @-2 5-6:32766\nHSET s waits @-3");
	script_replies(b, SCRIPT_GRANT, KEYS, SEEN_NOTHING " 3 300 0 @0",
		       "(1 3 32766 5 6 32766 10 10 1)");
	redis_says(b, "HGET s retired", "4");
	redis_says(b, "ZCARD p", "0");
	redis_says(b, "ZRANGE i 0 -1", "(10-10:1 5-6:32766)");
}

static void note_of_the_busiest_minute(void **state)
{
	struct script_bench *b = space_reset(state);

	send_commands(b, "HSET s minute '83333333 4'\n"
			 "HSET d-21280611 busiest 6 granted 8\n"
			 "HSET d-21280610 busiest 5 granted 8");
	script_replies(b, SCRIPT_GRANT, KEYS, SEEN_NOTHING " 2 300 0 @0",
		       "(1 2 1 10 11 1)");
	redis_says(b, "HMGET s minute gap", "(83333333 6 12)");
	redis_says(b, "HMGET d-21280611 busiest granted", "(6 10)");
	script_replies(b, SCRIPT_GRANT, KEYS, SEEN_NOTHING " 1 300 0 @0",
		       "(1 3 1 12 12 1)");
	redis_says(b, "HMGET s minute gap", "(83333333 7 14)");
	redis_says(b, "HMGET d-21280611 busiest granted", "(7 11)");
	/* Another minute begins its count at 0. */
	b->now += 60000;
	script_replies(b, SCRIPT_GRANT, KEYS, SEEN_NOTHING " 1 300 0 @0",
		       "(1 4 1 13 13 1)");
	redis_says(b, "HMGET s minute gap", "(83333334 1 14)");
	send_commands(b, "HSET d-21280610 busiest 9");
	script_replies(b, SCRIPT_GRANT, KEYS, SEEN_NOTHING " 1 300 0 @0",
		       "(1 5 1 14 14 1)");
	redis_says(b, "HMGET s minute gap", "(83333334 2 18)");
}

static void a_grant_notes_the_use_of_its_key_version_alone(void **state)
{
	struct script_bench *b = space_reset(state);

	send_commands(
		b,
		"HSET s key:1 fp used:1 5 key:2 fp key:3 fp used:3 7 used:0 3");
	script_replies(b, SCRIPT_GRANT, KEYS, SEEN_NOTHING " 1 300 1 @0",
		       "(1 1 1 10 10 1)");
	redis_says(b, "HMGET s used:0 used:1 used:2 used:3 used:4",
		   "(3 @0 nil 7 nil)");
	b->now += 1;
	script_replies(b, SCRIPT_GRANT, KEYS, SEEN_NOTHING " 1 300 3 @0",
		       "(1 2 1 11 11 1)");
	redis_says(b, "HMGET s used:0 used:1 used:2 used:3", "(3 @-1 nil @0)");
}

static void nothing_is_granted_for_a_key_version_out_of_use(void **state)
{
	struct script_bench *b = space_reset(state);

	send_commands(b, "ZADD p @-2 0-2:3");
	script_replies(b, SCRIPT_GRANT, KEYS, SEEN_NOTHING " 2 300 1 @0",
		       "(0 nokey 1)");
	keys_are(b, "c: 10\np: 0-2:3=@-2\ns: key:0=fp run_id=abc");
}

/* --- marks of unopened blocks --------------------------------------------- */

static void a_space_that_is_not_whole_grants_nothing(void **state)
{
	struct script_bench *b = script_bench_reset(state);
	static const char grant_two[] = SEEN_NOTHING " 2 300 0 @0";

	send_commands(b, "SET c 10");
	script_replies(b, SCRIPT_GRANT, KEYS, grant_two, "(0 nospace)");
	send_commands(b, "HSET s run_id abc key:0 fp\nDEL c");
	script_replies(b, SCRIPT_GRANT, KEYS, grant_two, "(0 nocursor)");
	send_commands(b, "SET c -1");
	script_replies(b, SCRIPT_GRANT, KEYS, grant_two, "(0 nocursor)");
	keys_are(b, "c: -1\ns: key:0=fp run_id=abc");
	send_commands(b, "SET c 10");
	script_replies(b, SCRIPT_RAISE_CURSOR, KEYS, "101 0 0 100 7 50 1000 d-",
		       "(0 badcursor)");
	script_replies(b, SCRIPT_RAISE_CURSOR, KEYS, "101 0 0 x 7 50 1000 d-",
		       "!argument 4 is no number");
	keys_are(b, "c: 10\ns: key:0=fp run_id=abc");
	script_replies(b, SCRIPT_RAISE_CURSOR, KEYS, "100 0 0 100 7 50 1000 d-",
		       "(1 100 0 0)");
}

static void damage_is_found_before_the_first_write(void **state)
{
	static const char *const damages[] = {
		"HSET s moves x",
		"HSET s highest -1",
		"HSET s floor 9007199254740992",
		"HSET s forgot 1.5",
		"HSET s retired x",
		"HSET d-21280611 busiest x",
		"HSET d-21280611 granted x",
		"HSET d-21280611 reclaimed x",
		"HSET d-21280611 pooled x",
		"HSET d-21280610 busiest x",
		"DEL i\nSET i 1",
		"DEL p\nSET p 1",
		"DEL u\nSET u 1",
		"DEL e\nSET e 1",
	};
	struct script_bench *b = space_reset(state);
	char keys[SCRIPT_ROOM];

	for (size_t i = 0; i < sizeof(damages) / sizeof(*damages); i++) {
		send_commands(
			b, "FLUSHALL\nHSET s run_id other key:0 fp\nSET c 10\n"
			   "ZADD i 1 0-1:1\nZADD p 1 2-3:1\nZADD u 4 4:1\n"
			   "ZADD e 4 4:1");
		send_commands(b, damages[i]);
		snprintf(keys, sizeof(keys), "%s", script_keys(b));
		script_run(b, SCRIPT_GRANT, KEYS,
			   "12 3 0 100 7 50 1000 d- 2 300 0 @0");
		if (b->reply[0] != '!')
			fail_msg("%s: %s", damages[i], b->reply);
		keys_are(b, keys);
	}
}

static void a_cursor_behind_what_was_seen_is_raised(void **state)
{
	struct script_bench *b = space_reset(state);

	script_replies(b, SCRIPT_RAISE_CURSOR, KEYS, "10 0 0 100 7 50 1000 d-",
		       "(1 10 0 0)");
	script_replies(b, SCRIPT_RAISE_CURSOR, KEYS, "9 0 0 100 7 50 1000 d-",
		       "(1 10 0 0)");
	keys_are(b, "c: 10\ns: key:0=fp run_id=abc");
	script_replies(b, SCRIPT_RAISE_CURSOR, KEYS, "13 0 0 100 7 50 1000 d-",
		       "(1 13 0 0)");
	script_replies(b, SCRIPT_RAISE_CURSOR, KEYS, "14 0 0 100 7 50 1000 d-",
		       "(1 14 0 0)");
	keys_are(b, "c: 14\n"
		    "i: 10-12:1=@1050 13-13:1=@1050\n"
		    "s: gaps=10-12 13-13  key:0=fp run_id=abc");
	script_replies(b, SCRIPT_GRANT, KEYS,
		       "16 0 0 100 7 50 1000 d- 1 300 0 @0", "(1 1 1 16 16 1)");
	redis_says(b, "GET c", "17");
}

/* --- unused blocks -------------------------------------------------------- */

static void opened_blocks_are_confirmed_and_that_is_a_move(void **state)
{
	struct script_bench *b = script_bench_reset(state);

	send_commands(b, "ZADD u 3 3:1 4 4:1 5 5:1 6 6:1");
	script_replies(b, SCRIPT_CONFIRM, "s u", "4 5", "0");
	send_commands(b, "HSET s moves 7");
	script_replies(b, SCRIPT_CONFIRM, "s u", "4 5", "8");
	keys_are(b, "s: moves=8\nu: 3:1=3 6:1=6");
	send_commands(b, "HSET s moves x");
	script_replies(b, SCRIPT_CONFIRM, "s u", "4 5",
		       "!DAMAGED the field moves of s is damaged");
	send_commands(b, "HSET s moves 7\nDEL u\nSET u 1");
	script_replies(b, SCRIPT_CONFIRM, "s u", "4 5",
		       "!WRONGTYPE Operation against a key holding the wrong "
		       "kind of value");
}

/* keys issued pool space unopened endless, args member first last day hold */
static void
unused_blocks_are_handed_back_under_the_next_generation(void **state)
{
	struct script_bench *b = script_bench_reset(state);

	send_commands(b,
		      "ZADD i @300 10-19:3\n"
		      "ZADD u 12 12:3 13 13:3 16 16:3 17 17:3\n"
		      "ZADD e 12 12:3 13 13:3 16 16:3 17 17:3\nHSET s moves 4");
	script_replies(b, SCRIPT_HAND_BACK, "i p s u e", "10-19:2 13 16 d- 50",
		       "0");
	script_replies(b, SCRIPT_HAND_BACK, "i p s u e", "10-19:3 13 16 d- 50",
		       "5");
	keys_are(b, "d-21280611: handed_back=4\n"
		    "e: 12:3=12 17:3=17\n"
		    "i: 10-12:3=@300 17-19:3=@300\n"
		    "p: 13-16:4=@50\n"
		    "s: moves=5\n"
		    "u: 12:3=12 17:3=17");
	script_replies(b, SCRIPT_HAND_BACK, "i p s u e", "17-19:3 17 19 d- 50",
		       "6");
	script_replies(b, SCRIPT_HAND_BACK, "i p s u e", "10-12:3 10 10 d- 50",
		       "7");
	script_replies(b, SCRIPT_HAND_BACK, "i p s u e", "11-12:3 12 12 d- 50",
		       "8");
	redis_says(b, "ZRANGE i 0 -1", "(11-11:3)");
	redis_says(b, "HGET d-21280611 handed_back", "9");
}

static void only_blocks_of_the_member_are_handed_back(void **state)
{
	static const char *const parts[] = {"9 16", "13 20", "16 13"};
	struct script_bench *b = script_bench_reset(state);
	char args[64];

	send_commands(b, "ZADD i @300 10-19:3");
	for (size_t i = 0; i < 3; i++) {
		snprintf(args, sizeof(args), "10-19:3 %s d- 50", parts[i]);
		script_replies(b, SCRIPT_HAND_BACK, "i p s u e", args,
			       "!the part is not within 10-19:3");
	}
	keys_are(b, "i: 10-19:3=@300");
	send_commands(b, "ZADD i @300 x");
	script_replies(b, SCRIPT_HAND_BACK, "i p s u e", "x 1 2 d- 50",
		       "!DAMAGED the range x is damaged");
}

static void a_block_of_the_last_generation_is_retired(void **state)
{
	struct script_bench *b = script_bench_reset(state);

	send_commands(b, "ZADD i @300 10-19:32767 @300 20-21:32766");
	script_replies(b, SCRIPT_HAND_BACK, "i p s u e",
		       "10-19:32767 10 13 d- 50", "1");
	script_replies(b, SCRIPT_HAND_BACK, "i p s u e",
		       "20-21:32766 20 21 d- 50", "2");
	keys_are(b, "d-21280611: handed_back=6\n"
		    "i: 14-19:32767=@300\n"
		    "p: 20-21:32767=@50\n"
		    "s: moves=2 retired=4");
}

static void nothing_is_handed_back_into_damaged_sets(void **state)
{
	static const char *const damages[] = {
		"SET p 1",	    "SET u 1",
		"SET e 1",	    "HSET s moves x",
		"HSET s retired x", "HSET d-21280611 handed_back x",
	};
	struct script_bench *b = script_bench_reset(state);

	for (size_t i = 0; i < sizeof(damages) / sizeof(*damages); i++) {
		send_commands(b, "FLUSHALL\nZADD i @300 10-19:3");
		send_commands(b, damages[i]);
		script_run(b, SCRIPT_HAND_BACK, "i p s u e",
			   "10-19:3 13 16 d- 50");
		if (b->reply[0] != '!')
			fail_msg("%s: %s", damages[i], b->reply);
		redis_says(b, "ZRANGE i 0 -1", "(10-19:3)");
	}
}

static void unopened_blocks_are_known_while_redis_remembers(void **state)
{
	struct script_bench *b = script_bench_reset(state);

	send_commands(
		b, "ZADD u 3 3:1 4 4:1\nHSET s run_id abc moves 5 highest 2");
	script_replies(b, SCRIPT_UNOPENED, "s u", "5 2 4:1 5:1 3:1",
		       "(4 nil 3)");
	script_replies(b, SCRIPT_UNOPENED, "s u", "6 2 4:1", "()");
	script_replies(b, SCRIPT_UNOPENED, "s u", "5 3 4:1", "()");
	script_replies(b, SCRIPT_UNOPENED, "s u", "0 0 4:1", "(4)");
	b->run_id = "def";
	script_replies(b, SCRIPT_UNOPENED, "s u", "5 2 4:1", "()");
	b->run_id = "abc";
	send_commands(b, "HDEL s moves highest");
	script_replies(b, SCRIPT_UNOPENED, "s u", "0 0 4:1", "(4)");
	script_replies(b, SCRIPT_UNOPENED, "s u", "1 0 4:1", "()");
	script_replies(b, SCRIPT_UNOPENED, "s u", "0 1 4:1", "()");
	send_commands(b, "HSET s moves x highest 1");
	script_replies(b, SCRIPT_UNOPENED, "s u", "1 0 4:1", "()");
	send_commands(b, "HSET s moves 1 highest x");
	script_replies(b, SCRIPT_UNOPENED, "s u", "1 1 4:1", "()");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_space_is_created_once),
		cmocka_unit_test(a_space_without_blocks_has_no_cursor),
		cmocka_unit_test(nothing_is_built_on_what_is_left_of_a_space),
		cmocka_unit_test(a_space_that_differs_is_left_alone),
		cmocka_unit_test(all_fields_and_keys_of_a_space_are_compared),
		cmocka_unit_test(a_space_is_read_with_its_cursor_and_the_time),
		cmocka_unit_test(fresh_blocks_are_granted_from_the_cursor),
		cmocka_unit_test(no_block_is_granted_beyond_the_capacity),
		cmocka_unit_test(blocks_of_the_pool_are_granted_first),
		cmocka_unit_test(a_quarantine_is_over_by_both_clocks),
		cmocka_unit_test(a_block_of_too_many_generations_is_retired),
		cmocka_unit_test(note_of_the_busiest_minute),
		cmocka_unit_test(
			a_grant_notes_the_use_of_its_key_version_alone),
		cmocka_unit_test(
			nothing_is_granted_for_a_key_version_out_of_use),
		cmocka_unit_test(a_space_that_is_not_whole_grants_nothing),
		cmocka_unit_test(damage_is_found_before_the_first_write),
		cmocka_unit_test(a_cursor_behind_what_was_seen_is_raised),
		cmocka_unit_test(
			opened_blocks_are_confirmed_and_that_is_a_move),
		cmocka_unit_test(
			unused_blocks_are_handed_back_under_the_next_generation),
		cmocka_unit_test(only_blocks_of_the_member_are_handed_back),
		cmocka_unit_test(a_block_of_the_last_generation_is_retired),
		cmocka_unit_test(nothing_is_handed_back_into_damaged_sets),
		cmocka_unit_test(
			unopened_blocks_are_known_while_redis_remembers),
	};

	return cmocka_run_group_tests(tests, script_bench_start,
				      script_bench_stop);
}

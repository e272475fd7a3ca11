/* The scripts that read a space and reclaim its blocks: both sides of every
 * bound. */
#include "tests/unit/linkstore/script_bench.h"

/* --- the lock ------------------------------------------------------------- */

static void one_reclaimer_has_the_lock(void **state)
{
	struct script_bench *b = script_bench_reset(state);

	script_replies(b, SCRIPT_LOCK_TAKE, "k", "me 50", "nil");
	keys_are(b, "k(@50): me");
	script_replies(b, SCRIPT_LOCK_TAKE, "k", "she 90", "me");
	script_replies(b, SCRIPT_LOCK, "k", "she 90", "0");
	script_replies(b, SCRIPT_LOCK, "k", "she 0", "0");
	keys_are(b, "k(@50): me");
	script_replies(b, SCRIPT_LOCK, "k", "me 90", "1");
	keys_are(b, "k(@90): me");
	script_replies(b, SCRIPT_LOCK, "k", "me 0", "1");
	keys_are(b, "''");
	script_replies(b, SCRIPT_LOCK, "k", "me 90", "0");
}

/* --- due ranges ----------------------------------------------------------- */

static struct script_bench *due_reset(void **state)
{
	struct script_bench *b = script_bench_reset(state);

	send_commands(b,
		      "ZADD i 0 0-0:1 @-20 1-1:1 @-10 2-2:1 @0 3-3:1 @1 4-4:1");
	return b;
}

/* args from until max rank last-member */
static void ranges_are_due_through_their_time(void **state)
{
	struct script_bench *b = due_reset(state);

	script_replies(b, SCRIPT_DUE, "i", "1 0 9 0 ''",
		       "(@0 4 3 (1-1:1 @-20 2-2:1 @-10 3-3:1 @0))");
	script_replies(b, SCRIPT_DUE, "i", "0 0 9 0 ''",
		       "(@0 4 3 (1-1:1 @-20 2-2:1 @-10 3-3:1 @0))");
	script_replies(b, SCRIPT_DUE, "i", "-1 @1 9 0 ''",
		       "(@0 4 3 (1-1:1 @-20 2-2:1 @-10 3-3:1 @0))");
	script_replies(b, SCRIPT_DUE, "i", "1 @-10 9 0 ''",
		       "(@0 3 2 (1-1:1 @-20 2-2:1 @-10))");
	script_replies(b, SCRIPT_DUE, "i", "1 @-11 9 0 ''",
		       "(@0 2 1 (1-1:1 @-20))");
	script_replies(b, SCRIPT_DUE, "i", "@-10 0 9 0 ''",
		       "(@0 4 2 (2-2:1 @-10 3-3:1 @0))");
	script_replies(b, SCRIPT_DUE, "i", "@-9 0 9 0 ''",
		       "(@0 4 1 (3-3:1 @0))");
	script_replies(b, SCRIPT_DUE, "i", "@9 0 9 0 ''", "(@0 5 0 ())");
	script_replies(b, SCRIPT_DUE, "none", "1 0 9 0 ''", "(@0 0 0 ())");
	/* No block is due, and one will be. */
	send_commands(b, "DEL i\nZADD i @1 4-4:1");
	script_replies(b, SCRIPT_DUE, "i", "1 0 9 0 ''", "(@0 0 0 ())");
	send_commands(b, "ZADD i 1 5-5:1");
	script_replies(b, SCRIPT_DUE, "i", "0 0 9 0 ''", "(@0 1 1 (5-5:1 1))");
}

static void a_page_goes_on_behind_the_last_one(void **state)
{
	struct script_bench *b = due_reset(state);

	script_replies(b, SCRIPT_DUE, "i", "1 0 1 0 ''",
		       "(@0 2 3 (1-1:1 @-20))");
	script_replies(b, SCRIPT_DUE, "i", "1 0 1 2 ''",
		       "(@0 3 3 (2-2:1 @-10))");
	script_replies(b, SCRIPT_DUE, "i", "1 0 2 0 1-1:1",
		       "(@0 4 3 (2-2:1 @-10 3-3:1 @0))");
	script_replies(b, SCRIPT_DUE, "i", "1 0 2 3 gone",
		       "(@0 4 3 (3-3:1 @0))");
	script_replies(b, SCRIPT_DUE, "i", "1 0 2 4 ''", "(@0 4 3 ())");
	script_replies(b, SCRIPT_DUE, "i", "1 0 2 0 3-3:1", "(@0 4 3 ())");
}

/* --- settling ------------------------------------------------------------- */

/* lock space cursor issued pool unopened endless reclaimed */
#define SETTLE_KEYS "k s c i p u e r"

/* lock ttl, high water of the caller, quarantine */
#define SETTLE_ARGS "me 500 0 0 0 1000 7 50 1000 d- 40"

static struct script_bench *settle_reset(void **state)
{
	struct script_bench *b = script_bench_reset(state);

	send_commands(
		b, "SET k me PXAT @90\nHSET s run_id abc highest 3\nSET c 100\n"
		   "ZADD i @-9 0-9:1 @-8 10-19:2 @-7 30-39:1");
	return b;
}

static void check_not_settled(struct script_bench *b, const char *args,
			      const char *reply)
{
	char keys[SCRIPT_ROOM], all[512];

	snprintf(keys, sizeof(keys), "%s", script_keys(b));
	snprintf(all, sizeof(all), SETTLE_ARGS " %s", args);
	script_replies(b, SCRIPT_SETTLE, SETTLE_KEYS, all, reply);
	keys_are(b, keys);
}

static void blocks_are_pooled_kept_or_lost(void **state)
{
	struct script_bench *b = settle_reset(state);

	send_commands(
		b,
		"ZADD u 4 4:1 5 5:1 13 13:2 14 14:2 19 19:2 30 30:1\n"
		"ZADD e 4 4:1 5 5:1 12 12:2 13 13:2 14 14:2 19 19:2 30 30:1");
	script_replies(b, SCRIPT_SETTLE, SETTLE_KEYS,
		       SETTLE_ARGS " 2 0-9:1 10-19:2 'P 0 4 2' 'K 5 9 1 @70' "
				   "'L 10 12 2' 'K 13 13 2 never' 'P 14 19 3'",
		       "(1 11 1 3)");
	keys_are(b, "c: 100\n"
		    "d-21280611: pooled=11 reclaimed=11\n"
		    "e: 5:1=5 12:2=12 30:1=30\n"
		    "i: 10-12:2=0 30-39:1=@-7 5-9:1=@70 13-13:2=inf\n"
		    "k(@500): me\n"
		    "p: 0-4:2=@40 14-19:3=@40\n"
		    "r: 0-4:1=@0 14-19:2=@0\n"
		    "s: highest=3 moves=1 run_id=abc\n"
		    "u: 5:1=5 13:2=13 30:1=30");
}

static void parts_may_reach_over_neighbouring_members(void **state)
{
	struct script_bench *b = settle_reset(state);

	script_replies(b, SCRIPT_SETTLE, SETTLE_KEYS,
		       SETTLE_ARGS " 3 0-9:1 10-19:2 30-39:1 'K 0 4 1 1' "
				   "'P 5 19 3' 'K 30 39 1 7'",
		       "(1 15 1 3)");
	redis_says(b, "ZRANGE i 0 -1 WITHSCORES", "(0-4:1 1 30-39:1 7)");
	redis_says(b, "ZRANGE p 0 -1", "(5-19:3)");
}

static void blocks_of_the_last_generation_are_retired(void **state)
{
	struct script_bench *b = settle_reset(state);

	send_commands(b, "ZADD u 4 4:1 5 5:1\nHSET s retired 1");
	script_replies(b, SCRIPT_SETTLE, SETTLE_KEYS,
		       SETTLE_ARGS " 1 0-9:1 'P 0 4 32768' 'P 5 9 32767'",
		       "(1 5 1 3)");
	keys_are(b, "c: 100\n"
		    "d-21280611: pooled=5 reclaimed=10\n"
		    "i: 10-19:2=@-8 30-39:1=@-7\n"
		    "k(@500): me\n"
		    "p: 5-9:32767=@40\n"
		    "r: 0-4:32767=@0 5-9:32766=@0\n"
		    "s: highest=3 moves=1 retired=6 run_id=abc");
	script_replies(b, SCRIPT_SETTLE, SETTLE_KEYS,
		       SETTLE_ARGS " 1 10-19:2 'P 10 19 32768'", "(1 0 2 3)");
	redis_says(b, "HMGET d-21280611 pooled reclaimed", "(5 20)");
	/* A single block of the last generation, and one of another. */
	send_commands(b, "ZADD i 1 50-50:1 1 60-60:1");
	script_replies(b, SCRIPT_SETTLE, SETTLE_KEYS,
		       SETTLE_ARGS " 1 50-50:1 'P 50 50 32768'", "(1 0 3 3)");
	redis_says(b, "HMGET d-21280611 pooled reclaimed", "(5 21)");
	redis_says(b, "HGET s retired", "17");
	script_replies(b, SCRIPT_SETTLE, SETTLE_KEYS,
		       SETTLE_ARGS " 1 60-60:1 'P 60 60 2'", "(1 1 4 3)");
	redis_says(b, "HMGET d-21280611 pooled reclaimed", "(6 22)");
}

/* The notes of the last million ranges are kept while nothing reads them. */
static void notes_of_what_was_reclaimed_are_bounded(void **state)
{
	struct script_bench *b = settle_reset(state);

	send_commands(b, "EVAL 'for n = 1, 1000 do local a = {} for i = 1, "
			 "1000 do a[#a + 1] = n * 1000 + i a[#a + 1] = n .. "
			 "\":\" .. i end redis.call(\"ZADD\", \"r\", "
			 "unpack(a)) end' 0");
	script_replies(b, SCRIPT_SETTLE, SETTLE_KEYS,
		       SETTLE_ARGS " 1 0-9:1 'P 0 9 2'", "(1 10 1 3)");
	redis_says(b, "ZCARD r", "1000000");
	redis_says(b, "ZRANGE r 0 0", "(1:2)");
	redis_says(b, "ZRANGE r -1 -1", "(0-9:1)");
	send_commands(b, "DEL r\nSET r text\nZADD i 1 50-50:1");
	check_not_settled(b, "1 50-50:1 'P 50 50 2'",
			  "!WRONGTYPE Operation against a key holding the "
			  "wrong kind of value");
}

static void what_stays_issued_is_not_counted(void **state)
{
	struct script_bench *b = settle_reset(state);

	script_replies(b, SCRIPT_SETTLE, SETTLE_KEYS,
		       SETTLE_ARGS " 2 0-9:1 10-19:2 'K 0 9 1 5' 'L 10 19 2'",
		       "(1 0 1 3)");
	keys_are(b, "c: 100\n"
		    "i: 10-19:2=0 0-9:1=5 30-39:1=@-7\n"
		    "k(@500): me\n"
		    "s: highest=3 moves=1 run_id=abc");
}

static void nothing_is_settled_without_the_lock(void **state)
{
	struct script_bench *b = settle_reset(state);

	send_commands(b, "SET k she");
	check_not_settled(b, "1 0-9:1 'P 0 9 2'", "(0 lock)");
	send_commands(b, "DEL k");
	check_not_settled(b, "1 0-9:1 'P 0 9 2'", "(0 lock)");
}

static void only_the_very_members_are_settled(void **state)
{
	struct script_bench *b = settle_reset(state);
	static const char keys[] =
		"c: 100\ni: 0-9:1=@-9 10-19:2=@-8 30-39:1=@-7\n"
		"k(@500): me\ns: highest=3 run_id=abc";

	script_replies(b, SCRIPT_SETTLE, SETTLE_KEYS,
		       SETTLE_ARGS " 2 0-9:2 10-19:2 'P 0 19 3'", "(0 member)");
	keys_are(b, keys);
	script_replies(b, SCRIPT_SETTLE, SETTLE_KEYS,
		       SETTLE_ARGS " 2 0-9:1 10-19:1 'P 0 19 3'", "(0 member)");
	keys_are(b, keys);
	send_commands(b, "HDEL s run_id");
	check_not_settled(b, "1 0-9:1 'P 0 9 2'", "(0 nospace)");
}

static void parts_cover_their_members_exactly(void **state)
{
	static const char *const cases[] = {
		"1 0-9:1 'P 0 8 2'",
		"1 0-9:1 'P 0 10 2'",
		"1 0-9:1 'P 1 9 2'",
		"1 0-9:1 'P 0 4 2' 'P 6 9 2'",
		"1 0-9:1 'P 0 4 2' 'P 4 9 2'",
		"1 0-9:1 'P 0 9 2' 'P 10 10 2'",
		"1 0-9:1",
		"1 0-9:1 'X 0 9 2'",
		"1 0-9:1 'P 0 4 2' 'P 5 4 2' 'P 5 9 2'",
		"2 0-9:1 30-39:1 'P 0 39 2'",
		"2 0-9:1 30-39:1 'P 0 9 2'",
		"0 'P 0 9 2'",
	};
	struct script_bench *b = settle_reset(state);

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		check_not_settled(b, cases[i],
				  "!the parts do not cover the members");
	check_not_settled(b, "2 0-9:1 9-19:2 'P 0 19 2'",
			  "!the members overlap");
	check_not_settled(b, "2 10-19:2 0-9:1 'P 0 19 2'",
			  "!the members overlap");
	check_not_settled(b, "1 0-9:1 'K 0 9 1 x'", "!a part has no score");
	check_not_settled(b, "1 0-9:1 'P 0 9 2:'", "!a part has no score");
	check_not_settled(b, "1 x 'P 0 9 2'",
			  "!DAMAGED the range x is damaged");
	script_replies(b, SCRIPT_SETTLE, SETTLE_KEYS,
		       SETTLE_ARGS " 1 0-9:1 'P 0 0 2' 'P 1 9 2'",
		       "(1 10 1 3)");
}

/* One call of Redis takes a thousand members; there are more. */
static void many_members_are_settled_at_once(void **state)
{
	struct script_bench *b = settle_reset(state);
	char *args = calloc(1, SCRIPT_ROOM);
	size_t n = 0;

	send_commands(
		b,
		"DEL i\nEVAL 'for n = 0, 1000 do redis.call(\"ZADD\", \"i\", "
		"9, n * 2 .. \"-\" .. n * 2 .. \":1\") end' 0");
	n += (size_t)sprintf(args + n, SETTLE_ARGS " 1001");
	for (int i = 0; i <= 1000; i++)
		n += (size_t)sprintf(args + n, " %d-%d:1", i * 2, i * 2);
	for (int i = 0; i <= 1000; i++)
		n += (size_t)sprintf(
			args + n, i < 501 ? " 'K %d %d 1 8'" : " 'P %d %d 2'",
			i * 2, i * 2);
	script_replies(b, SCRIPT_SETTLE, SETTLE_KEYS, args, "(1 500 1 3)");
	redis_says(b, "ZCARD i", "501");
	redis_says(b, "ZCOUNT i 8 8", "501");
	redis_says(b, "ZCARD p", "500");
	/* The last of the named members does not exist. */
	send_commands(b,
		      "DEL i p\nEVAL 'for n = 0, 999 do redis.call(\"ZADD\", "
		      "\"i\", 9, n * 2 .. \"-\" .. n * 2 .. \":1\") end' 0");
	script_replies(b, SCRIPT_SETTLE, SETTLE_KEYS, args, "(0 member)");
	free(args);
}

/* --- the ledger ----------------------------------------------------------- */

static void a_ledger_tells_of_a_space_and_its_days(void **state)
{
	struct script_bench *b = script_bench_reset(state);

	script_replies(b, SCRIPT_LEDGER, "s c i", "d- 1",
		       "(0 -1 @0 0 0 0 0 0 0 0 0 0 0)");
	send_commands(
		b,
		"HSET s created 5 retired 6 forgot 7 gaps '1-3 9-9 '\nSET c 8\n"
		"ZADD i @0 0-0:1 @5 1-1:1 @9 2-2:1\n"
		"HSET d-21280611 granted 1 handed_back 2 reclaimed 3 pooled 4 "
		"created 5\n"
		"HSET d-21280610 granted 11");
	script_replies(b, SCRIPT_LEDGER, "s c i", "d- 2",
		       "(1 8 @0 5 6 7 4 @5 1 2 3 4 5 11 0 0 0 0)");
	send_commands(b, "DEL i\nZADD i +inf 1-1:1");
	script_replies(b, SCRIPT_LEDGER, "s c i", "d- 0", "(1 8 @0 5 6 7 4 0)");
}

/* args now max rank last-member overdue */
static void a_page_of_the_ledger_adds_up_blocks_by_score(void **state)
{
	struct script_bench *b = script_bench_reset(state);

	send_commands(b,
		      "ZADD i 0 0-1:4 10 2-4:3 11 5-9:7 20 10-10:3 21 11-12:5");
	script_replies(b, SCRIPT_LEDGER_PAGE, "i s", "20 9 0 '' 10",
		       "(5 5 11-12:5 2 9 2 3 7 3 0)");
	script_replies(b, SCRIPT_LEDGER_PAGE, "i s", "20 2 0 '' 10",
		       "(2 2 2-4:3 2 3 0 3 4 3 0)");
	script_replies(b, SCRIPT_LEDGER_PAGE, "i s", "20 2 3 2-4:3 10",
		       "(2 4 10-10:3 0 6 0 3 7 0 0)");
	script_replies(b, SCRIPT_LEDGER_PAGE, "i s", "20 2 3 gone 10",
		       "(2 5 11-12:5 0 1 2 3 5 0 0)");
	script_replies(b, SCRIPT_LEDGER_PAGE, "i s", "20 2 5 '' 10",
		       "(0 5 '' 0 0 0 0 0 0 0)");
	script_replies(b, SCRIPT_LEDGER_PAGE, "i s", "20 1 0 '' 10",
		       "(1 1 0-1:4 2 0 0 4 4 0 0)");
	/* The blocks of a gap are counted under its generation alone. */
	send_commands(b, "HSET s gaps 10-99:3");
	script_replies(b, SCRIPT_LEDGER_PAGE, "i s", "20 9 0 '' 10",
		       "(5 5 11-12:5 2 9 2 3 7 3 0)");
	send_commands(b, "HSET s set_aside 12-13:5");
	script_replies(b, SCRIPT_LEDGER_PAGE, "i s", "20 9 0 '' 10",
		       "(5 5 11-12:5 2 9 2 3 7 3 1)");
	send_commands(b, "ZADD i 1 x");
	script_replies(b, SCRIPT_LEDGER_PAGE, "i s", "20 9 0 '' 10",
		       "!DAMAGED the range x is damaged");
}

static void a_count_is_the_days(void **state)
{
	static const struct {
		long long ms;
		const char *day;
	} cases[] = {
		{0, "19700101"},
		{86399999, "19700101"},
		{86400000, "19700102"},
		{951782399999, "20000228"},
		{951782400000, "20000229"},
		{951868800000, "20000301"},
		{978220800000, "20001231"},
		{978307200000, "20010101"},
		{1709164800000, "20240229"},
		{1709251200000, "20240301"},
		{1711843200000, "20240331"},
		{1719792000000, "20240701"},
		{1735603200000, "20241231"},
		{1761955200000, "20251101"},
		{4107455999999, "21000227"},
		{4107542399999, "21000228"},
		{4107542400000, "21000301"},
		{4133894400000, "21001231"},
		{13574563200000, "24000229"},
		{13574649600000, "24000301"},
	};
	struct script_bench *b = script_bench_reset(state);
	char keys[64];

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		send_commands(b, "FLUSHALL");
		b->now = cases[i].ms;
		script_replies(b, SCRIPT_COUNT, "s", "d- created 3", "3");
		script_replies(b, SCRIPT_COUNT, "s", "d- created 4", "7");
		snprintf(keys, sizeof(keys), "d-%s: created=7", cases[i].day);
		keys_are(b, keys);
	}
}

static void what_moves_is_seen_in_the_movement(void **state)
{
	struct script_bench *b = script_bench_reset(state);

	script_replies(b, SCRIPT_MOVEMENT, "s c", "d-", "(0 nospace)");
	send_commands(b, "HSET s number 7");
	script_replies(b, SCRIPT_MOVEMENT, "s c", "d-", "(0 nocursor)");
	send_commands(b, "SET c 5");
	script_replies(b, SCRIPT_MOVEMENT, "s c", "d-",
		       "(1 5 5 0 0 0 0 0 0 0 0 0 0 0 0 @0 0 0)");
	send_commands(
		b,
		"HSET s forgot 1 retired 2 first 3 moves 4\n"
		"HSET d-21280611 granted 1 handed_back 2 reclaimed 3 held 4 "
		"released 5\n"
		"HSET d-21280610 granted 11 handed_back 12 reclaimed 13 held "
		"14 released 15");
	script_replies(b, SCRIPT_MOVEMENT, "s c", "d-",
		       "(1 5 5 1 4 1 2 3 4 5 11 12 13 14 15 @0 2 3)");
}

/* The times are the first and the last millisecond of a day. */
static void yesterday_is_counted_all_day_long(void **state)
{
	static const long long times[] = {4999968000000, 5000054399999};
	struct script_bench *b = script_bench_reset(state);

	send_commands(b, "HSET s number 7\nSET c 5\nHSET d-21280610 granted 3");
	for (int i = 0; i < 2; i++) {
		b->now = times[i];
		script_replies(b, SCRIPT_LEDGER, "s c i", "d- 2",
			       "(1 5 @0 0 0 0 0 0 0 0 0 0 0 3 0 0 0 0)");
		script_replies(b, SCRIPT_MOVEMENT, "s c", "d-",
			       "(1 5 5 0 0 0 0 0 0 0 3 0 0 0 0 @0 0 0)");
	}
}

/* --- key versions --------------------------------------------------------- */

static void the_use_of_a_key_version_is_read(void **state)
{
	struct script_bench *b = script_bench_reset(state);

	script_replies(b, SCRIPT_KEY_READ, "s h", "1", "(@0 '' 0 '')");
	keys_are(b, "''");
	send_commands(b, "HSET s key:1 fp used:1 0");
	script_replies(b, SCRIPT_KEY_READ, "s h", "1", "(@0 fp 0 '')");
	send_commands(b, "LPUSH h older newest\nHSET s used:1 @-5 forgot 1");
	script_replies(b, SCRIPT_KEY_READ, "s h", "1", "(@0 fp @-5 newest)");
	keys_are(b, "h: newest|older\ns: forgot=1 key:1=fp used:1=@-5");
	/* A use may have been forgotten. */
	send_commands(b, "HSET s used:1 0");
	script_replies(b, SCRIPT_KEY_READ, "s h", "1", "(@0 fp @0 newest)");
	keys_are(b, "h: newest|older\ns: forgot=1 key:1=fp used:1=@0");
	send_commands(b, "HDEL s used:1 forgot");
	script_replies(b, SCRIPT_KEY_READ, "s h", "1", "(@0 fp @0 newest)");
	keys_are(b, "h: newest|older\ns: key:1=fp used:1=@0");
}

/* keys lock space hand, args lock version fingerprint used hand */
static void a_key_version_is_retired_while_nothing_has_changed(void **state)
{
	struct script_bench *b = script_bench_reset(state);
	static const char keys[] =
		"h: hand\nk: me\ns: key:0=a key:1=fp run_id=abc used:0=1 "
		"used:1=5";

	send_commands(
		b, "SET k me\nLPUSH h hand\nHSET s run_id abc key:0 a used:0 1 "
		   "key:1 fp used:1 5");
	script_replies(b, SCRIPT_KEY_RETIRE, "k s h", "she 1 fp 5 hand",
		       "(0 lock)");
	script_replies(b, SCRIPT_KEY_RETIRE, "k s h", "me 1 other 5 hand",
		       "(0 used)");
	script_replies(b, SCRIPT_KEY_RETIRE, "k s h", "me 1 fp 6 hand",
		       "(0 used)");
	script_replies(b, SCRIPT_KEY_RETIRE, "k s h", "me 1 fp 5 other",
		       "(0 hand)");
	script_replies(b, SCRIPT_KEY_RETIRE, "k s h", "me 1 fp 5 ''",
		       "(0 hand)");
	b->run_id = "def";
	script_replies(b, SCRIPT_KEY_RETIRE, "k s h", "me 1 fp 5 hand",
		       "(0 forgot)");
	b->run_id = "abc";
	keys_are(b, keys);
	script_replies(b, SCRIPT_KEY_RETIRE, "k s h", "me 1 fp 5 hand", "(1)");
	keys_are(b, "h: hand\nk: me\ns: key:0=a run_id=abc used:0=1");
	send_commands(b, "DEL h");
	script_replies(b, SCRIPT_KEY_RETIRE, "k s h", "me 0 a 1 ''", "(1)");
	send_commands(b, "DEL k");
	script_replies(b, SCRIPT_KEY_RETIRE, "k s h", "me 0 a 1 ''",
		       "(0 lock)");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_reclaimer_has_the_lock),
		cmocka_unit_test(ranges_are_due_through_their_time),
		cmocka_unit_test(a_page_goes_on_behind_the_last_one),
		cmocka_unit_test(blocks_are_pooled_kept_or_lost),
		cmocka_unit_test(parts_may_reach_over_neighbouring_members),
		cmocka_unit_test(blocks_of_the_last_generation_are_retired),
		cmocka_unit_test(what_stays_issued_is_not_counted),
		cmocka_unit_test(notes_of_what_was_reclaimed_are_bounded),
		cmocka_unit_test(nothing_is_settled_without_the_lock),
		cmocka_unit_test(only_the_very_members_are_settled),
		cmocka_unit_test(parts_cover_their_members_exactly),
		cmocka_unit_test(many_members_are_settled_at_once),
		cmocka_unit_test(a_ledger_tells_of_a_space_and_its_days),
		cmocka_unit_test(a_page_of_the_ledger_adds_up_blocks_by_score),
		cmocka_unit_test(a_count_is_the_days),
		cmocka_unit_test(what_moves_is_seen_in_the_movement),
		cmocka_unit_test(yesterday_is_counted_all_day_long),
		cmocka_unit_test(the_use_of_a_key_version_is_read),
		cmocka_unit_test(
			a_key_version_is_retired_while_nothing_has_changed),
	};

	return cmocka_run_group_tests(tests, script_bench_start,
				      script_bench_stop);
}

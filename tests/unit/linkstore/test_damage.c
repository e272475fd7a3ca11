/* The writes of a script stay even if the script fails afterwards.  So the test
 * damages each key and field in each way and runs each script: the script must
 * fail without a change, or do its work. */
#include "tests/unit/linkstore/fixture.h"

#include <inttypes.h>

#include "linkstore/space/manual_hold.h"
#include "linkstore/store.h"

#define SPACE  "space:{s5} cursor:{s5} issued:{s5} pool:{s5} " MARKS
#define MARKS  "unopened:{s5} endless:{s5}"
#define KNOWS  "14776 7 100 1000 day:{s5}:"
#define LINK   "l:{s5:0}:aaaa v:{s5:0}:1 m:{s5:0}"
#define ALIAS  "l:{sale-26} v:{sale-26}:1 q:{sale-26}"
#define DENIED "{denied}:hosts {denied}:changes"
#define BY_OUT "issued:{s5} out:{s5} why:{s5} hand:{s5} space:{s5}"

/* Words are separated by spaces; "~" is a space within a word; HEAD, RECORD,
 * HOLDER and PRINT stand for the fixture's values, TODAY and MONTH for Redis'
 * clock. */
static const struct async_call {
	enum link_script script;
	const char *keys, *args;
} calls[] = {
	{SCRIPT_SPACE_CREATE,
	 "space:{s5} cursor:{s5} issued:{s5} pool:{s5} "
	 "out:{s5}",
	 "0 1 number 5 key:1 abc"},
	{SCRIPT_SPACE_READ, "space:{s5} cursor:{s5}", ""},
	{SCRIPT_GRANT, SPACE, "0 0 0 " KNOWS " 4 1000 0 9e15"},
	{SCRIPT_GRANT, SPACE, "0 0 0 " KNOWS " 4 never 0 9e15"},
	/* This caller has seen a later state of the space. */
	{SCRIPT_GRANT, SPACE, "900 900 9 " KNOWS " 4 1000 0 9e15"},
	{SCRIPT_RAISE_CURSOR, SPACE, "0 0 0 " KNOWS},
	{SCRIPT_RAISE_CURSOR, SPACE, "900 900 9 " KNOWS},
	{SCRIPT_KEY_READ, "space:{s5} hand:{s5}", "0"},
	{SCRIPT_KEY_RETIRE, "lock:{s5} space:{s5} hand:{s5}",
	 "mine 0 PRINT 5 5~hold"},
	{SCRIPT_HAND_BACK, "issued:{s5} pool:{s5} space:{s5} " MARKS,
	 "1-5:1 2 3 day:{s5}: 100"},
	{SCRIPT_LOCK_TAKE, "lock:{s5}", "other 1000"},
	{SCRIPT_LOCK, "lock:{s5}", "mine 1000"},
	{SCRIPT_DUE, "issued:{s5}", "0 0 10 0 "},
	{SCRIPT_UNOPENED, "space:{s5} unopened:{s5}", "0 0 1:1"},
	{SCRIPT_CONFIRM, "space:{s5} unopened:{s5}", "1 1"},
	{SCRIPT_SETTLE, "lock:{s5} " SPACE " reclaimed:{s5}",
	 "mine 10000 0 0 0 " KNOWS " 150 1 1-5:1 P~1~2~2 K~3~4~1~9000 "
	 "L~5~5~1"},
	{SCRIPT_SETTLE, "lock:{s5} " SPACE " reclaimed:{s5}",
	 "mine 10000 900 900 9 " KNOWS " 150 1 1-5:1 P~1~5~2"},
	{SCRIPT_LEDGER, "space:{s5} cursor:{s5} issued:{s5}", "day:{s5}: 2"},
	{SCRIPT_LEDGER_PAGE, "pool:{s5} space:{s5}", "5000 10 0  1"},
	{SCRIPT_COUNT, "space:{s5}", "day:{s5}: created 5"},
	{SCRIPT_HOLD,
	 "issued:{s5} pool:{s5} out:{s5} why:{s5} hand:{s5} space:{s5}",
	 "2 3 ann why day:{s5}: i 1-5:1"},
	{SCRIPT_RELEASE, BY_OUT, "30 30 ann why day:{s5}: 30-31:1"},
	{SCRIPT_REPAIR,
	 "lock:{s5} cursor:{s5} issued:{s5} pool:{s5} out:{s5} why:{s5} "
	 "hand:{s5} space:{s5}",
	 "mine 10000 ann repair why 2 i 1-5:1 o 30-31:1 i 1 5 1 9000 o 30 31 1 "
	 "9000"},
	{SCRIPT_MOVEMENT, "space:{s5} cursor:{s5}", "day:{s5}:"},
	{SCRIPT_OPEN, "m:{s5:1}", "1 somebody 1d 1000 100"},
	{SCRIPT_OPEN, "m:{s5:9}", "2 somebody 1d 1000 100"},
	{SCRIPT_CLOSE_OWN, "m:{s5:1}", "1 somebody"},
	{SCRIPT_CREATE, "m:{s5:0} l:{s5:0}:new l:{s5:0}:bbbb",
	 "1 HOLDER 999999999999 RECORD RECORD"},
	{SCRIPT_CLOSE, "m:{s5:8} m:{s5:9}", "1 150"},
	{SCRIPT_CLOSE, "m:{s5:8} m:{s5:9}", "7 150"},
	{SCRIPT_CLOSE_LOST, "m:{s5:1}", "1"},
	{SCRIPT_JUDGE_LINK, "m:{s5:0} l:{s5:0}:aaaa", ""},
	{SCRIPT_RENEW, LINK, "HEAD 1 1 999999999999 999999999999"},
	{SCRIPT_LOOK_UP,
	 "l:{s5:0}:aaaa m:{s5:0} l:{s5:0}:none m:{s5:0} "
	 "l:{sale-26} l:{sale-26}",
	 ""},
	{SCRIPT_EDIT, LINK, "1 1 RECORD keep 0 marker"},
	{SCRIPT_EDIT, LINK, "1 1 RECORD life 999999999999 marker"},
	{SCRIPT_EDIT_SMALL, LINK, "1 1 RECORD tombstone 1000 marker"},
	{SCRIPT_EDIT, LINK " l:{s5:0}:bbbb v:{s5:0}:2 m:{s5:0} " ALIAS,
	 "1 1 RECORD life 999999999999 marker 1 1 RECORD tombstone 1000 marker "
	 "1 1 RECORD life 999999999999 5000"},
	{SCRIPT_VISIT, "l:{s5:0}:aaaa v:{s5:0}:1", "HEAD 10"},
	{SCRIPT_VISIT, "l:{s5:0}:aaaa v:{s5:0}:1", "HEAD 10 5"},
	{SCRIPT_STANDALONE_CREATE, "l:{sale-26}", "RECORD 1000 0"},
	{SCRIPT_STANDALONE_CREATE, "l:{new} q:{sale-26}", "RECORD 1000 0 5000"},
	{SCRIPT_RENEW, ALIAS, "HEAD 1 1 999999999999 999999999999 5000"},
	{SCRIPT_EDIT, ALIAS, "1 1 RECORD life 999999999999 5000"},
	{SCRIPT_NODE_LEASE, "node:{7}", "somebody 1000 0"},
	{SCRIPT_NODE_LEASE, "node:{7}", "somebody 0 50"},
	{SCRIPT_IDEM_READ, "i:{x}", ""},
	{SCRIPT_IDEM_WRITE, "i:{x}", "p~1~plan p 5 rest 1000"},
	{SCRIPT_IDEM_END, "i:{x}", "p~1~plan done"},
	{SCRIPT_DOMAINS, "domains", "5 others"},
	{SCRIPT_DENY, DENIED, "new.example ann why"},
	{SCRIPT_DENY, DENIED, "bad.example"},
	{SCRIPT_DENIED, DENIED, "0 10"},
	{SCRIPT_QUOTA_TAKE, "quota:{acme}", "1 10 day 5 1000 month"},
	{SCRIPT_QUOTA_GIVE, "quota:{acme}", "1 TODAY 5 MONTH"},
	{SCRIPT_QUOTA_READ, "quota:{acme}", "day month"},
	{SCRIPT_URL_BLOCK, "blocked:{acme}",
	 "7 code key 1 aa https://a.example/ bb https://b.example/"},
	{SCRIPT_SHARE, "share:{shares}:new shares:{shares}:acme",
	 "new text 999999999999 5 share:{shares}:"},
	{SCRIPT_SHARE, "share:{shares}:new shares:{shares}:acme",
	 "new text 999999999999 1 share:{shares}:"},
	{SCRIPT_URL_LET_GO, "blocked:{acme}", "5 aa bb"},
};
#define CALLS (sizeof(calls) / sizeof(calls[0]))

/* --- keys ----------------------------------------------------------------- */

struct words {
	const char *argv[40];
	size_t lens[40];
	int argc;
	char text[512];
};

struct made {
	char record[256];
	size_t record_len;
	char holder[LINK_HOLDER_MAX], print[64];
	char today[9],
		month[7]; /* in the form that keys of ledgers and quotas have */
};

static void run_redis_command(struct fixture *f, const char *words)
{
	freeReplyObject(redis_server_ask(&f->server, words));
}

static void put_text(struct fixture *f, const char *key, const char *text)
{
	const char *argv[] = {"SET", key, text};
	redisReply *reply;

	must(f, redis_command(f->server.redis, 3, argv, NULL, &reply, &f->err));
	freeReplyObject(reply);
}

static void put_record(struct fixture *f, const struct made *m, const char *key)
{
	const char *argv[] = {"SET", key, m->record, "PX", "100000"};
	const size_t lens[] = {3, strlen(key), m->record_len, 2, 6};
	redisReply *reply;

	must(f, redis_command(f->server.redis, 5, argv, lens, &reply, &f->err));
	freeReplyObject(reply);
}

static void put_blocked_url(struct fixture *f)
{
	const char *argv[] = {"HSET", "blocked:{acme}", "aa",
			      "https://a.example/\n5 1700000000000 code key"};
	redisReply *reply;

	must(f, redis_command(f->server.redis, 4, argv, NULL, &reply, &f->err));
	freeReplyObject(reply);
}

static void note_day(int64_t ms, char ret[9])
{
	char day[RFC3339_TEXT_MAX];

	rfc3339_format(ms, day);
	snprintf(ret, 9, "%.4s%.2s%.2s", day, day + 5, day + 8);
}

/* Puts all counts that scripts read, so that each count can be damaged. */
static void put_counts(struct fixture *f, struct made *m)
{
	char words[256], yesterday[9];

	note_day(clock_real_ms(), m->today);
	note_day(clock_real_ms() - CLOCK_DAY, yesterday);
	snprintf(m->month, sizeof(m->month), "%.6s", m->today);
	snprintf(words, sizeof(words),
		 "HSET day:{s5}:%s handed_back 1 reclaimed 1 pooled 1 held 1 "
		 "released 1 created 1",
		 m->today);
	run_redis_command(f, words);
	snprintf(words, sizeof(words), "HSET day:{s5}:%s busiest 1", yesterday);
	run_redis_command(f, words);
	snprintf(words, sizeof(words), "HSET quota:{acme}:%s links 3",
		 m->today);
	run_redis_command(f, words);
	snprintf(words, sizeof(words), "HSET quota:{acme}:%s bytes 100",
		 m->month);
	run_redis_command(f, words);
	run_redis_command(
		f, "HSET space:{s5} retired 1 forgot 1 floor 1 gaps 0-0");
}

static struct made make_world(struct fixture *f)
{
	struct link_block a = open_block(f, f->day);
	Shortloop__Link link = empty_link();
	struct made m = {0};

	make_grant(f, f->day, 5);
	link.url = text_of("https://example.org/");
	must(f, link_prepare(&a, 0, &link, &f->err));
	m.record_len = shortloop__link__pack(&link, (uint8_t *)m.record);
	snprintf(m.holder, sizeof(m.holder), "%s", a.holder);
	snprintf(m.print, sizeof(m.print), "%.63s",
		 redis_server_text(&f->server, "HGET space:{s5} key:0",
				   (char[512]){0}));
	put_record(f, &m, "l:{s5:0}:aaaa");
	put_record(f, &m, "l:{s5:0}:bbbb");
	put_record(f, &m, "l:{sale-26}");
	run_redis_command(f, "HSET v:{s5:0}:1 visits 5");
	run_redis_command(f, "HSET v:{sale-26}:1 visits 5");
	run_redis_command(f, "SET q:{sale-26} former");
	run_redis_command(f, "SET lock:{s5} mine");
	put_text(f, "i:{x}", "p 1 plan");
	put_text(f, "m:{s5:8}", "1 o 1d 5 6 somebody");
	put_text(f, "m:{s5:9}", "1 c 1d 5 6 somebody");
	run_redis_command(f, "ZADD pool:{s5} 1 20-20:2 2 21-29:3");
	run_redis_command(f, "ZADD out:{s5} 1 30-31:1");
	run_redis_command(f, "ZADD endless:{s5} 2 2:2");
	put_text(f, "x", "i 5 ann why");
	run_redis_command(f, "HSET why:{s5} 30-31:1 i");
	run_redis_command(f, "LPUSH hand:{s5} 5");
	run_redis_command(f, "HSET node:{7} holder somebody until 5");
	run_redis_command(f, "ZADD shares:{shares}:acme 1 old 2 older");
	run_redis_command(f, "SET share:{shares}:old text");
	run_redis_command(f, "HSET domains revision 5 text some");
	run_redis_command(f, "HSET {denied}:hosts bad.example 5\tann\twhy");
	run_redis_command(f, "ZADD {denied}:changes 7 bad.example");
	put_counts(f, &m);
	put_blocked_url(f);
	run_redis_command(f, "HSET space:{s5} used:0 5 waits 5 aside 3");
	run_redis_command(f, "DEL x");
	return m;
}

/* --- damages -------------------------------------------------------------- */

/* Returns a digest of all keys with their values and expiry times. */
static const char digest_script[] =
	"local keys, all = redis.call('KEYS', '*'), {} "
	"table.sort(keys) "
	"for _, k in ipairs(keys) do "
	"  all[#all + 1] = k .. redis.call('DUMP', k) .. "
	"    redis.call('PEXPIRETIME', k) "
	"end "
	"return redis.sha1hex(table.concat(all))";

/* Applies a damage by its number; nil if there are no more.  Each key gets
 * another type; texts, fields and members get impossible values. */
static const char damage_script[] =
	"local left = tonumber(ARGV[1]) "
	"local function done(...) "
	"  left = left - 1 "
	"  if left ~= 0 then return false end "
	"  redis.call(...) "
	"  return true "
	"end "
	"local keys = redis.call('KEYS', '*') "
	"table.sort(keys) "
	"for _, k in ipairs(keys) do "
	"  local type = redis.call('TYPE', k).ok "
	"  left = left - 1 "
	"  if left == 0 then "
	"    redis.call('DEL', k) "
	"    if type == 'string' then redis.call('LPUSH', k, 'x') "
	"    else redis.call('SET', k, 'x') end "
	"    return k .. ' of another type' "
	"  end "
	"  if type == 'string' then "
	"    for _, v in ipairs({'damaged', '-1', '', '1 o 1d 5 x y', "
	"        '9223372036854775807', '1e400'}) do "
	"      if done('SET', k, v) then return k .. ' = ' .. v end "
	"    end "
	"  elseif type == 'hash' then "
	"    for _, f in ipairs(redis.call('HKEYS', k)) do "
	"      for _, v in ipairs({'damaged', '-1', '', "
	"          '9223372036854775807', '99999999999999999999999'}) do "
	"        if done('HSET', k, f, v) then "
	"          return k .. ' ' .. f .. ' = ' .. v "
	"        end "
	"      end "
	"    end "
	"  elseif type == 'zset' then "
	"    for _, v in ipairs({'damaged', '5-4:1', '7-8:0', '7-8:99999', "
	"        '1-99999999999999999999:1'}) do "
	"      if done('ZADD', k, 0, v) then return k .. ' ' .. v end "
	"    end "
	"    for _, m in ipairs(redis.call('ZRANGE', k, 0, -1)) do "
	"      if done('ZADD', k, 'inf', m) then return k .. ' inf' end "
	"    end "
	"  end "
	"end "
	"return false";

static redisReply *eval_script(struct fixture *f, const char *script,
			       const char *arg)
{
	const char *argv[] = {"EVAL", script, "0", arg};
	redisReply *reply;

	must(f, redis_command(f->server.redis, 4, argv, NULL, &reply, &f->err));
	return reply;
}

static void digest_keys(struct fixture *f, char ret[64])
{
	redisReply *reply = eval_script(f, digest_script, "");

	snprintf(ret, 64, "%s", reply->str);
	freeReplyObject(reply);
}

/* Returns false if there is no damage of this number. */
static bool apply_damage(struct fixture *f, int number, char ret_what[256])
{
	char text[16];
	redisReply *reply;
	bool there;

	snprintf(text, sizeof(text), "%d", number);
	reply = eval_script(f, damage_script, text);
	there = reply->type == REDIS_REPLY_STRING;
	if (there)
		snprintf(ret_what, 256, "%s", reply->str);
	freeReplyObject(reply);
	return there;
}

/* --- running the scripts -------------------------------------------------- */

static void add_word(struct words *w, const struct made *m, char *word)
{
	const char *value = word;
	size_t len;

	for (char *c = word; *c; c++)
		*c = *c == '~' ? ' ' : *c;
	len = strlen(word);
	if (!strcmp(word, "HEAD") || !strcmp(word, "RECORD")) {
		value = m->record;
		len = *word == 'H' ? 9 : m->record_len;
	} else if (!strcmp(word, "HOLDER") || !strcmp(word, "PRINT")) {
		value = *word == 'H' ? m->holder : m->print;
		len = strlen(value);
	} else if (!strcmp(word, "TODAY") || !strcmp(word, "MONTH")) {
		value = *word == 'T' ? m->today : m->month;
		len = strlen(value);
	}
	w->argv[w->argc] = value;
	w->lens[w->argc++] = len;
}

static void add_words(struct words *w, const struct made *m, char *text)
{
	char *rest = text, *word;

	while (*text && (word = strsep(&rest, " ")))
		add_word(w, m, word);
}

/* Returns whether the script failed. */
static bool async_call_fails(struct fixture *f, const struct made *m,
			     const struct async_call *call, char ret_why[256])
{
	struct words w = {.argc = 3};
	char keys[256], args[256], count[16];
	redisReply *reply;
	bool failed;

	snprintf(keys, sizeof(keys), "%s", call->keys);
	snprintf(args, sizeof(args), "%s", call->args);
	add_words(&w, m, keys);
	snprintf(count, sizeof(count), "%d", w.argc - 3);
	add_words(&w, m, args);
	w.argv[0] = "EVALSHA";
	w.argv[1] = f->store->scripts[call->script].sha;
	w.argv[2] = count;
	for (int i = 0; i < 3; i++)
		w.lens[i] = strlen(w.argv[i]);
	failed = redis_command(f->server.redis, w.argc, w.argv, w.lens, &reply,
			       &f->err);
	snprintf(ret_why, 256, "%.250s", failed ? f->err.text : "");
	if (!failed)
		freeReplyObject(reply);
	return failed;
}

static void load_all(struct fixture *f)
{
	for (int i = 0; i < SCRIPT_COUNT_OF; i++) {
		const char *argv[] = {"SCRIPT", "LOAD",
				      f->store->scripts[i].text};
		redisReply *reply;

		must(f, redis_command(f->server.redis, 3, argv, NULL, &reply,
				      &f->err));
		freeReplyObject(reply);
	}
}

/* Calls each script on the damaged keys; returns how many failed. */
static int check_calls(struct fixture *f, const struct made *m,
		       const char *what)
{
	char before[64], after[64], why[256];
	int failures = 0;

	digest_keys(f, before);
	redis_server_copy(&f->server, "0", "2");
	for (size_t i = 0; i < CALLS; i++) {
		if (!async_call_fails(f, m, &calls[i], why)) {
			redis_server_copy(&f->server, "2", "0");
			continue;
		}
		digest_keys(f, after);
		if (strcmp(before, after) != 0)
			fail_msg("script %d with %s: has written, then failed: "
				 "%s",
				 (int)calls[i].script, what, why);
		failures++;
	}
	return failures;
}

static void a_script_that_fails_has_written_nothing(void **state)
{
	struct fixture *f = *state;
	struct made m = make_world(f);
	char what[256];
	int failures = 0, damages = 0;

	load_all(f);
	redis_server_snapshot(&f->server);
	for (int i = 1; apply_damage(f, i, what); i++, damages++) {
		failures += check_calls(f, &m, what);
		redis_server_go_back(&f->server);
	}
	print_message("%d damages, %zu calls of each, %d failed\n", damages,
		      CALLS, failures);
	assert_true(damages > 100 && failures > damages);
}

static void every_script_works_where_nothing_is_damaged(void **state)
{
	struct fixture *f = *state;
	struct made m = make_world(f);
	bool met[SCRIPT_COUNT_OF] = {false};
	char why[256];

	load_all(f);
	redis_server_snapshot(&f->server);
	for (size_t at = 0; at < CALLS; at++) {
		redis_server_go_back(&f->server);
		if (async_call_fails(f, &m, &calls[at], why))
			fail_msg("script %d: %s", (int)calls[at].script, why);
		met[calls[at].script] = true;
	}
	for (int i = 0; i < SCRIPT_COUNT_OF; i++)
		if (!met[i])
			fail_msg("script %d is not among them", i);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(every_script_works_where_nothing_is_damaged),
		TEST(a_script_that_fails_has_written_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

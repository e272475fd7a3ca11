/*
 * script_bench.h - runs single scripts on a Redis with the time and run_id that
 * the test sets, and compares the reply and all keys.
 *
 * All arguments are text.  "@50" is 50 ms after the test's time, "@-1" 1 ms
 * before.  A word with spaces is written '...', an empty text ''.
 */
#ifndef TESTS_UNIT_LINKSTORE_SCRIPT_BENCH_H
#define TESTS_UNIT_LINKSTORE_SCRIPT_BENCH_H

#include "tests/unit/unit.h"

#include <string.h>

#include "linkstore/scripts.h"
#include "tests/unit/redis_server.h"

/* 2128-06-11 08:53:20 UTC is so late that no key expires during a test. */
#define SCRIPT_TIME 5000000000000LL
#define SCRIPT_ROOM 65536

struct script_bench {
	struct redis_server server;
	struct redis_script scripts[SCRIPT_COUNT_OF];
	long long now;	     /* ms */
	const char *run_id;  /* the server's */
	const char *refused; /* a command that Redis does not permit, or "" */
	char expanded[2][SCRIPT_ROOM];
	char reply[SCRIPT_ROOM];
};

/*
 * This text precedes each script.  Expiry times are read and set by the test's
 * time.  Published and logged messages are added to lists.  The clock has
 * microseconds, as the real one has.
 */
static const char script_prologue[] =
	"local NOW, RUN_ID, REFUSED = %lld, '%s', '%s' "
	"local server = redis "
	"local function left(key) "
	"  local ends = server.call('PEXPIRETIME', key) "
	"  return ends < 0 and ends or ends - NOW end "
	"local fakes = {"
	"  TIME = function() return {string.format('%%.0f', math.floor(NOW / "
	"    1000)), string.format('%%.0f', NOW %% 1000 * 1000 + 999)} end,"
	"  INFO = function() return 'redis_version:7\\r\\nrun_id:' .. RUN_ID "
	".. "
	"    '\\r\\n' end,"
	"  PTTL = left,"
	"  TTL = function(key) return math.floor(left(key) / 1000) end,"
	"  PEXPIRE = function(key, ms) return server.call('PEXPIREAT', key, "
	"    string.format('%%.0f', NOW + ms)) end,"
	"  PUBLISH = function(channel, text) return server.call('RPUSH', "
	"    'published', channel .. ' ' .. text) end,"
	"  SET = function(key, value, ...) "
	"    local words = {...} "
	"    for i, word in ipairs(words) do if word == 'PX' then "
	"      words[i] = 'PXAT' "
	"      words[i + 1] = string.format('%%.0f', NOW + words[i + 1]) end "
	"end "
	"    return server.call('SET', key, value, unpack(words)) end"
	"} "
	"local function call(name, ...) "
	"  if fakes[name] then return fakes[name](...) end "
	"  return server.call(name, ...) end "
	"local redis = setmetatable({call = call, "
	"  pcall = function(name, ...) "
	"    if name == REFUSED then return {err = 'NOPERM ' .. name} end "
	"    if fakes[name] then return call(name, ...) end "
	"    return server.pcall(name, ...) end, "
	"  log = function(level, text) server.call('RPUSH', 'logged', text) "
	"end}, "
	"  {__index = server}) ";

/* Returns all keys, one a line: name, expiry time and value. */
static const char script_state[] =
	"local names = redis.call('KEYS', '*') table.sort(names) "
	"local lines = {} "
	"for i, name in ipairs(names) do "
	"  local kind, text = redis.call('TYPE', name).ok, '' "
	"  if kind == 'string' then text = redis.call('GET', name) "
	"  elseif kind == 'list' then "
	"    text = table.concat(redis.call('LRANGE', name, 0, -1), '|') "
	"  else "
	"    local all = kind == 'hash' and redis.call('HGETALL', name) or "
	"      redis.call('ZRANGE', name, 0, -1, 'WITHSCORES') "
	"    local pairs_of = {} "
	"    for j = 1, #all, 2 do "
	"      pairs_of[#pairs_of + 1] = all[j] .. '=' .. all[j + 1] end "
	"    if kind == 'hash' then table.sort(pairs_of) end "
	"    text = table.concat(pairs_of, ' ') "
	"  end "
	"  local ends = redis.call('PEXPIRETIME', name) "
	"  lines[i] = name .. (ends < 0 and '' or "
	"    string.format('(%.0f)', ends)) .. ': ' .. text "
	"end "
	"return table.concat(lines, '\\n')";

static inline struct script_bench *script_bench_reset(void **state)
{
	struct script_bench *b = *state;

	b->now = SCRIPT_TIME;
	b->run_id = "abc";
	b->refused = "";
	freeReplyObject(redis_server_ask(&b->server, "FLUSHALL"));
	return b;
}

/* Replaces "@50" with that time. */
static inline const char *script_expand(const struct script_bench *b,
					const char *text, char to[SCRIPT_ROOM])
{
	char *at = to;

	while (*text) {
		assert_true(at < to + SCRIPT_ROOM - 32);
		if (text[0] == '@' && strspn(text + 1, "-0123456789")) {
			char *end;
			long long ms = strtoll(text + 1, &end, 10);

			at += sprintf(at, "%lld", b->now + ms);
			text = end;
		} else {
			*at++ = *text++;
		}
	}
	*at = '\0';
	return to;
}

/* Splits `text` and modifies it. */
static inline int script_split(char *text, const char **words, int most)
{
	int n = 0;

	while (*text) {
		char *end = strchrnul(text + (*text == '\''),
				      *text == '\'' ? '\'' : ' ');

		assert_true(n < most);
		words[n++] = text + (*text == '\'');
		if (*text == '\'' && *end)
			*end++ = '\0';
		text = end + (*end == ' ');
		*end = '\0';
	}
	return n;
}

static inline void script_append(char to[SCRIPT_ROOM], const char *text)
{
	assert_true(strlen(to) + strlen(text) < SCRIPT_ROOM);
	strcat(to, text);
}

/* Appends an error without its line number and its script's hash. */
static inline void script_append_error(char to[SCRIPT_ROOM], const char *text)
{
	char error[512], *begin = error, *end, *line;

	snprintf(error, sizeof(error), "%s", text);
	end = strstr(error, " script: ");
	if (end)
		*end = '\0';
	line = strstr(error, "user_script:");
	if (line)
		begin = strchrnul(line, ' ');
	script_append(to, "!");
	script_append(to, begin + (*begin == ' '));
}

static inline void script_append_reply(char to[SCRIPT_ROOM],
				       const redisReply *r)
{
	char number[32];

	switch (r->type) {
	case REDIS_REPLY_INTEGER:
		snprintf(number, sizeof(number), "%lld", r->integer);
		script_append(to, number);
		break;
	case REDIS_REPLY_ARRAY:
		script_append(to, "(");
		for (size_t i = 0; i < r->elements; i++) {
			script_append(to, i ? " " : "");
			script_append_reply(to, r->element[i]);
		}
		script_append(to, ")");
		break;
	case REDIS_REPLY_NIL:
		script_append(to, "nil");
		break;
	case REDIS_REPLY_ERROR:
		script_append_error(to, r->str);
		break;
	default:
		script_append(to, r->str[0] ? r->str : "''");
	}
}

static inline const char *script_send(struct script_bench *b, int argc,
				      const char **argv)
{
	redisReply *reply = NULL;
	struct error err = {0};

	b->reply[0] = '\0';
	if (redis_append(b->server.redis, argc, argv, NULL, &err) ||
	    redis_take_reply(b->server.redis, &reply, &err))
		fail_msg("%s: %s", argv[0], err.text);
	script_append_reply(b->reply, reply);
	freeReplyObject(reply);
	return b->reply;
}

/* Ends a line, which may have line breaks within '...'; returns what follows
 * it, or NULL. */
static inline char *script_next_line(char *at)
{
	for (bool quoted = false; *at; at++) {
		if (*at == '\'')
			quoted = !quoted;
		if (*at == '\n' && !quoted) {
			*at = '\0';
			return at + 1;
		}
	}
	return NULL;
}

/* Sends commands, one a line. */
static inline void send_commands(struct script_bench *b, const char *commands)
{
	const char *words[64];
	char *line = b->expanded[0], *next;

	script_expand(b, commands, b->expanded[0]);
	for (; line; line = next) {
		next = script_next_line(line);
		script_send(b, script_split(line, words, 64), words);
		if (b->reply[0] == '!')
			fail_msg("%s: %s", words[0], b->reply);
	}
}

/* Returns the reply of a script to these keys and arguments. */
static inline const char *script_run(struct script_bench *b,
				     enum link_script script, const char *keys,
				     const char *args)
{
	const char *text = b->scripts[script].text;
	const char *begin =
		strncmp(text, "#!", 2) == 0 ? strchr(text, '\n') + 1 : text;
	static const char *argv[4096] = {"EVAL"};
	char *whole, prologue[4096], count[16];
	int n;

	snprintf(prologue, sizeof(prologue), script_prologue, b->now, b->run_id,
		 b->refused);
	assert_true(asprintf(&whole, "%.*s%s%s", (int)(begin - text), text,
			     prologue, begin) > 0);
	script_expand(b, keys, b->expanded[0]);
	script_expand(b, args, b->expanded[1]);
	argv[1] = whole;
	n = script_split(b->expanded[0], argv + 3, 16);
	snprintf(count, sizeof(count), "%d", n);
	argv[2] = count;
	n += script_split(b->expanded[1], argv + 3 + n, 4000);
	script_send(b, 3 + n, argv);
	free(whole);
	return b->reply;
}

static inline const char *script_keys(struct script_bench *b)
{
	const char *argv[] = {"EVAL", script_state, "0"};

	return script_send(b, 3, argv);
}

static inline void check_script(struct script_bench *b, const char *said,
				const char *expected, const char *file,
				int line)
{
	_assert_string_equal(said, script_expand(b, expected, b->expanded[0]),
			     file, line);
}

#define script_replies(b, script, keys, args, expected)                        \
	check_script(b, script_run(b, script, keys, args), expected, __FILE__, \
		     __LINE__)

/* Compares all keys in Redis, in the order of their names. */
#define keys_are(b, expected)                                                  \
	check_script(b, script_keys(b), expected, __FILE__, __LINE__)

static inline const char *script_ask(struct script_bench *b,
				     const char *command)
{
	send_commands(b, command);
	return b->reply;
}

#define redis_says(b, command, expected)                                       \
	check_script(b, script_ask(b, command), expected, __FILE__, __LINE__)

static inline int script_bench_start(void **state)
{
	struct script_bench *b = calloc(1, sizeof(*b));

	redis_server_start(&b->server);
	link_scripts_init(b->scripts);
	*state = b;
	return 0;
}

static inline int script_bench_stop(void **state)
{
	struct script_bench *b = *state;

	redis_server_stop(&b->server);
	free(b);
	return 0;
}

#endif

#include "tests/model/nodes.h"

/* Markers, links and visit counts are in the slots of their blocks. */
#define IS_OF_BLOCK                                                            \
	"local function of_block(k) return string.find(k, '^[mlv]:') end "

/* ARGV blocks|spaces; returns key, value, expiry time. */
static const char aside_script[] = IS_OF_BLOCK
	"local all = {} "
	"for _, k in ipairs(redis.call('KEYS', '*')) do "
	"  local value = redis.call('DUMP', k) "
	"  if value and (of_block(k) ~= nil) == (ARGV[1] == 'blocks') then "
	"    all[#all + 1] = k "
	"    all[#all + 1] = value "
	"    all[#all + 1] = tostring(redis.call('PEXPIRETIME', k)) "
	"  end "
	"end "
	"return all";

/* A node that did not restart has the run_id that its spaces know. */
static const char back_script[] = IS_OF_BLOCK
	"local blocks = ARGV[1] == 'blocks' "
	"for _, k in ipairs(redis.call('KEYS', '*')) do "
	"  if (of_block(k) ~= nil) == blocks then redis.call('DEL', k) end "
	"end "
	"local now = redis.call('TIME') "
	"now = now[1] * 1000 + math.floor(now[2] / 1000) "
	"for i = 2, #ARGV, 3 do "
	"  local ends = tonumber(ARGV[i + 2]) "
	"  if ends < 0 then redis.call('RESTORE', ARGV[i], 0, ARGV[i + 1]) "
	"  elseif ends > now then "
	"    redis.call('RESTORE', ARGV[i], ARGV[i + 2], ARGV[i + 1], "
	"'ABSTTL') "
	"  end "
	"end "
	"if blocks then return 0 end "
	"local id = string.match(redis.call('INFO', 'server'), "
	"  'run_id:(%x+)') "
	"for _, k in ipairs(redis.call('KEYS', 'space:*')) do "
	"  redis.call('HSET', k, 'run_id', id) "
	"end "
	"return 0";

void nodes_keep_run_id(struct world *w)
{
	static const char script[] =
		"local id = string.match(redis.call('INFO', 'server'), "
		"  'run_id:(%x+)') "
		"for _, k in ipairs(redis.call('KEYS', 'space:*')) do "
		"  redis.call('HSET', k, 'run_id', id) "
		"end "
		"return 0";
	const char *argv[] = {"EVAL", script, "0"};
	redisReply *reply;

	if (redis_command(w->redis, 3, argv, NULL, &reply, &w->err))
		world_broken(w, "%s", w->err.text);
	freeReplyObject(reply);
}

static const char *name_of(enum forgetful who)
{
	return who == SPACES_FORGET ? "blocks" : "spaces";
}

redisReply *nodes_put_aside(struct world *w, enum forgetful who)
{
	const char *argv[] = {"EVAL", aside_script, "0", name_of(who)};
	redisReply *aside;

	if (who == ALL_FORGET)
		return NULL;
	if (redis_command(w->redis, 4, argv, NULL, &aside, &w->err))
		world_broken(w, "%s", w->err.text);
	return aside;
}

void nodes_put_back(struct world *w, enum forgetful who, redisReply *aside)
{
	size_t count = aside ? aside->elements + 4 : 4;
	const char **argv = calloc(count, sizeof(*argv));
	size_t *lens = calloc(count, sizeof(*lens));
	redisReply *reply;

	assert_true(argv && lens);
	argv[0] = "EVAL";
	argv[1] = back_script;
	argv[2] = "0";
	argv[3] = name_of(who);
	for (size_t i = 0; i < 4; i++)
		lens[i] = strlen(argv[i]);
	for (size_t i = 4; i < count; i++) {
		argv[i] = aside->element[i - 4]->str;
		lens[i] = aside->element[i - 4]->len;
	}
	if (aside) {
		if (redis_command(w->redis, (int)count, argv, lens, &reply,
				  &w->err))
			world_broken(w, "%s", w->err.text);
		freeReplyObject(reply);
		freeReplyObject(aside);
	}
	free(argv);
	free(lens);
}

#include "tests/model/mutations.h"

#include "tests/unit/unit.h"

#include <string.h>

#include "linkstore/store.h"

const struct mutation mutations[] = {
	{.name = "close-without-looking-at-the-end",
	 .from = "if letter == 'o' and ends >= now then",
	 .to = "if false then"},
	{.name = "close-leaves-the-marker-open",
	 .from = "generation, letter == 'o' and #had + 1",
	 .to = "generation"},
	{.name = "close-keeps-the-lower-generation",
	 .from = "if generation < granted then",
	 .to = "if false then"},
	{.name = "settle-without-the-member",
	 .from = "if gone then return {0, 'member'} end",
	 .to = ""},
	{.name = "settle-without-the-lock",
	 .from = "if redis.call('GET', KEYS[1]) ~= ARGV[1] then return {0, "
		 "'lock'} end",
	 .to = "",
	 .covered = "two runs settle the same member once: it names the "
		    "generation"},
	{.name = "settle-without-quarantine",
	 .from = "now + tonumber(ARGV[11])",
	 .to = "now"},
	{.name = "grant-during-quarantine",
	 .from = "take_head(k, time_text(now), want",
	 .to = "take_head(k, '+inf', want"},
	{.name = "grant-enters-nothing-as-issued",
	 .from = "redis.call('ZADD', k.issued, due, range_text(first, last, "
		 "generation))\n  for block",
	 .to = "for block"},
	{.name = "grant-for-ever-without-a-mark",
	 .from = "if endless and generation > 1 then",
	 .to = "if false then",
	 .covered = "a block for ever, reused, forgotten to have been opened, "
		    "and then in use again: noticed once in some sixty "
		    "histories"},
	{.name = "confirm-counts-nothing",
	 .from = "return redis.call('HINCRBY', KEYS[1], 'moves', 1)",
	 .to = "return 1",
	 .covered = "a block for ever, opened in what was forgotten, and no "
		    "grant with it: noticed once in some thousand histories"},
	{.name = "grant-leaves-the-pool-as-it-was",
	 .from = "redis.call('ZREM', k.pool, member)",
	 .to = ""},
	{.name = "open-whatever-the-generation",
	 .from = "if m and (m.open or m.generation >= generation) then",
	 .to = "if m and m.open then"},
	{.name = "open-what-is-open",
	 .from = "if m and (m.open or m.generation >= generation) then",
	 .to = "if m and m.generation >= generation then",
	 .covered = "an open block is granted under a higher generation only "
		    "where a node of blocks has forgotten that it was closed: "
		    "noticed once in some twenty histories"},
	{.name = "open-in-any-case",
	 .from = "if m and (m.open or m.generation >= generation) then",
	 .to = "if false then"},
	{.name = "create-whoever-holds-it",
	 .from = "if not m.open or m.generation ~= tonumber(ARGV[1]) or "
		 "m.holder ~= ARGV[2] then",
	 .to = "if not m.open then"},
	{.name = "create-in-a-closed-block",
	 .from = "if not m.open or m.generation ~= tonumber(ARGV[1]) or "
		 "m.holder ~= ARGV[2] then",
	 .to = "if m.generation ~= tonumber(ARGV[1]) or m.holder ~= ARGV[2] "
	       "then"},
	{.name = "create-without-lifting-the-end",
	 .from = "if expires > m.ends then",
	 .to = "if false then"},
	{.name = "create-over-what-is-there",
	 .from = "record, 'NX', 'PXAT', ",
	 .to = "record, 'PXAT', ",
	 .covered = "the last guard: the others leave it nothing to do"},
	{.name = "renew-without-lifting-the-end",
	 .from = "  m.ends = expires\n  write_marker(KEYS[3], m)\nend\n"
		 "redis.call('PEXPIREAT'",
	 .to = "end\nredis.call('PEXPIREAT'"},
	{.name = "renew-another-owners-link",
	 .from = "if not is_link(record, ARGV[1]) then return {0, 0} end",
	 .to = "if left == -2 then return {0, 0} end",
	 .and_from = "if m and (not m.open or m.generation ~= "
		     "tonumber(ARGV[3])) then\n  return {0, 0}",
	 .and_to = "if false then\n  return {0, 0}"},
	{.name = "edit-another-version",
	 .from = "if record_version(there) ~= tonumber(ARGV[2]) then",
	 .to = "if false then"},
	{.name = "edit-another-owners-link",
	 .from = "if not is_link(there, ARGV[1]) then return {0} end",
	 .to = "if not there then return {0} end",
	 .and_from = "if m and (not m.open or m.generation ~= "
		     "tonumber(ARGV[3])) then return {0} end",
	 .and_to = ""},
	{.name = "edit-without-lifting-the-end",
	 .from = "m.ends = math.max(m.ends, expires)\n",
	 .to = "\n"},
	{.name = "block-without-keeping-the-block-of-codes",
	 .from = "(is_blocked and 1 or 0)",
	 .to = "0"},
	{.name = "block-a-link-that-ends",
	 .from = "replace(math.huge)",
	 .to = "replace(now + 200)"},
	{.name = "hand-back-under-the-same-generation",
	 .from = "range_text(from, to, generation + 1)",
	 .to = "range_text(from, to, generation)"},
	{.name = "hand-back-to-be-granted-at-once",
	 .from = "now + tonumber(ARGV[5])",
	 .to = "now"},
	{.name = "hand-back-what-is-not-issued",
	 .from = "if not score then return 0 end",
	 .to = "score = score or now_ms()"},
	{.name = "close-a-block-of-another-holder",
	 .from = "if m and m.generation == generation and m.holder ~= ARGV[2] "
		 "then",
	 .to = "if false then",
	 .and_from = "if m and (m.generation > generation or\n    (m.open and "
		     "m.generation ~= generation)) then",
	 .and_to = "if false then"},
	{.name = "forget-without-noticing",
	 .from = "if proven or run_id() ~= r.known then",
	 .to = "if proven then"},
	{.name = "forget-whatever-was-seen",
	 .from = "if proven or run_id() ~= r.known then",
	 .to = "if run_id() ~= r.known then"},
	{.name = "forget-how-much-was-seen-granted",
	 .from = " + math.max(c.moves - r.moves, 0)\n",
	 .to = "\n",
	 .covered = "twice the busiest minute is more, where a minute is as "
		    "busy as here"},
	{.name = "forget-the-highest-generation-seen",
	 .from = "return math.max(generation, r.floor)",
	 .to = "return generation",
	 .covered = "no block comes up twice within what is forgotten at once "
		    "here"},
	{.name = "forget-without-a-gap",
	 .from = "skip_blocks(k, r, math.min(r.cursor + gap, c.capacity), "
		 "due)",
	 .to = ""},
	{.name = "forget-the-head-of-the-pool",
	 .from = "r.owed = r.owed + gap",
	 .to = "r.owed = r.owed"},
};
const size_t mutation_count = sizeof(mutations) / sizeof(mutations[0]);

const struct mutation *mutation_named(const char *name)
{
	for (size_t i = 0; i < mutation_count; i++)
		if (!strcmp(mutations[i].name, name))
			return &mutations[i];
	return NULL;
}

/* Returns the text with `from` replaced, or NULL. */
static char *replace_in_text(const char *text, const char *from, const char *to)
{
	const char *at = strstr(text, from);
	char *made;

	if (!at)
		return NULL;
	made = malloc(strlen(text) + strlen(to) + 1);
	assert_non_null(made);
	sprintf(made, "%.*s%s%s", (int)(at - text), text, to,
		at + strlen(from));
	return made;
}

/* The changed texts live as long as the program. */
static void mutate_scripts(struct linkstore *store, const char *from,
			   const char *to)
{
	bool found = false;

	for (int i = 0; i < SCRIPT_COUNT_OF; i++) {
		char *text = replace_in_text(store->scripts[i].text, from, to);

		if (!text)
			continue;
		redis_script_init(&store->scripts[i], text);
		found = true;
	}
	if (!found)
		fail_msg("no script says: %s", from);
}

void mutation_apply(struct linkstore *store, void *arg)
{
	const struct mutation *m = arg;

	if (!m)
		return;
	mutate_scripts(store, m->from, m->to);
	if (m->and_from)
		mutate_scripts(store, m->and_from, m->and_to);
}

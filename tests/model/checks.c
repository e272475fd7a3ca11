#include "tests/model/checks.h"

#include <inttypes.h>
#include <math.h>

#include "common/clock.h"
#include "linkstore/marker.h"
#include "linkstore/range.h"
#include "linkstore/space/raise_cursor.h"

/* --- queries -------------------------------------------------------------- */

static redisReply *query_redis(struct world *w, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static redisReply *query_redis(struct world *w, const char *fmt, ...)
{
	char words[256];
	va_list args;

	va_start(args, fmt);
	vsnprintf(words, sizeof(words), fmt, args);
	va_end(args);
	return redis_server_ask(&w->server, words);
}

/* Returns false if there is no marker. */
static bool read_marker(struct world *w, const char *space, uint64_t block,
			struct link_marker *ret)
{
	redisReply *reply =
		query_redis(w, "GET m:{%s:%" PRIu64 "}", space, block);
	bool there = reply->type == REDIS_REPLY_STRING;

	if (there && !marker_parse(reply->str, reply->len, ret))
		world_broken(w, "%s:%" PRIu64 " marker: %s", space, block,
			     reply->str);
	freeReplyObject(reply);
	return there;
}

/* --- blocks --------------------------------------------------------------- */

struct accounting {
	const char *space;
	uint64_t base, cursor;
	struct block_range *ranges; /* ranges of all sets */
	char *set;		    /* i, p, o */
	double *scores;
	size_t count;
};

static void read_set(struct world *w, struct accounting *a, const char *set)
{
	redisReply *reply =
		query_redis(w, "ZRANGE %s:{%s} 0 -1 WITHSCORES", set, a->space);
	size_t room = a->count + reply->elements / 2;

	a->ranges = realloc(a->ranges, (room + 1) * sizeof(*a->ranges));
	a->set = realloc(a->set, room + 1);
	a->scores = realloc(a->scores, (room + 1) * sizeof(*a->scores));
	assert_true(a->ranges && a->set && a->scores);
	for (size_t i = 0; i < reply->elements; i += 2) {
		const redisReply *member = reply->element[i];

		if (!range_parse(member->str, member->len,
				 &a->ranges[a->count]))
			world_broken(w, "%s %s: %s", a->space, set,
				     member->str);
		a->scores[a->count] = strtod(reply->element[i + 1]->str, NULL);
		a->set[a->count++] = *set;
	}
	freeReplyObject(reply);
}

static struct accounting read_accounting(struct world *w, size_t space)
{
	struct accounting a = {.space = world_space(w, space)->name,
			       .base = w->base[space]};
	redisReply *cursor = query_redis(w, "GET cursor:{%s}", a.space);

	if (!cursor->str)
		world_broken(w, "%s has no cursor", a.space);
	a.cursor = strtoull(cursor->str, NULL, 10);
	freeReplyObject(cursor);
	read_set(w, &a, "issued");
	read_set(w, &a, "pool");
	read_set(w, &a, "out");
	return a;
}

static void release_accounting(struct accounting *a)
{
	free(a->ranges);
	free(a->set);
	free(a->scores);
}

static int by_first(const void *x, const void *y)
{
	uint64_t a = ((const struct block_range *)x)->first;
	uint64_t b = ((const struct block_range *)y)->first;

	return (a > b) - (a < b);
}

/* Every block below the cursor must be in one range of one set, and none above.
 */
static void check_blocks(struct world *w, const struct accounting *a)
{
	size_t bytes = (a->count + 1) * sizeof(*a->ranges);
	struct block_range *sorted = malloc(bytes);
	uint64_t next = a->base;

	assert_non_null(sorted);
	memcpy(sorted, a->ranges, a->count * sizeof(*a->ranges));
	qsort(sorted, a->count, sizeof(*sorted), by_first);
	for (size_t i = 0; i < a->count; i++) {
		if (sorted[i].first < next)
			world_broken(w, "%s:%" PRIu64 " is in two states",
				     a->space, sorted[i].first);
		if (sorted[i].first > next)
			world_broken(w, "%s:%" PRIu64 " is in no state",
				     a->space, next);
		next = sorted[i].last + 1;
	}
	if (next != a->cursor)
		world_broken(w, "%s:%" PRIu64 " is %s", a->space,
			     next < a->cursor ? next : a->cursor,
			     next < a->cursor ? "in no state"
					      : "above the cursor");
	free(sorted);
}

static bool is_pooled(const struct accounting *a, uint64_t block)
{
	for (size_t i = 0; i < a->count; i++)
		if (a->set[i] == 'p' && block >= a->ranges[i].first &&
		    block <= a->ranges[i].last)
			return true;
	return false;
}

/* --- links ---------------------------------------------------------------- */

/* Returns for every link of a space: key, expiry time, block's marker, record.
 */
static const char links_script[] =
	"local all = {} "
	"for _, k in ipairs(redis.call('KEYS', 'l:{' .. ARGV[1] .. ':*')) do "
	"  local marker = string.gsub(string.match(k, '^l:{[^}]*}'), '^l', "
	"'m') "
	"  local record = redis.call('GET', k) "
	"  if record then "
	"    all[#all + 1] = k "
	"    all[#all + 1] = redis.call('PEXPIRETIME', k) "
	"    all[#all + 1] = redis.call('GET', marker) or '' "
	"    all[#all + 1] = record "
	"  end "
	"end "
	"return all";

static void check_key(struct world *w, const struct lives *l,
		      const struct accounting *a, redisReply **entry)
{
	const char *key = entry[0]->str;
	int64_t ends = entry[1]->integer;
	uint64_t block = strtoull(key + 4 + strlen(a->space), NULL, 10);
	struct link_marker m;

	if (!marker_parse(entry[2]->str, entry[2]->len, &m))
		world_broken(w, "%s:%" PRIu64 " has a link and no marker",
			     a->space, block);
	/* If the block's node has forgotten that the block was closed, it may
	 * have a link of a late writer.  The block is open then, and no other
	 * holder opens it. */
	if (is_pooled(a, block) && !(l->closes_forgotten && m.open))
		world_broken(w, "%s:%" PRIu64 " is pooled with a live link: %s",
			     a->space, block, key);
	if (!m.open)
		world_broken(w, "%s:%" PRIu64 " is closed over a live link: %s",
			     a->space, block, key);
	if (marker_last_end(&m) != DURATION_NEVER && (ends < 0 || ends > m.end))
		world_broken(w,
			     "%s:%" PRIu64 " ends %" PRId64
			     " ms before its link %s",
			     a->space, block, ends - m.end, key);
}

/* Compares the record as after a visit. */
static void check_record(struct world *w, struct lives *l, redisReply **entry,
			 struct span when)
{
	int64_t ends = entry[1]->integer;
	Shortloop__Link *link = shortloop__link__unpack(
		NULL, entry[3]->len, (const uint8_t *)entry[3]->str);
	struct link_answer answer = {
		.link = link,
		.ttl_left = ends < 0 ? DURATION_NEVER : ends - when.before,
	};
	struct life *life = link ? lives_of_id(l, link->link_id) : NULL;

	if (!life)
		world_broken(w, "%s is nobody's", entry[0]->str);
	life->checked = l->checks;
	lives_looked_up(l, &life->target, &answer, when);
	shortloop__link__free_unpacked(link, NULL);
}

static void check_links(struct world *w, struct lives *l,
			const struct accounting *a)
{
	const char *argv[] = {"EVAL", links_script, "0", a->space};
	struct span when = {.before = clock_real_ms()};
	redisReply *all;

	if (redis_command(w->redis, 4, argv, NULL, &all, &w->err))
		world_broken(w, "%s", w->err.text);
	when.after = clock_real_ms();
	for (size_t i = 0; i + 3 < all->elements; i += 4) {
		check_key(w, l, a, &all->element[i]);
		check_record(w, l, &all->element[i], when);
	}
	freeReplyObject(all);
}

/* Checks the links that should be in Redis but were not found there. */
static void check_missing(struct world *w, const struct lives *l, int64_t now)
{
	char tag[64];

	for (size_t i = 0; i < l->count; i++)
		if (life_is_there(&l->all[i], now) &&
		    l->all[i].checked != l->checks)
			world_broken(w, "%s live link %s of %s is lost",
				     life_tag(&l->all[i], tag),
				     l->all[i].target.code, l->all[i].url);
}

void check_let_notice(struct world *w, size_t space)
{
	const struct high_water nothing = {0};

	if (space_raise_cursor(w->redis, world_space(w, space), &nothing,
			       &w->err))
		world_broken(w, "%s", w->err.text);
}

void check_all(struct world *w, struct lives *l)
{
	l->checks++;
	for (size_t i = 0; i < WORLD_SPACES; i++) {
		struct accounting a;

		check_let_notice(w, i);
		a = read_accounting(w, i);
		check_blocks(w, &a);
		check_links(w, l, &a);
		release_accounting(&a);
	}
	check_missing(w, l, clock_real_ms());
}

/* --- the end -------------------------------------------------------------- */

static void check_range(struct world *w, const struct accounting *a, size_t i)
{
	const struct block_range *range = &a->ranges[i];
	struct link_marker m;
	bool there;

	for (uint64_t b = range->first; b <= range->last; b++) {
		there = read_marker(w, a->space, b, &m);
		/* These are never checked again: lost blocks, even if the
		 * holder came late, and blocks granted for ever whose holder
		 * closed them and died before it handed them back. */
		if (a->scores[i] != 0 && isfinite(a->scores[i]) && there &&
		    marker_ended(&m, clock_real_ms()) &&
		    m.generation >= range->generation)
			world_broken(w,
				     "%s:%" PRIu64 " has ended, and was not "
				     "reclaimed: to be looked at in %.0f ms",
				     a->space, b,
				     a->scores[i] - (double)clock_real_ms());
		if (range->last - range->first > 1000)
			break; /* the range is a gap: its blocks are all alike
				*/
	}
}

void check_rest(struct world *w)
{
	for (size_t space = 0; space < WORLD_SPACES; space++) {
		struct accounting a = read_accounting(w, space);

		for (size_t i = 0; i < a.count; i++)
			if (a.set[i] == 'i')
				check_range(w, &a, i);
		release_accounting(&a);
	}
}

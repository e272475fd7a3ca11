#include "collector/tools/import/import_batch.h"

#include <sodium.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "codespace/alias.h"
#include "collector/enrich/row.h"
#include "common/buf.h"
#include "common/clickhouse/rows.h"
#include "common/clock.h"
#include "common/drop_const.h"
#include "common/error.h"
#include "common/url_digest.h"
#include "linkstore/visit/visit_rule.h"

void import_batch_release(struct import_batch *b)
{
	arena_free(&b->arena);
	free(b->clicks);
	batch_release(&b->batch);
	*b = (struct import_batch){0};
}

void import_batch_reset(struct import_batch *b)
{
	arena_reset(&b->arena);
	batch_reset(&b->batch);
	b->count = b->bytes = b->day_count = 0;
	b->lines = b->unreadable = b->stored = b->misplaced = 0;
}

void import_batch_note_line(struct import_batch *b, uint64_t offset, size_t len)
{
	if (!b->lines++)
		b->first = offset;
	b->last = offset;
	b->bytes += len;
}

void import_batch_note_unreadable(struct import_batch *b)
{
	b->unreadable++;
}

static bool make_room_for_click(struct import_batch *b)
{
	size_t cap = b->cap ? b->cap * 2 : 1024;
	struct import_click *clicks;

	if (b->count < b->cap)
		return true;
	clicks = realloc(b->clicks, cap * sizeof(*clicks));
	if (!clicks)
		return false;
	b->clicks = clicks;
	b->cap = cap;
	return true;
}

static void note_day(struct import_batch *b, int64_t time_ms)
{
	uint32_t day = (uint32_t)(time_ms / CLOCK_DAY);

	/* Nearly always it is the day of the line before. */
	for (size_t i = b->day_count; i > 0; i--)
		if (b->days[i - 1] == day)
			return;
	if (b->day_count < IMPORT_BATCH_DAYS_MAX)
		b->days[b->day_count++] = day;
}

enum visit_kind import_batch_take(struct import_batch *b,
				  const struct access_visit *visit,
				  const struct visit_rules *rules)
{
	enum visit_kind kind;

	if (!make_room_for_click(b))
		return VISIT_NO_MEMORY;
	kind = visit_click(visit, rules, b->last, &b->arena,
			   &b->clicks[b->count].click);
	if (kind != VISIT_CLICK)
		return kind;
	b->clicks[b->count++].offset = b->last;
	b->last_ms = visit->time_ms;
	note_day(b, visit->time_ms);
	return kind;
}

static size_t memory_of(const struct import_batch *b)
{
	return b->arena.held + b->count * sizeof(*b->clicks);
}

bool import_batch_is_full(const struct import_batch *b,
			  const struct import_batch_limits *max)
{
	return b->lines >= max->rows || b->bytes >= max->bytes ||
	       memory_of(b) >= max->memory ||
	       b->day_count == IMPORT_BATCH_DAYS_MAX;
}

/* --- links of codes, from the archive of links ---------------------------- */

/* A link that had a code.  A code can have had several: the one that was made
 * last before the visit counts. */
struct code_link {
	const char *code;
	uint64_t link_id;
	int64_t created_ms;
	const char *account, *owner;
	const char *campaign;
	const char *domain, *space;
	char **tags;
	size_t tag_count;
	const char *url_digest; /* URL_DIGEST_SIZE bytes, in hexadecimal */
};

/* Start from zeros, end with code_links_release. */
struct code_links {
	struct code_link *items; /* sorted by code and time */
	size_t count, cap;
	struct buf *answers; /* the texts of the items */
	size_t answer_count;
	char **tags;
	size_t tag_count, tag_cap;
};

enum {
	CODES_A_QUERY = 5000,
};

#define TAG_END '\x1f' /* separates tags; no tag contains it */

static void code_links_release(struct code_links *links)
{
	for (size_t i = 0; i < links->answer_count; i++)
		buf_free(&links->answers[i]);
	free(links->answers);
	free(links->items);
	free(links->tags);
	memset(links, 0, sizeof(*links));
}

static int compare_codes(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Returns whether a code is valid; a valid code needs no quoting. */
static bool can_be_code(const char *code)
{
	size_t len = 0;

	while (code[len] && alias_has_symbol(code[len]))
		len++;
	return len && len <= ALIAS_LENGTH_MAX && !code[len];
}

static struct code_link *add_code_link(struct code_links *links)
{
	size_t cap = links->cap ? links->cap * 2 : 64;
	struct code_link *items;

	if (links->count == links->cap) {
		items = realloc(links->items, cap * sizeof(*items));
		if (!items)
			return NULL;
		links->items = items;
		links->cap = cap;
	}
	return &links->items[links->count++];
}

static bool add_tag(struct code_links *links, char *text)
{
	size_t cap = links->tag_cap ? links->tag_cap * 2 : 64;
	char **tags;

	if (links->tag_count == links->tag_cap) {
		tags = realloc(links->tags, cap * sizeof(*tags));
		if (!tags)
			return false;
		links->tags = tags;
		links->tag_cap = cap;
	}
	links->tags[links->tag_count++] = text;
	return true;
}

/* All tags are kept in one list, which may move: the items get their pointers
 * when the list is complete (place_tags). */
static int take_tags(struct code_links *links, char *text,
		     struct code_link *item, struct error *err)
{
	while (text && *text) {
		char *end = strchr(text, TAG_END);

		if (!add_tag(links, text))
			return error_set_nomem(err);
		item->tag_count++;
		if (end)
			*end++ = '\0';
		text = end;
	}
	return 0;
}

static int take_row(void *arg, char **f, struct error *err)
{
	struct code_links *links = arg;
	struct code_link *item = add_code_link(links);

	if (!item)
		return error_set_nomem(err);
	*item = (struct code_link){
		.code = f[0],
		.link_id = tsv_u64(f[1]),
		.created_ms = tsv_i64(f[2]),
		.account = f[3],
		.owner = f[4],
		.campaign = f[5],
		.domain = f[6],
		.space = f[7],
		.url_digest = f[9],
	};
	return take_tags(links, f[8], item, err);
}

static void place_tags(struct code_links *links)
{
	char **at = links->tags;

	for (size_t i = 0; i < links->count; i++) {
		links->items[i].tags = at;
		at += links->items[i].tag_count;
	}
}

/* Writes a query about the next codes; returns the number of codes taken. */
static size_t put_question(struct buf *q, const char *const *codes,
			   size_t count, size_t *ret_asked)
{
	const char *before = "";
	size_t i = 0, asked = 0;

	buf_reset(q);
	buf_puts(q, "SELECT code, link_id, "
		    "toUnixTimestamp64Milli(min(created_at)) AS created, "
		    "argMax(account, version), argMax(owner, version), "
		    "argMax(campaign, version), argMax(domain, version), "
		    "any(space), "
		    "arrayStringConcat(argMax(tags, version), '\x1f'), "
		    "lower(hex(substring(SHA256(argMax(url, version)), 1, "
		    "16))) "
		    "FROM links WHERE code IN (");
	for (; i < count && asked < CODES_A_QUERY; i++) {
		if (!can_be_code(codes[i]) || !strcmp(codes[i], before))
			continue;
		buf_printf(q, "%s'%s'", asked++ ? ", " : "", codes[i]);
		before = codes[i];
	}
	buf_puts(q, ") GROUP BY code, link_id ORDER BY code, created, link_id "
		    "FORMAT TabSeparated");
	*ret_asked = asked;
	return i;
}

static int query_code_links(struct code_links *links, struct clickhouse *ch,
			    struct buf *question, struct error *err)
{
	static const struct clickhouse_param params[] = {
		{"max_query_size", "16777216"}, {NULL, NULL}};
	struct buf *answer = &links->answers[links->answer_count++];
	const char *sql = buf_cstr(question);

	if (!sql)
		return error_set_nomem(err);
	if (clickhouse_query(ch, sql, params, answer, err) < 0 ||
	    clickhouse_rows_of(answer, "snnsssssss", take_row, links, err) < 0)
		return error_wrap(err, "links");
	return 0;
}

/* Queries the archive for `codes`, which it sorts; repeated codes are queried
 * once, invalid ones never. */
static int code_links_find(struct code_links *links, struct clickhouse *ch,
			   const char **codes, size_t count, struct error *err)
{
	struct buf question = {0};
	int status = 0;

	code_links_release(links);
	/* Each query except the last has as many codes as possible. */
	links->answers =
		calloc(count / CODES_A_QUERY + 1, sizeof(*links->answers));
	if (!links->answers)
		return error_set_nomem(err);
	qsort(codes, count, sizeof(*codes), compare_codes);
	for (size_t at = 0, asked; status == 0 && at < count;) {
		at += put_question(&question, codes + at, count - at, &asked);
		if (asked)
			status = query_code_links(links, ch, &question, err);
	}
	buf_free(&question);
	if (status < 0)
		code_links_release(links);
	else
		place_tags(links);
	return status;
}

/* Returns the link that had `code` at that time; NULL: none. */
static const struct code_link *code_links_at(const struct code_links *links,
					     const char *code, int64_t time_ms)
{
	size_t low = 0, high = links->count;

	/* Search the first item with a later code, or with this code and too
	 * late. */
	while (low < high) {
		size_t mid = low + (high - low) / 2;
		int order = strcmp(links->items[mid].code, code);

		if (order < 0 ||
		    (order == 0 && links->items[mid].created_ms <= time_ms))
			low = mid + 1;
		else
			high = mid;
	}
	if (!low || strcmp(links->items[low - 1].code, code) != 0)
		return NULL;
	return &links->items[low - 1];
}

/* --- links of the clicks ---------------------------------------------------
 */

static bool has_link(const Shortloop__Click *c)
{
	return c->outcome != SHORTLOOP__OUTCOME__OUTCOME_NOT_FOUND;
}

static bool leads_on(const Shortloop__Click *c)
{
	return c->outcome == SHORTLOOP__OUTCOME__OUTCOME_REDIRECTED ||
	       c->outcome == SHORTLOOP__OUTCOME__OUTCOME_HEAD;
}

/* Copies a text of the archive, which lives as long as the answers; clicks need
 * it longer. */
static char *copy_archive_text(struct arena *arena, const char *text)
{
	char *copy = arena_alloc(arena, strlen(text) + 1);

	return copy ? strcpy(copy, text) : NULL;
}

/* The URL is the link's last one: a log does not say which it was.  Its other
 * targets are left out. */
static void set_click_url(struct arena *arena, Shortloop__Click *c,
			  const struct code_link *link)
{
	unsigned char *digest = arena_alloc(arena, URL_DIGEST_SIZE);
	size_t len;

	if (!leads_on(c) || !digest ||
	    sodium_hex2bin(digest, URL_DIGEST_SIZE, link->url_digest,
			   strlen(link->url_digest), NULL, &len, NULL) < 0 ||
	    len != URL_DIGEST_SIZE)
		return;
	c->url_digest = (ProtobufCBinaryData){len, digest};
}

static void set_click_link(struct arena *arena, Shortloop__Click *c,
			   const struct code_link *link)
{
	c->link_id = link->link_id;
	c->account = copy_archive_text(arena, link->account);
	c->owner = copy_archive_text(arena, link->owner);
	c->campaign = copy_archive_text(arena, link->campaign);
	set_click_url(arena, c, link);
	if (!link->tag_count)
		return;
	c->tags = arena_alloc(arena, link->tag_count * sizeof(*c->tags));
	c->n_tags = c->tags ? link->tag_count : 0;
	for (size_t i = 0; i < c->n_tags; i++)
		c->tags[i] = copy_archive_text(arena, link->tags[i]);
}

/* A line without a host is one of the link's own domain. */
static bool is_of_domain(const Shortloop__Click *c,
			 const struct code_link *link,
			 const struct domains *domains)
{
	const struct http_slice host = {c->domain, strlen(c->domain)};
	const struct link_domain *domain =
		domains_by_host(domains, host.data, host.len);

	return !host.len ||
	       visit_rule_shows_link(domain ? domain : domains_default(domains),
				     link->space, link->domain, host);
}

static void find_click_link(struct import_batch *b, Shortloop__Click *c,
			    const struct code_links *links,
			    const struct domains *domains)
{
	const struct code_link *link;

	if (!has_link(c))
		return;
	link = code_links_at(links, c->code, (int64_t)c->time_ms);
	if (!link)
		return;
	if (is_of_domain(c, link, domains))
		set_click_link(&b->arena, c, link);
	else if (!b->misplaced++)
		b->first_misplaced = c;
}

int import_batch_find_links(struct import_batch *b, struct clickhouse *ch,
			    const struct domains *domains, struct error *err)
{
	const char **codes = malloc((b->count + 1) * sizeof(*codes));
	struct code_links links = {0};
	size_t count = 0;
	int status;

	if (!codes)
		return error_set_nomem(err);
	for (size_t i = 0; i < b->count; i++)
		if (has_link(&b->clicks[i].click))
			codes[count++] = b->clicks[i].click.code;
	status = code_links_find(&links, ch, codes, count, err);
	b->misplaced = 0;
	for (size_t i = 0; status == 0 && i < b->count; i++)
		find_click_link(b, &b->clicks[i].click, &links, domains);
	code_links_release(&links);
	free(codes);
	if (status == 0 && b->arena.failed)
		status = error_set_nomem(err);
	return status;
}

/* --- rows ----------------------------------------------------------------- */

static int build_row(struct import_batch *b, const struct import_click *c,
		     struct enricher *enricher, const struct journal *journal,
		     bool stored, struct error *err)
{
	const struct event_origin origin = {
		.epoch = journal->epoch,
		.topic = journal->topic,
		.offset = c->offset,
		/* The log's time is trusted: the enricher must not move it. */
		.append_ms = (int64_t)c->click.time_ms,
	};
	struct buf *rows = &b->batch.rows;
	size_t before = rows->len;
	int64_t ts;

	if (enricher_click_row(enricher, &origin, &c->click, rows, &ts, err) <
	    0)
		return -1;
	if (stored) {
		rows->len = before;
		b->stored++;
	}
	return batch_note_row(&b->batch, c->offset, origin.append_ms, ts,
			      !stored, err);
}

int import_batch_build(struct import_batch *b, struct enricher *enricher,
		       const struct journal *journal,
		       const struct journal_state *state, struct error *err)
{
	batch_reset(&b->batch);
	b->stored = 0;
	for (size_t i = 0; i < b->count; i++) {
		const struct import_click *c = &b->clicks[i];

		if (build_row(b, c, enricher, journal,
			      journal_is_stored(state, c->offset), err) < 0)
			return -1;
	}
	/* Lines that are no clicks are part of the batch, too. */
	b->batch.first = b->batch.name_first = b->first;
	b->batch.last = b->last;
	b->batch.dead_lettered = b->unreadable;
	b->batch.append_ms = b->last_ms;
	return 0;
}

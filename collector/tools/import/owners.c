#include "collector/tools/import/owners.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "codespace/alias.h"
#include "common/clickhouse/tsv.h"

enum {
	CODES_A_QUERY = 5000,
	COLUMNS = 6,
};

#define TAG_END '\x1f' /* between tags; none has it */

void owners_release(struct owners *o)
{
	for (size_t i = 0; i < o->answer_count; i++)
		buf_free(&o->answers[i]);
	free(o->answers);
	free(o->items);
	free(o->tags);
	memset(o, 0, sizeof(*o));
}

static int compare_codes(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* What is made of these needs no quoting, either. */
static bool can_be_code(const char *code)
{
	size_t len = 0;

	while (code[len] && alias_has_symbol(code[len]))
		len++;
	return len && len <= ALIAS_LENGTH_MAX && !code[len];
}

/* --- reading what the archive says -----------------------------------------
 */

static struct owner *add_item(struct owners *o)
{
	size_t cap = o->cap ? o->cap * 2 : 64;
	struct owner *items;

	if (o->count == o->cap) {
		items = realloc(o->items, cap * sizeof(*items));
		if (!items)
			return NULL;
		o->items = items;
		o->cap = cap;
	}
	return &o->items[o->count++];
}

static bool add_tag(struct owners *o, char *text)
{
	size_t cap = o->tag_cap ? o->tag_cap * 2 : 64;
	char **tags;

	if (o->tag_count == o->tag_cap) {
		tags = realloc(o->tags, cap * sizeof(*tags));
		if (!tags)
			return false;
		o->tags = tags;
		o->tag_cap = cap;
	}
	o->tags[o->tag_count++] = text;
	return true;
}

/* Tags are kept in one list, which may move: items have their place in it until
 * all are there. */
static int take_tags(struct owners *o, char *text, struct owner *item,
		     struct error *err)
{
	while (text && *text) {
		char *end = strchr(text, TAG_END);

		if (!add_tag(o, text))
			return error_set_nomem(err);
		item->tag_count++;
		if (end)
			*end++ = '\0';
		text = end;
	}
	return 0;
}

static int take_rows(struct owners *o, struct buf *answer, struct error *err)
{
	struct tsv rows = tsv_rows(answer);
	char *f[COLUMNS];

	while (tsv_next(&rows, f, COLUMNS)) {
		struct owner *item = add_item(o);

		if (!item)
			return error_set_nomem(err);
		*item = (struct owner){f[0], tsv_u64(f[1]), tsv_i64(f[2]),
				       f[3], f[4],	    NULL,
				       0};
		if (take_tags(o, f[5], item, err) < 0)
			return -1;
	}
	return 0;
}

static void place_tags(struct owners *o)
{
	char **at = o->tags;

	for (size_t i = 0; i < o->count; i++) {
		o->items[i].tags = at;
		at += o->items[i].tag_count;
	}
}

/* --- asking ----------------------------------------------------------------
 */

/* Writes a question about the next codes; returns how many it has taken. */
static size_t put_question(struct buf *q, const char *const *codes,
			   size_t count, size_t *ret_asked)
{
	const char *before = "";
	size_t i = 0, asked = 0;

	buf_reset(q);
	buf_puts(q, "SELECT code, link_id, "
		    "toUnixTimestamp64Milli(min(created_at)) AS created, "
		    "argMax(owner, version), argMax(campaign, version), "
		    "arrayStringConcat(argMax(tags, version), '\x1f') "
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

static int ask(struct owners *o, struct clickhouse *ch, struct buf *question,
	       struct error *err)
{
	static const struct clickhouse_param params[] = {
		{"max_query_size", "16777216"}, {NULL, NULL}};
	struct buf *answer = &o->answers[o->answer_count++];
	const char *sql = buf_cstr(question);

	if (!sql)
		return error_set_nomem(err);
	if (clickhouse_query(ch, sql, params, answer, err) < 0)
		return error_wrap(err, "links");
	return take_rows(o, answer, err);
}

int owners_find(struct owners *o, struct clickhouse *ch, const char **codes,
		size_t count, struct error *err)
{
	struct buf question = {0};
	int status = 0;

	owners_release(o);
	/* Each question but the last is about as many codes as it can be. */
	o->answers = calloc(count / CODES_A_QUERY + 1, sizeof(*o->answers));
	if (!o->answers)
		return error_set_nomem(err);
	qsort(codes, count, sizeof(*codes), compare_codes);
	for (size_t at = 0, asked; status == 0 && at < count;) {
		at += put_question(&question, codes + at, count - at, &asked);
		if (asked)
			status = ask(o, ch, &question, err);
	}
	buf_free(&question);
	if (status < 0)
		owners_release(o);
	else
		place_tags(o);
	return status;
}

const struct owner *owners_at(const struct owners *o, const char *code,
			      int64_t time_ms)
{
	size_t low = 0, high = o->count;

	/* The first that is of a later code, or of this one and too late. */
	while (low < high) {
		size_t mid = low + (high - low) / 2;
		int order = strcmp(o->items[mid].code, code);

		if (order < 0 ||
		    (order == 0 && o->items[mid].created_ms <= time_ms))
			low = mid + 1;
		else
			high = mid;
	}
	if (!low || strcmp(o->items[low - 1].code, code) != 0)
		return NULL;
	return &o->items[low - 1];
}

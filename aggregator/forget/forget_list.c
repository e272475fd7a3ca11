#include "aggregator/forget/forget_list.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "common/clickhouse/rows.h"
#include "common/clickhouse/statement.h"
#include "common/clock.h"
#include "common/hex.h"

void forget_list_release(struct forget_list *list)
{
	free(list->items);
	*list = (struct forget_list){0};
}

static struct forget_entry *add_forget_entry(struct forget_list *list,
					     int64_t until, struct error *err)
{
	struct forget_entry *grown =
		reallocarray(list->items, list->count + 1, sizeof(*grown));

	if (!grown) {
		error_set_nomem(err);
		return NULL;
	}
	list->items = grown;
	grown += list->count++;
	*grown = (struct forget_entry){.until = until};
	return grown;
}

static bool is_visitor(const char *digits)
{
	size_t len = 0, zeros = 0;

	for (; digits[len]; len++) {
		if (hex_digit(digits[len]) < 0)
			return false;
		zeros += digits[len] == '0';
	}
	/* Forgotten visitors become zeros. */
	return len == FORGET_VISITOR_DIGITS && zeros < len;
}

int forget_list_add_visitor(struct forget_list *list, const char *digits,
			    int64_t until, struct error *err)
{
	struct forget_entry *entry;

	if (!is_visitor(digits))
		return error_set(err, ERROR_INPUT,
				 "a visitor is %d hexadecimal digits, as "
				 "hex(unique_identity) of clicks has them",
				 FORGET_VISITOR_DIGITS);
	entry = add_forget_entry(list, until, err);
	if (!entry)
		return -1;
	for (size_t i = 0; i < FORGET_VISITOR_DIGITS; i++)
		entry->visitor[i] = (char)toupper((unsigned char)digits[i]);
	return 0;
}

int forget_list_add_link(struct forget_list *list, uint64_t link_id,
			 int64_t until, struct error *err)
{
	struct forget_entry *entry;

	if (!link_id)
		return error_set(err, ERROR_INPUT, "no link has the number 0");
	entry = add_forget_entry(list, until, err);
	if (!entry)
		return -1;
	entry->link_id = link_id;
	return 0;
}

bool forget_link_id(const char *text, uint64_t *ret)
{
	char *end;

	errno = 0;
	*ret = strtoull(text, &end, 10);
	return isdigit((unsigned char)*text) && !*end && !errno;
}

/* For equal entries, the latest comes first. */
static int compare_forget_entries(const void *a, const void *b)
{
	const struct forget_entry *x = a, *y = b;
	int order = strcmp(x->visitor, y->visitor);

	if (x->link_id != y->link_id)
		return x->link_id < y->link_id ? -1 : 1;
	return order ? order : (x->until < y->until) - (x->until > y->until);
}

static bool is_same(const struct forget_entry *a, const struct forget_entry *b)
{
	return a->link_id == b->link_id && !strcmp(a->visitor, b->visitor);
}

void forget_list_unite(struct forget_list *list)
{
	size_t kept = 0;

	if (list->count)
		qsort(list->items, list->count, sizeof(*list->items),
		      compare_forget_entries);
	for (size_t i = 0; i < list->count; i++)
		if (!kept || !is_same(&list->items[kept - 1], &list->items[i]))
			list->items[kept++] = list->items[i];
	list->count = kept;
}

/* --- digests ----------------------------------------------------------------
 */

/* Limits the length of a statement. */
#define DIGESTS_AT_ONCE 500

struct digesting {
	struct forget_list *list;
	size_t at; /* where the search for the next visitor begins */
};

static struct forget_entry *next_visitor(struct digesting *d)
{
	struct forget_entry *e;

	while (d->at < d->list->count) {
		e = &d->list->items[d->at++];
		if (!e->link_id)
			return e;
	}
	return NULL;
}

/* A row has the next visitor's digests: digest, owner's digest. */
static int take_digests(void *arg, char **f, struct error *err)
{
	struct forget_entry *e = next_visitor(arg);

	if (!e)
		return error_set(err, ERROR_PROTOCOL, "more than were asked");
	e->digest = tsv_u64(f[0]);
	e->owner_digest = tsv_u64(f[1]);
	return 0;
}

/* Writes at most DIGESTS_AT_ONCE visitors from `from` on, and moves it behind
 * them. */
static size_t put_visitors(struct buf *sql, struct digesting *from)
{
	const struct forget_entry *e;
	size_t n = 0;

	for (; n < DIGESTS_AT_ONCE && (e = next_visitor(from)); n++)
		buf_printf(sql, "%s(%zu, toFixedString(unhex('%s'), 20))",
			   n ? ", " : "", n, e->visitor);
	return n;
}

static int query_digests(struct clickhouse *ch, struct buf *visitors,
			 struct digesting *taken, struct error *err)
{
	static const char text[] =
#include "aggregator/sql/forget_digests.sql.inc"
		;
	struct buf sql = {0};
	const struct statement_blank blanks[] = {
		{"visitors", statement_piece(&sql, visitors)}, {NULL, NULL}};
	int status;

	statement_put(&sql, text, blanks);
	status = buf_cstr(&sql) ? clickhouse_rows(ch, sql.data, NULL, "nn",
						  take_digests, taken, err)
				: error_set_nomem(err);
	buf_free(&sql);
	return status;
}

int forget_list_digest(struct clickhouse *ch, struct forget_list *list,
		       struct error *err)
{
	struct digesting asked = {.list = list}, taken = {.list = list};
	struct buf visitors = {0};
	int status = 0;

	while (status == 0 && put_visitors(&visitors, &asked)) {
		status = query_digests(ch, &visitors, &taken, err);
		buf_reset(&visitors);
	}
	if (status == 0 && next_visitor(&taken))
		status =
			error_set(err, ERROR_PROTOCOL, "fewer than were asked");
	buf_free(&visitors);
	return status < 0 ? error_wrap(err, "digests") : 0;
}

/* --- the table --------------------------------------------------------------
 */

/* A row is: link_id, visitor in hexadecimal digits, until. */
static int take_row(void *arg, char **f, struct error *err)
{
	uint64_t link_id = tsv_u64(f[0]);

	return link_id ? forget_list_add_link(arg, link_id, tsv_i64(f[2]), err)
		       : forget_list_add_visitor(arg, f[1], tsv_i64(f[2]), err);
}

int forget_list_read(struct clickhouse *ch, struct forget_list *ret,
		     struct error *err)
{
	static const char sql[] =
#include "aggregator/sql/forget_list.sql.inc"
		;

	*ret = (struct forget_list){0};
	if (clickhouse_rows(ch, sql, NULL, "nsn", take_row, ret, err) == 0)
		return 0;
	forget_list_release(ret);
	return error_wrap(err, "forgotten");
}

static void put_store(struct buf *sql, const struct forget_list *list)
{
	static const char text[] =
#include "aggregator/sql/forget_store.sql.inc"
		;
	struct buf entries = {0};

	for (size_t i = 0; i < list->count; i++)
		buf_printf(&entries,
			   "%s(toUInt64(%" PRIu64 "), '%s', toInt64(%" PRId64
			   "))",
			   i ? "," : "", list->items[i].link_id,
			   list->items[i].visitor, list->items[i].until);
	const struct statement_blank blanks[] = {
		{"entries", statement_piece(sql, &entries)}, {NULL, NULL}};

	statement_put(sql, text, blanks);
	buf_free(&entries);
}

int forget_list_store(struct clickhouse *ch, const struct forget_list *list,
		      const char *by, struct error *err)
{
	struct buf sql = {0}, name = {0};
	struct clickhouse_param params[] = {{"param_by", NULL},
					    {"max_query_size", "16777216"},
					    {NULL, NULL}};
	int status;

	clickhouse_escape(&name, by, strlen(by));
	put_store(&sql, list);
	params[0].value = buf_cstr(&name);
	if (!buf_cstr(&sql) || !params[0].value)
		status = error_set_nomem(err);
	else
		status = clickhouse_query(ch, sql.data, params, NULL, err);
	buf_free(&name);
	buf_free(&sql);
	return status < 0 ? error_wrap(err, "forgotten") : 0;
}

/* --- lines ------------------------------------------------------------------
 */

int forget_list_print(const struct forget_list *list, FILE *out,
		      struct error *err)
{
	char until[RFC3339_TEXT_MAX];

	for (size_t i = 0; i < list->count; i++) {
		const struct forget_entry *e = &list->items[i];

		rfc3339_format(e->until, until);
		if (e->link_id)
			fprintf(out,
				"{\"link_id\":\"%" PRIu64
				"\",\"until\":\"%s\"}\n",
				e->link_id, until);
		else
			fprintf(out, "{\"visitor\":\"%s\",\"until\":\"%s\"}\n",
				e->visitor, until);
	}
	return fflush(out) == 0 && !ferror(out)
		       ? 0
		       : error_set_errno(err, "cannot write the list");
}

static int add_link_text(struct forget_list *list, const char *text,
			 int64_t until, struct error *err)
{
	uint64_t id;

	if (!forget_link_id(text, &id))
		return error_set(err, ERROR_INPUT,
				 "'link_id' is a number in quotes");
	return forget_list_add_link(list, id, until, err);
}

/* The list may come from another server, whose clock may differ by this
 * much. */
#define CLOCKS_DIFFER CLOCK_MINUTE

static int add_object(struct forget_list *list, json_t *object, int64_t now,
		      struct error *err)
{
	const char *visitor = NULL, *link_id = NULL, *text = NULL;
	json_error_t why;
	int64_t until;

	if (json_unpack_ex(object, &why, JSON_STRICT, "{s?s, s?s, s:s}",
			   "visitor", &visitor, "link_id", &link_id, "until",
			   &text) != 0)
		return error_set(err, ERROR_INPUT, "%s", why.text);
	if (!visitor == !link_id)
		return error_set(err, ERROR_INPUT,
				 "expected either 'visitor' or 'link_id'");
	if (rfc3339_parse(text, &until, err) < 0)
		return error_wrap(err, "'until'");
	if (until > now + CLOCKS_DIFFER)
		return error_set(err, ERROR_INPUT,
				 "'until' %s is in the future: what is to come "
				 "is not forgotten",
				 text);
	return visitor ? forget_list_add_visitor(list, visitor, until, err)
		       : add_link_text(list, link_id, until, err);
}

static int add_line(struct forget_list *list, const char *line, size_t len,
		    int64_t now, struct error *err)
{
	json_error_t why;
	json_t *object = json_loadb(line, len, JSON_REJECT_DUPLICATES, &why);
	int status;

	if (!object)
		return error_set(err, ERROR_INPUT, "%s", why.text);
	status = add_object(list, object, now, err);
	json_decref(object);
	return status;
}

int forget_list_read_lines(FILE *in, int64_t now, struct forget_list *ret,
			   struct error *err)
{
	char *line = NULL;
	size_t room = 0, number = 0;
	ssize_t len;
	int status = 0;

	*ret = (struct forget_list){0};
	while (status == 0 && (len = getline(&line, &room, in)) >= 0) {
		number++;
		if (len > 0 && line[len - 1] == '\n')
			len--;
		if (len > 0)
			status = add_line(ret, line, (size_t)len, now, err);
	}
	if (status < 0)
		error_wrap(err, "line %zu", number);
	else if (ferror(in))
		status = error_set_errno(err, "cannot read");
	free(line);
	if (status < 0)
		forget_list_release(ret);
	return status;
}

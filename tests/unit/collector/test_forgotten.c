/* Rows lack forgotten visitors and links, which a real ClickHouse lists. */
#include "tests/unit/clickhouse_server.h"
#include "tests/unit/collector/click_row.h"
#include "tests/unit/collector/enricher_settings.h"

#include "collector/enrich/enricher.h"
#include "collector/enrich/forgotten.h"

#define NOW INT64_C(1795255620123)

struct world {
	struct clickhouse_server server;
	struct forgotten *list;
	char rules[64];
	struct collector_settings settings;
	struct enricher *enricher;
	struct buf rows;
};

static int start_clickhouse(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	assert_non_null(w);
	clickhouse_server_start(&w->server);
	clickhouse_server_migrate(&w->server);
	*state = w;
	return 0;
}

static int stop_clickhouse(void **state)
{
	struct world *w = *state;

	clickhouse_server_stop(&w->server);
	free(w);
	return 0;
}

static int set_up(void **state)
{
	struct world *w = *state;
	struct error err = {0};

	clickhouse_server_do(&w->server, "TRUNCATE TABLE forgotten");
	w->settings = enricher_settings(w->rules);
	w->enricher = enricher_new(&w->settings, &err);
	unlink(w->rules);
	assert_non_null(w->enricher);
	return 0;
}

static int tear_down(void **state)
{
	struct world *w = *state;

	forgotten_free(w->list);
	w->list = NULL;
	enricher_free(w->enricher);
	buf_free(&w->rows);
	return 0;
}

/* The visitor's identity is this byte, twenty times. */
static void list_visitor(struct world *w, unsigned byte, int64_t until)
{
	clickhouse_server_do(&w->server,
			     "INSERT INTO forgotten SELECT 0, "
			     "repeat(char(%u), 20), "
			     "fromUnixTimestamp64Milli(toInt64(%lld), 'UTC'), "
			     "'me'",
			     byte, (long long)until);
}

static void list_link(struct world *w, uint64_t link_id)
{
	clickhouse_server_do(&w->server,
			     "INSERT INTO forgotten SELECT %llu, "
			     "repeat('\\0', 20), 0, 'me'",
			     (unsigned long long)link_id);
}

/* Loads the present list; returns NULL if it equals `known`. */
static struct forgotten *
load_list_if_changed(struct world *w, const struct forgotten_state *known)
{
	struct forgotten *list;
	struct error err = {0};

	if (forgotten_load(w->server.ch, known, &list, &err) < 0)
		fail_msg("%s", err.text);
	return list;
}

static void load_list(struct world *w)
{
	w->list = load_list_if_changed(w, &(struct forgotten_state){0, 0});
	assert_non_null(w->list);
}

static bool has_visitor(const struct forgotten *list, int byte, int64_t at)
{
	unsigned char identity[IDENTITY_LEN];

	memset(identity, byte, sizeof(identity));
	return forgotten_has_visitor(list, identity, at);
}

/* --- the list ------------------------------------------------------------- */

static void nothing_is_forgotten_at_first(void **state)
{
	struct forgotten_state empty = {0, 0};
	struct world *w = *state;

	assert_null(load_list_if_changed(w, &empty));
	assert_true(forgotten_is_empty(NULL));
	assert_false(forgotten_has_link(NULL, 7));
	assert_false(has_visitor(NULL, 1, 0));
	assert_int_equal(forgotten_state_of(NULL).rows, 0);
}

static void links_and_visitors_are_told_apart(void **state)
{
	struct world *w = *state;

	for (unsigned i = 200; i > 0; i--)
		list_link(w, UINT64_C(1) << 40 | i * 7);
	for (unsigned i = 1; i < 100; i += 2)
		list_visitor(w, i, 1000 * i);
	load_list(w);
	assert_false(forgotten_is_empty(w->list));
	for (unsigned i = 0; i < 202; i++) {
		uint64_t link = UINT64_C(1) << 40 | i * 7;

		assert_int_equal(forgotten_has_link(w->list, link),
				 i > 0 && i < 201);
		assert_false(forgotten_has_link(w->list, link + 1));
	}
	for (int i = 1; i < 101; i++)
		assert_int_equal(has_visitor(w->list, i, 0), i % 2);
	assert_false(forgotten_has_link(w->list, 0));
}

static void visits_are_forgotten_up_to_a_time(void **state)
{
	struct world *w = *state;

	list_visitor(w, 0xa5, 5000);
	list_visitor(w, 0xa5, 7000);
	list_visitor(w, 0xa5, 6000);
	load_list(w);
	assert_true(has_visitor(w->list, 0xa5, 7000));
	assert_false(has_visitor(w->list, 0xa5, 7001));
	assert_false(has_visitor(w->list, 0xa6, 1));
}

static void a_list_of_visitors_alone_is_not_empty(void **state)
{
	struct world *w = *state;

	list_visitor(w, 1, 5000);
	load_list(w);
	assert_false(forgotten_is_empty(w->list));
	assert_false(forgotten_has_link(w->list, 1));
}

static void a_table_that_is_as_it_was_is_not_read(void **state)
{
	struct forgotten_state known, other;
	struct world *w = *state;

	list_link(w, 7);
	load_list(w);
	known = forgotten_state_of(w->list);
	assert_int_equal(known.rows, 1);
	assert_null(load_list_if_changed(w, &known));
	/* The number of rows is the same, but the rows differ. */
	other = known;
	other.sum++;
	forgotten_free(w->list);
	w->list = load_list_if_changed(w, &other);
	assert_non_null(w->list);
	forgotten_free(w->list);
	other = (struct forgotten_state){known.rows + 1, known.sum};
	w->list = load_list_if_changed(w, &other);
	assert_non_null(w->list);
	list_link(w, 8);
	forgotten_free(w->list);
	w->list = load_list_if_changed(w, &known);
	assert_true(forgotten_has_link(w->list, 8));
}

static void a_list_that_cannot_be_read_is_none(void **state)
{
	struct forgotten_state known = {0, 0};
	struct forgotten *list;
	struct world *w = *state;
	struct error err = {0};

	clickhouse_server_do(&w->server, "RENAME TABLE forgotten TO elsewhere");
	assert_int_equal(forgotten_load(w->server.ch, &known, &list, &err), -1);
	assert_null(list);
	assert_non_null(strstr(err.text, "what is forgotten"));
	/* The server can count this table, but not read its rows. */
	clickhouse_server_do(&w->server,
			     "CREATE TABLE forgotten (link_id String, "
			     "visitor_id FixedString(20), visits_until "
			     "DateTime64(3, 'UTC'), listed_by String) ENGINE = "
			     "MergeTree ORDER BY link_id");
	clickhouse_server_do(&w->server, "INSERT INTO forgotten SELECT 'x', "
					 "repeat('\\0', 20), 0, 'me'");
	assert_int_equal(forgotten_load(w->server.ch, &known, &list, &err), -1);
	assert_null(list);
	clickhouse_server_do(&w->server, "DROP TABLE forgotten SYNC");
	clickhouse_server_do(&w->server, "RENAME TABLE elsewhere TO forgotten");
}

/* --- uniting -------------------------------------------------------------- */

/* A restored backup may lack some entries. */
static void what_was_forgotten_before_stays_so(void **state)
{
	struct forgotten *before;
	struct world *w = *state;
	struct error err = {0};

	list_link(w, 1);
	list_link(w, 9);
	list_visitor(w, 1, 5000);
	list_visitor(w, 2, 5000);
	list_visitor(w, 3, 5000);
	load_list(w);
	before = w->list;
	clickhouse_server_do(&w->server, "TRUNCATE TABLE forgotten");
	list_link(w, 5);
	list_link(w, 9);
	list_visitor(w, 2, 6000);
	list_visitor(w, 3, 4000);
	load_list(w);
	assert_int_equal(forgotten_unite(w->list, before, &err), 0);
	forgotten_free(before);
	assert_true(forgotten_has_link(w->list, 1));
	assert_true(forgotten_has_link(w->list, 5));
	assert_true(forgotten_has_link(w->list, 9));
	assert_true(has_visitor(w->list, 1, 5000));
	assert_true(has_visitor(w->list, 2, 6000));
	assert_true(has_visitor(w->list, 3, 5000));
	assert_false(has_visitor(w->list, 3, 5001));
	assert_int_equal(forgotten_unite(w->list, NULL, &err), 0);
	assert_true(forgotten_has_link(w->list, 1));
}

static void an_enricher_forgets_what_each_list_says(void **state)
{
	struct world *w = *state;
	struct error err = {0};
	struct forgotten_state first;

	assert_int_equal(enricher_forget(w->enricher, NULL, &err), 0);
	assert_int_equal(enricher_forgotten(w->enricher).rows, 0);
	list_link(w, 1);
	assert_int_equal(
		enricher_forget(
			w->enricher,
			load_list_if_changed(w, &(struct forgotten_state){0}),
			&err),
		0);
	first = enricher_forgotten(w->enricher);
	assert_int_equal(first.rows, 1);
	assert_int_equal(enricher_forget(w->enricher, NULL, &err), 0);
	assert_int_equal(enricher_forgotten(w->enricher).rows, 1);
}

/* --- rows ----------------------------------------------------------------- */

static Shortloop__Click some_click(void)
{
	static char one[] = "one";
	static char *tags[] = {one};
	static Shortloop__Click__CookiesEntry cookie;
	static Shortloop__Click__CookiesEntry *cookies[] = {&cookie};
	const ProtobufCBinaryData text = {4, drop_const("text")};
	Shortloop__Click click;

	shortloop__click__init(&click);
	shortloop__click__cookies_entry__init(&cookie);
	click.time_ms = (uint64_t)NOW;
	click.link_id = 77;
	click.campaign = drop_const("spring");
	click.n_tags = 1;
	click.tags = tags;
	click.n_cookies = 1;
	click.cookies = cookies;
	click.prefetch = drop_const("purpose");
	click.client_ip =
		(ProtobufCBinaryData){4, drop_const("\x08\x08\x09\x0a")};
	click.user_agent = click.referrer = click.query =
		click.accept_language = text;
	click.trace_id =
		(ProtobufCBinaryData){16, drop_const("0123456789abcdef")};
	return click;
}

static void make_row(struct world *w, const Shortloop__Click *click,
		     int64_t append_ms)
{
	(void)click_make_row(w->enricher, click, append_ms, &w->rows);
}

static void expect_column(struct world *w, const char *column,
			  const char *value)
{
	assert_string_equal(click_column(&w->rows, column), value);
}

/* The columns, with what is left of a forgotten visitor; NULL: the column is
 * kept. */
static const struct left_column {
	const char *name, *type, *left;
} columns[] = {
#define COLUMN(name, type, left, write) {#name, type, left},
#define RUN(name, type, left, write)	{#name, type, left},
#define PLACE(name, type, left, write)	{#name, type, left},
#define AGENT(name, type, left, write)	{#name, type, left},
#include "schemas/click_columns.inc"
};

#define COLUMNS (sizeof(columns) / sizeof(*columns))

static bool is_text(const struct left_column *c)
{
	return !strcmp(c->type, "String") ||
	       !strcmp(c->type, "LowCardinality(String)");
}

/* The row must have nothing that identifies its visitor: of each column the
 * text that the table says, or zeros. */
static void expect_nobody(struct world *w)
{
	unsigned forgotten = 0;

	for (size_t i = 0; i < COLUMNS; i++) {
		const char *value, *left = columns[i].left;

		if (!left)
			continue;
		forgotten++;
		value = click_column(&w->rows, columns[i].name);
		if (is_text(&columns[i]))
			assert_string_equal(value, left);
		else
			assert_int_equal(strspn(value, "0"), strlen(value));
	}
	assert_true(forgotten >= 35);
	expect_column(w, "channel", "unknown");
	expect_column(w, "ua_family", "Other");
	expect_column(w, "device_class", "other");
	expect_column(w, "link_id", "77");
}

/* Other types have only one default. */
static void only_a_text_leaves_a_text(void **state)
{
	(void)state;
	for (size_t i = 0; i < COLUMNS; i++) {
		const char *left = columns[i].left;

		if (!left)
			continue;
		assert_true(is_text(&columns[i]) || !*left);
		assert_null(strpbrk(left, "'\\"));
	}
}

static void apply_forgotten_list(struct world *w)
{
	struct error err = {0};

	assert_int_equal(
		enricher_forget(
			w->enricher,
			load_list_if_changed(w, &(struct forgotten_state){0}),
			&err),
		0);
}

static void a_row_of_a_link_that_is_forgotten_tells_nothing(void **state)
{
	struct world *w = *state;
	Shortloop__Click click = some_click();

	list_link(w, 77);
	make_row(w, &click, NOW);
	expect_column(w, "campaign", "spring");
	expect_column(w, "user_agent", "text");
	apply_forgotten_list(w);
	make_row(w, &click, NOW);
	expect_nobody(w);
	expect_column(w, "campaign", "");
	expect_column(w, "tags", "");
	click.link_id = 78;
	make_row(w, &click, NOW);
	expect_column(w, "user_agent", "text");
	expect_column(w, "trace_id", "30313233343536373839616263646566");
}

/* The link's visitor is forgotten, not the link. */
static void a_row_of_a_visitor_who_is_forgotten_has_its_link(void **state)
{
	struct world *w = *state;
	Shortloop__Click click = some_click();

	make_row(w, &click, NOW);
	clickhouse_server_do(
		&w->server,
		"INSERT INTO forgotten SELECT 0, unhex('%s'), "
		"fromUnixTimestamp64Milli(toInt64(%lld), 'UTC'), 'me'",
		click_column(&w->rows, "unique_identity"), (long long)NOW);
	apply_forgotten_list(w);
	make_row(w, &click, NOW);
	expect_nobody(w);
	expect_column(w, "campaign", "spring");
	expect_column(w, "tags", "one");
	/* The earlier of the two times decides. */
	make_row(w, &click, NOW + 5000);
	expect_nobody(w);
	click.time_ms = (uint64_t)NOW + 5000;
	make_row(w, &click, NOW);
	expect_nobody(w);
	make_row(w, &click, NOW + 1);
	expect_column(w, "user_agent", "text");
	click.client_ip.data = drop_const("\x08\x08\x09\x0b");
	make_row(w, &click, NOW);
	expect_column(w, "user_agent", "text");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(nothing_is_forgotten_at_first),
		TEST(links_and_visitors_are_told_apart),
		TEST(visits_are_forgotten_up_to_a_time),
		TEST(a_list_of_visitors_alone_is_not_empty),
		TEST(a_table_that_is_as_it_was_is_not_read),
		TEST(a_list_that_cannot_be_read_is_none),
		TEST(what_was_forgotten_before_stays_so),
		TEST(an_enricher_forgets_what_each_list_says),
		cmocka_unit_test(only_a_text_leaves_a_text),
		TEST(a_row_of_a_link_that_is_forgotten_tells_nothing),
		TEST(a_row_of_a_visitor_who_is_forgotten_has_its_link),
	};

	return cmocka_run_group_tests_name("forgotten", tests, start_clickhouse,
					   stop_clickhouse);
}

/* A real engine finds the links of a page. */
#include "tests/unit/aggregator/settled.h"
#include "tests/unit/unit.h"

#include "aggregator/api/links/links_sql.h"
#include "common/clickhouse/host_filter.h"

/* The links 1 to 6 were created at this ms plus their number. */
#define CREATED INT64_C(1792000000000)

/* A version of a link, as the archive has it. */
struct version {
	unsigned link, version;
	const char *account, *owner, *state, *url, *more;
};

static void insert_version(struct settled *t, const struct version *v)
{
	clickhouse_server_do(
		&t->server,
		"INSERT INTO links (code, link_id, version, state, account, "
		"owner, url, campaign, domain, tags, description, created_at) "
		"VALUES ('c%u', %u, %u, '%s', '%s', '%s', '%s', %s, "
		"fromUnixTimestamp64Milli(toInt64(%" PRId64 "), 'UTC'))",
		v->link, v->link, v->version, v->state, v->account, v->owner,
		v->url, v->more, CREATED + v->link);
}

static const struct version versions[] = {
	{1, 0, "acme", "ann", "live", "https://a.example/1", "'', '', [], ''"},
	{2, 0, "shop", "ann", "live", "https://a.example/2",
	 "'may', 'sho.rt', ['x', 'y'], 'first of May'"},
	{3, 0, "acme", "bob", "live", "https://b.example/100%",
	 "'', '', ['x'], ''"},
	{4, 0, "acme", "", "blocked", "https://b.example/a_c",
	 "'may', '', [], ''"},
	/* The link belonged to ann, then to bob. */
	{5, 0, "acme", "ann", "live", "https://c.example/5", "'', '', [], ''"},
	{5, 1, "acme", "bob", "live", "https://c.example/5", "'', '', [], ''"},
	/* The link has no owner since it was forgotten. */
	{6, 0, "acme", "ann", "live", "https://d.example/6", "'', '', [], ''"},
	{6, 1, "", "", "forgotten", "", "'', '', [], ''"},
};

static int set_up_links(void **state)
{
	settled_begin(state);
	for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++)
		insert_version(*state, &versions[i]);
	return 0;
}

struct found {
	char text[200]; /* "6 5 ..., picked N of M" */
	struct links_place last;
	uint64_t picked;
};

static int take_row(void *arg, char **f, struct error *err)
{
	struct found *found = arg;
	size_t len = strlen(found->text);

	(void)err;
	if (!strcmp(f[LINKS_ROW_KIND], "picked")) {
		found->picked = tsv_u64(f[LINKS_ROW_PICKED]);
		found->last.number = tsv_u64(f[LINKS_ROW_NUMBER]);
		found->last.link_id = tsv_u64(f[LINKS_ROW_LINK_ID]);
	} else if (tsv_u64(f[LINKS_ROW_MATCHES])) {
		snprintf(found->text + len, sizeof(found->text) - len, "%s%s",
			 len ? " " : "", f[LINKS_ROW_LINK_ID]);
	}
	return 0;
}

static void find_links(struct settled *t, const struct links_query *q,
		       const struct links_scan *scan, struct found *ret)
{
	struct links_params params;
	struct error err = {0};
	struct buf sql = {0};

	*ret = (struct found){.last = scan->after};
	links_sql_page(&sql, q, scan);
	assert_int_equal(links_params_fill(&params, q, scan, &err), 0);
	if (clickhouse_rows(t->s.ch, buf_cstr(&sql), params.items,
			    LINKS_SQL_COLUMNS, take_row, ret, &err) < 0)
		fail_msg("%s", err.text);
	links_params_release(&params);
	buf_free(&sql);
}

static void parse_query(struct links_query *q, const char *query)
{
	static const struct aggregator_settings settings = {.groups_max = 100};
	struct error err = {0};

	if (links_query_parse(q, (struct http_slice){query, strlen(query)},
			      &settings, &err) < 0)
		fail_msg("%s: %s", query, err.text);
}

static void assert_listed(struct settled *t, const char *query,
			  const struct access_bounds *bounds,
			  const char *expected)
{
	struct links_query q;
	struct found found;

	parse_query(&q, query);
	q.bounds = bounds;
	for (int indexed = 0; indexed < 2; indexed++) {
		const struct links_scan scan = {
			.after = q.at, .candidates = 100, .indexed = indexed};

		find_links(t, &q, &scan, &found);
		if (strcmp(found.text, expected) != 0)
			fail_msg("%s: %s", query, found.text);
	}
	links_query_release(&q);
}

static void a_list_has_the_newest_first_and_nothing_forgotten(void **state)
{
	assert_listed(*state, "", NULL, "5 4 3 2 1");
}

static void each_filter_lets_some_pass(void **state)
{
	assert_listed(*state, "account=acme", NULL, "5 4 3 1");
	assert_listed(*state, "account=acme&owner=ann", NULL, "1");
	assert_listed(*state, "owner=ann", NULL, "2 1");
	assert_listed(*state, "owner=bob", NULL, "5 3");
	assert_listed(*state, "owner=", NULL, "4");
	assert_listed(*state, "tag=x", NULL, "3 2");
	assert_listed(*state, "tag=y&owner=ann", NULL, "2");
	assert_listed(*state, "campaign=may", NULL, "4 2");
	assert_listed(*state, "domain=sho.rt", NULL, "2");
	assert_listed(*state, "state=blocked", NULL, "4");
	assert_listed(*state, "state=live", NULL, "5 3 2 1");
	assert_listed(*state, "url=https://a.example/2", NULL, "2");
	assert_listed(*state, "url=https://a.example/", NULL, "");
}

static void words_are_found_as_they_are_written(void **state)
{
	assert_listed(*state, "q=EXAMPLE/1", NULL, "3 1");
	assert_listed(*state, "q=100%25", NULL, "3");
	assert_listed(*state, "q=a_c", NULL, "4");
	assert_listed(*state, "q=%25", NULL, "3");
	assert_listed(*state, "q=_", NULL, "4");
	assert_listed(*state, "q=of%20may", NULL, "2");
	assert_listed(*state, "q=c5", NULL, "5");
	assert_listed(*state, "q=%5C", NULL, "");
}

static void times_of_creation_are_half_open(void **state)
{
	char query[160], from[RFC3339_TEXT_MAX], to[RFC3339_TEXT_MAX];

	rfc3339_format(CREATED + 2, from);
	rfc3339_format(CREATED + 4, to);
	snprintf(query, sizeof(query), "created_from=%s", from);
	assert_listed(*state, query, NULL, "5 4 3 2");
	snprintf(query, sizeof(query), "created_to=%s", to);
	assert_listed(*state, query, NULL, "3 2 1");
	snprintf(query, sizeof(query), "created_from=%s&created_to=%s", from,
		 to);
	assert_listed(*state, query, NULL, "3 2");
	assert_listed(*state, "created_to=1970-01-01", NULL, "");
}

/* No query finds another owner's link; a link that was given to another owner
 * is not found either. */
static void who_sees_some_owners_links_finds_no_others(void **state)
{
	struct access_bounds ann = {.has_owners = true},
			     some = {.has_owners = true},
			     nobodys = {.has_owners = true};

	buf_puts(&ann.owners, "ann");
	buf_puts(&some.owners, "bob\n");
	assert_non_null(buf_cstr(&nobodys.owners));
	assert_listed(*state, "", &ann, "2 1");
	assert_listed(*state, "owner=ann", &ann, "2 1");
	assert_listed(*state, "owner=bob", &ann, "");
	assert_listed(*state, "tag=x", &ann, "2");
	assert_listed(*state, "q=example", &ann, "2 1");
	assert_listed(*state, "", &some, "5 4 3");
	assert_listed(*state, "", &nobodys, "4");
	access_bounds_release(&ann);
	access_bounds_release(&some);
	access_bounds_release(&nobodys);
}

static void who_sees_an_accounts_links_finds_no_others(void **state)
{
	struct access_bounds acme = {.account = "acme"},
			     gone = {.account = "acm"},
			     both = {.account = "acme", .has_owners = true};

	buf_puts(&both.owners, "ann");
	assert_listed(*state, "", &acme, "5 4 3 1");
	assert_listed(*state, "owner=ann", &acme, "1");
	assert_listed(*state, "", &gone, "");
	assert_listed(*state, "", &both, "1");
	access_bounds_release(&both);
}

/* A query about links 1 to 4; the archive has one row for each, whatever parts
 * the engine has merged. */
static void ask_of_four(struct links_query *q)
{
	char query[80], to[RFC3339_TEXT_MAX];

	snprintf(query, sizeof(query), "created_to=%s",
		 rfc3339_format(CREATED + 5, to));
	parse_query(q, query);
}

static void a_page_goes_on_behind_the_last_candidate(void **state)
{
	struct settled *t = *state;
	struct links_query q;
	struct links_scan scan = {.candidates = 3};
	struct found found;

	ask_of_four(&q);
	scan.after = q.at;
	find_links(t, &q, &scan, &found);
	assert_int_equal(found.picked, 3);
	assert_string_equal(found.text, "4 3 2");
	scan.after = found.last;
	find_links(t, &q, &scan, &found);
	assert_int_equal(found.picked, 1);
	assert_string_equal(found.text, "1");
	links_query_release(&q);
}

static void links_of_one_ms_are_told_apart_by_their_numbers(void **state)
{
	struct settled *t = *state;
	struct links_query q;
	struct links_scan scan = {.candidates = 100};
	struct found found;

	clickhouse_server_do(&t->server,
			     "INSERT INTO links (code, link_id, state, "
			     "created_at) SELECT concat('d', toString(number)),"
			     " 100 + number, 'live', "
			     "fromUnixTimestamp64Milli(toInt64(%" PRId64
			     "), 'UTC') FROM numbers(3)",
			     CREATED + 2);
	parse_query(&q, "");
	scan.after =
		(struct links_place){LINKS_BY_CREATION, CREATED + 2, 101, 0, 0};
	find_links(t, &q, &scan, &found);
	assert_string_equal(found.text, "100 2 1");
	links_query_release(&q);
}

/* A window with too few candidates returns none of them. */
static void a_window_has_all_candidates_or_none(void **state)
{
	struct settled *t = *state;
	struct links_query q;
	struct links_scan scan = {.window_ms = CREATED + 3, .candidates = 2};
	struct found found;

	ask_of_four(&q);
	scan.after = q.at;
	find_links(t, &q, &scan, &found);
	assert_int_equal(found.picked, 2);
	assert_string_equal(found.text, "4 3");
	scan.candidates = 3;
	find_links(t, &q, &scan, &found);
	assert_int_equal(found.picked, 0);
	assert_string_equal(found.text, "");
	links_query_release(&q);
}

/* Inserts clicks of links on days: only the current attempt counts, and only
 * days that are counted. */
static void insert_clicks(struct settled *t)
{
	clickhouse_server_do(&t->server,
			     "INSERT INTO settled (kind, unit, attempt) VALUES "
			     "('link_day', toDateTime(100 * 86400, 'UTC'), 7), "
			     "('link_day', toDateTime(101 * 86400, 'UTC'), 7), "
			     "('link_day', toDateTime(102 * 86400, 'UTC'), 7), "
			     "('link_day', toDateTime(99 * 86400, 'UTC'), 7), "
			     "('hour', toDateTime(100 * 86400, 'UTC'), 9)");
	clickhouse_server_do(
		&t->server,
		"INSERT INTO link_days (link_id, day, attempt, effective) "
		"VALUES (1, 100, 7, 5), (1, 101, 7, 5), (2, 100, 7, 12), "
		"(3, 100, 7, 10), (4, 100, 7, 0), (5, 99, 7, 50), "
		"(5, 102, 7, 50), (5, 100, 6, 50), (5, 100, 9, 50)");
}

static void assert_by_clicks(struct settled *t, struct links_place after,
			     size_t candidates, const char *query,
			     const char *expected)
{
	struct links_query q;
	struct links_scan scan = {.after = after, .candidates = candidates};
	struct found found;

	parse_query(&q, query);
	q.range.since_day = 100;
	scan.after.until_day = 102;
	scan.after.until_slot = 102 * LINKS_DAY_SLOTS;
	find_links(t, &q, &scan, &found);
	if (strcmp(found.text, expected) != 0)
		fail_msg("%s: %s", query, found.text);
	links_query_release(&q);
}

static void a_list_by_clicks_has_those_of_the_days_that_count(void **state)
{
	struct settled *t = *state;
	struct links_place first = links_place_first(LINKS_CLICKED, false);

	insert_clicks(t);
	assert_by_clicks(t, first, 100, "sort=clicks", "2 3 1");
	assert_by_clicks(t, first, 2, "sort=clicks", "2 3");
	assert_by_clicks(t, first, 100, "sort=clicks&owner=ann", "2 1");
	first.number = 10;
	first.link_id = 3;
	assert_by_clicks(t, first, 100, "sort=clicks", "1");
	first.link_id = 1;
	assert_by_clicks(t, first, 100, "sort=clicks", "");
}

static void those_without_clicks_follow(void **state)
{
	struct settled *t = *state;

	insert_clicks(t);
	assert_by_clicks(t, links_place_first(LINKS_UNCLICKED, false), 100,
			 "sort=clicks", "5 4");
	assert_by_clicks(t, links_place_first(LINKS_UNCLICKED, false), 100,
			 "sort=clicks&owner=bob", "5");
}

/* The exact reverse, behind the same places. */
static void an_ascending_list_begins_at_the_other_end(void **state)
{
	struct settled *t = *state;
	struct links_place oldest = links_place_first(LINKS_BY_CREATION, true),
			   fewest = links_place_first(LINKS_CLICKED, true);
	struct links_scan scan = {.after = oldest, .candidates = 100};
	struct links_query q;
	struct found found;

	parse_query(&q, "order=asc");
	assert_int_equal(q.at.part, LINKS_BY_CREATION);
	find_links(t, &q, &scan, &found);
	assert_string_equal(found.text, "1 2 3 4 5");
	scan.after.number = CREATED + 3;
	scan.after.link_id = 3;
	find_links(t, &q, &scan, &found);
	assert_string_equal(found.text, "4 5");
	scan.after = oldest;
	scan.window_ms = CREATED + 3;
	scan.candidates = 3;
	find_links(t, &q, &scan, &found);
	assert_string_equal(found.text, "1 2 3");
	links_query_release(&q);

	insert_clicks(t);
	assert_by_clicks(t, fewest, 100, "sort=clicks&order=asc", "1 3 2");
	fewest.number = 10;
	fewest.link_id = 1;
	assert_by_clicks(t, fewest, 100, "sort=clicks&order=asc", "3 2");
	assert_by_clicks(t, links_place_first(LINKS_UNCLICKED, true), 100,
			 "sort=clicks&order=asc", "4 5");
}

static void robots_and_all_kinds_order_a_list_too(void **state)
{
	struct settled *t = *state;
	struct links_place first = links_place_first(LINKS_CLICKED, false),
			   rest = links_place_first(LINKS_UNCLICKED, false);

	insert_clicks(t);
	clickhouse_server_do(&t->server,
			     "INSERT INTO link_days (link_id, day, attempt, "
			     "effective, bots, prefetches) VALUES "
			     "(1, 100, 7, 0, 20, 3), (4, 101, 7, 0, 0, 2)");
	assert_by_clicks(t, first, 100, "sort=clicks", "2 3 1");
	assert_by_clicks(t, first, 100, "sort=clicks&bots=only", "1 4");
	assert_by_clicks(t, rest, 100, "sort=clicks&bots=only", "5 3 2");
	assert_by_clicks(t, first, 100, "sort=clicks&bots=include", "1 2 3 4");
	assert_by_clicks(t, rest, 100, "sort=clicks&bots=include", "5");
}

/* --- ends ----------------------------------------------------------------- */

/* Link 1 never ends, 2 and 3 end at 200 and 300 s, 4 was renewed from 100 to
 * 250 s, 5 was edited: its second version ends at 300 s, not at 50. */
static void insert_ends(struct settled *t)
{
	static const struct {
		unsigned link, version, expires;
	} rows[] = {{2, 1, 200},
		    {3, 1, 300},
		    {4, 1, 100},
		    {5, 2, 300},
		    {6, 2, 900}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		clickhouse_server_do(
			&t->server,
			"INSERT INTO links (code, link_id, version, state, "
			"account, owner, expires_at, created_at) VALUES "
			"('c%u', "
			"%u, %u, '%s', 'acme', 'bob', fromUnixTimestamp64Milli("
			"toInt64(%u000), 'UTC'), fromUnixTimestamp64Milli("
			"toInt64(%" PRId64 "), 'UTC'))",
			rows[i].link, rows[i].link, rows[i].version,
			rows[i].link == 6 ? "forgotten" : "live",
			rows[i].expires, CREATED + rows[i].link);
	clickhouse_server_do(&t->server, "INSERT INTO link_ends VALUES (4, 1, "
					 "toDateTime64(250, 3, 'UTC')), (5, 1, "
					 "toDateTime64(999, 3, 'UTC')), (4, 1, "
					 "toDateTime64(220, 3, 'UTC'))");
}

static void assert_by_end(struct settled *t, enum links_part part,
			  const char *query, const char *expected)
{
	struct links_query q;
	struct links_scan scan = {.candidates = 100};
	struct found found;

	parse_query(&q, query);
	scan.after = links_place_first(part, q.ascending);
	q.now = 240 * 1000;
	find_links(t, &q, &scan, &found);
	if (strcmp(found.text, expected) != 0)
		fail_msg("%s: %s", query, found.text);
	links_query_release(&q);
}

static void a_list_by_end_has_the_ends_of_renewed_links(void **state)
{
	struct settled *t = *state;

	insert_ends(t);
	assert_by_end(t, LINKS_ENDING, "sort=ends", "5 3 4 2");
	assert_by_end(t, LINKS_ENDING, "sort=ends&order=asc", "2 4 3 5");
	assert_by_end(t, LINKS_ENDLESS, "sort=ends", "1");
	assert_by_end(t, LINKS_ENDLESS, "sort=ends&order=asc", "1");
	assert_by_end(t, LINKS_ENDING, "sort=ends&account=acme&owner=bob",
		      "5 3 4 2");
	assert_by_end(t, LINKS_ENDING, "sort=ends&account=shop", "");
	assert_by_end(t, LINKS_ENDING, "sort=ends&code=c4", "4");
	assert_by_end(t, LINKS_ENDING, "sort=ends&state=live", "5 3 4");
	assert_by_end(t, LINKS_ENDING, "sort=ends&state=expired", "2");
}

static void a_list_by_end_goes_on_behind_a_place(void **state)
{
	struct settled *t = *state;
	struct links_query q;
	struct links_scan scan = {.candidates = 100};
	struct found found;

	insert_ends(t);
	parse_query(&q, "sort=ends");
	scan.after = (struct links_place){LINKS_ENDING, 300000, 5, 0, 0};
	find_links(t, &q, &scan, &found);
	assert_string_equal(found.text, "3 4 2");
	scan.after = (struct links_place){LINKS_ENDING, 250000, 4, 0, 0};
	find_links(t, &q, &scan, &found);
	assert_string_equal(found.text, "2");
	links_query_release(&q);
	parse_query(&q, "sort=ends&order=asc");
	scan.after = (struct links_place){LINKS_ENDING, 300000, 3, 0, 0};
	find_links(t, &q, &scan, &found);
	assert_string_equal(found.text, "5");
	links_query_release(&q);
}

/* --- hosts ---------------------------------------------------------------- */

static void insert_target(struct settled *t, unsigned link, const char *url,
			  const char *targets, const char *domains)
{
	clickhouse_server_do(&t->server,
			     "INSERT INTO links (code, link_id, state, account,"
			     " owner, url, targets, target_hosts, created_at) "
			     "VALUES ('c%u', %u, 'live', 'acme', 'eve', '%s', "
			     "%s, %s, fromUnixTimestamp64Milli(toInt64(%" PRId64
			     "), 'UTC'))",
			     link, link, url, targets, domains, CREATED + link);
}

static void insert_targets(struct settled *t)
{
	insert_target(t, 21, "https://bad.test/", "map()", "['bad.test']");
	insert_target(t, 22, "http://me:x@www.bad.test:8080/a@b", "map()",
		      "['bad.test']");
	insert_target(t, 23, "https://good.test?u=https://bad.test/",
		      "map('ios', 'https://m.bad.test#x')",
		      "['bad.test', 'good.test']");
	insert_target(t, 24, "https://notbad.test/bad.test", "map()",
		      "['notbad.test']");
	insert_target(t, 25, "http://[2001:db8::7]:81/", "map()",
		      "['[2001:db8::7]']");
	insert_target(t, 26, "https://192.0.2.7", "map()", "['192.0.2.7']");
	/* The list of suffixes that this row was written with had wide.test. */
	insert_target(t, 27, "https://a.b.wide.test/", "map()",
		      "['b.wide.test']");
	insert_target(t, 28, "https://a.co.uk/", "map()", "['a.co.uk']");
}

static void a_host_is_found_alone_or_with_those_below(void **state)
{
	struct settled *t = *state;
	struct access_bounds acme = {.account = "acme"},
			     shop = {.account = "shop"};

	insert_targets(t);
	assert_listed(t, "url_host=bad.test", NULL, "21");
	assert_listed(t, "url_host=.bad.test", NULL, "23 22 21");
	assert_listed(t, "url_host=WWW.Bad.Test.", NULL, "22");
	assert_listed(t, "url_host=.www.bad.test", NULL, "22");
	assert_listed(t, "url_host=m.bad.test", NULL, "23");
	assert_listed(t, "url_host=[2001:DB8::7]", NULL, "25");
	assert_listed(t, "url_host=0xc0000207", NULL, "26");
	assert_listed(t, "url_host=a.b.wide.test", NULL, "27");
	assert_listed(t, "url_host=.b.wide.test", NULL, "27");
	assert_listed(t, "url_host=.co.uk", NULL, "28");
	assert_listed(t, "url_host=co.uk", NULL, "");
	assert_listed(t, "url_host=.bad.test&owner=eve", NULL, "23 22 21");
	assert_listed(t, "url_host=.bad.test&owner=ann", NULL, "");
	assert_listed(t, "url_host=.bad.test", &acme, "23 22 21");
	assert_listed(t, "url_host=.bad.test", &shop, "");
}

static void hosts_are_found_by_clicks_too(void **state)
{
	struct settled *t = *state;

	insert_targets(t);
	insert_clicks(t);
	clickhouse_server_do(&t->server,
			     "INSERT INTO link_days (link_id, day, attempt, "
			     "effective) VALUES (22, 100, 7, 3)");
	assert_by_clicks(t, links_place_first(LINKS_CLICKED, false), 100,
			 "sort=clicks&url_host=.bad.test", "22");
	assert_by_clicks(t, links_place_first(LINKS_UNCLICKED, false), 100,
			 "sort=clicks&url_host=.bad.test", "23 21");
}

/* The index leaves out the granules without the domain. */
static void the_index_serves_a_host(void **state)
{
	static const struct clickhouse_param params[] = {
		{"param_url_host_domains", "['www.bad.test','bad.test']"},
		{NULL, NULL}};
	struct settled *t = *state;
	struct buf sql = {0}, plan = {0};
	struct error err = {0};

	clickhouse_server_do(&t->server,
			     "INSERT INTO links (code, link_id, target_hosts) "
			     "SELECT concat('e', toString(number)), number, "
			     "[concat('h', toString(number), '.test')] "
			     "FROM numbers(20000)");
	insert_targets(t);
	clickhouse_server_do(&t->server, "OPTIMIZE TABLE links FINAL");
	buf_printf(&sql,
		   "EXPLAIN indexes = 1 SELECT link_id FROM links WHERE %s "
		   "SETTINGS optimize_use_projections = 0",
		   host_filter_narrowing("www.bad.test"));
	if (clickhouse_query(t->server.ch, buf_cstr(&sql), params, &plan,
			     &err) < 0)
		fail_msg("%s", err.text);
	if (!strstr(buf_cstr(&plan), "Name: by_target_host"))
		fail_msg("%s", plan.data);
	if (!strstr(strstr(plan.data, "Name: by_target_host"), "Granules: 1/"))
		fail_msg("%s", plan.data);
	buf_free(&sql);
	buf_free(&plan);
}

#define PAGE_TEST(f)                                                           \
	cmocka_unit_test_setup_teardown(f, set_up_links, settled_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		PAGE_TEST(a_list_has_the_newest_first_and_nothing_forgotten),
		PAGE_TEST(each_filter_lets_some_pass),
		PAGE_TEST(words_are_found_as_they_are_written),
		PAGE_TEST(times_of_creation_are_half_open),
		PAGE_TEST(who_sees_some_owners_links_finds_no_others),
		PAGE_TEST(who_sees_an_accounts_links_finds_no_others),
		PAGE_TEST(a_page_goes_on_behind_the_last_candidate),
		PAGE_TEST(links_of_one_ms_are_told_apart_by_their_numbers),
		PAGE_TEST(a_window_has_all_candidates_or_none),
		PAGE_TEST(a_list_by_clicks_has_those_of_the_days_that_count),
		PAGE_TEST(those_without_clicks_follow),
		PAGE_TEST(a_host_is_found_alone_or_with_those_below),
		PAGE_TEST(an_ascending_list_begins_at_the_other_end),
		PAGE_TEST(robots_and_all_kinds_order_a_list_too),
		PAGE_TEST(a_list_by_end_has_the_ends_of_renewed_links),
		PAGE_TEST(a_list_by_end_goes_on_behind_a_place),
		PAGE_TEST(hosts_are_found_by_clicks_too),
		PAGE_TEST(the_index_serves_a_host),
	};

	return cmocka_run_group_tests(tests, settled_open, settled_close);
}

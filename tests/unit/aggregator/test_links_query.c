#include "tests/unit/unit.h"

#include <stdio.h>
#include <string.h>

#include "aggregator/api/links/links_query.h"

static char zoneinfo[] = "/usr/share/zoneinfo";
static const struct aggregator_settings settings = {.groups_max = 500,
						    .zoneinfo = zoneinfo};

static int parse_query(struct links_query *q, const char *query,
		       struct error *err)
{
	struct http_slice slice = {query, strlen(query)};

	return links_query_parse(q, slice, &settings, err);
}

#define CURSOR_MAX 80

static const char *format_cursor(const struct links_query *q,
				 const struct links_place *place,
				 char text[CURSOR_MAX])
{
	struct buf cursor = {0};

	links_cursor_put(&cursor, q, place);
	assert_non_null(buf_cstr(&cursor));
	assert_true(cursor.len < CURSOR_MAX);
	memcpy(text, cursor.data, cursor.len + 1);
	buf_free(&cursor);
	return text;
}

static void assert_refused(const char *query, const char *says)
{
	struct links_query q;
	struct error err = {0};

	assert_int_equal(parse_query(&q, query, &err), -1);
	assert_int_equal(err.code, ERROR_INPUT);
	if (strncmp(err.text, says, strlen(says)) != 0)
		fail_msg("%s: %s", query, err.text);
	links_query_release(&q);
}

static void nothing_said_asks_for_the_newest(void **state)
{
	struct links_query q;
	struct error err = {0};

	(void)state;
	assert_int_equal(parse_query(&q, "", &err), 0);
	assert_false(links_query_filters(&q));
	assert_int_equal(q.sort, LINKS_SORT_CREATED);
	assert_false(q.has_clicks);
	assert_int_equal(q.limit, 100);
	assert_int_equal(q.at.part, LINKS_BY_CREATION);
	assert_int_equal(q.at.number, LINKS_LATEST_MS);
	links_query_release(&q);
}

static void each_filter_is_read(void **state)
{
	struct links_query q;
	struct error err = {0};

	(void)state;
	assert_int_equal(
		parse_query(
			&q,
			"q=a%25b&tag=t&account=acme&owner=&campaign=c&domain=d&"
			"state=live&"
			"url=u&url_host=.B%C3%BCcher.Example.&created_from="
			"2026-11-21&"
			"created_to=2026-11-21T00:00:00.001Z&sort=clicks&limit="
			"7",
			&err),
		0);
	assert_string_equal(q.filters[LINKS_TEXT], "a%b");
	assert_string_equal(q.filters[LINKS_TAG], "t");
	assert_string_equal(q.filters[LINKS_ACCOUNT], "acme");
	assert_string_equal(q.filters[LINKS_OWNER], "");
	assert_string_equal(q.filters[LINKS_CAMPAIGN], "c");
	assert_string_equal(q.filters[LINKS_DOMAIN], "d");
	assert_string_equal(q.filters[LINKS_STATE], "live");
	assert_string_equal(q.filters[LINKS_URL], "u");
	assert_string_equal(q.filters[LINKS_HOST], ".xn--bcher-kva.example");
	assert_int_equal(q.created_from, INT64_C(1795219200000));
	assert_int_equal(q.created_to, INT64_C(1795219200001));
	assert_int_equal(q.sort, LINKS_SORT_CLICKS);
	assert_true(q.has_clicks);
	assert_int_equal(q.limit, 7);
	assert_int_equal(q.at.part, LINKS_CLICKED);
	links_query_release(&q);
}

static void a_bad_value_is_told_by_its_name(void **state)
{
	(void)state;
	assert_refused("q=", "q: expected 1 to");
	assert_refused("q=%00", "query string: q: a NUL");
	assert_refused("q=a%0Ab", "q: expected UTF-8");
	assert_refused("owner=%FF", "owner: expected UTF-8");
	assert_refused("tag=", "tag: ");
	assert_refused("url=", "url: ");
	assert_refused("url_host=", "url_host: ");
	assert_refused("url_host=.", "url_host: ");
	assert_refused("url_host=a..b", "url_host: ");
	assert_refused("url_host=a'b", "url_host: ");
	assert_refused("url_host=.192.0.2.7", "url_host: nothing is below");
	assert_refused("url_host=https://a.example", "url_host: ");
	assert_refused("state=ended", "state: ");
	assert_refused("created_from=x", "created_from: ");
	assert_refused("created_to=1960-01-01", "created_to: ");
	assert_refused("created_from=2026-11-21T00:00:00+01:00",
		       "created_from (write '+'");
	assert_refused("created_from=2026-11-21&created_to=2026-11-21",
		       "created_from: ");
	assert_refused("sort=url", "sort: ");
	assert_refused("order=down", "order: expected asc or desc");
	assert_refused("clicks=1", "clicks: expected true or false");
	assert_refused("clicks=false&sort=clicks", "clicks: expected true");
	assert_refused("from=2026-11-21", "from: expected with clicks=true");
	assert_refused("to=2026-11-21&clicks=false", "to: expected with");
	assert_refused("tz=UTC&sort=ends", "tz: expected with clicks=true");
	assert_refused("bots=only", "bots: expected with clicks=true");
	assert_refused("clicks=true&bots=no", "bots: expected exclude");
	assert_refused("clicks=true&tz=No/Where", "tz: ");
	assert_refused("clicks=true&from=2026-11-21T00:01:00Z",
		       "from: expected a multiple");
	assert_refused("clicks=true&from=2026-11-21&to=2026-11-21",
		       "from: expected a time before");
	assert_refused("limit=501", "limit: ");
	assert_refused("limit=0", "limit: ");
	assert_refused("limit=+1", "limit: ");
	assert_refused("cursor=", "cursor: ");
}

static void a_parameter_twice_or_unknown_is_refused(void **state)
{
	(void)state;
	assert_refused("q=a&q=a", "q: given more than once");
	assert_refused("word=a", "word: no such parameter");
	assert_refused("code=a.b", "code: expected letters");
	assert_refused("total=1", "total: expected true or false");
	assert_refused("%ZZ=1", "query string: a '%'");
}

static void a_refusal_names_every_parameter(void **state)
{
	struct links_query q;
	struct error err = {0};

	(void)state;
	assert_int_equal(parse_query(&q, "word=a", &err), -1);
	assert_string_equal(err.text,
			    "word: no such parameter; known here: q, tag, "
			    "account, owner, campaign, domain, state, url, "
			    "url_host, code, created_from, created_to, sort, "
			    "order, clicks, from, to, tz, bots, limit, cursor, "
			    "total");
	links_query_release(&q);
}

static void assert_comes_back(const char *query, struct links_place place)
{
	struct links_query q, again;
	char cursor[CURSOR_MAX], text[256];
	struct error err = {0};

	assert_int_equal(parse_query(&q, query, &err), 0);
	snprintf(text, sizeof(text), "%s&limit=3&cursor=%s", query,
		 format_cursor(&q, &place, cursor));
	assert_int_equal(parse_query(&again, text, &err), 0);
	assert_int_equal(again.at.part, place.part);
	assert_true(again.at.number == place.number);
	assert_true(again.at.link_id == place.link_id);
	assert_int_equal(again.at.until_day, place.until_day);
	assert_int_equal(again.at.until_slot, place.until_slot);
	links_query_release(&again);
	links_query_release(&q);
}

static void a_cursor_leads_to_its_place(void **state)
{
	(void)state;
	assert_comes_back("q=a",
			  (struct links_place){LINKS_BY_CREATION, 1790000000123,
					       UINT64_MAX - 1, 0, 0});
	assert_comes_back("sort=clicks",
			  (struct links_place){LINKS_CLICKED, UINT64_MAX, 0,
					       UINT16_MAX,
					       UINT16_MAX * LINKS_DAY_SLOTS +
						       LINKS_SLOTS_MAX});
	assert_comes_back("", (struct links_place){LINKS_BY_CREATION,
						   LINKS_LATEST_MS, 0,
						   UINT16_MAX, 0});
	assert_comes_back("sort=clicks",
			  (struct links_place){LINKS_UNCLICKED, 0, 1, 20000,
					       20000 * LINKS_DAY_SLOTS + 5});
}

static void a_range_is_of_its_zone(void **state)
{
	struct links_query q;
	struct error err = {0};

	(void)state;
	assert_int_equal(parse_query(&q,
				     "clicks=true&tz=Asia/Kolkata&from="
				     "2026-11-21&to=2026-11-22T00:15:00Z&bots="
				     "only",
				     &err),
			 0);
	assert_int_equal(q.from, INT64_C(1795199400));
	assert_int_equal(q.to, INT64_C(1795306500));
	assert_int_equal(q.bots, BOTS_ONLY);
	assert_int_equal(q.sort, LINKS_SORT_CREATED);
	links_query_release(&q);
}

/* The parts of an ascending list are those of the other, from its end on. */
static void each_order_has_its_parts(void **state)
{
	static const struct {
		const char *query;
		enum links_part first, second;
	} lists[] = {
		{"", LINKS_BY_CREATION, LINKS_BY_CREATION},
		{"order=asc", LINKS_BY_CREATION, LINKS_BY_CREATION},
		{"sort=clicks", LINKS_CLICKED, LINKS_UNCLICKED},
		{"sort=clicks&order=asc", LINKS_UNCLICKED, LINKS_CLICKED},
		{"sort=ends&order=desc", LINKS_ENDLESS, LINKS_ENDING},
		{"sort=ends&order=asc", LINKS_ENDING, LINKS_ENDLESS},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		enum links_part part = lists[i].first;
		struct links_query q;
		struct error err = {0};

		assert_int_equal(parse_query(&q, lists[i].query, &err), 0);
		assert_int_equal(q.at.part, part);
		assert_int_equal(links_query_first_part(&q), part);
		assert_int_equal(links_query_next_part(&q, part, &part),
				 lists[i].first != lists[i].second);
		assert_int_equal(part, lists[i].second);
		assert_false(links_query_next_part(&q, part, &part));
		links_query_release(&q);
	}
}

static void assert_not_of(const char *cursor, const char *query)
{
	char text[256];

	snprintf(text, sizeof(text), "%s%scursor=%s", query, *query ? "&" : "",
		 cursor);
	assert_refused(text, "cursor: ");
}

static void a_cursor_is_of_no_other_question(void **state)
{
	struct links_query q;
	struct error err = {0};
	char cursor[CURSOR_MAX];

	(void)state;
	assert_int_equal(parse_query(&q, "owner=ann&tag=b", &err), 0);
	format_cursor(&q, &q.at, cursor);
	assert_not_of(cursor, "");
	assert_not_of(cursor, "owner=ann");
	assert_not_of(cursor, "owner=annb");
	assert_not_of(cursor, "owner=b&tag=ann");
	assert_not_of(cursor, "owner=ann&campaign=b");
	assert_not_of(cursor, "owner=ann&tag=b&code=c");
	assert_not_of(cursor, "owner=ann&tag=b&created_from=1970-01-01");
	assert_not_of(cursor, "owner=ann&tag=b&sort=clicks");
	assert_not_of(cursor, "owner=ann&tag=b&sort=ends");
	assert_not_of(cursor, "owner=ann&tag=b&order=asc");
	assert_not_of(cursor, "owner=ann&tag=b&clicks=true");
	assert_not_of(cursor, "owner=ann&tag=b&clicks=true&from=2026-11-21");
	assert_not_of(cursor, "owner=ann&tag=b&clicks=true&bots=only");
	links_query_release(&q);
}

static void a_damaged_cursor_is_refused(void **state)
{
	struct links_query q;
	struct links_place place;
	struct error err = {0};
	char cursor[CURSOR_MAX];

	(void)state;
	assert_int_equal(parse_query(&q, "", &err), 0);
	format_cursor(&q, &q.at, cursor);
	assert_int_equal(links_cursor_parse(&q, cursor, &place, &err), 0);
	for (size_t i = 0; cursor[i]; i++) {
		char was = cursor[i];

		cursor[i] = was == '0' ? '1' : '0';
		assert_int_equal(links_cursor_parse(&q, cursor, &place, &err),
				 -1);
		cursor[i] = was;
	}
	cursor[strlen(cursor) - 1] = '\0';
	assert_int_equal(links_cursor_parse(&q, cursor, &place, &err), -1);
	links_query_release(&q);
}

/* This cursor is invented, with a correct digest. */
static void a_cursor_of_a_place_that_cannot_be_is_refused(void **state)
{
	static const struct links_place places[] = {
		{LINKS_CLICKED, 1, 1, 20000, 0},
		{LINKS_UNCLICKED, 1, 1, 20000, 0},
		{LINKS_BY_CREATION, UINT64_MAX, 1, 0, 0},
		{LINKS_BY_CREATION, LINKS_LATEST_MS + 1, 1, 0, 0},
		{LINKS_BY_CREATION, 1, 1, UINT16_MAX + 1, 0},
		{LINKS_BY_CREATION, 1, 1, 2,
		 2 * LINKS_DAY_SLOTS + LINKS_SLOTS_MAX + 1},
		{LINKS_ENDING, 1, 1, 0, 0},
		{LINKS_ENDLESS, 0, 1, 0, 0},
		{(enum links_part)9, 1, 1, 0, 0},
	};
	struct links_query q;
	struct links_place place;
	struct error err = {0};
	char cursor[CURSOR_MAX];

	(void)state;
	assert_int_equal(parse_query(&q, "", &err), 0);
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		format_cursor(&q, &places[i], cursor);
		assert_int_equal(links_cursor_parse(&q, cursor, &place, &err),
				 -1);
		assert_int_equal(err.code, ERROR_INPUT);
	}
	links_query_release(&q);
}

/* Returns "<name>=" followed by `count` letters. */
static const char *long_text(const char *name, size_t count, char text[4096])
{
	int len = snprintf(text, 4096, "%s=", name);

	memset(text + len, 'x', count);
	text[(size_t)len + count] = '\0';
	return text;
}

static void assert_taken(const char *query)
{
	struct links_query q;
	struct error err = {0};

	if (parse_query(&q, query, &err) < 0)
		fail_msg("%s: %s", query, err.text);
	links_query_release(&q);
}

static void a_value_at_its_bound_is_taken(void **state)
{
	char text[4096];

	(void)state;
	assert_taken("limit=1");
	assert_taken("limit=500");
	assert_taken("created_from=1970-01-01");
	assert_taken("created_to=1970-01-01");
	assert_taken("created_to=2299-12-31T23:59:59.999Z");
	assert_taken(long_text("owner", 2048, text));
	assert_refused(long_text("owner", 2049, text), "owner: expected 1 to");
	assert_refused("created_from=2300-01-01", "created_from: ");
	assert_refused("created_from=1970-01-01&created_to=1970-01-01",
		       "created_from: ");
	assert_refused("limit=1x", "limit: ");
	assert_refused("limit=", "limit: ");
	assert_refused("limit=18446744073709551617", "limit: ");
}

static void what_a_link_may_lack_is_asked_for_by_an_empty_value(void **state)
{
	(void)state;
	assert_taken("owner=");
	assert_taken("campaign=");
	assert_taken("domain=");
	assert_refused("state=", "state: ");
}

static void each_state_is_known(void **state)
{
	(void)state;
	assert_taken("state=live");
	assert_taken("state=deleted");
	assert_taken("state=blocked");
	assert_taken("state=paused");
	assert_taken("state=expired");
	assert_taken("state=reclaimed");
	assert_refused("state=forgotten", "state: ");
	assert_taken("sort=created");
}

static void a_page_has_no_more_links_than_an_answer_may(void **state)
{
	static const struct aggregator_settings few = {.groups_max = 30};
	struct links_query q;
	struct error err = {0};

	(void)state;
	assert_int_equal(
		links_query_parse(&q, (struct http_slice){"", 0}, &few, &err),
		0);
	assert_int_equal(q.limit, 30);
	links_query_release(&q);
}

/* Checks which links a query is about, by its text and by the key that sends
 * it. */
static void assert_about(const char *query, const struct access_bounds *bounds,
			 bool some_only, bool by_owner)
{
	struct links_query q;
	struct error err = {0};

	assert_int_equal(parse_query(&q, query, &err), 0);
	q.bounds = bounds;
	if (links_query_filters(&q) != some_only ||
	    links_query_is_by_owner(&q) != by_owner)
		fail_msg("%s: %d, %d", query, links_query_filters(&q),
			 links_query_is_by_owner(&q));
	links_query_release(&q);
}

static void what_is_asked_tells_which_links_it_is_about(void **state)
{
	static const char *const others[] = {"q=a", "url=a", "tag=a",
					     "campaign=a"};
	char query[64];

	(void)state;
	assert_about("limit=3&sort=clicks", NULL, false, false);
	assert_about("created_from=1970-01-01", NULL, true, false);
	assert_about("created_to=1970-01-01", NULL, true, false);
	assert_about("state=live", NULL, true, false);
	assert_about("owner=ann", NULL, true, true);
	assert_about("owner=&state=live&domain=d&created_to=2026-01-01", NULL,
		     true, true);
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
		assert_about(others[i], NULL, true, false);
		snprintf(query, sizeof(query), "owner=ann&%s", others[i]);
		assert_about(query, NULL, true, false);
	}
}

static void who_sees_some_links_asks_for_some(void **state)
{
	static const struct access_bounds all = {.account = NULL},
					  account = {.account = "acme"},
					  owners = {.has_owners = true};

	(void)state;
	assert_about("", &all, false, false);
	assert_about("", &account, true, false);
	assert_about("", &owners, true, true);
	assert_about("tag=a", &owners, true, false);
}

static void a_place_beyond_the_days_is_none_of_a_list_by_clicks(void **state)
{
	const struct links_place place = {LINKS_CLICKED, 1, 1, UINT16_MAX + 1,
					  0};
	struct links_query q;
	struct links_place found;
	struct error err = {0};
	char cursor[CURSOR_MAX];

	(void)state;
	assert_int_equal(parse_query(&q, "sort=clicks", &err), 0);
	format_cursor(&q, &place, cursor);
	assert_int_equal(links_cursor_parse(&q, cursor, &found, &err), -1);
	assert_int_equal(err.code, ERROR_INPUT);
	links_query_release(&q);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_said_asks_for_the_newest),
		cmocka_unit_test(each_filter_is_read),
		cmocka_unit_test(a_bad_value_is_told_by_its_name),
		cmocka_unit_test(a_parameter_twice_or_unknown_is_refused),
		cmocka_unit_test(a_refusal_names_every_parameter),
		cmocka_unit_test(a_cursor_leads_to_its_place),
		cmocka_unit_test(a_range_is_of_its_zone),
		cmocka_unit_test(each_order_has_its_parts),
		cmocka_unit_test(a_cursor_is_of_no_other_question),
		cmocka_unit_test(a_damaged_cursor_is_refused),
		cmocka_unit_test(a_cursor_of_a_place_that_cannot_be_is_refused),
		cmocka_unit_test(
			a_place_beyond_the_days_is_none_of_a_list_by_clicks),
		cmocka_unit_test(a_value_at_its_bound_is_taken),
		cmocka_unit_test(
			what_a_link_may_lack_is_asked_for_by_an_empty_value),
		cmocka_unit_test(each_state_is_known),
		cmocka_unit_test(a_page_has_no_more_links_than_an_answer_may),
		cmocka_unit_test(what_is_asked_tells_which_links_it_is_about),
		cmocka_unit_test(who_sees_some_links_asks_for_some),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
